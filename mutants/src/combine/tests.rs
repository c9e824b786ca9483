//! Each kind of change, with the text that it becomes.

use std::collections::BTreeSet;

use super::combine;
use crate::list::{Genre, Mutant, Place, Span};

/// A mutant at a line and column.
fn mutant(genre: Genre, line: usize, column: usize, replacement: &str) -> Mutant {
    Mutant {
        name: String::new(),
        package: String::new(),
        file: String::new(),
        genre,
        replacement: replacement.to_owned(),
        span: Span {
            start: Place { line, column },
        },
    }
}

/// The text with the mutants, numbered from 0, without the comments; how many were placed.
fn combined(source: &str, mutants: &[Mutant]) -> (String, usize) {
    let mutants: Vec<_> = mutants.iter().enumerate().collect();
    let combined = combine(
        source,
        &mutants,
        "on",
        &BTreeSet::from(["asked".to_owned()]),
    )
    .unwrap();
    let mut text = combined.text;
    while let Some(start) = text.find("/*") {
        let end = start + text[start..].find("*/").unwrap() + 2;
        text.replace_range(start..end, "");
    }
    (
        text.split_whitespace().collect::<Vec<_>>().join(" "),
        combined.placed.len(),
    )
}

#[test]
fn an_operator_has_a_branch_for_each_other_one() {
    let mutants = [
        mutant(Genre::BinaryOperator, 1, 32, "<="),
        mutant(Genre::BinaryOperator, 1, 32, "=="),
    ];
    let (text, _) = combined("fn f(a: u8, b: u8) -> bool { a < b }", &mutants);
    assert_eq!(
        text,
        "fn f(a: u8, b: u8) -> bool { (if on(0) { (a) <= (b) } else if on(1) { (a) == (b) } else { (a) < (b) }) }"
    );
}

#[test]
fn operators_within_operators_are_in_each_branch() {
    let mutants = [
        mutant(Genre::BinaryOperator, 1, 10, "||"),
        mutant(Genre::UnaryOperator, 1, 13, ""),
    ];
    let (text, _) = combined("fn f(){a && !b}", &mutants);
    let right = "((if on(1) { (b) } else { !(b) }))";
    assert_eq!(
        text,
        format!("fn f(){{(if on(0) {{ (a) || {right} }} else {{ (a) && {right} }})}}")
    );
}

#[test]
fn a_body_returns_a_value_at_once() {
    let (text, _) = combined(
        "fn f() -> u8 { g() }",
        &[mutant(Genre::FnValue, 1, 16, "0")],
    );
    assert_eq!(text, "fn f() -> u8 { if on(0) { return 0; } g() }");
}

#[test]
fn an_arm_is_not_taken_and_its_condition_holds_or_does_not() {
    let source = "fn f() { match a { 1 if b => c(), 2 => d(), _ => e() } }";
    let mutants = [
        mutant(Genre::MatchArm, 1, 20, ""),
        mutant(Genre::MatchArmGuard, 1, 25, "true"),
        mutant(Genre::MatchArmGuard, 1, 25, "false"),
        mutant(Genre::MatchArm, 1, 35, ""),
    ];
    let (text, _) = combined(source, &mutants);
    assert_eq!(
        text,
        "fn f() { match a { 1 if (on(1) || (!on(2) && !on(0) && (b))) => c(), 2 if ((!on(3))) => d(), _ => e() } }"
    );
}

#[test]
fn a_field_is_left_to_its_base() {
    let mutants = [
        mutant(Genre::StructField, 1, 14, ""),
        mutant(Genre::StructField, 1, 20, ""),
    ];
    let (text, _) = combined("fn f() { S { a: 1, b, ..Default::default() } }", &mutants);
    assert_eq!(
        text,
        "fn f() { S { a: if on(0) { S::default().a } else { 1 }, b: if on(1) { S::default().b } else { b }, ..Default::default() } }"
    );
}

#[test]
fn where_no_switch_can_stand_nothing_is_changed() {
    for source in [
        "const A: u8 = 1 + 2;",
        "const fn asked() -> u8 { 1 + 2 }",
        "fn f() -> impl Sized { 1 }",
        "fn f() { if let A = b && c {} }",
    ] {
        let at = source.find(['+', '&']).unwrap_or(23) + 1;
        let genre = if source.contains("impl") {
            Genre::FnValue
        } else {
            Genre::BinaryOperator
        };
        assert_eq!(
            combined(source, &[mutant(genre, 1, at, "-")]),
            (source.to_owned(), 0),
            "{source}"
        );
    }
}

#[test]
fn no_compiler_takes_another_operator_between_the_links_of_a_chain_with_let() {
    let source = "fn f() { if let A = b && (c && d) && e {} }";
    let at = |column| mutant(Genre::BinaryOperator, 1, column, "||");
    let mutants = [at(23), at(29), at(35)];
    let mutants: Vec<_> = mutants.iter().enumerate().collect();
    let combined = combine(source, &mutants, "on", &BTreeSet::new()).unwrap();
    assert_eq!(combined.impossible, [2, 0]);
    assert_eq!(combined.placed, [1]);
}

#[test]
fn a_function_that_no_constant_asks_is_no_constant_one() {
    let (text, placed) = combined(
        "const fn f() -> u8 { 1 + 2 }",
        &[mutant(Genre::BinaryOperator, 1, 24, "-")],
    );
    assert_eq!(
        (text.as_str(), placed),
        (
            "fn f() -> u8 { (if on(0) { (1) - (2) } else { (1) + (2) }) }",
            1
        )
    );
}
