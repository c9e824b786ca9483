//! Tests that C compilers find the expected layout in the headers and report every field that
//! deviates from it.

mod support;

use std::collections::BTreeSet;
use std::fs;

use atf_codegen::emit;
use atf_spec::layout::{Field, Layout, Record, Value, Wire};

use support::{Bench, Compiler, headers, layout, text};

#[test]
fn compilers_find_every_size_offset_and_value_of_the_layout() {
    let layout = layout();
    let expected = expected_probe(&layout);
    let bench = Bench::new(&headers(&layout, ".h"));
    let probe = bench.path().join("probe.c");
    fs::write(&probe, emit::c::probe(&layout).text).expect("a temporary file");
    for compiler in Compiler::all() {
        let output = compiler.run(&bench, &probe, &[], &[]);
        assert!(output.status.success(), "{compiler}");
        let found = text(&output.stdout);
        let found: BTreeSet<&str> = found.lines().collect();
        let expected: BTreeSet<&str> = expected.iter().map(String::as_str).collect();
        let missing: Vec<_> = expected.difference(&found).collect();
        let unknown: Vec<_> = found.difference(&expected).collect();
        let is_expected = missing.is_empty() && unknown.is_empty();
        assert!(is_expected, "{compiler}: {missing:?}, {unknown:?}");
    }
}

fn expected_probe(layout: &Layout) -> Vec<String> {
    let mut lines = Vec::new();
    for (record, wire) in records(layout) {
        let constant = format!("ATF_V{wire}_{}", record.name.to_uppercase());
        lines.push(format!("v{wire} {} {}", record.name, record.size));
        lines.push(format!("{constant}_SIZE {}", record.size));
        for field in fields(record, wire) {
            let (name, offset, size) = (&field.name, field.offset, field.ty.size());
            lines.push(format!("v{wire} {}.{name} {offset} {size}", record.name));
            let constant = format!("{constant}_{}", name.to_uppercase());
            match &field.value {
                Some(Value::Number(value)) => lines.push(format!("{constant} {value}")),
                Some(Value::Text(value)) => lines.push(format!("{constant} {value}")),
                None => {}
            }
        }
    }
    for constant in &layout.constants {
        for value in &constant.values {
            let prefix = format!("ATF_V{}_", value.wire);
            let name = constant.name.replace("ATF_", &prefix);
            lines.push(format!("{name} {}", value.value));
        }
    }
    for enumeration in &layout.enums {
        for member in &enumeration.members {
            lines.push(format!("{} {}", enumeration.c_name(member), member.value));
        }
    }
    lines
}

#[test]
fn a_wrong_offset_stops_the_compiler_at_that_field_and_no_other() {
    let mut layout = layout();
    let fields = &mut layout.records[0].layouts[0].fields;
    let field = fields.iter_mut().find(|field| field.name == "event_count");
    let field = field.expect("a field of the index header");
    field.offset += 1;
    let wrong = "index_header.event_count";
    let message = format!("must be at offset {} in wire version 1", field.offset);

    let bench = Bench::new(&headers(&layout, ".h"));
    for compiler in Compiler::all() {
        for (header, c_name) in [("v1", "AtfIndexHeader"), ("wire", "AtfV1IndexHeader")] {
            let source = format!("#include \"atf_{header}.h\"\n");
            let checked = compiler.check(&bench, &source, &[]);
            let printed = checked.expect_err("the offset is wrong");
            let message = format!("{wrong} ({c_name}) {message}");
            assert!(printed.contains(&message), "{compiler}: {printed}");
            let named = named(&layout, &printed);
            assert_eq!(named, [wrong.to_owned()].into(), "{compiler}: {printed}");
        }
        let untouched = compiler.check(&bench, "#include \"atf_v2.h\"\n", &[]);
        assert_eq!(untouched, Ok(()), "{compiler}: wire version 2");
    }
}

#[test]
fn each_record_compiles_alone_and_each_of_its_asserts_can_fail() {
    let layout = layout();
    let bench = Bench::new(&[]);
    let compilers = Compiler::all();
    for (record, wire) in records(&layout) {
        let sound = emit::c::record_definition(&layout, record, wire);
        let mut wrong = record.clone();
        wrong.size += 1;
        let layouts = wrong.layouts.iter_mut().filter(|it| it.wire == wire);
        let moved = layouts.flat_map(|layout| &mut layout.fields);
        moved.for_each(|field| field.offset += 1);
        let wrong = emit::c::record_definition(&layout, &wrong, wire);
        let all = fields(record, wire).iter();
        let all = all.map(|field| format!("{}.{}", record.name, field.name));
        let all: BTreeSet<String> = all.chain([record.name.clone()]).collect();

        for compiler in &compilers {
            let context = format!("{compiler}: {} in wire version {wire}", record.name);
            assert_eq!(compiler.check(&bench, &sound, &[]), Ok(()), "{context}");
            let checked = compiler.check(&bench, &wrong, &[]);
            let printed = checked.expect_err("everything is wrong");
            assert_eq!(named(&layout, &printed), all, "{context}: {printed}");
        }
    }
}

#[test]
fn a_field_of_the_wrong_size_stops_the_compiler() {
    let layout = layout();
    let record = layout.record("detail_function_payload");
    let record = record.expect("a record of the format");
    let sound = emit::c::record_definition(&layout, record, 1);
    let wrong = sound.replace("uint16_t _reserved;", "uint32_t _reserved;");
    assert_ne!(sound, wrong);
    for compiler in Compiler::all() {
        let checked = compiler.check(&Bench::new(&[]), &wrong, &[]);
        let printed = checked.expect_err("a size is wrong");
        let named = named(&layout, &printed);
        let expected = ["", "._reserved"].map(|field| format!("{}{field}", record.name));
        assert_eq!(named, expected.into(), "{compiler}: {printed}");
    }
}

/// Replaces each prose string in the layout with a unique mark, and searches for all marks in the
/// header.
#[test]
fn the_comments_contain_everything_in_the_layout() {
    let mut layout = layout();
    let mut marks = Vec::new();
    let mut mark = |place: &mut String, name: String| {
        let name = name.replace('_', "-");
        *place = format!("The mark <{name}>.");
        marks.push(format!("<{name}>"));
    };
    for constant in &mut layout.constants {
        mark(&mut constant.doc, constant.name.clone());
    }
    for enumeration in &mut layout.enums {
        mark(&mut enumeration.doc, enumeration.name.clone());
        for member in &mut enumeration.members {
            let name = format!("{}.{}", enumeration.name, member.name);
            mark(&mut member.doc, name);
        }
    }
    for source in &mut layout.sources {
        mark(&mut source.title, source.id.clone());
    }
    for record in &mut layout.records {
        mark(&mut record.title, format!("{}-title", record.name));
        mark(&mut record.doc, record.name.clone());
        let behind = format!("{}-behind", record.name);
        mark(record.followed_by.get_or_insert_default(), behind);
        for field in record.layouts.iter_mut().flat_map(|it| &mut it.fields) {
            // A field has the same marks in both wire versions, so each header must contain the
            // marks of all its fields.
            let name = format!("{}.{}", record.name, field.name);
            mark(&mut field.doc, name.clone());
            mark(field.units.get_or_insert_default(), format!("{name}-unit"));
            field.constraints = vec![String::new(), String::new()];
            mark(&mut field.constraints[0], format!("{name}-first"));
            mark(&mut field.constraints[1], format!("{name}-second"));
            field.sources = vec![String::new()];
            mark(&mut field.sources[0], format!("{name}-source"));
        }
    }
    let all = headers(&layout, "atf_wire.h").remove(0).text;
    for mark in &marks {
        assert!(all.contains(mark), "{mark} is missing");
    }
    let is_comment = |line: &&str| line.trim_start().starts_with(['*', '/']);
    for line in all.lines().filter(is_comment) {
        assert!(line.chars().count() <= 96, "{line}");
    }
}

fn records(layout: &Layout) -> impl Iterator<Item = (&Record, Wire)> {
    let records = layout.records.iter();
    records.flat_map(|record| record.layouts.iter().map(move |own| (record, own.wire)))
}

fn fields(record: &Record, wire: Wire) -> &[Field] {
    let layout = record.layout(wire);
    &layout.expect("the wire version is the record's own").fields
}

/// Returns the records and fields mentioned in a compiler's errors, as `record` and `record.field`.
fn named(layout: &Layout, printed: &str) -> BTreeSet<String> {
    let errors = printed.lines().filter(|line| line.contains("error"));
    let errors: Vec<&str> = errors.collect();
    let mut subjects = BTreeSet::new();
    for (record, wire) in records(layout) {
        subjects.insert(record.name.clone());
        let fields = fields(record, wire).iter();
        subjects.extend(fields.map(|field| format!("{}.{}", record.name, field.name)));
    }
    subjects.retain(|subject| {
        let words = format!("{subject} (");
        errors.iter().any(|line| line.contains(&words))
    });
    subjects
}
