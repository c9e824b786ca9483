//! Checks the fields that a writer derives from the events, as the grammars list them, in files built
//! by hand.

use std::path::Path;

use atf_interpreter::{File, grammar_of};
use atf_samples::files::{DetailFile, DetailRecord, IndexFile, crc32c};
use atf_spec::grammar::Derivation;

#[test]
fn derived_fields_match_the_events() {
    let compiled = atf_spec::compile(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../spec"));
    let layout = compiled.layout().expect("no faults");
    let details = [(2, 1000), (5, 1400), (9, 1900)];
    for (wire, count) in [(1, 0), (1, 3), (2, 0), (2, 3)] {
        let details = details.iter().take(count);
        let details = details.map(|(seq, time)| DetailRecord::call(*seq, *time, 3));
        let files = [
            (
                "timestamp_ns",
                IndexFile::finalized(wire, count as u64).bytes(),
            ),
            (
                "timestamp",
                DetailFile::new(wire, details.collect()).bytes(),
            ),
        ];
        for (time, bytes) in files {
            let grammar = grammar_of(&layout, &bytes).expect("a known magic");
            let file = File::open(&layout, grammar, &bytes).expect("a correct file");
            let places: Vec<u64> = file.events().collect();
            assert_eq!(places.len(), count);
            let (start, end) = (file.call("start", &[]), file.value("events_end"));
            let section = usize::try_from(start).unwrap()..usize::try_from(end).unwrap();
            let number = |at: Option<&u64>, field: &str| {
                at.map_or(0, |at| file.view("event", *at).number(field))
            };
            let (first, last) = (places.first(), places.last());
            assert!(grammar.derived.len() > 9);
            for own in &grammar.derived {
                let expected = match own.is {
                    Derivation::Checksum => crc32c(&bytes[section.clone()]).into(),
                    Derivation::Count => count as u64,
                    Derivation::End => end,
                    Derivation::FirstLink => number(first, "index_seq"),
                    Derivation::FirstTime => number(first, time),
                    Derivation::LastLink => number(last, "index_seq"),
                    Derivation::LastTime => number(last, time),
                    Derivation::Length => end - start,
                    Derivation::Start => start,
                };
                let at = if own.role == "footer" { end } else { 0 };
                let stated = file.view(&own.role, at).number(&own.field);
                assert_eq!(stated, expected, "{wire} {} {own:?}", grammar.name);
            }
        }
    }
}
