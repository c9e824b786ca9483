//! Tests that the real spec has no faults and exactly the known disagreements, in the expected
//! order.
//!
//! The list is written by hand from the five documents and the samples, so it catches lost claims and
//! wrong comparisons.

mod support;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::LazyLock;

use atf_spec::Compiled;
use atf_spec::model::DecisionKind::{self, Conflict, Split};
use atf_spec::reconcile::{Claim, How, Key, Reconciliation, reconcile};
use atf_spec::yaml::List;
use support::{base, change, faults};

/// Layouts and constants first, then behaviour.
const KNOWN: &[(&str, DecisionKind)] = &[
    // The version byte: 1 in S0, S1, S3 and S4, 2 in S2.
    ("index_header.version.value", Split),
    ("detail_header.version.value", Split),
    // The index header's bytes 20 to 32.
    ("index_header._reserved2.layout", Split),
    ("index_header.event_size.layout", Split),
    ("index_header.event_count.layout", Split),
    // Bytes 16..32 of the index event.
    ("index_event.thread_id.layout", Split),
    ("index_event.event_kind.layout", Split),
    ("index_event.call_depth.layout", Split),
    ("index_event.detail_seq.layout", Split),
    ("index_event._reserved.layout", Split),
    // The sentinel is the maximum u32 in one version and the maximum u64 in the other.
    ("index_event.detail_seq.none", Split),
    // The detail event header's bytes 8 to 16.
    ("detail_event_header.index_seq.layout", Split),
    ("detail_event_header.thread_id.layout", Split),
    // With 28 reserved bytes, the index footer of S0 and S1 is 68 bytes long.
    ("index_footer.reserved.layout", Conflict),
    ("index_footer.size", Conflict),
    // Without 4 reserved bytes, the detail header of S1 and S4 is 60 bytes long.
    ("detail_header._reserved2.layout", Conflict),
    ("detail_header.size", Conflict),
    // The detail headers of S1 and S4 do not list Windows.
    ("os.windows", Conflict),
    // "CRC32" in S0, S1 and S4, CRC-32C in S2.
    ("checksum.algorithm.term", Conflict),
    // seq = offset / 32 in S0 and S1, offset = seq * 32 in S4, but events follow a 64-byte header.
    ("event.place.term", Conflict),
    // A thread id is the operating system's id, the file's id, or an ordinal.
    ("thread_id.identity.term", Conflict),
    // The clock is continuous through sleep, or merely monotonic.
    ("clock.kind.term", Conflict),
    ("finalize.order.term", Conflict),
    ("footer.place.term", Conflict),
    ("recovery.count.term", Conflict),
    ("detail.lookup.term", Conflict),
    ("write.mode.term", Conflict),
    ("payload.shape.term", Conflict),
    ("file.names.term", Conflict),
    ("session.path.term", Conflict),
    ("byte_order.term", Conflict),
    ("function_id.module.term", Conflict),
    ("links.timestamp.term", Conflict),
    ("index_seq.assigned.term", Conflict),
    // Files in the field contradict all documents that mention this topic.
    ("clock.per_os.term", Conflict),
    ("order.causality.term", Conflict),
    ("payload.selector.term", Conflict),
    ("manifest.content.term", Conflict),
];

/// The real spec, compiled once for all tests.
static REAL: LazyLock<Compiled> =
    LazyLock::new(|| atf_spec::compile(Path::new(env!("CARGO_MANIFEST_DIR"))));

fn found() -> &'static Reconciliation {
    REAL.reconciliation.as_ref().expect("no faults")
}

#[test]
fn the_spec_has_no_faults() {
    assert_eq!(REAL.files.render(&REAL.faults, false), "");
    assert!(REAL.layout().is_some());
}

#[test]
fn the_compiler_finds_exactly_the_known_disagreements() {
    let found: BTreeSet<(String, &str)> = found()
        .disagreements
        .iter()
        .map(|found| {
            let settlement = found.settlement.as_ref().expect("all are settled");
            (found.key.to_string(), settlement.decision.decision.name())
        })
        .collect();
    let known = KNOWN
        .iter()
        .map(|(key, kind)| ((*key).to_owned(), kind.name()));
    assert_eq!(found, known.collect());
}

/// Disagreements are found regardless of the decisions that settle them.
#[test]
fn without_its_decisions_each_disagreement_is_a_fault() {
    let mut spec = REAL.spec.clone().expect("the spec is well-formed");
    for record in &mut spec.records {
        record.decisions = List::default();
        for field in &mut record.fields.0 {
            field.decisions = List::default();
        }
    }
    for known in &mut spec.enums.enums.0 {
        known.decisions = List::default();
    }
    for topic in &mut spec.topics {
        topic.decisions = List::default();
    }
    let (found, faults) = reconcile(&spec);
    assert!(found.groups(&spec).is_empty(), "nothing is settled");
    let faults = faults.into_iter().map(|fault| fault.message);
    let faults: BTreeSet<String> = faults.collect();
    let unsettled = |(key, _): &(&str, _)| format!("unsettled: the claims about {key} differ");
    assert_eq!(faults, KNOWN.iter().map(unsettled).collect());
}

#[test]
fn sums_contradict_the_sizes_that_the_same_sources_state_and_assert() {
    let makes = |subject, how, value| sources((subject, "size"), how, value);
    assert_eq!(makes("index_footer", How::Sums, "68"), ["S0", "S1"]);
    assert_eq!(makes("index_footer", How::Sums, "64"), ["S2"]);
    assert_eq!(makes("index_footer", How::Asserts, "64"), ["S1"]);
    assert_eq!(
        makes("index_footer", How::States, "64"),
        ["S0", "S1", "S2", "S3"]
    );
    assert_eq!(makes("detail_header", How::Sums, "60"), ["S1", "S4"]);
    assert_eq!(makes("detail_header", How::Sums, "64"), ["S2"]);
    assert_eq!(makes("detail_header", How::Asserts, "64"), ["S1"]);
}

/// S0 and S1 sketch the index file and give a formula that contradicts the sketch.
#[test]
fn sketches_and_formulas_give_the_offset_of_the_first_event() {
    let puts = |value| sources(("event.place", "term"), How::Sums, value);
    assert_eq!(puts("64"), ["S0", "S1", "S3"]);
    assert_eq!(puts("0"), ["S0", "S1", "S4"]);
    assert_eq!(puts("events_offset"), ["S2"]);
}

/// Uses `broken/base` with two decisions on one field. The committed reference shows the order of
/// all others.
#[test]
fn each_decision_is_listed_once_with_its_disagreements_in_the_specs_order() {
    let folder = base();
    let difference = "--- records/item.yaml
@@
-        settles: [layout, none, depth.layout]
+        settles: [layout, depth.layout]
         title: Version 2 has a u64 next and no depth
         reason: Both fill bytes 8 to 16.
         confidence: certain
+      - decision: split
+        settles: [none]
+        title: Each version has the greatest number of its type
+        reason: No item stands there.
+        confidence: certain
";
    change(folder.path(), difference);
    assert_eq!(faults(folder.path()), "");
    let compiled = atf_spec::compile(folder.path());
    let found = compiled.reconciliation.expect("no faults");
    let groups = found.groups(&compiled.spec.expect("no faults"));
    let listed = groups.iter().map(|group| {
        let settled = group.disagreements.iter();
        let settled: Vec<String> = settled.map(|found| found.key.to_string()).collect();
        (group.settlement.at.as_str(), settled.join(" "))
    });
    let expected = [
        ("head", "head.size"),
        ("head.version", "head.version.value"),
        ("head.reserved", "head.reserved.layout"),
        ("item.next", "item.next.layout item.depth.layout"),
        ("item.next", "item.next.none"),
        ("order", "order.term"),
    ];
    let expected = expected.map(|(at, settled)| (at, settled.to_owned()));
    assert_eq!(listed.collect::<Vec<_>>(), expected);
}

/// Returns the sources that claim `value` in the manner `how`.
fn sources((subject, property): (&str, &str), how: How, value: &str) -> Vec<String> {
    let key = Key {
        subject: subject.to_owned(),
        property: property.to_owned(),
    };
    let is_it = |claim: &&Claim| claim.how == how && claim.value == value;
    let claims = found().claims[&key].iter().filter(is_it);
    let sources: BTreeSet<String> = claims.map(|claim| claim.source.clone()).collect();
    sources.into_iter().collect()
}
