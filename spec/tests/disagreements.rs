//! What the compiler finds in the real spec: no fault, and the disagreements that are known.
//!
//! The list is typed by hand from the five documents and the samples, so that neither a claim that
//! gets lost nor a comparison that goes wrong passes unseen.

use std::collections::BTreeSet;
use std::path::Path;

use atf_spec::Compiled;
use atf_spec::model::DecisionKind::{self, Conflict, Split};
use atf_spec::reconcile::{Claim, How, Key, reconcile};
use atf_spec::yaml::List;

/// Layouts and constants first, then behaviour.
const KNOWN: &[(&str, DecisionKind)] = &[
    // The version byte: 1 in S0, S1, S3 and S4, 2 in S2.
    ("index_header.version.value", Split),
    ("detail_header.version.value", Split),
    // The index header's bytes 20 to 32.
    ("index_header._reserved2.layout", Split),
    ("index_header.event_size.layout", Split),
    ("index_header.event_count.layout", Split),
    // The index event's bytes 16 to 32.
    ("index_event.thread_id.layout", Split),
    ("index_event.event_kind.layout", Split),
    ("index_event.call_depth.layout", Split),
    ("index_event.detail_seq.layout", Split),
    ("index_event._reserved.layout", Split),
    // The sentinel: the greatest u32, the greatest u64.
    ("index_event.detail_seq.none", Split),
    // The detail event header's bytes 8 to 16.
    ("detail_event_header.index_seq.layout", Split),
    ("detail_event_header.thread_id.layout", Split),
    // 28 reserved bytes in S0 and S1 make the index footer 68 bytes long.
    ("index_footer.reserved.layout", Conflict),
    ("index_footer.size", Conflict),
    // S1 and S4 leave out 4 reserved bytes, which makes the detail header 60 bytes long.
    ("detail_header._reserved2.layout", Conflict),
    ("detail_header.size", Conflict),
    // The detail headers of S1 and S4 know no Windows.
    ("os.windows", Conflict),
    // "CRC32" in S0, S1 and S4, CRC-32C in S2.
    ("checksum.algorithm.term", Conflict),
    // seq = offset / 32 in S0 and S1, offset = seq * 32 in S4, events behind a header of 64 bytes.
    ("event.place.term", Conflict),
    // The operating system's thread id, or that of the file, or an ordinal.
    ("thread_id.identity.term", Conflict),
    // Continuous through sleep, or monotonic.
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
    // What files in the field show against all documents that speak of it.
    ("clock.per_os.term", Conflict),
    ("order.causality.term", Conflict),
    ("payload.selector.term", Conflict),
    ("manifest.content.term", Conflict),
];

fn compiled() -> Compiled {
    atf_spec::compile(Path::new(env!("CARGO_MANIFEST_DIR")))
}

#[test]
fn the_spec_has_no_fault() {
    let compiled = compiled();
    assert_eq!(compiled.files.render(&compiled.faults, false), "");
    assert!(compiled.layout().is_some());
}

#[test]
fn the_compiler_finds_all_known_disagreements_and_no_other() {
    let found = compiled().reconciliation.expect("the spec has no fault");
    let found: BTreeSet<(String, &str)> = found
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

/// What the decisions say has no part in finding what they settle.
#[test]
fn without_its_decisions_the_spec_has_each_disagreement_as_a_fault() {
    let mut spec = compiled().spec.expect("the spec has no fault of form");
    for record in &mut spec.records {
        record.decisions = List::default();
        record
            .fields
            .0
            .iter_mut()
            .for_each(|field| field.decisions = List::default());
    }
    spec.enums
        .enums
        .0
        .iter_mut()
        .for_each(|known| known.decisions = List::default());
    spec.topics
        .iter_mut()
        .for_each(|topic| topic.decisions = List::default());
    let found = reconcile(&spec);
    let faults: BTreeSet<String> = found
        .faults
        .into_iter()
        .map(|fault| fault.message)
        .collect();
    let unsettled = |(key, _): &(&str, _)| format!("unsettled: the claims on {key} differ");
    assert_eq!(faults, KNOWN.iter().map(unsettled).collect());
}

#[test]
fn sums_contradict_the_sizes_that_the_same_sources_state_and_assert() {
    let found = compiled().reconciliation.expect("the spec has no fault");
    let makes = |subject: &str, how: How, value: &str| -> BTreeSet<String> {
        let key = Key {
            subject: subject.to_owned(),
            property: "size".to_owned(),
        };
        let claims = &found.claims[&key];
        let is_it = |claim: &&Claim| claim.how == how && claim.value == value;
        let sources = claims.iter().filter(is_it);
        sources.map(|claim| claim.source.clone()).collect()
    };
    let set = |ids: &[&str]| -> BTreeSet<String> { ids.iter().map(ToString::to_string).collect() };
    assert_eq!(makes("index_footer", How::Sums, "68"), set(&["S0", "S1"]));
    assert_eq!(makes("index_footer", How::Sums, "64"), set(&["S2"]));
    assert_eq!(makes("index_footer", How::Asserts, "64"), set(&["S1"]));
    assert_eq!(
        makes("index_footer", How::States, "64"),
        set(&["S0", "S1", "S2", "S3"])
    );
    assert_eq!(makes("detail_header", How::Sums, "60"), set(&["S1", "S4"]));
    assert_eq!(makes("detail_header", How::Sums, "64"), set(&["S2"]));
    assert_eq!(makes("detail_header", How::Asserts, "64"), set(&["S1"]));
}
