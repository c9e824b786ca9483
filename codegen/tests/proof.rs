//! Tests that `codegen/proof.json` covers the committed headers, layout and script, and that
//! `docs/safety.md` states its counts. `.ci/prove` wrote it, and repeats the proof every night.

mod support;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use support::{headers, layout};

/// Removes a header's comments, so that a changed comment needs no new proof.
fn without_comments(header: &str) -> String {
    let mut parts = header.split("/*");
    let code = parts.next().map(str::to_owned);
    let rest = parts.map(|part| part.split_once("*/").map_or("", |(_, code)| code));
    code.into_iter().chain(rest.map(str::to_owned)).collect()
}

#[test]
fn the_committed_accessors_are_proved() {
    let layout = layout();
    let headers = headers(&layout, ".h").into_iter();
    let mut proved: BTreeMap<String, String> = headers
        .map(|file| (file.path, without_comments(&file.text)))
        .collect();
    let mut fields = String::new();
    for record in &layout.records {
        for variant in &record.layouts {
            for field in &variant.fields {
                let (record, size, wire) = (&record.name, record.size, variant.wire);
                let (name, offset, kind) = (&field.name, field.offset, field.ty);
                writeln!(fields, "{wire} {record} {size} {name} {offset} {kind}")
                    .expect("a String accepts everything");
            }
        }
    }
    proved.insert("spec/layout.json".to_owned(), fields);
    let script = include_str!("../../.ci/prove").to_owned();
    proved.insert(".ci/prove".to_owned(), script);

    let certificate: Value =
        serde_json::from_str(include_str!("../proof.json")).expect("the script writes JSON");
    let count = |name: &str| certificate["proved"][name].as_u64().expect("a number");
    let (accessors, properties) = (count("accessors"), count("properties"));
    let (thousands, rest) = (properties / 1000, properties % 1000);
    let counts = format!("{thousands},{rest:03} properties of {accessors} accessors");
    let safety = include_str!("../../docs/safety.md");
    assert!(safety.contains(&counts), "{counts}");

    let digests = certificate["sha256"].as_object().expect("an object");
    assert_eq!(digests.len(), proved.len());
    for (path, text) in proved {
        let digest = format!("{:x}", Sha256::digest(&text));
        assert_eq!(
            digests[&path], digest,
            "{path} changed; run `.ci/prove --bless`"
        );
    }
}
