//! Compares the resolved layout with numbers typed by hand from the documents' tables and structs.
//!
//! Generators, readers and their tests take their offsets from the spec, so none of them would
//! notice a mistake in it. Nothing in this file comes from the spec's YAML.

use std::path::Path;

use atf_spec::layout::{Layout, Record, Value, Wire};

/// A record's name, its size, and its fields: offset, size, name.
type Table = (&'static str, u32, &'static [(u32, u32, &'static str)]);

/// The records that are the same in both wire versions. They come from the structs of S0, S1 and S4
/// and the tables of S2.
const BOTH: &[Table] = &[
    (
        "index_footer",
        64,
        &[
            (0, 4, "magic"),
            (4, 4, "checksum"),
            (8, 8, "event_count"),
            (16, 8, "time_start_ns"),
            (24, 8, "time_end_ns"),
            (32, 8, "bytes_written"),
            // S2 states 24 bytes, which agrees with the record size of 64 that all sources state.
            // The 28 bytes of S0 and S1 would make the record 68 bytes long.
            (40, 24, "reserved"),
        ],
    ),
    (
        "detail_header",
        64,
        &[
            (0, 4, "magic"),
            (4, 1, "endian"),
            (5, 1, "version"),
            (6, 1, "arch"),
            (7, 1, "os"),
            (8, 4, "flags"),
            (12, 4, "thread_id"),
            (16, 4, "_reserved1"),
            // From here on, 64-bit fields are not aligned to 8 bytes.
            (20, 8, "events_offset"),
            (28, 8, "event_count"),
            (36, 8, "bytes_length"),
            (44, 8, "index_seq_start"),
            (52, 8, "index_seq_end"),
            // This field follows from S2 and the record size of 64 that all sources state. The
            // structs of S1 and S4 end at 60.
            (60, 4, "_reserved2"),
        ],
    ),
    (
        "detail_function_payload",
        100,
        &[
            (0, 8, "function_id"),
            (8, 64, "x_regs"),
            (72, 8, "lr"),
            (80, 8, "fp"),
            (88, 8, "sp"),
            (96, 2, "stack_size"),
            (98, 2, "_reserved"),
        ],
    ),
    (
        // Unlike in the index footer, the length comes before the times.
        "detail_footer",
        64,
        &[
            (0, 4, "magic"),
            (4, 4, "checksum"),
            (8, 8, "event_count"),
            (16, 8, "bytes_length"),
            (24, 8, "time_start_ns"),
            (32, 8, "time_end_ns"),
            (40, 24, "reserved"),
        ],
    ),
    // No document describes this record. The decision ring.place defines it.
    (
        "ring_header",
        128,
        &[
            (0, 4, "magic"),
            (4, 1, "endian"),
            (5, 1, "version"),
            (6, 2, "_reserved1"),
            (8, 4, "thread_id"),
            (12, 4, "_reserved2"),
            (16, 8, "index_capacity"),
            (24, 8, "index_start"),
            (32, 8, "index_size"),
            (40, 4, "index_checksum"),
            (44, 4, "detail_checksum"),
            (48, 8, "detail_capacity"),
            (56, 8, "detail_start"),
            (64, 8, "detail_size"),
            (72, 56, "_reserved3"),
        ],
    ),
];

/// The structs of S0, S1, S3 and S4.
const VERSION_1: &[Table] = &[
    (
        "index_header",
        64,
        &[
            (0, 4, "magic"),
            (4, 1, "endian"),
            (5, 1, "version"),
            (6, 1, "arch"),
            (7, 1, "os"),
            (8, 4, "flags"),
            (12, 4, "thread_id"),
            (16, 1, "clock_type"),
            (17, 3, "_reserved1"),
            (20, 4, "_reserved2"),
            (24, 4, "event_size"),
            (28, 4, "event_count"),
            (32, 8, "events_offset"),
            (40, 8, "footer_offset"),
            (48, 8, "time_start_ns"),
            (56, 8, "time_end_ns"),
        ],
    ),
    (
        "index_event",
        32,
        &[
            (0, 8, "timestamp_ns"),
            (8, 8, "function_id"),
            (16, 4, "thread_id"),
            (20, 4, "event_kind"),
            (24, 4, "call_depth"),
            (28, 4, "detail_seq"),
        ],
    ),
    (
        "detail_event_header",
        24,
        &[
            (0, 4, "total_length"),
            (4, 2, "event_type"),
            (6, 2, "flags"),
            (8, 4, "index_seq"),
            (12, 4, "thread_id"),
            (16, 8, "timestamp"),
        ],
    ),
];

/// The tables of S2.
const VERSION_2: &[Table] = &[
    (
        "index_header",
        64,
        &[
            (0, 4, "magic"),
            (4, 1, "endian"),
            (5, 1, "version"),
            (6, 1, "arch"),
            (7, 1, "os"),
            (8, 4, "flags"),
            (12, 4, "thread_id"),
            (16, 1, "clock_type"),
            (17, 3, "_reserved1"),
            (20, 4, "event_size"),
            (24, 8, "event_count"),
            (32, 8, "events_offset"),
            (40, 8, "footer_offset"),
            (48, 8, "time_start_ns"),
            (56, 8, "time_end_ns"),
        ],
    ),
    (
        "index_event",
        32,
        &[
            (0, 8, "timestamp_ns"),
            (8, 8, "function_id"),
            (16, 8, "detail_seq"),
            (24, 1, "event_kind"),
            (25, 7, "_reserved"),
        ],
    ),
    (
        "detail_event_header",
        24,
        &[
            (0, 4, "total_length"),
            (4, 2, "event_type"),
            (6, 2, "flags"),
            (8, 8, "index_seq"),
            (16, 8, "timestamp"),
        ],
    ),
];

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

/// Returns a field's fixed value in a wire version.
fn value(layout: &Layout, record: &str, wire: Wire, field: &str) -> Option<Value> {
    let layout = self::record(layout, record)
        .layout(wire)
        .expect("a wire version");
    layout.field(field).expect("a field").value.clone()
}

#[test]
fn every_field_is_where_the_documents_put_it() {
    let layout = layout();
    assert_eq!(layout.wires, [1, 2]);
    for (wire, own) in [(1, VERSION_1), (2, VERSION_2)] {
        let tables: Vec<&Table> = BOTH.iter().chain(own).collect();
        assert_eq!(layout.records.len(), tables.len());
        for (name, size, fields) in tables {
            let record = record(&layout, name);
            assert_eq!(record.size, *size, "{name}");
            let found = record
                .layout(wire)
                .expect("both wire versions have all records");
            let found: Vec<(u32, u32, &str)> = found
                .fields
                .iter()
                .map(|field| (field.offset, field.ty.size(), field.name.as_str()))
                .collect();
            assert_eq!(found, *fields, "{name} in wire version {wire}");
        }
    }
}

/// Catches typing mistakes in the tables above.
#[test]
fn the_hand_typed_tables_have_no_gaps_or_overlaps() {
    for (name, size, fields) in BOTH.iter().chain(VERSION_1).chain(VERSION_2) {
        let end = fields.iter().fold(0, |end, (offset, size, field)| {
            assert_eq!(*offset, end, "{name}.{field}");
            offset + size
        });
        assert_eq!(end, *size, "{name}");
    }
}

#[test]
fn the_records_are_in_file_order() {
    let layout = layout();
    let found: Vec<(&str, &str)> = layout
        .records
        .iter()
        .map(|record| (record.name.as_str(), record.file.as_str()))
        .collect();
    let expected = [
        ("index_header", "index.atf"),
        ("index_event", "index.atf"),
        ("index_footer", "index.atf"),
        ("detail_header", "detail.atf"),
        ("detail_event_header", "detail.atf"),
        ("detail_function_payload", "detail.atf"),
        ("detail_footer", "detail.atf"),
        ("ring_header", "ring.atf"),
    ];
    assert_eq!(found, expected);
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
            assert_eq!(
                number("version"),
                Some(Value::Number(wire.into())),
                "{record}"
            );
        }
        let event_size = value(&layout, "index_header", wire, "event_size");
        assert_eq!(event_size, Some(Value::Number(32)));
    }
}

#[test]
fn enumerations_match_the_documents() {
    let layout = layout();
    let found: Vec<_> = layout
        .enums
        .iter()
        .map(|known| {
            let member = |member: &atf_spec::layout::Member| (member.name.clone(), member.value);
            let members: Vec<(String, u64)> = known.members.iter().map(member).collect();
            (known.name.clone(), members, known.flags)
        })
        .collect();
    let expected: Vec<_> = ENUMS
        .iter()
        .map(|(name, members, flags)| {
            let member = |(name, value): &(&str, u64)| ((*name).to_owned(), *value);
            let members: Vec<(String, u64)> = members.iter().map(member).collect();
            ((*name).to_owned(), members, *flags)
        })
        .collect();
    assert_eq!(found, expected);
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
        let field = |record: &str, field: &str| {
            let layout = self::record(&layout, record)
                .layout(wire)
                .expect("a wire version");
            layout.field(field).expect("a field").clone()
        };
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
