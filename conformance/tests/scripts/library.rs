//! Tests the comparison of a session, as the library reads it, with its script.

use tempfile::TempDir;

use atf_conformance::reference::writer;
use atf_conformance::scripts::Script;
use atf_conformance::written::library::compare;

const SCRIPT: &str = "\
open thread=7 wire=1 clock=3 arch=2 os=4
index thread=7 ts=1000 fn=4294967297 kind=1 depth=1 detail=0
detail thread=7 index=0 ts=1000 type=3 flags=4 payload=00ff
index thread=7 ts=2000 fn=4294967297 kind=2 depth=1 detail=-
finalize thread=7
";

fn script(from: &str, to: &str) -> Script {
    assert!(SCRIPT.contains(from), "{from}");
    SCRIPT.replace(from, to).parse().unwrap()
}

#[test]
fn the_library_finds_every_difference_from_the_script() {
    let out = TempDir::new().unwrap();
    writer::write(&script("", ""), out.path()).unwrap();
    assert_eq!(compare(&script("", ""), out.path()), Ok(()));
    let (index, detail) = ("thread_7/index.atf: ", "thread_7/detail.atf: ");
    #[rustfmt::skip]
    let changes = [
        ("clock=3", "clock=1", index, "header.clock_type"),
        ("ts=2000", "ts=2001", index, "events[1]"),
        ("fn=4294967297 kind=2", "fn=4294967298 kind=2", index, "events[1]"),
        ("kind=2", "kind=3", index, "events[1]"),
        ("kind=2 depth=1", "kind=2 depth=2", index, "events[1]"),
        ("finalize thread=7", "abort", index, "footer"),
        ("index thread=7 ts=2000 fn=4294967297 kind=2 depth=1 detail=-\n", "", index, "the number of events"),
        ("type=3", "type=4", detail, "events[0]"),
        ("flags=4", "flags=0", detail, "events[0]"),
        ("payload=00ff", "payload=00fe", detail, "events[0].payload matches"),
    ];
    for (from, to, file, field) in changes {
        let wrong = compare(&script(from, to), out.path()).unwrap_err();
        let start = format!("{file}{field}: the library reads ");
        assert!(wrong.message.starts_with(&start), "{to}: {}", wrong.message);
        assert_eq!(wrong.difference.unwrap().place, format!("{file}{field}"));
    }
    // Test details that the script does not have, and missing details.
    let without = SCRIPT.replace(
        "detail=0\ndetail thread=7 index=0 ts=1000 type=3 flags=4 payload=00ff",
        "detail=-",
    );
    let without: Script = without.parse().unwrap();
    let wrong = compare(&without, out.path()).unwrap_err();
    let start = "thread_7/index.atf: events[0]: the library reads ";
    assert!(wrong.message.starts_with(start), "{}", wrong.message);
    std::fs::remove_file(out.path().join("thread_7/detail.atf")).unwrap();
    assert!(compare(&script("", ""), out.path()).is_err());
}

#[test]
fn a_thread_without_events_needs_no_file_before_it_is_finalized() {
    let out = TempDir::new().unwrap();
    let open = "open thread=7 wire=1 clock=3 arch=2 os=4\n";
    let of = |end: &str| format!("{open}{end}\n").parse::<Script>().unwrap();
    assert_eq!(compare(&of("abort"), out.path()), Ok(()));
    let wrong = compare(&of("finalize thread=7"), out.path()).unwrap_err();
    assert!(
        wrong
            .message
            .starts_with("thread_7: the library cannot read it: "),
        "{}",
        wrong.message
    );
    let event = "index thread=7 ts=1 fn=1 kind=1 depth=1 detail=-\nabort";
    assert!(compare(&of(event), out.path()).is_err());
    // An existing `index.atf` is read even if the thread need not have one.
    writer::write(&of("finalize thread=7"), out.path()).unwrap();
    assert!(compare(&of("abort"), out.path()).is_err());
}
