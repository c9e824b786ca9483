//! Tests the answers of the reference implementation, and the schemas of answers.

use std::sync::Arc;

use atf_conformance::protocol::{Answer, Broken, Manifest, schema};
use atf_conformance::reference;
use atf_conformance::results::{Failure, Outcome, Role};
use atf_conformance::run::Reading;
use serde_json::{Value, json};

use crate::support::{document, file};

#[test]
fn the_reference_reads_a_handwritten_file() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("index.atf");
    std::fs::write(&path, file()).unwrap();
    assert_eq!(reference::read(&path), document());
    let verdict = reference::validate(&path);
    assert_eq!(
        verdict,
        json!({"verdict": "recover", "rules": ["ATF-IFTR-001"]})
    );
}

#[test]
fn the_schema_is_strict() {
    let good = document();
    schema::check(Role::Read, &good, &[]).unwrap();
    let fails = |edit: &dyn Fn(&mut Value), place: &str| {
        let mut document = good.clone();
        edit(&mut document);
        let error = schema::check(Role::Read, &document, &[]).unwrap_err();
        assert!(error.contains(place), "{place}: {error}");
    };
    for (place, value) in [
        ("/header/time_end_ns", json!(1)),
        ("/header/thread_id", json!("7")),
        ("/events/0/detail_seq", json!(1)),
        ("/events/0/detail_seq", json!("01")),
        ("/derived/checksum", json!("fine")),
        ("/kind", json!("file")),
    ] {
        fails(&|it| *it.pointer_mut(place).unwrap() = value.clone(), place);
    }
    fails(&|it| it["events"][0]["depth"] = json!(1), "/events/0");
    fails(
        &|it| _ = it.as_object_mut().unwrap().remove("derived"),
        "derived",
    );
    let rejected = json!({"kind": "detail", "verdict": "reject", "why": "anything"});
    schema::check(Role::Read, &rejected, &[]).unwrap();
    let nothing = |verdict| json!({"kind": "index", "verdict": verdict, "events": []});
    schema::check(Role::Read, &nothing("recover"), &[]).unwrap();
    assert!(schema::check(Role::Read, &nothing("accept"), &[]).is_err());
}

#[test]
fn the_reference_reads_every_case_as_expected() {
    let folder = tempfile::TempDir::new().unwrap();
    let mut wrong = Vec::new();
    let manifest = Manifest::reference(std::path::Path::new("kit"));
    let cases = atf_conformance::corpus::cases();
    for (number, case) in cases.iter().enumerate() {
        let place = folder.path().join(number.to_string());
        case.write(&place).unwrap();
        let document = reference::read(&place.join(&case.path));
        schema::check(Role::Read, &document, &[]).unwrap();
        let code = i32::from(document["verdict"] == "reject");
        let Ok(Answer::Document(verdict, document)) =
            Answer::parse(code, document.to_string().as_bytes())
        else {
            panic!("{}: {document}", case.name);
        };
        let reading = Reading::new(Role::Read, Arc::new(case.clone()));
        let outcome = reading.compare(&manifest, verdict, &document);
        if outcome != Outcome::Passed {
            wrong.push(format!("{}: {verdict:?}, {outcome:#?}", case.name));
        }
    }
    assert!(cases.len() > 500, "{}", cases.len());
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn an_invalid_document_is_shown_at_its_error() {
    let shows = |output: &[u8], text: &str| {
        let Broken { class, message } = Answer::parse(0, output).unwrap_err();
        assert_eq!(class, Failure::Garbage);
        assert!(message.ends_with(&format!(": {text}")), "{message}");
    };
    // This answer begins with a warning that contains a terminal escape.
    let warned = b"warning: no \x1b[31mfooter\n{\"verdict\": \"accept\"}";
    shows(warned, r#""warning: no \u{1b}[31mfooter""#);
    // This answer consists of two documents.
    let two = b"{\"verdict\": \"accept\"}\n{\"verdict\": \"reject\"}\n";
    shows(two, r#""{\"verdict\": \"reject\"}""#);
    shows(b"\xff\xfe", "\"\u{fffd}\u{fffd}\"");
    shows(b"[1]", "\"[1]\"");
    shows(b"{\"kind\": 7}", r#""{\"kind\": 7}""#);
    let long = format!("[{}!{}]", "1,".repeat(4000), "2".repeat(4000));
    let part = format!("…\"{},!{}\"…", ",1".repeat(19), "2".repeat(40));
    shows(long.as_bytes(), &part);
}

#[test]
fn a_long_value_does_not_make_a_long_message() {
    let long = "x".repeat(1_000_000);
    let answer = json!({"kind": "index", "verdict": long}).to_string();
    let Broken { message, .. } = Answer::parse(0, answer.as_bytes()).unwrap_err();
    let part = format!("unknown verdict \"{}…\"", &long[..200]);
    assert_eq!(message, part);

    let mut document = document();
    document["kind"] = long.into();
    let message = schema::check(Role::Read, &document, &[]).unwrap_err();
    let reason = r#"/kind: value is not one of "index", "detail" or "session""#;
    assert_eq!(message, reason);
}
