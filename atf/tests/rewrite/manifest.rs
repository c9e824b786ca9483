//! The manifest of what is recovered.

use atf::rewrite::{RecoverOptions, recover};
use atf::session::SessionReader;

use crate::Places;
use crate::support::{DetailFile, IndexFile};

#[test]
fn it_lists_each_thread_with_its_details_and_spans_the_times_of_all() {
    // Thread 3 begins before thread 7 and ends after it.
    let mut early = IndexFile::finalized(1, 2);
    early.thread_id = 3;
    (early.events[0].timestamp_ns, early.events[1].timestamp_ns) = (1, 1 << 60);
    let late = IndexFile::finalized(1, 9);
    assert_eq!(late.thread_id, 7);
    let places = Places::new();
    places.put("in/thread_3/index.atf", early.without_footer());
    places.put("in/thread_7/index.atf", late.without_footer());
    places.put(
        "in/thread_7/detail.atf",
        DetailFile::finalized(1, 3).bytes(),
    );
    recover(
        places.path("in"),
        places.path("out"),
        &RecoverOptions::default(),
    )
    .unwrap();

    let session = SessionReader::open(places.path("out")).unwrap();
    let manifest = session.manifest().unwrap();
    let threads = manifest.threads.iter();
    let threads: Vec<_> = threads
        .map(|thread| (thread.id, thread.has_detail))
        .collect();
    assert_eq!(threads, [(3, Some(false)), (7, Some(true))]);
    let times = (manifest.time_start_ns, manifest.time_end_ns);
    assert_eq!(times, (Some(1), Some(1 << 60)));
    assert_eq!(manifest.format_version.as_deref(), Some("2.0"));
    assert_eq!(session.threads().len(), 2);
}

#[test]
fn what_another_tool_wrote_into_it_stays() {
    let places = Places::new();
    places.put("in/thread_7/index.atf", IndexFile::finalized(1, 9).bytes());
    // The list of threads is wrong, so it is written anew.
    let own = r#"{"threads": [], "x_tool": {"run": [1, "two"]}}"#;
    places.put("in/manifest.json", own);
    recover(
        places.path("in"),
        places.path("out"),
        &RecoverOptions::default(),
    )
    .unwrap();
    let text = std::fs::read(places.path("out/manifest.json")).unwrap();
    let found: serde_json::Value = serde_json::from_slice(&text).unwrap();
    assert_eq!(found["x_tool"], serde_json::json!({"run": [1, "two"]}));
    assert_eq!(found["threads"][0]["id"], 7);
}
