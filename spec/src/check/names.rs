//! Checks that names are unique and valid in C and Rust.

use std::collections::BTreeMap;

use super::sources_exist;
use super::word::{
    is_c_name, is_identifier, is_keyword, is_lower_case, is_macro_name, is_predefined,
    is_source_id, is_standard,
};
use crate::diagnostic::Diagnostic;
use crate::files::Files;
use crate::layout::Wire;
use crate::load::Spec;
use crate::model::{FieldSpec, RecordSpec};
use crate::yaml::{At, Place};

/// The pages and pictures of the reference that are not named for a record.
const PAGES: [&str; 7] = [
    "coverage",
    "enums",
    "files",
    "readme",
    "reconciliation",
    "rules",
    "session",
];

/// Finds duplicates among the names of one kind.
pub(super) struct Unique {
    kind: &'static str,
    seen: BTreeMap<String, Place>,
}

impl Unique {
    pub(super) const fn new(kind: &'static str) -> Self {
        Self {
            kind,
            seen: BTreeMap::new(),
        }
    }

    pub(super) fn add(&mut self, name: &At<String>, faults: &mut Vec<Diagnostic>) {
        let first = *self.seen.entry(name.value.clone()).or_insert(name.place);
        if first != name.place {
            let why = format!("duplicate {} `{name}`", self.kind);
            faults.push(name.fault(why).related(first, "first here"));
        }
    }
}

pub(super) fn check(files: &Files, spec: &Spec, faults: &mut Vec<Diagnostic>) {
    wires(spec, faults);
    records(files, spec, faults);
    enums(spec, faults);
    topics(spec, faults);
    let mut sources = Unique::new("source");
    for id in spec.sources.iter().map(|source| &source.source) {
        sources.add(id, faults);
        if !is_source_id(id) {
            let fault = id.fault(format!("`{id}` is not a valid id for a source"));
            faults.push(fault.help("use letters, digits, `_`, `-` and `.`"));
        }
    }
    let mut cited = Unique::new("source");
    for id in &spec.format.sources {
        cited.add(id, faults);
    }
    sources_exist(spec, &spec.format.sources, faults);
}

fn wires(spec: &Spec, faults: &mut Vec<Diagnostic>) {
    let mut last: Option<Wire> = None;
    for (name, _) in spec.format.wires.iter() {
        match name.parse::<Wire>() {
            Ok(wire) if wire.to_string() == name.value => {
                if last.is_some_and(|last| last >= wire) {
                    faults.push(name.fault("the wire versions are not in ascending order"));
                }
                last = Some(wire);
            }
            _ => {
                let fault = name.fault(format!("`{name}` is not a wire version"));
                faults.push(fault.help("use its number, 0 to 255, as in byte 5 of the header"));
            }
        }
    }
}

fn records(files: &Files, spec: &Spec, faults: &mut Vec<Diagnostic>) {
    let (mut names, mut c_names) = (Unique::new("record"), Unique::new("C name"));
    for record in &spec.records {
        let name = &record.record;
        names.add(name, faults);
        c_names.add(&record.c_name, faults);
        identifier("a record", name, faults);
        if PAGES.contains(&name.as_str()) {
            let fault = name.fault(format!("`{name}` is another page of the reference"));
            faults.push(fault.help("choose another name"));
        }
        c_name(record, faults);
        let file = files.get(name.place.file);
        let expected = format!("records/{name}.yaml");
        let is_expected = |path: &str| path.strip_prefix("overlay/").unwrap_or(path) == expected;
        if let Some(file) = file.filter(|file| !is_expected(&file.path)) {
            let fault = name.fault(format!("the record `{name}` is not in {expected}"));
            faults.push(fault.help(format!("rename the record or {}", file.path)));
        }
        let mut listed = spec.format.records.iter();
        if !listed.any(|known| known.value == name.value) {
            let fault = name.fault(format!("the record `{name}` is not listed in format.yaml"));
            faults.push(fault.help("add it to `records` in format.yaml, in file order"));
        }
        let mut fields = Unique::new("field");
        for field in &record.fields {
            fields.add(&field.name, faults);
            field_name(&field.name, faults);
            names_in_wires(record, field, faults);
            let used = field.enumeration.as_ref();
            if let Some(name) = used.filter(|name| spec.enumeration(name).is_none()) {
                faults.push(name.fault(format!("there is no enumeration `{name}` in enums.yaml")));
            }
        }
    }
    let mut listed = Unique::new("record");
    for name in &spec.format.records {
        listed.add(name, faults);
        if spec.record(name).is_none() {
            faults.push(name.fault(format!("there is no record `{name}` in records/")));
        }
    }
}

/// Checks the names that a field has in single wire versions.
fn names_in_wires(record: &RecordSpec, field: &FieldSpec, faults: &mut Vec<Diagnostic>) {
    for (wire, own) in field.wire.iter() {
        let (Some(name), Ok(wire)) = (&own.name, wire.parse::<Wire>()) else {
            continue;
        };
        field_name(name, faults);
        let mut fields = record.fields_in(wire).into_iter();
        let is_twin = |other: &FieldSpec| {
            other.name.place != field.name.place && other.name_in(wire) == name.as_str()
        };
        if let Some((twin, ..)) = fields.find(|(other, ..)| is_twin(other)) {
            let fault = name.fault(format!("duplicate field `{name}` in wire version {wire}"));
            faults.push(fault.related(twin.name.place, "another one"));
        }
    }
}

/// Checks enumerations and constants, which share a namespace in C.
fn enums(spec: &Spec, faults: &mut Vec<Diagnostic>) {
    let (mut names, mut c_names) = (Unique::new("enumeration"), Unique::new("C name"));
    for enumeration in &spec.enums.enums {
        names.add(&enumeration.name, faults);
        identifier("an enumeration", &enumeration.name, faults);
        macro_name(&enumeration.c_prefix, faults);
        let mut members = Unique::new("member");
        for name in enumeration.members.iter().map(|member| &member.name) {
            members.add(name, faults);
            if !is_lower_case(name) {
                let fault = name.fault(format!("`{name}` is not a valid name for a member"));
                faults.push(fault.help("use lower-case letters, digits and single underscores"));
            }
        }
    }
    let prefixes = spec.enums.enums.iter().map(|known| &known.c_prefix);
    let constants = spec.constants.constants.iter().map(|known| &known.constant);
    prefixes.for_each(|name| c_names.add(name, faults));
    for name in constants {
        c_names.add(name, faults);
        macro_name(name, faults);
    }
}

fn topics(spec: &Spec, faults: &mut Vec<Diagnostic>) {
    let mut names = Unique::new("topic or silence");
    let topics = spec.topics.iter().map(|topic| &topic.topic);
    let silences = spec.decisions.silences.iter().map(|known| &known.silence);
    for name in topics.chain(silences) {
        names.add(name, faults);
    }
}

/// Checks a name that is used unchanged in C and Rust.
pub(super) fn identifier(kind: &str, name: &At<String>, faults: &mut Vec<Diagnostic>) {
    if !is_identifier(name) {
        let fault = name.fault(format!("`{name}` is not a valid name for {kind}"));
        let help = "use lower-case letters, digits and single underscores; a leading underscore is allowed";
        faults.push(fault.help(help));
    } else if is_keyword(name) {
        faults.push(keyword(name).help(match kind {
            "a field" => "choose another name; a source's field can refer to it with `is: NAME`",
            _ => "choose another name",
        }));
    }
}

/// Checks a field's name, which is also a member of a struct in C.
fn field_name(name: &At<String>, faults: &mut Vec<Diagnostic>) {
    identifier("a field", name, faults);
    defined_elsewhere(name, faults);
}

/// Checks the name of a record's type in C.
fn c_name(record: &RecordSpec, faults: &mut Vec<Diagnostic>) {
    let name = &record.c_name;
    if !is_c_name(name) {
        let fault = name.fault(format!("`{name}` is not a valid C name"));
        faults.push(fault.help("use letters, digits and underscores, starting with a letter"));
    } else if is_keyword(name) {
        faults.push(keyword(name).help("choose another name"));
    }
    defined_elsewhere(name, faults);
    // In C++, this would be the name of a constructor.
    if let Some(field) = record.field(name) {
        let fault = name.fault("a field of the record has the same name");
        faults.push(fault.related(field.name.place, "the field"));
    }
}

/// Checks a macro's name, or the beginning of one.
fn macro_name(name: &At<String>, faults: &mut Vec<Diagnostic>) {
    if !is_macro_name(name) {
        let fault = name.fault(format!("`{name}` is not a valid name for a macro"));
        faults.push(fault.help("use capitals, digits and underscores, starting with a letter"));
    }
}

/// Checks that neither a compiler nor the standard headers define a name.
fn defined_elsewhere(name: &At<String>, faults: &mut Vec<Diagnostic>) {
    let why = if is_predefined(name) {
        format!("`{name}` is a macro in C")
    } else if is_standard(name) {
        format!("`{name}` is a name of the standard headers of C")
    } else {
        return;
    };
    faults.push(name.fault(why).help("choose another name"));
}

fn keyword(name: &At<String>) -> Diagnostic {
    let why = format!("`{name}` is a keyword of C, C++ or Rust");
    name.fault(why)
}
