//! Files and their documents, typed by hand from the sources' tables, independently of this
//! project's tables.
//!
//! All bytes of a number differ, so reading at the wrong offset or in the wrong byte order yields a
//! different number. The checksums were computed bit by bit outside this project.

use super::recipe::of_file;
use super::shape::Shape;
use super::{Case, Trace, verdicts};
use atf_samples::files::hex;

/// Returns the vectors of one wire version.
pub(super) fn vectors(wire: u8) -> Vec<Case> {
    let [index, detail] = match wire {
        1 => [INDEX_1, DETAIL_1],
        2 => [INDEX_2, DETAIL_2],
        // Other versions have no vectors.
        _ => return Vec::new(),
    };
    let index = Vector {
        slug: "vector-index",
        file: "index.atf",
        rules: &["ATF-IHDR-005", "ATF-IFTR-003", "ATF-IFTR-004"],
        broken: &[],
        shape: Shape::new(false, wire, vec![32]),
        typed: index,
    };
    let detail = Vector {
        slug: "vector-detail",
        file: "detail.atf",
        rules: &["ATF-DHDR-005", "ATF-DFTR-003", "ATF-DFTR-004"],
        broken: &["ATF-DEVT-005", "ATF-DPAY-002"],
        shape: Shape::new(true, wire, vec![27]),
        typed: detail,
    };
    vec![index.case(wire), detail.case(wire)]
}

struct Vector {
    slug: &'static str,
    file: &'static str,
    rules: &'static [&'static str],
    broken: &'static [&'static str],
    /// The file's parts, used only to show them.
    shape: Shape,
    /// The bytes, the document and the sources.
    typed: (&'static str, &'static str, &'static [&'static str]),
}

impl Vector {
    fn case(self, wire: u8) -> Case {
        let (bytes, document, sources) = self.typed;
        let expected = serde_json::from_str(document);
        let expected = expected.unwrap_or_else(|error| panic!("{}: {error}", self.slug));
        let file = verdicts::File {
            is_detail: self.shape.is_detail,
            broken: self.broken,
            phantoms: "",
            events: self.shape.survivors().len(),
        };
        let judged = verdicts::file(file, verdicts::of_rules(self.broken.iter().copied()));
        let mut trace = Trace::clean(wire);
        trace.put_shaped(self.file, hex(bytes), self.shape);
        Case {
            name: format!("v{wire}/{}", self.slug),
            rules: self.rules.to_vec(),
            flags: vec!["footer-field-order", "wide-numbers"],
            note: "Bytes and document are typed by hand from the sources' tables. The bytes of each number differ, \
                   so a field read from the wrong place has a different value."
                .to_owned(),
            sources: sources.to_vec(),
            ..of_file(&trace, self.file, self.broken, expected, judged)
        }
    }
}

const INDEX_1: (&str, &str, &[&str]) = (
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

const INDEX_2: (&str, &str, &[&str]) = (
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

const DETAIL_1: (&str, &str, &[&str]) = (
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

const DETAIL_2: (&str, &str, &[&str]) = (
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
