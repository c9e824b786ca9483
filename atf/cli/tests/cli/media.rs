//! Sessions from several machines, with times on a recording's clock.

use std::path::Path;

use atf::clock::{MediaTime, TimingAnchor};
use atf::manifest::{Loss, Symbol};
use atf::write::{Detail, Event, SessionWriter, WriteOptions};
use atf::{DetailEventType, EventKind};
use serde_json::Value;
use tempfile::TempDir;

use super::{atf, clean, lines, number, texts};

/// Writes a session with anchors and one call, which has a detail.
fn session(folder: &Path, (name, start, end): (&str, u64, u64), anchors: &[TimingAnchor]) {
    let writer = SessionWriter::create(folder, &WriteOptions::default()).unwrap();
    let mut thread = writer.thread(0).unwrap();
    let detail = Detail::new(DetailEventType::FUNCTION_CALL, &[7; 5]);
    let call = Event::new(start, 1, EventKind::CALL, 1);
    thread.write_with_detail(&call, &detail).unwrap();
    let end = Event::new(end, 1, EventKind::RETURN, 1);
    thread.write(&end).unwrap();
    thread.finalize().unwrap();
    writer.set_symbols(vec![Symbol::new(1, name)]);
    for anchor in anchors {
        writer.add_timing_anchor(*anchor).unwrap();
    }
    writer.finalize().unwrap();
}

fn at(host_ns: u64, value: i64, timescale: i32) -> TimingAnchor {
    TimingAnchor::new(host_ns, MediaTime::new(value, timescale))
}

/// Exports both sessions as CSV. Returns the process, function, start and duration of each call, or
/// the error message.
fn export(folder: &TempDir, options: &[&str]) -> Result<Vec<[String; 4]>, String> {
    let arguments = ["export", "--format", "csv", "--out", "-"];
    let output = atf(folder.path(), &[&arguments[..], options].concat());
    let (status, text, messages) = texts(&output);
    if status != 0 {
        return Err(messages.to_owned());
    }
    let row = |line: &str| {
        let cells: Vec<_> = line.split(',').map(str::to_owned).collect();
        [0, 3, 4, 5].map(|place: usize| cells[place].clone())
    };
    Ok(text.lines().skip(1).map(row).collect())
}

#[test]
fn sessions_of_two_machines_share_the_time_of_a_recording() {
    let folder = TempDir::new().unwrap();
    // The recording began at 1000 ns of the first clock and at 7,000,000 ns of the second.
    let first = [at(1_000, 0, 1_000_000_000), at(2_000, 1_000, 1_000_000_000)];
    let second = [at(7_000_500, 500, 1_000_000_000)];
    session(
        &folder.path().join("one/pid_1"),
        ("send", 1_200, 1_900),
        &first,
    );
    session(
        &folder.path().join("two/pid_1"),
        ("receive", 7_000_300, 7_000_800),
        &second,
    );
    let both = ["--clock", "media", "one", "two"];
    let rows = export(&folder, &both).unwrap();
    let expected = [["1", "send", "200", "700"], ["2", "receive", "300", "500"]];
    assert_eq!(rows, expected.map(|row| row.map(str::to_owned)));
    // `--from` and `--to` are times on the recording's clock.
    let rows = export(
        &folder,
        &[
            "--from", "400", "--to", "600", "--clock", "media", "one", "two",
        ],
    );
    let expected = [["1", "send", "400", "200"], ["2", "receive", "400", "200"]];
    assert_eq!(rows.unwrap(), expected.map(|row| row.map(str::to_owned)));
    // Without `--clock media`, the sessions have different clocks.
    let message = export(&folder, &["one", "two"]).unwrap_err();
    assert!(
        message.contains("several sessions; name one of"),
        "{message}"
    );
}

#[test]
fn sessions_without_a_common_recording_are_refused() {
    let refused = |anchors: &[TimingAnchor], expected: &str| {
        let folder = TempDir::new().unwrap();
        session(
            &folder.path().join("one"),
            ("f", 1_200, 1_900),
            &[at(1_000, 0, 600)],
        );
        session(&folder.path().join("two"), ("g", 2_000, 3_000), anchors);
        let message = export(&folder, &["--clock", "media", "one", "two"]).unwrap_err();
        assert!(message.contains("two: --clock media: "), "{message}");
        assert!(message.contains(expected), "{message}");
    };
    refused(&[], "the manifest has no timing anchors");
    refused(
        &[at(1_000, 0, 48_000)],
        "with the anchors of one: timing anchors have timescales of 600 and 48000: not one recording",
    );
    let back = [at(1_000, 600, 600), at(2_000, 0, 600)];
    refused(&back, "the timing anchors are not those of one recording");
    refused(
        &[at(2_001, 0, 600)],
        "cut them off with `atf cut --from 2001`",
    );
}

/// Creates a session whose recording began at 1000 ns and runs twice as fast as the trace's clock.
fn twice_as_fast() -> TempDir {
    let folder = TempDir::new().unwrap();
    let anchors = [at(1_000, 0, 1_000_000_000), at(2_000, 2_000, 1_000_000_000)];
    session(&folder.path().join("one"), ("send", 1_200, 1_900), &anchors);
    folder
}

/// Runs a command on the session with times on the recording's clock.
fn in_media(folder: &TempDir, command: &[&str]) -> String {
    let (name, rest) = command.split_first().unwrap();
    let name = [*name, "--clock", "media"];
    clean(folder.path(), &[&name[..], rest, &["one"]].concat())
}

fn times(text: &str) -> Vec<u64> {
    let events = lines(text).into_iter();
    events.map(|it| number(&it["timestamp_ns"])).collect()
}

#[test]
fn dump_shows_the_time_of_a_recording() {
    let folder = twice_as_fast();
    let text = in_media(&folder, &["dump"]);
    let starts: Vec<_> = text.lines().map(|line| &line[..12]).collect();
    assert_eq!(starts, ["0.000000400 ", "0.000001800 "]);
    assert_eq!(times(&in_media(&folder, &["dump", "--json"])), [400, 1_800]);
    let spans = lines(&in_media(&folder, &["dump", "--spans", "--json"]));
    let span = |key: &str| number(&spans[0][key]);
    assert_eq!(
        ["start_ns", "end_ns", "duration_ns"].map(span),
        [400, 1_800, 1_400]
    );
    let details = lines(&in_media(&folder, &["dump", "--details", "--json"]));
    let detail = &details[0]["detail"];
    assert_eq!(number(&detail["timestamp"]), 400);
    assert_eq!(detail["payload"], "0707070707");
    for (range, expected) in [
        (&["--from", "401"][..], &[1_800][..]),
        (&["--from", "400", "--to", "1800"], &[400, 1_800]),
        (&["--from", "400", "--to", "1799"], &[400]),
        (&["--from", "+1"], &[1_800]),
        (&["--to", "+1399"], &[400]),
        (&["--last", "1"], &[1_800]),
    ] {
        let output = atf(
            folder.path(),
            &[&["dump", "--json", "--clock", "media", "one"], range].concat(),
        );
        assert_eq!(times(texts(&output).1), expected, "{range:?}");
    }
    let output = atf(
        folder.path(),
        &["dump", "--clock", "media", "--from", "2us", "one"],
    );
    let message = "no event matches; the trace spans 0.000000400s to 0.000001800s (+0.000001400s)";
    assert!(texts(&output).2.contains(message), "{:?}", texts(&output));
}

#[test]
fn several_timestamps_may_have_the_same_time_of_a_recording() {
    let folder = TempDir::new().unwrap();
    let slow = [at(1_000, 0, 1_000_000_000), at(2_000, 100, 1_000_000_000)];
    session(&folder.path().join("one"), ("f", 1_200, 1_209), &slow);
    let found = |range: &[&str]| {
        let all = ["dump", "--json", "--clock", "media", "one"];
        let output = atf(folder.path(), &[&all, range].concat());
        times(texts(&output).1)
    };
    assert_eq!(found(&["--from", "20", "--to", "20"]), [20, 20]);
    assert_eq!(found(&["--from", "21"]), [0; 0]);
    assert_eq!(found(&["--to", "19"]), [0; 0]);
}

#[test]
fn report_and_last_show_the_time_of_a_recording() {
    let folder = twice_as_fast();
    let report = |range: &[&str]| {
        let text = in_media(&folder, &[&["report", "--json"], range].concat());
        let report = lines(&text).remove(0);
        let totals = ["start_ns", "end_ns"].map(|key| report["totals"][key].clone());
        (number(&report["functions"][0]["total_ns"]), totals)
    };
    let text = |ns: u64| Value::from(ns.to_string());
    assert_eq!(report(&[]), (1_400, [text(400), text(1_800)]));
    let part = ["--from", "500", "--to", "1us"];
    assert_eq!(report(&part), (500, [Value::Null, Value::Null]));
    let csv = in_media(&folder, &["report", "--csv", "--to", "+100"]);
    assert!(csv.contains("send,1,0,0,100,100,"), "{csv}");
    let table = in_media(&folder, &["report"]);
    assert!(table.contains("1 call in 1.400 µs"), "{table}");

    let last = lines(&in_media(&folder, &["last", "--json"])).remove(0);
    let thread = &last["threads"][0];
    assert_eq!(
        [&thread["start_ns"], &thread["end_ns"]],
        [&text(400), &text(1_800)]
    );
    assert_eq!(thread["events"][1]["timestamp_ns"], text(1_800));
    let last = in_media(&folder, &["last"]);
    let end = "  ended 0.000001800 s, with the last event of all threads\n";
    assert!(last.contains(end), "{last}");
    assert!(last.contains("    0.000000400        0  call"), "{last}");
}

#[test]
fn diff_compares_the_times_of_recordings() {
    let folder = twice_as_fast();
    let same = [at(1_000, 0, 1_000_000_000)];
    session(&folder.path().join("two"), ("send", 1_200, 1_900), &same);
    let text = in_media(&folder, &["diff", "--all", "--json", "two"]);
    let diff = &lines(&text)[0]["functions"][0];
    let ns = |side: &str| number(&diff[side]["total_ns"]["median"]);
    assert_eq!([ns("before"), ns("after")], [700, 1_400], "{text}");
}

#[test]
fn cut_takes_the_events_at_times_of_a_recording() {
    let folder = TempDir::new().unwrap();
    // Ten timestamps convert to each time.
    let slow = [at(1_000, 0, 1_000_000_000), at(2_000, 100, 1_000_000_000)];
    session(&folder.path().join("one"), ("f", 1_199, 1_210), &slow);
    session(&folder.path().join("two"), ("f", 1_200, 1_209), &slow);
    let range = ["--from", "20", "--to", "20", "--clock", "media"];
    let found = |name: &str| {
        let out = format!("{name}.cut");
        let arguments = [&["cut", name, "--out", &out][..], &range].concat();
        clean(folder.path(), &arguments);
        let manifest = std::fs::read_to_string(folder.path().join(&out).join("manifest.json"));
        let manifest: Value = serde_json::from_str(&manifest.unwrap()).unwrap();
        let cut = &manifest["threads"][0]["cut"];
        assert_eq!([&cut["from_ns"], &cut["to_ns"]], [1_200, 1_209], "{cut}");
        times(&clean(folder.path(), &["dump", "--json", &out]))
    };
    // One call begins before the range and ends with it, and the other is within the range.
    assert_eq!(found("one"), [1_200, 1_209]);
    assert_eq!(found("two"), [1_200, 1_209]);
    let same = [at(1_000, 0, 1_000_000_000)];
    session(&folder.path().join("both/a"), ("f", 1_200, 1_900), &slow);
    session(&folder.path().join("both/b"), ("f", 1_200, 1_900), &same);
    // From each timestamp to the next, the recording advances by 1000 ns, so it skips most times.
    let fast = [
        at(1_000, 0, 1_000_000_000),
        at(2_000, 1_000_000, 1_000_000_000),
    ];
    session(&folder.path().join("fast"), ("f", 1_200, 1_900), &fast);
    for (path, expected) in [
        (
            "both",
            "has other timestamps in each session: cut them one by one",
        ),
        ("fast", "no timestamp is in the range"),
    ] {
        let arguments = [&["cut", path, "--out", "x"][..], &range].concat();
        let output = atf(folder.path(), &arguments);
        let (status, _, messages) = texts(&output);
        assert!(status == 2 && messages.contains(expected), "{messages}");
        assert!(!folder.path().join("x").exists());
    }
}

#[test]
fn all_segments_have_the_anchors_of_each() {
    let folder = TempDir::new().unwrap();
    let first = [at(1_000, 0, 1_000_000_000)];
    let run = folder.path().join("one");
    session(&run.join("pid_7"), ("f", 1_200, 1_900), &first);
    let next = [at(2_000, 2_000, 1_000_000_000)];
    session(
        &run.join("pid_7_segment_000002"),
        ("f", 1_950, 2_100),
        &next,
    );
    let expected = [400, 1_800, 1_900, 2_100];
    assert_eq!(times(&in_media(&folder, &["dump", "--json"])), expected);
    let report = lines(&in_media(&folder, &["report", "--json"])).remove(0);
    assert_eq!(number(&report["functions"][0]["total_ns"]), 1_600);
    // Each process of a run may have its own anchors to the recording.
    session(&run.join("pid_8"), ("g", 1_300, 1_400), &first);
    let dump = in_media(&folder, &["dump", "--json"]);
    assert_eq!(times(&dump), [400, 300, 400, 1_800, 1_900, 2_100]);
}

#[test]
fn losses_are_told_at_the_time_of_a_recording() {
    let folder = twice_as_fast();
    let path = folder.path().join("one/manifest.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let manifest: Value = serde_json::from_str(&text).unwrap();
    let lost = Loss::new(3, 1_500, 1_600);
    let lost = format!(
        "\"lost_events\": {{\"count\": {}, \"first_ns\": {}, \"last_ns\": {}}}, \"id\"",
        lost.count, lost.first_ns, lost.last_ns
    );
    assert_eq!(manifest["threads"].as_array().unwrap().len(), 1);
    std::fs::write(&path, text.replacen("\"id\"", &lost, 1)).unwrap();
    let arguments = ["dump", "--clock", "media", "one"];
    let output = atf(folder.path(), &arguments);
    let messages = texts(&output).2;
    let told = "lost 3 events, from 0.000001000s to 0.000001200s";
    assert!(messages.contains(told), "{messages}");
    let output = atf(
        folder.path(),
        &[&arguments[..], &["--from", "1201"]].concat(),
    );
    assert!(!texts(&output).2.contains("lost"), "not in the range");
    let last = in_media(&folder, &["last"]);
    assert!(
        last.contains("3 events, from 0.000001000 to 0.000001200 s"),
        "{last}"
    );
}

#[test]
fn commands_refuse_sessions_without_a_recording() {
    let folder = TempDir::new().unwrap();
    session(&folder.path().join("none"), ("f", 1_200, 1_900), &[]);
    let late = [at(1_300, 0, 600)];
    session(&folder.path().join("late"), ("f", 1_200, 1_900), &late);
    let index = "late/thread_0/index.atf";
    let detail = "late/thread_0/detail.atf";
    for (path, expected) in [
        (
            "none",
            "none: --clock media: the manifest has no timing anchors",
        ),
        (
            "none/thread_0",
            "--clock media: the manifest has no timing anchors",
        ),
        (
            "late",
            "late: --clock media: events begin before the recording",
        ),
        (
            "late/thread_0",
            "--clock media: events begin before the recording",
        ),
        (
            index,
            "index.atf: --clock media: the manifest has no timing anchors",
        ),
    ] {
        for command in [
            &["dump"][..],
            &["dump", "--spans"],
            &["report"],
            &["last"],
            &["export", "--format", "csv", "--out", "-"],
        ] {
            let output = atf(
                folder.path(),
                &[command, &["--clock", "media", path]].concat(),
            );
            let (status, text, messages) = texts(&output);
            assert_eq!((status, text), (2, ""), "{command:?} {path}");
            assert!(messages.contains(expected), "{command:?}: {messages}");
        }
    }
    for (path, option, expected) in [
        (detail, None, "the manifest has no timing anchors"),
        ("late", Some("--follow"), "not with --follow"),
    ] {
        let arguments = ["dump", "--clock", "media", path].into_iter().chain(option);
        let output = atf(folder.path(), &arguments.collect::<Vec<_>>());
        let (status, _, messages) = texts(&output);
        assert!(status == 2 && messages.contains(expected), "{messages}");
    }
    // This is the solution that the message suggests.
    let arguments = ["cut", "--from", "1300", "late", "--out", "cut"];
    clean(folder.path(), &arguments);
    clean(folder.path(), &["dump", "--clock", "media", "cut"]);
}
