//! Checks the grammars of files: names, expressions, and that each has what readers ask for.

use super::names::{Unique, identifier};
use crate::diagnostic::Diagnostic;
use crate::expression;
use crate::grammar::BUILT_IN;
use crate::load::Spec;
use crate::model::GrammarFile;
use crate::yaml::At;

/// The names that expressions use for something else.
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
    for (name, _) in file
        .functions
        .iter()
        .flat_map(|function| function.takes.iter())
    {
        valid("parameter", name, faults);
    }
    for (role, _) in file.records.iter() {
        valid("role", role, faults);
    }
}

fn valid(kind: &str, name: &At<String>, faults: &mut Vec<Diagnostic>) {
    identifier(kind, name, faults);
    let is_built_in = BUILT_IN.iter().any(|known| known.name == name.value);
    if is_built_in || TAKEN.contains(&name.as_str()) {
        let why = format!("every grammar has a `{name}`");
        faults.push(Diagnostic::error(name.place, why));
    }
}

/// Checks that the grammar has the names by which readers find the events.
fn asked_for(file: &GrammarFile, faults: &mut Vec<Diagnostic>) {
    let has_role = |role: &&str| file.records.get(role).is_some();
    let has_value = |name: &&str| {
        let mut values = file.reading.iter().filter_map(|step| step.value.as_ref());
        values.any(|value| value.value == *name)
    };
    let has_function = |name: &&str| {
        let mut functions = file.functions.iter();
        functions.any(|function| function.name.value == *name)
    };
    let missing = |kind: &str, names: &[&'static str], has: &dyn Fn(&&str) -> bool| {
        let mut missing = names.iter().filter(|name| !has(name));
        missing.next().map(|name| format!("{kind} `{name}`"))
    };
    let missing = missing("role", &["header", "event"], &has_role)
        .or_else(|| missing("value", &["events_end", "end", "is_finalized"], &has_value))
        .or_else(|| missing("function", &["start", "next_event"], &has_function));
    if let Some(missing) = missing {
        let why = format!("the grammar of {} has no {missing}", file.file);
        faults.push(Diagnostic::error(file.file.place, why));
    }
}
