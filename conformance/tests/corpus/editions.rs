//! Tests that the spec, rules and corpus do not change without a new edition.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use atf_conformance::corpus::edition;
use atf_conformance::rules::{self, Edition};

use crate::ALL;

fn spec() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../spec")
}

/// Returns the SHA-256 of the names and bytes of the YAML files in these folders of the spec.
fn digest_of_yaml(folders: &[&str]) -> String {
    let mut files = BTreeMap::new();
    for folder in folders {
        for entry in fs::read_dir(spec().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if name.ends_with(".yaml") && name != "editions.yaml" {
                let text = fs::read_to_string(&path).unwrap().replace('\r', "");
                files.insert(format!("{folder}/{name}"), text);
            }
        }
    }
    assert!(files.len() > 3, "{folders:?}: only {} files", files.len());
    let mut text = String::new();
    for (name, file) in files {
        let _ = writeln!(text, "{}  {name}", edition::sha256(file.as_bytes()));
    }
    edition::sha256(text.as_bytes())
}

/// Returns advice if the content of an edition has changed.
fn advice(of: &str, edition: &Edition, digest: &str) -> Option<String> {
    (edition.digest != digest).then(|| {
        let version = edition.version;
        format!(
            "\n{of}: changed since edition {version}. In spec/editions.yaml\n\
             1. raise the version as described in docs/conformance/README.md under Editions (patch: wording; \
             minor: new checks that an implementation may fail; major: a different answer), unless {version} \
             is unreleased and already covers a change of this kind;\n\
             2. set the digest to\n     {digest}\n\
             3. cargo run -p atf-codegen -- generate && cargo run -p atf-conformance -- corpus generate\n"
        )
    })
}

#[test]
fn nothing_changes_within_an_edition() {
    let now = [
        (
            "spec",
            &rules::SPEC_EDITION,
            digest_of_yaml(&[".", "behaviour", "grammar", "records", "sources"]),
        ),
        ("rules", &rules::RULES_EDITION, digest_of_yaml(&["rules"])),
        ("corpus", &rules::CORPUS_EDITION, edition::digest(&ALL)),
    ];
    let changed = now
        .iter()
        .filter_map(|(of, edition, digest)| advice(of, edition, digest));
    let changed: String = changed.collect();
    assert!(changed.is_empty(), "{changed}");
}

#[test]
fn an_added_case_a_changed_byte_and_a_changed_note_change_the_digest() {
    let some = &ALL[..3];
    let own = edition::digest(some);
    assert_ne!(edition::digest(&some[1..]), own);
    let mut cases = some.to_vec();
    let bytes = cases[0].files.values_mut().next().unwrap();
    bytes[0] ^= 1;
    assert_ne!(edition::digest(&cases), own);
    let mut cases = some.to_vec();
    cases[0].note.push('.');
    assert_ne!(edition::digest(&cases), own);
}
