//! Tests how reports describe the rule or field that a failure breaks.

use atf_conformance::charge::{group, sentence};

#[test]
fn a_broken_rule_or_field_is_described_with_its_source() {
    #[rustfmt::skip]
    let charges = [
        ("ATF-RDER-011", "RDER", "A reader returns function_id unchanged; only the manifest defines what its halves mean. (must; "),
        ("index_event.call_depth", "IEVT", "call_depth of the index event: 4 bytes at offset 24, only in version 1 (S0, S1, S2, S3)"),
        ("index_event.event_kind", "IEVT", "event_kind of the index event: 4 bytes at offset 20, or 1 byte at offset 24 in version 2"),
        ("detail_footer", "DFTR", "detail footer: 64 bytes (S1"),
        ("no rule", "no rule", "the files break no rule"),
    ];
    for (charge, in_group, text) in charges {
        assert_eq!(group(charge), in_group);
        let found = sentence(charge).unwrap();
        assert!(found.starts_with(text), "{found}");
    }
    assert_eq!(sentence("ATF-XXXX-001"), None);
}
