//! Checks the grammars of files: names, expressions, and the names that readers require.

use super::names::{Unique, identifier};
use crate::diagnostic::Diagnostic;
use crate::expression;
use crate::grammar::BUILT_IN;
use crate::load::Spec;
use crate::model::GrammarFile;
use crate::yaml::At;

/// The names that already have a meaning in expressions.
const TAKEN: [&str; 10] = [
    "count",
    "first",
    "is_member",
    "last",
    "max",
    "min",
    "nowhere",
    "offset",
    "size",
    "value",
];

/// The names by which readers find the events, each with its kind.
const ASKED_FOR: [(&str, &str); 7] = [
    ("role", "header"),
    ("role", "event"),
    ("value", "events_end"),
    ("value", "end"),
    ("value", "is_finalized"),
    ("function", "start"),
    ("function", "next_event"),
];

pub(super) fn check(spec: &Spec, faults: &mut Vec<Diagnostic>) {
    let mut files = Unique::new("grammar of");
    for file in &spec.grammars {
        files.add(&file.file, faults);
        let known = faults.len();
        names(file, faults);
        if faults.len() == known {
            let _ = expression::grammar(spec, file, faults);
        }
        if faults.len() == known {
            asked_for(file, faults);
        }
    }
}

fn names(file: &GrammarFile, faults: &mut Vec<Diagnostic>) {
    let mut unique = Unique::new("function or value");
    let functions = file.functions.iter().map(|function| &function.name);
    let values = file.reading.iter().filter_map(|step| step.value.as_ref());
    for name in functions.chain(values) {
        unique.add(name, faults);
        valid("function or value", name, faults);
    }
    for (name, _) in file.functions.iter().flat_map(|it| it.takes.iter()) {
        valid("parameter", name, faults);
    }
    for (role, _) in file.records.iter() {
        valid("role", role, faults);
    }
}

fn valid(kind: &str, name: &At<String>, faults: &mut Vec<Diagnostic>) {
    identifier(kind, name, faults);
    let is_built_in = BUILT_IN.iter().any(|(known, ..)| *known == name.value);
    if is_built_in || TAKEN.contains(&name.as_str()) {
        faults.push(name.fault(format!("every grammar has a `{name}`")));
    }
}

/// Checks that the grammar has the names that readers require.
fn asked_for(file: &GrammarFile, faults: &mut Vec<Diagnostic>) {
    let has = |kind: &str, name: &str| match kind {
        "role" => file.records.get(name).is_some(),
        "value" => {
            let mut values = file.reading.iter().filter_map(|step| step.value.as_ref());
            values.any(|value| value.value == name)
        }
        _ => file.functions.iter().any(|it| it.name.value == name),
    };
    if let Some((kind, name)) = ASKED_FOR.iter().find(|(kind, name)| !has(kind, name)) {
        let why = format!("the grammar of {} has no {kind} `{name}`", file.file);
        faults.push(file.file.fault(why));
    }
}
