//! Messages and exit statuses for lost, unusual and missing data.

use std::fs;
use std::path::Path;

use atf::EventKind;
use atf::write::{Event, SessionWriter, WriteOptions};
use serde_json::Value;
use tempfile::TempDir;

use super::{atf, clean, lines, texts, written};
use atf_samples::files::{DetailFile, EventRecord, IndexFile, patched};

/// Writes a session whose thread 7 has nine events and three details. `index` replaces its index.
pub(super) fn session(index: Option<&[u8]>) -> TempDir {
    let folder = TempDir::new().unwrap();
    let whole = IndexFile::finalized(1, 9).bytes();
    thread(folder.path(), "thread_7", index.unwrap_or(&whole));
    folder
}

pub(super) fn thread(session: &Path, name: &str, index: &[u8]) {
    let folder = session.join("s").join(name);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("index.atf"), index).unwrap();
    let detail = DetailFile::finalized(1, 3).bytes();
    fs::write(folder.join("detail.atf"), detail).unwrap();
}

/// Runs `atf` and returns the exit status, output and messages.
pub(super) fn run(folder: &TempDir, arguments: &[&str]) -> (i32, String, String) {
    let output = atf(folder.path(), arguments);
    let (status, text, messages) = texts(&output);
    (status, text.to_owned(), messages.to_owned())
}

#[test]
fn all_commands_report_events_missing_from_a_finalized_file() {
    let whole = IndexFile::finalized(1, 9).bytes();
    let folder = session(Some(&whole[..64 + 4 * 32]));
    let (status, text, messages) = run(&folder, &["dump", "s"]);
    assert_eq!((status, text.lines().count()), (1, 4));
    let expected = "atf: s/thread_7/index.atf: footer: no footer: the file was truncated or damaged after it was finalized (at 0xc0) [ATF-IFTR-001]\n\
                    atf: s/thread_7/index.atf: header.event_count: 9 events, but the file has only 4 (at 0x1c) [ATF-IHDR-014]\n";
    assert_eq!(messages, expected);
    let (status, text, _) = run(&folder, &["info", "s"]);
    assert!(
        status == 1 && text.contains("truncated: 4 of 9 events"),
        "{text}"
    );
    let (_, text, _) = run(&folder, &["info", "--json", "s"]);
    let info: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(info["threads"][0]["index"]["missing_events"], "5");

    let (status, text, _) = run(&folder, &["recover", "s", "--out", "out"]);
    assert!(status == 1 && text.contains("5 of 9, the file was truncated at 0xc0"));
    let (status, text, _) = run(&folder, &["info", "out"]);
    let expected = "recovered; 1 thing was lost or changed: see recovery.json";
    assert!(status == 1 && text.contains(expected), "{text}");
    assert!(text.contains("set aside thread 7: orphans.atf 1 detail\n"));
    // The thread is also reported as damaged on its own, but the other thread is not.
    let (status, ..) = run(&folder, &["dump", "s/thread_7"]);
    assert_eq!(status, 1);
    thread(folder.path(), "thread_8", &whole);
    assert_eq!(run(&folder, &["dump", "s/thread_8"]).0, 0);
    assert_eq!(run(&folder, &["dump", "--thread", "8", "s"]).0, 0);
}

#[test]
fn a_file_that_was_finalized_is_called_truncated_or_damaged() {
    let whole = IndexFile::finalized(1, 9).bytes();
    let end = 64 + 9 * 32;
    let lost = "no footer: the file was truncated or damaged after it was finalized";
    let damaged = "the file is damaged: index.atf: footer: no footer (at 0x160) [ATF-IFTR-001]";
    for (bytes, state) in [
        (whole[..end].to_vec(), "footer lost  !"),
        (
            patched(&whole, end, &[0; 64]),
            "footer lost, 64 bytes of zeros at the end  !",
        ),
    ] {
        let folder = session(Some(&bytes));
        let (_, text, _) = run(&folder, &["check", "s"]);
        assert!(text.contains(lost), "{text}");
        let (_, text, _) = run(&folder, &["info", "s"]);
        assert!(text.contains(lost) && text.contains(state), "{text}");
        let (_, text, _) = run(&folder, &["last", "s"]);
        let ended = format!("thread 7: {}, 9 events", state.trim_end_matches("  !"));
        assert!(text.contains(&ended), "{text}");
        assert!(!text.contains("had not yet written"), "{text}");
        let (_, text, _) = run(&folder, &["recover", "s", "--out", "out"]);
        assert!(text.contains(damaged), "{text}");
        assert!(!text.contains("was not finalized"), "{text}");
    }
    // Three events are missing in the middle.
    let folder = session(Some(
        &[&whole[..64 + 2 * 32], &whole[64 + 5 * 32..]].concat(),
    ));
    let (_, text, _) = run(&folder, &["info", "s"]);
    let state = "3 of 9 events missing, damaged footer at 0x100  !";
    assert!(text.contains(state), "{text}");
    let (_, text, _) = run(&folder, &["last", "s"]);
    let missing = "missing 3 events at the end or in the middle";
    assert!(
        text.contains("damaged footer at 0x100") && text.contains(missing),
        "{text}"
    );
    let (_, text, _) = run(&folder, &["recover", "s", "--out", "out"]);
    let missing =
        "index.atf: 3 of 9, from the end or the middle: the footer is at 0x100 [ATF-IHDR-014]\n";
    assert!(text.contains(missing), "{text}");
}

#[test]
fn changed_events_set_the_exit_status() {
    let whole = IndexFile::finalized(1, 9).bytes();
    let folder = session(Some(&patched(&whole, 64 + 8, &[0x55])));
    let (status, text, _) = run(&folder, &["recover", "s", "--out", "out"]);
    assert!(status == 1 && text.contains("do not match their checksum"));
}

#[test]
fn info_and_report_count_a_wrong_timestamp_once() {
    let folder = TempDir::new().unwrap();
    let event = |at| (at, if at % 2 == 0 { 1 } else { 2 }, 1);
    let mut events: Vec<_> = (0..40).map(event).collect();
    events[3].0 = 1_000;
    super::report::session(folder.path(), &events, "f");
    for (arguments, place) in [
        (&["info", "--verify", "."][..], ""),
        (
            &["report", "."],
            " (first: ./thread_4/index.atf: events[4])",
        ),
    ] {
        let output = atf(folder.path(), arguments);
        let (_, text, _) = texts(&output);
        let expected = format!("time goes back at 1 event{place}\n");
        assert!(text.contains(&expected), "{text}");
    }
    let output = atf(folder.path(), &["report", "--json", "."]);
    let totals = &lines(texts(&output).1)[0]["totals"];
    let path = "./thread_4/index.atf";
    let first = serde_json::json!({"thread": 4, "path": path, "seq": "4"});
    assert_eq!(
        (&totals["out_of_order"], &totals["first_out_of_order"]),
        (&"1".into(), &first)
    );
}

#[test]
fn the_first_backward_time_names_its_process() {
    let folder = TempDir::new().unwrap();
    for (process, second_ns) in [("run/pid_1", 20), ("run/pid_2", 5)] {
        let events = [(10, 1, 1), (second_ns, 2, 1)];
        super::report::session(&folder.path().join(process), &events, "f");
    }
    let output = atf(folder.path(), &["diff", "run", "run"]);
    let (_, text, _) = texts(&output);
    let place = " (first: run/pid_2/thread_4/index.atf: events[1])";
    assert_eq!(text.matches(place).count(), 2, "{text}");
}

#[test]
fn all_commands_name_the_same_rule_for_an_empty_or_short_file() {
    let rules = |name: &str, size: usize| {
        let folder = session(None);
        let path = folder.path().join("s/thread_7").join(name);
        let whole = fs::read(&path).unwrap();
        fs::write(&path, &whole[..size]).unwrap();
        let command = |arguments: &&[&str]| {
            let (_, text, messages) = run(&folder, arguments);
            let all = format!("{text}{messages}");
            let told: Vec<_> = all.split("ATF-").skip(1).map(|it| &it[..8]).collect();
            let told = told
                .into_iter()
                .filter(|it| ["HDR", "FTR", "INK"].contains(&&it[1..4]));
            told.map(str::to_owned).collect::<Vec<_>>()
        };
        let commands = [
            &["check", "--deny", "must", "s"][..],
            &["info", "s"],
            &["info", "s/thread_7"],
            &["dump", "s"],
            &["dump", "s/thread_7"],
            &["report", "s"],
            &["last", "s"],
        ];
        commands.iter().map(command).collect::<Vec<_>>()
    };
    for size in [0, 10] {
        for (name, rule) in [("index.atf", "IHDR-001"), ("detail.atf", "DHDR-001")] {
            for found in rules(name, size) {
                assert_eq!(found, [rule], "{name} of {size} bytes");
            }
        }
    }
}

#[test]
fn info_last_and_report_say_the_same_of_unwritten_events() {
    let folder = session(None);
    for (manifest, end) in [
        (
            r#"{"threads": [], "unwritten_events": 1}"#,
            "still runs or was killed",
        ),
        (
            r#"{"threads": [], "unwritten_events": 1, "ended_by": "SIGKILL"}"#,
            "was killed",
        ),
    ] {
        fs::write(folder.path().join("s/manifest.json"), manifest).unwrap();
        let expected = format!("the tracer {end}: up to 1 event of each thread is missing\n");
        for command in ["info", "last", "report"] {
            let (_, text, messages) = run(&folder, &[command, "s"]);
            let all = format!("{text}{messages}");
            assert!(all.contains(&expected), "{command}: {all}");
        }
        for arguments in [&["report", "s"][..], &["diff", "s", "s"]] {
            let (_, text, _) = run(&folder, arguments);
            let total = "without a call, up to 1 event of each thread missing at the end";
            assert!(text.contains(total), "{text}");
        }
        let (_, text, _) = run(&folder, &["report", "--json", "s"]);
        assert_eq!(lines(&text)[0]["totals"]["unwritten_events"], "1");
    }
}

#[test]
fn a_gap_is_reported_once_and_salvage_is_suggested() {
    let whole = IndexFile::finalized(1, 9).bytes();
    let folder = session(Some(&patched(&whole, 64 + 4 * 32, &[0; 2 * 32])));
    for arguments in [&["dump", "s"][..], &["dump", "--json", "--last", "9", "s"]] {
        let (status, text, messages) = run(&folder, arguments);
        assert_eq!((status, text.lines().count()), (1, 9));
        let said = if arguments.contains(&"--last") {
            "thread 7: 2 events of zeros, first events[4]: a gap, unless a checksum"
        } else {
            "index.atf: events[4]: a gap: 2 events are all zeros, their contents unknown"
        };
        assert_eq!(messages.matches(said).count(), 1, "{messages}");
    }
    let hint = "run again with --salvage";
    let (_, text, _) = run(&folder, &["recover", "s", "--out", "a"]);
    assert!(text.lines().last().unwrap().contains(hint), "{text}");
    let (_, text, _) = run(&folder, &["recover", "--salvage", "s", "--out", "b"]);
    assert!(!text.contains(hint), "{text}");
    let text = written(folder.path(), &["info", "b"]);
    assert!(text.contains("salvaged.atf 3 events"), "{text}");
    let text = clean(folder.path(), &["dump", "b/thread_7/salvaged.atf"]);
    assert_eq!(text.lines().count(), 3);
}

#[test]
fn a_misnamed_thread_folder_is_reported() {
    let folder = session(None);
    thread(
        folder.path(),
        "thread_X",
        &IndexFile::finalized(1, 2).bytes(),
    );
    let (status, text, messages) = run(&folder, &["dump", "s"]);
    assert_eq!((status, text.lines().count()), (1, 9));
    let expected = "atf: s/thread_X: not read: the name has no thread id after `thread_`; rename the folder to have it read\n";
    assert_eq!(messages, expected);
    let (status, text, _) = run(&folder, &["info", "s"]);
    assert!(
        status == 1 && text.contains("rename the folder to have it read [ATF-SESS-004]"),
        "{text}"
    );
    assert_eq!(run(&folder, &["dump", "--thread", "7", "s"]).0, 0);
}

#[test]
fn all_commands_search_equally_deep_for_sessions() {
    let folder = TempDir::new().unwrap();
    let put = |session: &str| {
        let path = folder.path().join(session);
        let session = SessionWriter::create(path, &WriteOptions::default()).unwrap();
        let mut thread = session.thread(7).unwrap();
        for (time, kind) in [(100, EventKind::CALL), (200, EventKind::RETURN)] {
            thread.write(&Event::new(time, 1, kind, 1)).unwrap();
        }
        thread.finalize().unwrap();
        session.finalize().unwrap();
    };
    put(&format!("found{}", "/d".repeat(64)));
    put(&format!("partly{}", "/d".repeat(65)));
    put("partly/e");
    for command in [
        &["info"][..],
        &["last"],
        &["report"],
        &["dump"],
        &["check"],
        &["recover", "--out", "out"],
    ] {
        let run = |path| run(&folder, &[command, &[path]].concat());
        let (status, text, messages) = run("found");
        assert_eq!((status, &*messages), (0, ""), "{command:?}: {text}");
        fs::remove_dir_all(folder.path().join("out")).ok();
        let (status, text, messages) = run("partly");
        let why = "not searched: more than 64 folders deep";
        let told = (text + &messages).lines().any(|line| line.ends_with(why));
        assert!(status > 0 && told, "{command:?}");
    }
}

#[test]
fn a_stray_thread_file_does_not_hide_its_session() {
    let folder = session(None);
    let run_all =
        || ["info", "last", "report", "dump"].map(|command| run(&folder, &[command, "s"]));
    let expected = run_all();
    assert!(expected.iter().all(|(_, text, _)| !text.is_empty()));
    for name in ["detail.atf", "index.atf"] {
        fs::write(folder.path().join("s").join(name), "").unwrap();
        assert_eq!(run_all(), expected, "{name}");
    }
    let (status, text, _) = run(&folder, &["recover", "s", "--out", "out"]);
    let told = "  index.atf: not copied: not part of a session\n";
    assert!(status == 1 && text.contains(told), "{text}");
}

#[test]
fn a_range_without_events_is_said() {
    let folder = session(None);
    let range = ["--from", "0", "--to", "1ns"];
    for command in [
        &["report", "s"][..],
        &["report", "--by-thread", "s"],
        &["flamegraph", "--out", "flame.svg", "s"],
        &["export", "--format", "chrome", "--out", "trace.json", "s"],
        &["cut", "--out", "part", "s"],
    ] {
        let (status, _, messages) = run(&folder, &[command, &range].concat());
        let said = messages.matches("atf: no event is in this range; the trace spans ");
        assert_eq!((status, said.count()), (0, 1), "{command:?}: {messages}");
    }
}

#[test]
fn a_range_with_calls_is_never_said_to_be_empty() {
    let mut unchecked = IndexFile::finalized(1, 9);
    unchecked.checksum = 0;
    let hole = patched(&unchecked.bytes(), 64 + 7 * 32, &[0; 64]);
    let disordered = timed(&[1_000, 5_000, 6_000, 10]).bytes();
    for (index, from) in [(&hole, "+1us"), (&disordered, "2000")] {
        let folder = session(Some(index));
        for command in [
            &["report", "s"][..],
            &["report", "--by-thread", "s"],
            &["flamegraph", "--out", "flame.svg", "s"],
            &["export", "--format", "chrome", "--out", "trace.json", "s"],
        ] {
            let (_, _, messages) = run(&folder, &[command, &["--from", from]].concat());
            assert!(
                !messages.contains("in this range"),
                "{command:?}: {messages}"
            );
        }
    }
    let folder = session(Some(&hole));
    let (_, _, messages) = run(&folder, &["dump", "--from", "+1s", "s"]);
    assert!(messages.contains("s (+0.000008000s)"), "{messages}");
}

/// Returns a file of calls and returns with these times.
fn timed(times: &[u64]) -> IndexFile {
    let events = IndexFile::finalized(1, times.len() as u64).events;
    let event = |(event, time): (EventRecord, &u64)| EventRecord {
        timestamp_ns: *time,
        function_id: 7,
        detail_seq: None,
        ..event
    };
    IndexFile::of(1, events.into_iter().zip(times).map(event).collect())
}

#[test]
fn an_empty_dump_says_why() {
    let folder = session(None);
    for (arguments, said) in [
        (&["--function", "zzz"][..], "atf: no function matches zzz\n"),
        (
            &["--from", "+1s"],
            "atf: no event matches; the trace spans ",
        ),
        (
            &["--function", "0x1", "--spans"],
            "atf: no event matches; the trace spans",
        ),
        (
            &["--kind", "9", "--last", "3"],
            "atf: no event matches; the trace",
        ),
    ] {
        let (status, text, messages) = run(&folder, &[&["dump", "s"], arguments].concat());
        assert_eq!((status, &*text), (0, ""), "{arguments:?}");
        assert!(messages.starts_with(said), "{messages}");
        let others = messages
            .lines()
            .filter(|line| !line.contains("read partly"));
        assert_eq!(others.count(), 1, "{messages}");
    }
    let (status, _, messages) = run(&folder, &["dump", "s", "--from", "+0.000001473"]);
    assert!(status == 2 && messages.contains("for seconds write 0.000001473s"));
    let (status, _, messages) = run(&folder, &["dump", "s", "--thread", "x"]);
    assert!(status == 2 && messages.contains("thread_1"), "{messages}");
}

#[test]
fn last_gives_the_last_events_of_each_thread() {
    let of_thread = |id: &str| {
        let text = written(
            &atf_samples::folder(),
            &["dump", "sample-crashed", "--thread", id],
        );
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let threads = ["0", "1", "2"].map(of_thread);
    for count in [0, 1, 20, 5000] {
        let last = count.to_string();
        let command = ["dump", "sample-crashed", "--last", &last];
        let end = |all: &Vec<String>| all[all.len().saturating_sub(count)..].to_vec();
        let text = written(
            &atf_samples::folder(),
            &[&command[..], &["--thread", "1"]].concat(),
        );
        let found: Vec<_> = text.lines().map(str::to_owned).collect();
        assert_eq!(found, end(&threads[1]));
        // The crashed thread's events are shown, no matter how much other threads did afterwards.
        let text = written(&atf_samples::folder(), &command);
        let mut found: Vec<_> = text.lines().map(str::to_owned).collect();
        let mut expected: Vec<_> = threads.iter().flat_map(end).collect();
        found.sort();
        expected.sort();
        assert_eq!(found, expected);
    }
    // With a filter, the last matching events and their details are shown.
    let filter = [
        "dump",
        "--json",
        "--details",
        "sample-crashed",
        "--function",
        "load",
    ];
    let filter = [&filter[..], &["--thread", "1"]].concat();
    let all = lines(&written(&atf_samples::folder(), &filter));
    let last = lines(&written(
        &atf_samples::folder(),
        &[&filter[..], &["--last", "9"]].concat(),
    ));
    assert!(all[all.len() - 9..] == last);
    let spans = ["dump", "sample-crashed", "--spans", "--thread", "1"];
    let all = written(&atf_samples::folder(), &spans);
    let last = written(
        &atf_samples::folder(),
        &[&spans[..], &["--last", "5"]].concat(),
    );
    assert_eq!(last.lines().count(), 5);
    assert!(all.ends_with(&last) && last.contains("(open at the end)"));
}

#[test]
fn a_thread_of_a_session_has_the_sessions_names_and_times() {
    let session = "sample-crashed/session_20260105_101500/pid_4243";
    let one = written(&atf_samples::folder(), &["dump", session, "--thread", "1"]);
    let path = format!("{session}/thread_1");
    assert!(written(&atf_samples::folder(), &["dump", &path]) == one);
    let inside = atf_samples::folder().join(&path);
    assert!(written(&inside, &["dump", "."]) == one);
}

/// Dumps the trace in every format. Each dump reports the trace's problems and writes all events.
#[test]
fn every_form_of_a_dump_reports_damage() {
    let whole = IndexFile::finalized(1, 9).bytes();
    let flipped = session(Some(&patched(&whole, 64 + 4 * 32 + 8, &[0x55])));
    let changed = "index.atf: footer.checksum: ";
    let cut = session(Some(
        &IndexFile::finalized(1, 9).placeholder().without_footer(),
    ));
    let unfinalized = "index.atf: footer: no footer: the file was not finalized";
    let bytes = DetailFile::finalized(1, 3).bytes();
    let details = session(None);
    let file = details.path().join("s/thread_7/detail.atf");
    fs::write(file, patched(&bytes, 64 + 24 + 20, &[0x99])).unwrap();
    let manifest = session(None);
    fs::write(manifest.path().join("s/manifest.json"), "\u{feff}{}").unwrap();
    let forms: [&[&str]; 4] = [&[], &["--json"], &["--details"], &["--spans"]];
    for form in forms {
        for path in ["s", "s/thread_7", "s/thread_7/index.atf"] {
            if form == ["--details"] && path.ends_with("index.atf") {
                // Its details are in another file.
                let (status, _, messages) = run(&cut, &["dump", path, "--details"]);
                let expected = "--details needs the thread's folder";
                assert!(status == 2 && messages.contains(expected), "{messages}");
                continue;
            }
            for (folder, said) in [(&flipped, changed), (&cut, unfinalized)] {
                let (status, text, messages) = run(folder, &[&["dump", path], form].concat());
                let is_said = messages.matches(said).count() == 1;
                assert!(status == 1 && is_said, "{form:?} {path}: {messages}");
                assert!(text.lines().count() >= 5, "{form:?} {path}");
            }
        }
        let arguments = [&["dump", "s"], form].concat();
        let (status, _, messages) = run(&manifest, &arguments);
        assert!(
            status == 1 && messages.contains("byte-order mark"),
            "{messages}"
        );
    }
    for arguments in [
        &["dump", "--details", "s"][..],
        &["dump", "s/thread_7/detail.atf"],
    ] {
        let (status, _, messages) = run(&details, arguments);
        let said = "detail.atf: footer.checksum: ";
        assert!(
            status == 1 && messages.matches(said).count() == 1,
            "{messages}"
        );
    }
    let (status, _, messages) = run(&flipped, &["explain", "s/thread_7/index.atf"]);
    assert!(status == 1 && messages.contains(changed), "{messages}");
    let (status, _, messages) = run(&cut, &["explain", "s/thread_7/index.atf"]);
    assert!(status == 1 && messages.contains(unfinalized), "{messages}");
}

#[test]
fn a_partial_dump_reports_that_no_checksum_was_compared() {
    let folder = session(None);
    let note = "atf: 1 thread read partly, so no checksum was compared";
    for part in [&["--limit", "2"][..], &["--last", "2"], &["--to", "+3us"]] {
        let (status, _, messages) = run(&folder, &[&["dump", "s"], part].concat());
        assert!(
            status == 0 && messages.starts_with(note),
            "{part:?} {messages}"
        );
    }
    assert_eq!(run(&folder, &["dump", "s"]).2, "");
    // Without an event there is no other sign that an event was not found: time goes back to 50.
    let folder = session(Some(&timed(&[100, 200, 50, 300]).bytes()));
    let (status, text, messages) = run(&folder, &["dump", "--to", "60", "s"]);
    assert_eq!((status, text.as_str()), (0, ""));
    assert!(messages.contains(note), "{messages}");
}

#[test]
fn sessions_of_several_processes_are_merged() {
    let folder = TempDir::new().unwrap();
    for process in ["pid_41", "pid_42"] {
        let path = folder.path().join("run").join(process);
        thread(&path, "thread_7", &IndexFile::finalized(1, 9).bytes());
        fs::rename(path.join("s/thread_7"), path.join("thread_7")).unwrap();
        fs::remove_dir(path.join("s")).unwrap();
    }
    let text = clean(folder.path(), &["dump", "--json", "--details", "run"]);
    let events = lines(&text);
    assert_eq!(events.len(), 18);
    // The clock is the machine's, so equal times are ordered by process.
    let processes: Vec<_> = events
        .iter()
        .map(|event| event["process"].as_u64().unwrap())
        .collect();
    assert_eq!(processes, [41, 42].repeat(9));
    assert_eq!(
        events
            .iter()
            .filter(|event| event["detail"].is_object())
            .count(),
        6
    );
    let text = clean(folder.path(), &["dump", "--spans", "run"]);
    assert!(text.contains(" 42/7 "), "{text}");
    let (status, _, messages) = run(&folder, &["dump", "run", "--thread", "9"]);
    let said = "atf: there is no thread 9 (threads: 41/7, 42/7)\n";
    assert_eq!((status, &*messages), (2, said));
}

#[test]
fn a_missing_path_gets_the_system_s_message() {
    let folder = TempDir::new().unwrap();
    let expected = "atf: nowhere: No such file or directory (os error 2)\n";
    for arguments in [
        &["info", "nowhere"][..],
        &["dump", "nowhere"],
        &["explain", "nowhere"],
        &["recover", "nowhere", "--out", "out"],
    ] {
        let (status, _, messages) = run(&folder, arguments);
        assert_eq!(status, 2, "{arguments:?}");
        if cfg!(unix) {
            assert_eq!(messages, expected, "{arguments:?}");
        }
    }
    fs::write(folder.path().join("README.md"), "# ATF\n").unwrap();
    for command in ["info", "dump"] {
        let (status, _, messages) = run(&folder, &[command, "README.md"]);
        let expected = "atf: README.md: not an ATF file (it begins with \"# AT\")\n";
        assert_eq!((status, &*messages), (2, expected));
    }
    let (_, _, messages) = run(&folder, &["dump", atf_samples::folder().to_str().unwrap()]);
    assert_eq!(messages.lines().count(), 4, "{messages}");
}

#[test]
fn dangling_links_of_finalized_threads_are_in_the_text() {
    let text = written(
        &atf_samples::folder(),
        &["info", "--verify", "sample-crashed"],
    );
    assert!(
        text.contains("138 good, 5 to missing detail events\n"),
        "{text}"
    );
    assert!(text.contains("says that thread 2 has details, but it has none"));
}

/// The rule for links to missing details depends on whether the details may have been lost.
#[test]
fn check_and_report_name_the_same_rule_for_links_to_missing_details() {
    let whole = IndexFile::finalized(1, 9).bytes();
    // In the second thread, one of the details that its events link to was never written.
    let detail = DetailFile::finalized(1, 2);
    for (bytes, rule, other) in [
        (detail.without_footer(), "ATF-LINK-002", "ATF-LINK-001"),
        (detail.bytes(), "ATF-LINK-001", "ATF-LINK-002"),
    ] {
        let folder = session(Some(&whole));
        fs::write(folder.path().join("s/thread_7/detail.atf"), bytes).unwrap();
        let (_, findings, _) = run(&folder, &["check", "s"]);
        let (_, report, _) = run(&folder, &["report", "s"]);
        for text in [findings, report] {
            assert!(text.contains(rule) && !text.contains(other), "{text}");
        }
    }
}

#[test]
fn the_events_of_a_hole_have_no_time() {
    let index = IndexFile {
        checksum: 0,
        ..IndexFile::finalized(1, 9)
    };
    let folder = session(Some(&patched(&index.bytes(), 64 + 3 * 32, &[0; 64])));
    for command in ["report", "last"] {
        let (status, text, _) = run(&folder, &[command, "s"]);
        assert!(status == 1 && text.contains("a gap: 2 events"), "{text}");
        assert!(
            !text.contains("goes back") && !text.contains(" -0."),
            "{text}"
        );
    }
    let (_, text, _) = run(&folder, &["report", "s"]);
    assert!(text.contains("1 thread, 9 events"), "{text}");
    let (_, text, messages) = run(&folder, &["dump", "--details", "s"]);
    let rows = text.lines().filter(|line| line.contains("kind 0"));
    let rows: Vec<_> = rows.map(|line| &line[..26]).collect();
    let expected = |seq| format!("           -    7 {seq:>8}");
    assert_eq!(rows, [expected(3), expected(4)]);
    assert!(!messages.contains("missing details"), "{messages}");
}

#[test]
fn info_counts_each_link_once_and_no_hole_as_one() {
    let folder = TempDir::new().unwrap();
    let thread = folder.path().join("thread_7");
    fs::create_dir(&thread).unwrap();
    let detail = DetailFile::finalized(1, 3).bytes();
    fs::write(thread.join("detail.atf"), detail).unwrap();
    // Events 0, 3 and 6 link to the details 0, 1 and 2. Event 4 is a hole.
    let index = IndexFile::finalized(1, 9);
    let hole = patched(&index.bytes(), 64 + 4 * 32, &[0; 32]);
    // The zeros read as a link to the first detail, which links back to them.
    let first = patched(&index.bytes(), 64, &[0; 32]);
    let mut events = index.events;
    (events[3].detail_seq, events[7].detail_seq) = (Some(2), Some(3));
    let crossed = IndexFile::of(1, events.clone()).bytes();
    events[6].detail_seq = None;
    let missing = IndexFile::of(1, events).bytes();
    for (index, good, dangling, crossing, orphans) in [
        (hole, "3", "0", "0", "0"),
        (first, "2", "0", "0", "1"),
        (crossed, "2", "1", "1", "1"),
        (missing, "1", "1", "1", "2"),
    ] {
        fs::write(thread.join("index.atf"), index).unwrap();
        let (_, text, _) = run(&folder, &["info", "--verify", "--json", "thread_7"]);
        let links = serde_json::from_str::<serde_json::Value>(&text).unwrap()["links"].take();
        let expected = serde_json::json!({
            "good": good, "dangling": dangling, "crossed": crossing, "orphans": orphans,
        });
        assert_eq!(links, expected);
    }
}

#[test]
fn details_with_another_time_than_their_events_are_reported() {
    let folder = session(None);
    let mut details = DetailFile::finalized(1, 3).events;
    details[1].timestamp += 1;
    details[2].timestamp += 1;
    let path = folder.path().join("s/thread_7/detail.atf");
    fs::write(path, DetailFile::of(1, details).bytes()).unwrap();
    let (_, _, messages) = run(&folder, &["recover", "s", "--out", "out"]);
    assert_eq!(messages, "");
    for path in ["s", "out"] {
        let (status, text, _) = run(&folder, &["info", "--verify", path]);
        let problem = "thread_7: 2 links to detail events with another time [ATF-LINK-006]\n";
        assert!(status == 1 && text.contains(problem), "{text}");
        let links = "links     1 good, 2 to detail events with another time\n";
        assert!(text.contains(links), "{text}");
        let (status, _, messages) = run(&folder, &["dump", "--details", path]);
        let expected = "atf: thread 7: details that do not belong to their events: 2 events, first events[3]\n";
        assert!(status == 1 && messages.ends_with(expected), "{messages}");
    }
}

#[test]
fn info_reports_unverified_checksums_and_unreadable_manifests() {
    let folder = session(None);
    let unread = "gaps and links are not checked (--verify reads all)\n";
    let (_, text, _) = run(&folder, &["info", "s"]);
    assert!(text.contains(unread), "{text}");
    let (_, text, _) = run(&folder, &["info", "--verify", "s"]);
    assert!(!text.contains(unread), "{text}");

    // The details' checksum is verified when the file is opened.
    let detail = DetailFile::finalized(1, 3).bytes();
    let path = folder.path().join("s/thread_7/detail.atf");
    fs::write(path, patched(&detail, 64 + 30, &[0x55])).unwrap();
    fs::write(folder.path().join("s/manifest.json"), "garbage").unwrap();
    let (status, text, _) = run(&folder, &["info", "s"]);
    assert_eq!(status, 1);
    assert!(
        text.contains("finalized; details: checksum bad  !\n"),
        "{text}"
    );
    assert!(text.contains("manifest  unreadable\n"), "{text}");
}

/// The time of the first event of thread 7.
const START: u64 = 0x0004_62d5_3c8a_0000;

#[test]
fn losses_of_the_tracer_are_told_and_are_no_damage() {
    let folder = session(None);
    let (first, last) = (START + 1000, START + 3000);
    let loss = |count: u64, first: u64, last: u64| {
        format!(r#"{{"count": {count}, "first_ns": {first}, "last_ns": {last}}}"#)
    };
    let (events, details) = (loss(3, first, last), loss(1, first, first));
    let manifest = format!(
        r#"{{"threads": [{{"id": 7, "name": "render", "lost_events": {events},
        "lost_details": {details}}}], "modules": [{{"module_id": 1, "function_offsets": true}}],
        "timing_anchors": [{{"host_time_ns": 5000000000, "media_time": -3,
        "media_timescale": 600}}]}}"#
    );
    fs::write(folder.path().join("s/manifest.json"), manifest).unwrap();
    let message = "atf: thread 7 (render): the tracer lost 3 events and 1 detail, \
                   from +0.000001000s to +0.000003000s\n";
    for arguments in [
        &["dump", "s"] as &[&str],
        &["dump", "--json", "s"],
        &["dump", "--follow", "s"],
        &["dump", "--follow", "s/thread_7"],
        &["dump", "s/thread_7"],
        &["dump", "--limit", "0", "s"],
        &["dump", "--from", "+3us", "--spans", "s"],
    ] {
        let (status, _, messages) = run(&folder, arguments);
        assert_eq!(status, 0, "{arguments:?}: {messages}");
        assert!(messages.ends_with(message), "{arguments:?}: {messages}");
    }
    for arguments in [
        &["report", "s"] as &[&str],
        &["report", "--by-thread", "s"],
        &["report", "--tree", "s/thread_7"],
        &["diff", "s", "s/thread_7"],
    ] {
        let (status, text, messages) = run(&folder, arguments);
        assert_eq!(status, 0, "{arguments:?}: {messages}");
        let expected = ", 3 events and 1 detail lost by the tracer from +0.000001000s to \
                        +0.000003000s (calls around lost events may seem longer than they were, and have \
                        wrong callers)\n";
        assert!(text.contains(expected), "{arguments:?}: {text}");
    }
    for other in ["--from=+4us", "--to=+0.9us"] {
        let (_, _, messages) = run(&folder, &["dump", other, "s"]);
        assert!(!messages.contains("lost"), "{other}: {messages}");
    }

    let (status, text, _) = run(&folder, &["info", "s"]);
    assert_eq!(status, 0, "{text}");
    for expected in [
        "finalized; the tracer lost 3 events and 1 detail  (render)\n",
        "lost      3 events and 1 detail by the tracer, \
         from 1234567.890076648 s to 1234567.890078648 s\n",
        "module 0x00000001 (path unknown), functions by offset\n",
        "at 5.000000000 s a recording is at -3/600 s\n",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    let (_, text, _) = run(&folder, &["info", "s/thread_7"]);
    assert!(
        text.contains("name      render\n  lost      3 events"),
        "{text}"
    );
    let (_, text, _) = run(&folder, &["info", "--json", "s"]);
    let info: Value = serde_json::from_str(&text).unwrap();
    let (_, text, _) = run(&folder, &["report", "--json", "s"]);
    let report: Value = serde_json::from_str(&text).unwrap();
    for lost in [&info, &info["threads"][0], &report["totals"]] {
        assert_eq!(lost["lost_events"]["count"], "3");
        assert_eq!(lost["lost_events"]["last_ns"], last.to_string());
        assert_eq!(lost["lost_details"]["first_ns"], first.to_string());
    }
    assert_eq!(info["threads"][0]["name"], "render");
    assert_eq!(info["manifest"]["modules"][0]["function_offsets"], true);
    let anchor = &info["manifest"]["timing_anchors"][0];
    assert_eq!(anchor["media_time"], "-3");
    assert_eq!(anchor["media_timescale"], 600);

    // The only finding about the manifest is advice on the losses.
    let (_, text, _) = run(&folder, &["check", "s"]);
    let found = text.split_once("manifest.json: accept\n  advice ATF-MANI-014  ");
    let rest = found.map(|(_, rest)| rest.lines().nth(2));
    let last = "3 files: 3 accept, 0 recover, 0 reject; 9 events, 3 details";
    assert_eq!(rest, Some(Some(last)), "{text}");
}

#[test]
fn losses_of_all_threads_add_up() {
    let folder = session(None);
    thread(
        folder.path(),
        "thread_8",
        &IndexFile::finalized(1, 9).bytes(),
    );
    let manifest = r#"{"threads": [
        {"id": 7, "lost_events": {"count": 3, "first_ns": 20, "last_ns": 30}},
        {"id": 8, "lost_events": {"count": 4, "first_ns": 10, "last_ns": 25}}],
        "lost_events": {"count": 5, "first_ns": 5, "last_ns": 5}}"#;
    fs::write(folder.path().join("s/manifest.json"), manifest).unwrap();
    let (_, text, _) = run(&folder, &["info", "--json", "s"]);
    let info: Value = serde_json::from_str(&text).unwrap();
    let lost = &info["lost_events"];
    let found = ["count", "first_ns", "last_ns"].map(|key| lost[key].as_str().unwrap());
    assert_eq!(found, ["12", "5", "30"]);
    let (_, text, _) = run(&folder, &["last", "s"]);
    let expected = "  lost by the tracer: 5 events of threads without files, from ";
    assert!(text.contains(expected), "{text}");
    let (_, text, _) = run(&folder, &["check", "s"]);
    let expected = "lost 5 events, from 5 to 5 ns; in all threads together 12 events and 0 details";
    assert!(text.contains(expected), "{text}");
    assert_eq!(info.get("lost_details"), None);
    let (_, _, messages) = run(&folder, &["dump", "--thread", "8", "--limit", "0", "s"]);
    assert!(
        messages.contains("thread 8:") && !messages.contains("thread 7:"),
        "{messages}"
    );
    let (_, _, messages) = run(&folder, &["dump", "--limit", "0", "s"]);
    let expected = "threads without files: the tracer lost 5 events, from ";
    assert!(messages.contains(expected), "{messages}");
}

#[test]
fn losses_of_threads_without_files_are_reported() {
    let folder = session(None);
    let manifest = r#"{"threads": [{"id": 7}],
        "lost_events": {"count": 5, "first_ns": 5, "last_ns": 5}}"#;
    fs::write(folder.path().join("s/manifest.json"), manifest).unwrap();
    let lost = "5 events lost by the tracer";
    for command in [&["report", "s"][..], &["diff", "s", "s"]] {
        let (_, text, messages) = run(&folder, command);
        assert!(text.contains(lost), "{text}{messages}");
        let (_, text, _) = run(&folder, &[command, &["--json"]].concat());
        assert!(text.contains(r#""lost_events":{"count":"5""#), "{text}");
    }
    for command in [
        &["export", "--format", "chrome"][..],
        &["export", "--format", "folded"],
        &["flamegraph"],
    ] {
        let (_, _, messages) = run(&folder, &[command, &["--out", "out", "s"]].concat());
        assert!(messages.contains(lost), "{command:?}: {messages}");
        // These are not losses of the selected threads.
        let selected = ["--out", "out", "--thread", "7", "s"];
        let (_, _, messages) = run(&folder, &[command, &selected].concat());
        assert!(!messages.contains(lost), "{command:?}: {messages}");
        fs::remove_file(folder.path().join("out")).unwrap();
    }
    let (_, text, messages) = run(&folder, &["report", "--by-thread", "s"]);
    let expected = "threads without files: the tracer lost 5 events, from ";
    assert!(messages.contains(expected), "{messages}");
    assert!(text.contains("0 events lost by the tracer"), "{text}");
}

#[test]
fn losses_of_listed_threads_without_readable_files_are_reported() {
    let folder = session(None);
    let loss = |id: u32| {
        let loss = r#"{"count": 5, "first_ns": 5, "last_ns": 5}"#;
        format!(r#"{{"id": {id}, "lost_events": {loss}}}"#)
    };
    // Thread 7 has events, thread 8 has no folder, and the file of thread 9 is empty.
    let threads = [7, 8, 9].map(loss).join(", ");
    let manifest = format!(r#"{{"threads": [{threads}]}}"#);
    fs::write(folder.path().join("s/manifest.json"), manifest).unwrap();
    thread(folder.path(), "thread_9", b"");
    for command in [&["report", "s"][..], &["diff", "s", "s"]] {
        let (_, text, messages) = run(&folder, command);
        let lost = "15 events lost by the tracer";
        assert!(text.contains(lost), "{text}{messages}");
    }
    for command in [
        &["export", "--format", "chrome"][..],
        &["export", "--format", "folded"],
        &["flamegraph"],
    ] {
        let (_, _, messages) = run(&folder, &[command, &["--out", "out", "s"]].concat());
        let lost = "15 events lost by the tracer";
        assert!(messages.contains(lost), "{command:?}: {messages}");
        fs::remove_file(folder.path().join("out")).unwrap();
    }
    let (_, text, _) = run(&folder, &["last", "s"]);
    let lost = "lost by the tracer: 10 events of threads without files, from ";
    assert!(text.contains(lost), "{text}");
    let (_, text, _) = run(&folder, &["info", "--json", "s"]);
    let info: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(info["lost_events"]["count"], "15");
}

#[test]
fn calls_report_links_to_lost_details() {
    let folder = session(None);
    let detail = folder.path().join("s/thread_7/detail.atf");
    let same = |path: &str| {
        let [events, calls] = [&["dump", path][..], &["dump", "--spans", path]].map(|arguments| {
            let (status, _, messages) = run(&folder, arguments);
            assert_eq!(status, 1, "{arguments:?}");
            let mut messages: Vec<_> = messages.lines().map(str::to_owned).collect();
            messages.sort();
            messages
        });
        assert!(
            events[0].contains("links reach detail event 2"),
            "{events:?}"
        );
        assert_eq!(calls, events, "{path}");
    };
    fs::write(&detail, DetailFile::finalized(1, 2).bytes()).unwrap();
    ["s", "s/thread_7"].iter().for_each(|path| same(path));
    fs::remove_file(&detail).unwrap();
    ["s", "s/thread_7"].iter().for_each(|path| same(path));
}

#[test]
fn an_export_reports_details_of_other_events() {
    let mut events = IndexFile::finalized(1, 9).events;
    (events[0].detail_seq, events[3].detail_seq) = (Some(1), Some(0));
    let folder = session(Some(&IndexFile::of(1, events).bytes()));
    let export = ["export", "--format", "perfetto", "--out", "out", "s"];
    let (status, _, messages) = run(&folder, &export);
    // The return without a call is not in the output.
    let foreign = "1 event with links to details of other events";
    assert!(status == 1 && messages.contains(foreign), "{messages}");
}
