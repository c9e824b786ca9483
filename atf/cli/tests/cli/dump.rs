//! `dump`: the order of events, and filters.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use super::{atf, clean, expected, golden, lines, number, texts, written};
use atf_samples::files::{DetailFile, DetailRecord, EventRecord, IndexFile, crc32c, patched};

const SMALL: &str = "sample-small/session_20260105_101500/pid_4242";

fn dump(arguments: &[&str]) -> Vec<Value> {
    let arguments = [&["dump", "--json", SMALL], arguments].concat();
    lines(&clean(&atf_samples::folder(), &arguments))
}

/// Returns an event's sort key: timestamp, thread, position.
fn key(event: &Value) -> (u64, u64, u64) {
    let time = number(&event["timestamp_ns"]);
    (
        time,
        event["thread"].as_u64().unwrap(),
        number(&event["seq"]),
    )
}

#[test]
fn all_events_of_the_samples_appear_once_in_order() {
    for (path, expected) in expected() {
        let events = lines(&written(&atf_samples::folder(), &["dump", "--json", &path]));
        assert!(events.is_sorted_by_key(key), "{path}");
        for (name, expected) in expected["threads"].as_object().unwrap() {
            let id: u64 = name.strip_prefix("thread_").unwrap().parse().unwrap();
            let events: Vec<_> = events
                .iter()
                .filter(|event| event["thread"] == id)
                .collect();
            assert_eq!(events.len() as u64, expected["events"].as_u64().unwrap());
            for (seq, event) in (0..).zip(&events) {
                assert_eq!(number(&event["seq"]), seq);
            }
            let links = events
                .iter()
                .filter(|event| event["detail_seq"].is_string());
            assert_eq!(links.count() as u64, expected["links"].as_u64().unwrap());
            let depth = events
                .iter()
                .map(|event| event["call_depth"].as_u64())
                .max();
            assert_eq!(depth.flatten(), expected["max_depth"].as_u64());
        }
    }
}

#[test]
fn lines_have_the_documented_keys() {
    let folder = TempDir::new().unwrap();
    let keys = |version| {
        let file = IndexFile::finalized(version, 1).bytes();
        fs::write(folder.path().join("i"), file).unwrap();
        let event = &lines(&clean(folder.path(), &["dump", "--json", "i"]))[0];
        let keys = event.as_object().unwrap().keys();
        keys.map(String::as_str).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        keys(1),
        "thread seq timestamp_ns function_id thread_id event_kind call_depth detail_seq"
    );
    // Events of wire version 2 contain neither thread nor depth.
    assert_eq!(
        keys(2),
        "thread seq timestamp_ns function_id event_kind detail_seq"
    );
}

#[test]
fn filters_match_a_naive_filter() {
    let all = dump(&[]);
    assert_eq!(all.len(), 2000);
    let start = number(&all[0]["timestamp_ns"]);
    let check = |arguments: &[&str], keep: &dyn Fn(&Value) -> bool| {
        let expected: Vec<_> = all.iter().filter(|event| keep(event)).cloned().collect();
        assert!(
            !expected.is_empty() && expected.len() < all.len(),
            "{arguments:?}"
        );
        assert!(dump(arguments) == expected, "{arguments:?}");
    };
    let time = |event: &Value| number(&event["timestamp_ns"]) - start;
    let name = |event: &Value| event["function"].as_str().unwrap_or("").to_owned();
    check(&["--thread", "1"], &|event| event["thread"] == 1);
    check(&["--thread", "0", "--thread", "2"], &|event| {
        event["thread"] != 1
    });
    check(&["--kind", "call"], &|event| event["event_kind"] == 1);
    check(&["--kind", "2"], &|event| event["event_kind"] == 2);
    check(&["--from", "+10us"], &|event| time(event) >= 10_000);
    check(&["--to", "+0.02ms"], &|event| time(event) <= 20_000);
    let (from, to) = ((start + 5_000).to_string(), (start + 9_000).to_string());
    check(&["--from", &from, "--to", &to], &|event| {
        (5_000..=9_000).contains(&time(event))
    });
    // The bounds are inclusive.
    let moment = all[700]["timestamp_ns"].as_str().unwrap();
    check(&["--from", moment, "--to", moment], &|event| {
        event["timestamp_ns"] == moment
    });
    check(&["--function", "render"], &|event| {
        name(event).contains("render")
    });
    check(&["--function", "_$s4Demo?render*"], &|event| {
        name(event).starts_with("_$s4Demo") && name(event)[9..].starts_with("render")
    });
    check(&["--function", "=_$s4Demo0load0"], &|event| {
        name(event) == "_$s4Demo0load0"
    });
    let id = number(&all[0]["function_id"]);
    check(&["--function", &format!("{id:#x}")], &|event| {
        number(&event["function_id"]) == id
    });
    check(
        &[
            "--function",
            "load",
            "--kind",
            "return",
            "--thread",
            "0",
            "--from",
            "+1us",
        ],
        &|event| {
            name(event).contains("load")
                && event["event_kind"] == 2
                && event["thread"] == 0
                && time(event) >= 1_000
        },
    );
    assert_eq!(dump(&["--limit", "7"]), all[..7]);
    assert_eq!(dump(&["--limit", "0"]), [Value::Null; 0]);
}

#[test]
fn text_and_json_have_the_same_events() {
    let text = clean(&atf_samples::folder(), &["dump", SMALL]);
    let all = dump(&[]);
    assert_eq!(text.lines().count(), all.len());
    for (line, event) in text.lines().zip(&all) {
        let mut words = line.split_whitespace().skip(1);
        assert_eq!(words.next().unwrap(), event["thread"].to_string());
        assert_eq!(words.next(), event["seq"].as_str());
        assert!(line.contains(event["function"].as_str().unwrap()), "{line}");
    }
    let arguments = ["dump", "--details", "--limit", "60", "--thread", "0", SMALL];
    golden(
        "dump-details.txt",
        &clean(&atf_samples::folder(), &arguments),
    );
}

/// Writes a session of one thread with one call, its detail and a symbol.
fn session(folder: &Path, name: &str) {
    let thread = folder.join("thread_7");
    fs::create_dir_all(&thread).unwrap();
    let event = EventRecord {
        timestamp_ns: 1000,
        function_id: 0x0644_4fc1_0000_0001,
        kind: 1,
        depth: 1,
        detail_seq: Some(0),
    };
    fs::write(
        thread.join("index.atf"),
        IndexFile::of(1, vec![event]).bytes(),
    )
    .unwrap();
    let mut call = DetailRecord::call(0, 1000, 3);
    if name.is_empty() {
        call.payload = vec![0xab; 200_000];
    }
    fs::write(
        thread.join("detail.atf"),
        DetailFile::of(1, vec![call]).bytes(),
    )
    .unwrap();
    let name = serde_json::to_string(name).unwrap();
    let symbol = format!(r#"{{"function_id": "0x06444fc100000001", "name": {name}}}"#);
    let manifest = format!(r#"{{"threads": [{{"id": 7}}], "symbols": [{symbol}]}}"#);
    fs::write(folder.join("manifest.json"), manifest).unwrap();
}

/// Asserts that no character can control a terminal.
fn assert_harmless(text: &str) {
    let harmless = |letter: char| letter == '\n' || !letter.is_control();
    assert!(text.chars().all(harmless), "{text:?}");
    assert!(!text.contains('\u{202e}'), "{text:?}");
}

#[test]
fn a_file_s_name_and_bytes_cannot_control_the_terminal() {
    let folder = TempDir::new().unwrap();
    session(folder.path(), "f");
    let good = folder.path().join("thread_7/index.atf");
    let bytes = fs::read(&good).unwrap();
    let name = "evil\u{1b}]0;title\u{7}\n\u{9b}31m\u{202e}.atf";
    for bytes in [
        bytes.clone(),
        patched(&bytes, 0, b"\x1b[2J"),
        b"\x1b]0;\x07".to_vec(),
    ] {
        fs::write(folder.path().join(name), bytes).unwrap();
        for command in ["dump", "info", "explain"] {
            for path in [name, "no such \u{1b}[31m\u{202e}"] {
                let output = atf(folder.path(), &[command, path]);
                let (_, out, err) = texts(&output);
                assert!(!out.is_empty() || !err.is_empty(), "{command}");
                assert_harmless(out);
                assert_harmless(err);
            }
        }
    }
}

#[test]
fn a_function_name_cannot_control_the_terminal() {
    let folder = TempDir::new().unwrap();
    let name = "evil\u{1b}]0;title\u{7}\n\u{9b}31m\u{202e}";
    session(folder.path(), name);
    for arguments in [
        &["dump", "."][..],
        &["dump", "--details", "."],
        &["info", "."],
    ] {
        assert_harmless(&clean(folder.path(), arguments));
    }
    let text = clean(folder.path(), &["dump", "."]);
    assert!(
        text.contains(r"evil\u{1b}]0;title\u{7}\u{a}\u{9b}31m\u{202e}"),
        "{text}"
    );
    let event = &lines(&clean(folder.path(), &["dump", "--json", "."]))[0];
    assert_eq!(event["function"], name);
}

#[test]
fn details_are_dumped_completely() {
    let folder = TempDir::new().unwrap();
    session(folder.path(), "f");
    let event = &lines(&clean(folder.path(), &["dump", "--json", "--details", "."]))[0];
    let detail = &event["detail"];
    assert_eq!(detail["event_type"], 3);
    assert_eq!(detail["function"]["x_regs"][7], (0x1111 * 7).to_string());
    assert_eq!(detail["function"]["sp"], 0xcccc.to_string());
    assert_eq!(detail["function"]["stack"], "010103");
    // A payload larger than any buffer.
    session(folder.path(), "");
    let event = &lines(&written(
        folder.path(),
        &["dump", "--json", "--details", "."],
    ))[0];
    assert_eq!(event["detail"]["payload"], "ab".repeat(200_000));
    let file = &lines(&written(
        folder.path(),
        &["dump", "--json", "thread_7/detail.atf"],
    ))[0];
    assert_eq!(file, &event["detail"]);
}

#[test]
fn names_can_come_from_another_manifest() {
    let folder = TempDir::new().unwrap();
    session(folder.path(), "own");
    fs::rename(folder.path().join("manifest.json"), folder.path().join("m")).unwrap();
    let text = clean(folder.path(), &["dump", "."]);
    assert!(text.contains("  0x06444fc100000001  detail 0"), "{text}");
    let text = clean(
        folder.path(),
        &["dump", "--symbols", "m", "thread_7/index.atf"],
    );
    assert!(text.contains("  own  detail 0"), "{text}");
    let path = "thread_7/detail.atf";
    for (arguments, function) in [
        (&["dump", path][..], "0x06444fc100000001"),
        (&["dump", "--symbols", "m", path], "own"),
    ] {
        let text = clean(folder.path(), arguments);
        let expected =
            format!("+0.000000000    7        0 call        -  {function}\n    detail 0: ");
        assert!(text.starts_with(&expected), "{text}");
    }
}

#[test]
fn closing_the_output_early_is_not_an_error() {
    let folder = TempDir::new().unwrap();
    let events = IndexFile::finalized(1, 200_000).bytes();
    fs::write(folder.path().join("index.atf"), events).unwrap();
    for arguments in [
        &["dump", "index.atf"][..],
        &["dump", "--json", "index.atf"],
        &["explain", "--all", "index.atf"],
    ] {
        let mut child = Command::new(assert_cmd::cargo::cargo_bin("atf"))
            .current_dir(folder.path())
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        output.read_line(&mut line).unwrap();
        assert!(!line.is_empty());
        drop(output);
        let output = child.wait_with_output().unwrap();
        let (status, _, messages) = texts(&output);
        assert_eq!((status, messages), (0, ""), "{arguments:?}");
    }
}

#[test]
fn a_damaged_thread_does_not_hide_the_others() {
    let folder = TempDir::new().unwrap();
    session(folder.path(), "f");
    let thread = folder.path().join("thread_1");
    fs::create_dir(&thread).unwrap();
    fs::write(thread.join("index.atf"), b"ATI2").unwrap();
    let output = atf(folder.path(), &["dump", "--json", "."]);
    let (status, text, messages) = texts(&output);
    assert_eq!(status, 1);
    assert_eq!(lines(text).len(), 1);
    assert!(
        messages.contains("thread_1/index.atf: header: truncated: 4 of 64 bytes"),
        "{messages}"
    );
}

#[test]
fn several_sessions_are_listed_and_not_merged() {
    let output = atf(&atf_samples::folder(), &["dump", "."]);
    let (status, text, messages) = texts(&output);
    assert_eq!((status, text), (2, ""));
    assert!(
        messages.contains("several sessions; name one of"),
        "{messages}"
    );
    assert!(messages.contains("pid_4244"), "{messages}");
}

/// Writes a session of `count` threads, each with two events and a detail.
fn many_threads(folder: &Path, count: u64) {
    for id in 0..count {
        let thread = folder.join(format!("thread_{id}"));
        fs::create_dir(&thread).unwrap();
        let event = |place: u64| EventRecord {
            timestamp_ns: 1_000_000 * place + (id * 7) % count,
            function_id: id,
            kind: u8::try_from(place).unwrap(),
            depth: 1,
            detail_seq: (place == 1).then_some(0),
        };
        let mut index = IndexFile {
            thread_id: u32::try_from(id).unwrap(),
            ..IndexFile::of(1, vec![event(1), event(2)])
        };
        index.checksum = crc32c(&index.section());
        fs::write(thread.join("index.atf"), index.bytes()).unwrap();
        let mut detail = DetailRecord::call(0, event(1).timestamp_ns, 0);
        detail.payload = id.to_le_bytes().to_vec();
        let mut detail = DetailFile {
            thread_id: index.thread_id,
            ..DetailFile::of(1, vec![detail])
        };
        detail.checksum = crc32c(&detail.section());
        fs::write(thread.join("detail.atf"), detail.bytes()).unwrap();
    }
}

/// Runs `atf` with at most `limit` open files.
#[cfg(unix)]
fn limited(folder: &Path, limit: u32, arguments: &[&str]) -> std::process::Output {
    let script = format!("ulimit -n {limit} && exec \"$0\" \"$@\"");
    Command::new("sh")
        .current_dir(folder)
        .args(["-c", &script])
        .arg(assert_cmd::cargo::cargo_bin("atf"))
        .args(arguments)
        .output()
        .unwrap()
}

#[cfg(unix)]
#[test]
fn more_threads_than_open_files_lose_nothing() {
    let folder = TempDir::new().unwrap();
    let count = 1500;
    many_threads(folder.path(), count);
    let output = limited(folder.path(), 256, &["dump", "--json", "--details", "."]);
    let (status, text, messages) = texts(&output);
    assert_eq!((status, messages), (0, ""));
    let events = lines(text);
    assert_eq!(events.len() as u64, 2 * count);
    assert!(events.is_sorted_by_key(key));
    for event in events.iter().filter(|event| event["event_kind"] == 1) {
        let id = event["thread"].as_u64().unwrap();
        let payload: String = id.to_le_bytes().map(|byte| format!("{byte:02x}")).concat();
        assert_eq!(event["detail"]["payload"], payload, "{event}");
    }
    for arguments in [&["dump", "--spans", "."][..], &["info", "--verify", "."]] {
        let output = limited(folder.path(), 256, arguments);
        let (status, text, messages) = texts(&output);
        assert_eq!((status, messages), (0, ""), "{arguments:?}");
        assert!(text.lines().count() as u64 >= count);
    }
}

#[test]
fn details_of_two_folders_with_one_id_are_distinguished() {
    let folder = TempDir::new().unwrap();
    for (name, time, byte) in [("thread_1", 1000, 0xaa), ("thread_01", 2000, 0xbb)] {
        let thread = folder.path().join(name);
        fs::create_dir(&thread).unwrap();
        let event = EventRecord {
            timestamp_ns: time,
            function_id: 1,
            kind: 1,
            depth: 1,
            detail_seq: Some(0),
        };
        let index = IndexFile::of(1, vec![event]);
        fs::write(thread.join("index.atf"), index.bytes()).unwrap();
        let mut detail = DetailRecord::call(0, time, 0);
        detail.payload = vec![byte];
        let detail = DetailFile::of(1, vec![detail]);
        fs::write(thread.join("detail.atf"), detail.bytes()).unwrap();
    }
    let events = lines(&clean(folder.path(), &["dump", "--json", "--details", "."]));
    let payload = |event: &Value| event["detail"]["payload"].as_str().unwrap().to_owned();
    let payloads: Vec<_> = events.iter().map(payload).collect();
    assert_eq!(payloads, ["aa", "bb"]);
}

/// Returns a file of events with these times, kinds and functions.
fn handmade(events: &[(u64, u8, u64)]) -> IndexFile {
    let event = |&(timestamp_ns, kind, function_id): &(u64, u8, u64)| EventRecord {
        timestamp_ns,
        function_id,
        kind,
        depth: 0,
        detail_seq: None,
    };
    IndexFile::of(2, events.iter().map(event).collect())
}

/// Uses handmade events: calls that returned, threw, were skipped or stayed open, and returns
/// without a call.
#[test]
fn spans_state_how_each_call_ended() {
    let folder = TempDir::new().unwrap();
    let events = [
        (100, 2, 9),
        (110, 1, 1),
        (120, 1, 2),
        (130, 3, 2),
        (140, 1, 3),
        (150, 1, 4),
        (160, 2, 3),
        (170, 1, 5),
    ];
    let index = handmade(&events);
    fs::write(folder.path().join("i"), index.bytes()).unwrap();
    let spans = |arguments: &[&str]| {
        let arguments = [&["dump", "--spans", "--json", "i"], arguments].concat();
        let span = |span: &Value| {
            let text = |key: &str| span[key].as_str().unwrap_or("-").to_owned();
            let keys = ["function_id", "start_ns", "duration_ns", "end"].map(text);
            format!("{} {}", keys.join(" "), span["depth"])
        };
        let lines = lines(&written(folder.path(), &arguments));
        lines.iter().map(span).collect::<Vec<_>>()
    };
    let all = spans(&[]);
    let expected = [
        "9 - - unmatched null",
        "2 120 10 exception 2",
        "4 150 10 not_returned 3",
        "3 140 20 return 2",
        "5 170 - open 2",
        "1 110 - open 1",
    ];
    assert_eq!(all, expected);
    // Calls that overlap the time range are shown.
    assert_eq!(
        spans(&["--from", "131", "--to", "145"]),
        [all[3].clone(), all[5].clone()]
    );
    // Open calls last until the last event of a finalized thread.
    assert_eq!(spans(&["--from", "170"]), all[4..]);
    assert!(spans(&["--from", "171"]).is_empty());
    let mut unfinalized = index.bytes();
    unfinalized.truncate(64 + 8 * 32);
    fs::write(folder.path().join("i"), unfinalized).unwrap();
    assert_eq!(spans(&["--from", "171"]), all[4..], "it may still run");
    fs::write(folder.path().join("i"), index.bytes()).unwrap();
    assert_eq!(spans(&["--function", "0x4"]), all[2..3]);
    assert_eq!(spans(&["--limit", "2"]), all[..2]);
    golden(
        "dump-spans.txt",
        &clean(folder.path(), &["dump", "--spans", "i"]),
    );
}

/// The same events as in the test above.
#[test]
fn calls_are_in_the_order_of_their_starts() {
    let folder = TempDir::new().unwrap();
    let events = [
        (100, 2, 9),
        (110, 1, 1),
        (120, 1, 2),
        (130, 3, 2),
        (140, 1, 3),
        (150, 1, 4),
        (160, 2, 3),
        (170, 1, 5),
    ];
    fs::write(folder.path().join("i"), handmade(&events).bytes()).unwrap();
    let calls = |arguments: &[&str]| {
        let arguments = [&["dump", "--calls", "i"], arguments].concat();
        let output = atf(folder.path(), &arguments);
        let (status, text, _) = texts(&output);
        assert_eq!(status, 0);
        text.to_owned()
    };
    let all = "\
+0.000000000             -    7        0  0x0000000000000009  (a return without a call)
+0.000000010             -    7        1  0x0000000000000001 {
+0.000000020         10 ns    7        2    0x0000000000000002  (by an exception)
+0.000000040             -    7        4    0x0000000000000003 {
+0.000000050         10 ns    7        5      0x0000000000000004  (never returned: an outer call ended)
+0.000000060         20 ns    7        6    } 0x0000000000000003
+0.000000070             -    7        7    0x0000000000000005  (open at the end)
           -             -    7        -  } 0x0000000000000001  (open at the end)
";
    assert_eq!(calls(&[]), all);
    // Calls that overlap the time range, with the calls around them.
    let part = "\
+0.000000010             -    7        1  0x0000000000000001 {
+0.000000040         20 ns    7        4    0x0000000000000003
           -             -    7        -  } 0x0000000000000001  (open at the end)
";
    assert_eq!(calls(&["--from", "131", "--to", "145"]), part);
    let some = "\
+0.000000020         10 ns    7        2    0x0000000000000002  (by an exception)
+0.000000050         10 ns    7        5      0x0000000000000004  (never returned: an outer call ended)
";
    assert_eq!(calls(&["--function", "0x2", "--function", "0x4"]), some);
    let first = |count: usize| all.split_inclusive('\n').take(count).collect::<String>();
    assert_eq!(calls(&["--limit", "3"]), first(3));
    let last: String = all.split_inclusive('\n').skip(6).collect();
    assert_eq!(calls(&["--last", "2"]), last);
}

/// Two times count back from the last event, in commands with a range.
#[test]
fn a_time_with_a_minus_counts_back_from_the_last_event() {
    let folder = TempDir::new().unwrap();
    let events = [(100, 1, 1), (200, 1, 2), (300, 2, 2), (450, 2, 1)];
    fs::write(folder.path().join("i"), handmade(&events).bytes()).unwrap();
    let seqs = |arguments: &[&str]| {
        let text = written(
            folder.path(),
            &[&["dump", "--json", "i"], arguments].concat(),
        );
        let seqs = lines(&text).into_iter().map(|event| number(&event["seq"]));
        seqs.collect::<Vec<_>>()
    };
    assert_eq!(seqs(&["--from", "-150"]), [2, 3]);
    assert_eq!(seqs(&["--from=-0.25us", "--to", "-1ns"]), [1, 2]);
    assert_eq!(seqs(&["--from", "-1s", "--limit", "1"]), [0]);
    let report = clean(
        folder.path(),
        &["report", "--json", "--from", "-150ns", "i"],
    );
    // Function 2 returns at the beginning of the range.
    let functions = lines(&report).remove(0)["functions"].take();
    let own = functions.as_array().unwrap().iter();
    let own: Vec<_> = own
        .map(|row| (number(&row["function_id"]), number(&row["self_ns"])))
        .collect();
    assert_eq!(own, [(1, 150), (2, 0)]);
    let output = atf(folder.path(), &["dump", "--follow", "--from", "-1ms", "i"]);
    let (status, _, messages) = texts(&output);
    assert_eq!(status, 2);
    assert!(messages.contains("--follow: no time before"), "{messages}");
}

/// Calls last as long as in a report or an export, where times never decrease.
#[test]
fn spans_with_wrong_times_last_as_long_as_in_reports() {
    let folder = TempDir::new().unwrap();
    let events = [
        (1000, 1, 1),
        (u64::MAX / 2, 1, 2),
        (1200, 2, 2),
        (1309, 2, 1),
        (1150, 1, 3),
        (1320, 2, 3),
        (1400, 1, 4),
        (9000, 1, 5),
        (1190, 2, 5),
    ];
    let index = handmade(&events);
    fs::write(folder.path().join("i"), index.bytes()).unwrap();
    let spans = lines(&written(folder.path(), &["dump", "--spans", "--json", "i"]));
    let numbers = |span: &Value| {
        let keys = ["function_id", "start_ns", "duration_ns"];
        keys.map(|key| (!span[key].is_null()).then(|| number(&span[key])))
    };
    let spans: Vec<_> = spans.iter().map(numbers).collect();
    let expected = [[2, 1200, 0], [1, 1000, 309], [3, 1309, 11], [5, 9000, 0]];
    let mut expected = expected.map(|span| span.map(Some)).to_vec();
    expected.push([Some(4), Some(1400), None]);
    assert_eq!(spans, expected);
    let report = lines(&written(folder.path(), &["report", "--json", "i"]));
    for [function, _, duration_ns] in &expected[..4] {
        let of_it = |row: &&Value| Some(number(&row["function_id"])) == *function;
        let functions = report[0]["functions"].as_array().unwrap();
        let row = functions.iter().find(of_it).unwrap();
        assert_eq!(Some(number(&row["max_ns"])), *duration_ns, "{row}");
    }
    // A call that is open at the end lasts until the latest time.
    let last = written(
        folder.path(),
        &["dump", "--spans", "--json", "--from", "9001", "i"],
    );
    assert!(last.is_empty(), "{last}");
}

#[test]
fn spans_of_the_samples_pair_all_calls() {
    let arguments = ["dump", "--spans", "--json", SMALL];
    let spans = lines(&clean(&atf_samples::folder(), &arguments));
    // Half of the 900, 700 and 400 events are calls, and every call returned.
    assert_eq!(spans.len(), 1000);
    assert!(spans.iter().all(|span| span["end"] == "return"));
}

#[test]
fn a_missing_thread_is_reported() {
    let output = atf(&atf_samples::folder(), &["dump", "--thread", "9", SMALL]);
    let (status, text, messages) = texts(&output);
    assert_eq!(
        (status, text, messages),
        (2, "", "atf: there is no thread 9 (threads: 0, 1, 2)\n")
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_failing_output_is_reported() {
    for command in [&["dump", SMALL][..], &["info", SMALL], &["--help"]] {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let output = Command::new(assert_cmd::cargo::cargo_bin("atf"))
            .current_dir(atf_samples::folder())
            .args(command)
            .stdout(full)
            .output()
            .unwrap();
        let (status, _, messages) = texts(&output);
        assert_eq!(status, 2, "{command:?}");
        assert!(messages.starts_with("atf: standard output: "), "{messages}");
    }
}

#[test]
fn a_usage_error_is_an_error_even_if_its_message_cannot_be_written() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("atf"));
    let status = command.args(["dump", "--nonsense"]).stderr(writer).status();
    assert_eq!(status.unwrap().code(), Some(2));
}

#[test]
fn very_long_names_are_shortened() {
    let folder = TempDir::new().unwrap();
    let manifest = folder.path().join("manifest.json");
    // The limit falls inside a two-byte character.
    let name = format!("a{}", "é".repeat(1_000_000));
    let dumped = dump(&["--limit", "1"]);
    let id = number(&dumped[0]["function_id"]);
    let text = format!(
        "{{\"threads\": [], \"symbols\": [{{\"function_id\": \"{id:#x}\", \"name\": \"{name}\"}}]}}"
    );
    fs::write(&manifest, text).unwrap();
    let manifest = manifest.to_str().unwrap();
    let event = &dump(&["--limit", "1", "--symbols", manifest])[0];
    assert_eq!(event["function"].as_str().unwrap(), &name[..4095]);
    assert_eq!(event["function_length"], 2_000_001);
    let span = &dump(&[
        "--spans",
        "--function",
        &format!("{id:#x}"),
        "--limit",
        "1",
        "--symbols",
        manifest,
    ])[0];
    assert_eq!(span["function_length"], 2_000_001);
    let text = clean(
        &atf_samples::folder(),
        &["dump", "--limit", "1", "--symbols", manifest, SMALL],
    );
    assert!(text.contains(&format!("{}… (2000001 bytes)", &name[..4095])));
    assert!(text.len() < 5000);
}

#[test]
fn options_that_need_events_are_refused_for_a_detail_file() {
    let session = "sample-crashed/session_20260105_101500/pid_4243";
    let path = format!("{session}/thread_1/detail.atf");
    for option in [&["--last", "1"][..], &["--thread", "1"], &["--spans"]] {
        let output = atf(&atf_samples::folder(), &[&["dump", &path], option].concat());
        let (status, _, messages) = texts(&output);
        assert_eq!(status, 2, "{option:?}: {messages}");
        assert!(messages.contains("need the index file"), "{messages}");
    }
}

#[test]
fn the_last_events_have_the_order_of_a_merge_even_if_time_goes_back() {
    let folder = TempDir::new().unwrap();
    for (id, times) in [(1, [0, 100, 200, 50, 60]), (2, [10, 150, 70, 80, 250])] {
        let events = times.map(|time| (time, 1, 1));
        let thread = folder.path().join(format!("s/thread_{id}"));
        fs::create_dir_all(&thread).unwrap();
        fs::write(thread.join("index.atf"), handmade(&events).bytes()).unwrap();
    }
    for path in ["s", "s/thread_1"] {
        let all = written(folder.path(), &["dump", path]);
        let last = written(folder.path(), &["dump", "--last", "5", path]);
        assert_eq!(last, all, "{path}");
    }
}
