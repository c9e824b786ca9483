//! Tests `decode`.

use std::fs;

use crate::{experiment, real_spec, run, run_over, temp, utf8};

const INDEX: &str = "sample-small/session_20260105_101500/pid_4242/thread_0/index.atf";

/// Returns the path of a trace file of the samples.
fn sample(path: &str) -> String {
    let path = atf_samples::folder().join(path);
    utf8(&path).to_owned()
}

#[test]
fn each_field_is_shown_with_its_offset_and_meaning() {
    let ran = run(&real_spec(), &["decode", &sample(INDEX)]);
    let lines: Vec<_> = ran.succeeds().lines().collect();
    assert_eq!(lines[1], "         0    magic            u8[4]   \"ATI2\"");
    let os = lines[5];
    assert!(os.contains("os               u8      "), "{os}");
    let events = lines.iter().filter(|line| line.ends_with("  index_event"));
    let events = events.count();
    let kinds = lines
        .iter()
        .filter(|line| line.contains("event_kind") && line.ends_with(')'));
    assert!(events > 0 && kinds.count() == events, "{events} events");
    assert!(lines.iter().any(|line| line.ends_with("  index_footer")));
}

/// No generated code knows the field that the overlay adds.
#[test]
fn an_overlays_field_is_decoded_without_generated_code() {
    let overlay = experiment("vendor");
    let file = sample(INDEX);
    let size = fs::metadata(&file).expect("a sample").len();
    let at = (size - 64).to_string();
    let record = ["decode", &file, "--record", "index_footer", "--at", &at];
    let ran = run_over(&overlay, &record);
    ran.succeeds();
    ran.prints("dropped_count");
    assert!(!run(&real_spec(), &record).stdout.contains("dropped_count"));
}

#[test]
fn a_file_that_cannot_be_decoded_is_refused_with_the_location() {
    let folder = temp();
    let file = folder.path().join("index.atf");
    let path = utf8(&file).to_owned();
    let refused = |bytes: &[u8], arguments: &[&str]| {
        fs::write(&file, bytes).expect("a temporary file");
        let ran = run(&real_spec(), &[&["decode", &path], arguments].concat());
        assert_eq!(ran.stdout, "");
        (ran.status, ran.stderr.replace(&path, "FILE"))
    };
    let says = "FILE: byte 0: Index header, magic: expected a header of 64 bytes (ATF-IHDR-001); \
         a record of it: --record index_header --at 0\n";
    assert_eq!(refused(b"ATI2", &[]), (1, says.to_owned()));
    let usage = |says: &str| (2, format!("atf-codegen: {says}\n"));
    assert_eq!(
        refused(b"#!/bin/sh", &[]),
        usage("FILE: byte 0: not the magic of index.atf or detail.atf")
    );
    assert_eq!(
        refused(&[0; 40], &["--record", "index_event", "--at", "9"]),
        usage("FILE: `index_event` takes 32 bytes, but the file ends at 40")
    );
    let wires = ["--record", "index_event", "--at", "0", "--wire", "7"];
    assert_eq!(
        refused(&[0; 40], &wires),
        usage("`index_event` has only the wire versions 1 and 2")
    );
    let (_, unknown) = refused(&[0; 40], &["--record", "indexevent", "--at", "0"]);
    assert!(unknown.contains("there is no record `indexevent`, only index_header"));
}
