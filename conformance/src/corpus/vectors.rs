//! Files and their documents, typed by hand from the sources' tables, independently of this
//! project's tables.
//!
//! All bytes of a number differ, so reading at the wrong offset or in the wrong byte order yields a
//! different number. The checksums were computed bit by bit outside this project.

use super::recipe::of_file;
use super::shape::Shape;
use super::{Case, Trace, verdicts};
use atf_samples::files::hex;

pub(super) fn vectors(wire: u8) -> Vec<Case> {
    let [index, detail] = match wire {
        1 => [INDEX_1, DETAIL_1],
        2 => [INDEX_2, DETAIL_2],
        // Other versions have no vectors.
        _ => return Vec::new(),
    };
    let rules = ["ATF-IHDR-005", "ATF-IFTR-003", "ATF-IFTR-004"];
    let index = vector(Shape::new(false, wire, vec![32]), rules, &[], index);
    let rules = ["ATF-DHDR-005", "ATF-DFTR-003", "ATF-DFTR-004"];
    let broken = ["ATF-DEVT-005", "ATF-DPAY-002"];
    let detail = vector(Shape::new(true, wire, vec![27]), rules, &broken, detail);
    vec![index, detail]
}

/// The bytes of a file, its document, and the sources.
type Typed = (&'static str, &'static str, &'static [&'static str]);

/// Returns the case of a file. Its `shape` is used only to show its parts.
fn vector(
    shape: Shape,
    rules: [&'static str; 3],
    broken: &[&'static str],
    (bytes, document, sources): Typed,
) -> Case {
    let wire = shape.wire;
    let kind = if shape.is_detail { "detail" } else { "index" };
    let (name, file) = (format!("v{wire}/vector-{kind}"), format!("{kind}.atf"));
    let expected = serde_json::from_str(document);
    let expected = expected.unwrap_or_else(|error| panic!("{name}: {error}"));
    let allowed = verdicts::of_rules(broken.iter().copied());
    let judged = verdicts::file(&file, broken, "", shape.survivors().len(), allowed);
    let mut trace = Trace::clean(wire);
    trace.put_shaped(&file, hex(bytes), shape);
    Case {
        name,
        rules: rules.to_vec(),
        flags: vec!["footer-field-order", "wide-numbers"],
        note: "Bytes and document are typed by hand from the sources' tables. The bytes of each number differ, \
               so a field read from the wrong place has a different value."
            .to_owned(),
        sources: sources.to_vec(),
        ..of_file(&trace, &file, broken, expected, judged)
    }
}

const INDEX_1: Typed = (
    "41544932 01 01 02 03 01000000 2a000000 01 000000 00000000 20000000 01000000
     4000000000000000 6000000000000000 1122334455667708 1122334455667708
     1122334455667708 9900aabb01000000 2a000000 01000000 03000000 05000000
     32495441 04bedfdd 0100000000000000 1122334455667708 1122334455667708 2000000000000000
     000000000000000000000000000000000000000000000000",
    r#"{"kind": "index", "verdict": "accept",
        "header": {"endian": 1, "version": 1, "arch": 2, "os": 3, "flags": 1, "thread_id": 42,
                   "clock_type": 1, "event_size": 32, "event_count": 1, "events_offset": "64",
                   "footer_offset": "96", "time_start_ns": "610068790934446609",
                   "time_end_ns": "610068790934446609"},
        "events": [{"timestamp_ns": "610068790934446609", "function_id": "7443447961",
                    "thread_id": 42, "event_kind": 1, "call_depth": 3, "detail_seq": "5"}],
        "footer": {"checksum": 3722427908, "event_count": "1",
                   "time_start_ns": "610068790934446609", "time_end_ns": "610068790934446609",
                   "bytes_written": "32"},
        "derived": {"event_count": "1", "count_source": "footer", "checksum": "good",
                    "trailing_bytes": "0"}}"#,
    &["S0", "S1", "S3"],
);

const INDEX_2: Typed = (
    "41544932 01 02 02 03 01000000 2a000000 01 000000 20000000 0100000000000000
     4000000000000000 6000000000000000 1122334455667708 1122334455667708
     1122334455667708 9900aabb01000000 0500000000000000 02 00000000000000
     32495441 193ea073 0100000000000000 1122334455667708 1122334455667708 2000000000000000
     000000000000000000000000000000000000000000000000",
    r#"{"kind": "index", "verdict": "accept",
        "header": {"endian": 1, "version": 2, "arch": 2, "os": 3, "flags": 1, "thread_id": 42,
                   "clock_type": 1, "event_size": 32, "event_count": "1", "events_offset": "64",
                   "footer_offset": "96", "time_start_ns": "610068790934446609",
                   "time_end_ns": "610068790934446609"},
        "events": [{"timestamp_ns": "610068790934446609", "function_id": "7443447961",
                    "event_kind": 2, "detail_seq": "5"}],
        "footer": {"checksum": 1939881497, "event_count": "1",
                   "time_start_ns": "610068790934446609", "time_end_ns": "610068790934446609",
                   "bytes_written": "32"},
        "derived": {"event_count": "1", "count_source": "footer", "checksum": "good",
                    "trailing_bytes": "0"}}"#,
    &["S2"],
);

const DETAIL_1: Typed = (
    "41544432 01 01 02 03 00000000 2a000000 00000000 4000000000000000 0100000000000000
     1b00000000000000 0700000000000000 0700000000000000 00000000
     1b000000 0300 0080 07000000 2a000000 1122334455667708 c0ffee
     32445441 a61aa934 0100000000000000 1b00000000000000 1122334455667708 1122334455667708
     000000000000000000000000000000000000000000000000",
    r#"{"kind": "detail", "verdict": "accept",
        "header": {"endian": 1, "version": 1, "arch": 2, "os": 3, "flags": 0, "thread_id": 42,
                   "events_offset": "64", "event_count": "1", "bytes_length": "27",
                   "index_seq_start": "7", "index_seq_end": "7"},
        "events": [{"total_length": 27, "event_type": 3, "flags": 32768, "index_seq": "7",
                    "thread_id": 42, "timestamp": "610068790934446609", "payload": "c0ffee",
                    "function": null}],
        "footer": {"checksum": 883497638, "event_count": "1", "bytes_length": "27",
                   "time_start_ns": "610068790934446609", "time_end_ns": "610068790934446609"},
        "derived": {"event_count": "1", "count_source": "footer", "checksum": "good",
                    "trailing_bytes": "0"}}"#,
    &["S1", "S3", "S4"],
);

const DETAIL_2: Typed = (
    "41544432 01 02 02 03 00000000 2a000000 00000000 4000000000000000 0100000000000000
     1b00000000000000 0700000000000000 0700000000000000 00000000
     1b000000 0400 0080 0700000000000000 1122334455667708 c0ffee
     32445441 8af92d4c 0100000000000000 1b00000000000000 1122334455667708 1122334455667708
     000000000000000000000000000000000000000000000000",
    r#"{"kind": "detail", "verdict": "accept",
        "header": {"endian": 1, "version": 2, "arch": 2, "os": 3, "flags": 0, "thread_id": 42,
                   "events_offset": "64", "event_count": "1", "bytes_length": "27",
                   "index_seq_start": "7", "index_seq_end": "7"},
        "events": [{"total_length": 27, "event_type": 4, "flags": 32768, "index_seq": "7",
                    "timestamp": "610068790934446609", "payload": "c0ffee", "function": null}],
        "footer": {"checksum": 1278081418, "event_count": "1", "bytes_length": "27",
                   "time_start_ns": "610068790934446609", "time_end_ns": "610068790934446609"},
        "derived": {"event_count": "1", "count_source": "footer", "checksum": "good",
                    "trailing_bytes": "0"}}"#,
    &["S2"],
);
