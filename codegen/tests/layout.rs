//! Compares the resolved layout with the hand-typed tables in `samples`, and with values written by hand here.
//!
//! Generators, readers and their tests take their offsets from the spec, so none of them would
//! notice a mistake in it. Nothing in this file comes from the spec's YAML.

use std::path::Path;

use atf_samples::layout::Record as Typed;
use atf_spec::layout::{Field, Layout, Record, Value, Wire};

/// The members of an enumeration: name and value.
type Members = &'static [(&'static str, u64)];

/// The enumerations: name, members, whether they are flags.
const ENUMS: &[(&str, Members, bool)] = &[
    ("arch", &[("x86_64", 1), ("arm64", 2)], false),
    (
        "os",
        &[
            ("ios", 1),
            ("android", 2),
            ("macos", 3),
            ("linux", 4),
            ("windows", 5),
        ],
        false,
    ),
    (
        "clock",
        &[("mach_continuous", 1), ("qpc", 2), ("boottime", 3)],
        false,
    ),
    (
        "event_kind",
        &[("call", 1), ("return", 2), ("exception", 3)],
        false,
    ),
    (
        "detail_event_type",
        &[("function_call", 3), ("function_return", 4)],
        false,
    ),
    ("index_flags", &[("has_detail_file", 1)], true),
];

fn layout() -> Layout {
    let spec = Path::new(env!("CARGO_MANIFEST_DIR")).join("../spec");
    let compiled = atf_spec::compile(&spec);
    compiled.layout().expect("the spec has no faults")
}

fn record<'a>(layout: &'a Layout, name: &str) -> &'a Record {
    layout.record(name).expect("a record of the format")
}

fn field<'a>(layout: &'a Layout, record: &str, wire: Wire, name: &str) -> &'a Field {
    let layout = self::record(layout, record).layout(wire);
    let layout = layout.expect("a wire version");
    layout.field(name).expect("a field")
}

/// Returns a field's fixed value in a wire version.
fn value(layout: &Layout, record: &str, wire: Wire, name: &str) -> Option<Value> {
    field(layout, record, wire, name).value.clone()
}

#[test]
fn every_field_is_where_the_documents_put_it() {
    let layout = layout();
    assert_eq!(layout.wires, [1, 2]);
    let names = layout.records.iter().map(|record| record.name.as_str());
    assert!(names.eq(Typed::ALL.map(Typed::name)));
    for (wire, typed) in [1, 2]
        .into_iter()
        .flat_map(|wire| Typed::ALL.map(|typed| (wire, typed)))
    {
        let name = typed.name();
        let record = record(&layout, name);
        let layout = record.layout(wire);
        let fields = &layout.expect("all wire versions have all records").fields;
        let found = fields.iter();
        let found = found.map(|it| (it.offset as usize, it.ty.size() as usize, &*it.name));
        let found: Vec<_> = found.collect();
        let expected = typed.fields(wire).iter();
        let expected: Vec<_> = expected.map(|it| (it.offset, it.size, it.name)).collect();
        assert_eq!(found, expected, "{name} in wire version {wire}");
        assert_eq!(record.size as usize, typed.size(), "{name}");
        let (file, _) = name.split_once('_').expect("a file's name");
        assert_eq!(record.file, format!("{file}.atf"), "{name}");
    }
}

#[test]
fn fixed_values_match_the_documents() {
    let layout = layout();
    for wire in [1, 2] {
        let magics = [
            ("index_header", "ATI2"),
            ("index_footer", "2ITA"),
            ("detail_header", "ATD2"),
            ("detail_footer", "2DTA"),
        ];
        for (record, magic) in magics {
            let expected = Some(Value::Text(magic.to_owned()));
            assert_eq!(value(&layout, record, wire, "magic"), expected, "{record}");
        }
        for record in ["index_header", "detail_header"] {
            let number = |field| value(&layout, record, wire, field);
            assert_eq!(number("endian"), Some(Value::Number(1)), "{record}");
            let version = Some(Value::Number(wire.into()));
            assert_eq!(number("version"), version, "{record}");
        }
        let event_size = value(&layout, "index_header", wire, "event_size");
        assert_eq!(event_size, Some(Value::Number(32)));
    }
}

#[test]
fn enumerations_match_the_documents() {
    let layout = layout();
    assert_eq!(layout.enums.len(), ENUMS.len());
    for (known, (name, members, is_flags)) in layout.enums.iter().zip(ENUMS) {
        let found = known.members.iter();
        let found: Vec<_> = found.map(|it| (it.name.as_str(), it.value)).collect();
        assert_eq!((known.name.as_str(), known.flags), (*name, *is_flags));
        assert_eq!(found, *members, "{name}");
    }
}

#[test]
fn enumerations_belong_to_the_documented_fields() {
    let layout = layout();
    for wire in [1, 2] {
        let of = |record: &Record| -> Vec<(String, String)> {
            let fields = &record.layout(wire).expect("both wire versions").fields;
            let used = fields.iter().filter_map(|field| {
                let name = field.enumeration.clone()?;
                Some((format!("{}.{}", record.name, field.name), name))
            });
            used.collect()
        };
        let found: Vec<(String, String)> = layout.records.iter().flat_map(of).collect();
        let expected = [
            ("index_header.arch", "arch"),
            ("index_header.os", "os"),
            ("index_header.flags", "index_flags"),
            ("index_header.clock_type", "clock"),
            ("index_event.event_kind", "event_kind"),
            ("detail_header.arch", "arch"),
            ("detail_header.os", "os"),
            ("detail_event_header.event_type", "detail_event_type"),
        ];
        let expected = expected.map(|(field, name)| (field.to_owned(), name.to_owned()));
        assert_eq!(found, expected, "wire version {wire}");
    }
}

#[test]
fn version_1_counts_and_links_have_32_bits_and_the_greatest_link_means_none() {
    let layout = layout();
    for (wire, size, greatest) in [(1, 4, 0xFFFF_FFFF), (2, 8, 0xFFFF_FFFF_FFFF_FFFF)] {
        let field = |record: &str, name: &str| field(&layout, record, wire, name);
        assert_eq!(field("index_header", "event_count").ty.size(), size);
        assert_eq!(field("index_event", "detail_seq").ty.size(), size);
        assert_eq!(field("detail_event_header", "index_seq").ty.size(), size);
        assert_eq!(field("index_event", "detail_seq").none, Some(greatest));
        let constant = &layout.constants[0];
        let value = constant.values.iter().find(|value| value.wire == wire);
        let value = value.expect("both wire versions have the constant");
        assert_eq!(constant.name, "ATF_NO_DETAIL_SEQ");
        assert_eq!((value.scalar.size(), value.value), (size, greatest));
    }
    assert_eq!(layout.constants.len(), 1);
}

/// S3 states that a 64-byte line holds two 32-byte events, a header, or a footer.
#[test]
fn a_cache_line_holds_two_index_events_a_header_or_a_footer() {
    let layout = layout();
    let size = |name: &str| layout.record(name).map(|record| record.size);
    assert_eq!(size("index_event"), Some(32));
    for name in [
        "index_header",
        "index_footer",
        "detail_header",
        "detail_footer",
    ] {
        assert_eq!(size(name), Some(64), "{name}");
    }
}
