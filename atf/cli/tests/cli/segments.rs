//! Every command that shows calls treats the segments of a process as one trace.

use std::fs;
use std::path::Path;

use atf::EventKind;
use atf::manifest::{Loss, Symbol};
use atf::write::{Event, SessionWriter, WriteOptions};
use tempfile::TempDir;

use super::{atf, clean, lines, number, texts};

/// Functions with the times of their calls and returns. `main` spans all segments, `parse` the
/// second and the third.
const CALLS: [(&str, u64, u64); 4] = [
    ("main", 1_000, 9_000),
    ("read", 2_000, 3_000),
    ("parse", 4_000, 8_000),
    ("token", 6_000, 7_000),
];

/// The times at which the second and the third segment begin.
const CHANGES: [u64; 2] = [3_500, 5_500];

fn segment(number: usize) -> String {
    match number {
        1 => "pid_42".to_owned(),
        _ => format!("pid_42_segment_{number:06}"),
    }
}

/// Writes these calls as adjacent segments. The tracer lost 3 events in each one.
fn write(folder: &Path) {
    let ends = CALLS.iter().zip(1_u64..).flat_map(|((_, start, end), id)| {
        [(*start, id, EventKind::CALL), (*end, id, EventKind::RETURN)]
    });
    let mut events: Vec<_> = ends.collect();
    events.sort_by_key(|event| event.0);
    let starts = [0, CHANGES[0], CHANGES[1], u64::MAX];
    for number in 1..=3 {
        let path = folder.join(segment(number));
        let writer = SessionWriter::create(&path, &WriteOptions::default()).unwrap();
        let mut thread = writer.thread(0).unwrap();
        for (time, id, kind) in &events {
            if (starts[number - 1]..starts[number]).contains(time) {
                thread.write(&Event::new(*time, *id, *kind, 1)).unwrap();
            }
        }
        let lost = Loss::new(3, starts[number - 1], starts[number - 1] + 1);
        writer.set_losses(0, Some(lost), None);
        thread.finalize().unwrap();
        let names = CALLS
            .iter()
            .zip(1..)
            .map(|((name, ..), id)| Symbol::new(id, *name));
        writer.set_symbols(names.collect());
        writer.finalize().unwrap();
    }
}

/// Returns the functions' total times, as shown by `report`.
fn totals(folder: &Path, paths: &[&str]) -> Vec<(String, u64)> {
    let output = atf(folder, &[&["report", "--json"], paths].concat());
    let report = lines(texts(&output).1);
    assert_eq!(report.len(), 1, "one trace");
    let functions = report[0]["functions"].as_array().unwrap();
    let of = |row: &serde_json::Value| {
        let name = row["function"].as_str().unwrap().to_owned();
        (name, number(&row["total_ns"]))
    };
    let mut totals: Vec<_> = functions.iter().map(of).collect();
    totals.sort();
    totals
}

fn expected() -> Vec<(String, u64)> {
    let mut all = CALLS
        .map(|(name, start, end)| (name.to_owned(), end - start))
        .to_vec();
    all.sort();
    all
}

#[test]
fn calls_over_segments_have_their_full_time_in_every_command() {
    let folder = TempDir::new().unwrap();
    write(&folder.path().join("run"));
    let at = |name: &str| format!("run/{name}");
    let [one, two, three] = [1, 2, 3].map(|number| at(&segment(number)));
    assert_eq!(totals(folder.path(), &["run"]), expected());
    // The order of several paths does not matter.
    assert_eq!(totals(folder.path(), &[&three, &one, &two]), expected());

    let report = clean(folder.path(), &["report", "run"]);
    assert!(report.starts_with("run/pid_42: 3 segments\n"), "{report}");
    assert!(report.contains("9 events lost by the tracer"), "{report}");
    let tree = clean(
        folder.path(),
        &["report", "--tree", "--min-percent", "0", "run"],
    );
    assert!(
        tree.contains("    parse") && tree.contains("      token"),
        "{tree}"
    );

    let last = lines(&clean(folder.path(), &["last", "--json", "run"]));
    let thread = &last[0]["threads"][0];
    assert_eq!((last.len(), number(&thread["event_count"])), (1, 8));
    assert_eq!(number(&thread["open_count"]), 0);
    assert_eq!(number(&thread["lost_events"]["count"]), 9);
    let seqs = thread["events"].as_array().unwrap().iter();
    assert_eq!(
        seqs.map(|event| number(&event["seq"])).collect::<Vec<_>>(),
        [3, 4, 5, 6, 7]
    );

    let output = atf(folder.path(), &["dump", "--spans", "--json", "run"]);
    let (status, text, messages) = texts(&output);
    let spans = lines(text);
    assert_eq!((status, spans.len()), (0, CALLS.len()));
    for (name, start, end) in CALLS {
        let span = spans.iter().find(|span| span["function"] == name).unwrap();
        assert_eq!(number(&span["duration_ns"]), end - start, "{name}");
    }
    assert!(messages.contains("lost 9 events"), "summed: {messages}");
    let output = atf(folder.path(), &["dump", "--json", "run"]);
    let events = lines(texts(&output).1);
    let seqs: Vec<_> = events.iter().map(|event| number(&event["seq"])).collect();
    assert_eq!(seqs, (0..8).collect::<Vec<_>>());
    let output = atf(folder.path(), &["dump", "--json", "--last", "4", "run"]);
    assert_eq!(lines(texts(&output).1), events[4..]);

    let export = |form| {
        let output = atf(
            folder.path(),
            &["export", "--format", form, "--out", "-", "run"],
        );
        let (status, text, _) = texts(&output);
        assert_eq!(status, 0);
        text.to_owned()
    };
    let rows = export("csv");
    let rows = rows.lines().skip(1).filter(|row| row.ends_with(','));
    let mut rows: Vec<_> = rows.map(str::to_owned).collect();
    rows.sort();
    assert_eq!(rows.len(), CALLS.len());
    for (name, start, end) in CALLS {
        let is_it =
            |row: &&String| row.contains(name) && row.contains(&format!(",{}", end - start));
        assert!(
            rows.iter().any(|row| is_it(&row)),
            "{name} {start}: {rows:?}"
        );
    }
    let folded = export("folded");
    assert!(folded.contains("main;parse;token 1000\n"), "{folded}");
    assert!(folded.contains("main;parse 3000\n"), "{folded}");

    let output = atf(folder.path(), &["flamegraph", "run"]);
    assert!(texts(&output).1.contains("token"));
    let same = clean(folder.path(), &["diff", "--all", "--json", "run", "run"]);
    let same = &lines(&same)[0];
    assert_eq!(
        same["before"].as_array().unwrap().len(),
        1,
        "one run: {same}"
    );
}

#[test]
fn a_missing_middle_segment_is_stated_and_breaks_calls() {
    let folder = TempDir::new().unwrap();
    write(&folder.path().join("run"));
    fs::remove_dir_all(folder.path().join("run").join(segment(2))).unwrap();
    for command in [
        &["report", "run"][..],
        &["last", "run"],
        &["dump", "run"],
        &["dump", "--spans", "run"],
        &["export", "--format", "chrome", "--out", "-", "run"],
        &["flamegraph", "run"],
        &["diff", "run", "run"],
    ] {
        let output = atf(folder.path(), command);
        let (status, text, messages) = texts(&output);
        assert_eq!(status, 1, "{command:?}");
        let said = "pid_42_segment_000003: segment 2 of the recording is missing before this one";
        let [in_text, told] = [text, messages].map(|it| it.matches(said).count());
        let expected = match command[0] {
            "report" | "last" => (1, 0),
            "diff" => (2, 0),
            "dump" => (0, 1),
            // One for the line in the flame graph, one for its tooltip.
            "flamegraph" => (2, 1),
            _ => (1, 1),
        };
        assert_eq!((in_text, told), expected, "{command:?}: {messages}");
    }
    let output = atf(folder.path(), &["dump", "--spans", "--json", "run"]);
    let spans = lines(texts(&output).1);
    let text = |it: &serde_json::Value, key: &str| it[key].as_str().unwrap().to_owned();
    let ends: Vec<_> = spans
        .iter()
        .map(|it| (text(it, "function"), text(it, "end")))
        .collect();
    let expected = [
        ("read", "return"),
        ("main", "interrupted"),
        ("token", "return"),
        ("parse", "unmatched"),
        ("main", "unmatched"),
    ];
    assert_eq!(
        ends,
        expected.map(|(name, end)| (name.to_owned(), end.to_owned()))
    );
    // The slice of an interrupted call ends, so that later calls do not appear inside it.
    let output = atf(
        folder.path(),
        &["export", "--format", "chrome", "--out", "-", "run"],
    );
    let events: serde_json::Value = serde_json::from_str(texts(&output).1).unwrap();
    let count = |phase: &str| {
        let events = events.as_array().unwrap().iter();
        events.filter(|event| event["ph"] == phase).count()
    };
    assert_eq!((count("B"), count("E")), (3, 3));
}

#[test]
fn an_unfinalized_middle_segment_breaks_spans() {
    let folder = TempDir::new().unwrap();
    write(&folder.path().join("run"));
    let index = folder.path().join("run").join(segment(2));
    let index = index.join("thread_0/index.atf");
    let mut bytes = fs::read(&index).unwrap();
    // Keep the header and the only event.
    bytes.truncate(64 + 32);
    fs::write(index, bytes).unwrap();
    let output = atf(folder.path(), &["dump", "--spans", "--json", "run"]);
    let (status, text, _) = texts(&output);
    let spans = lines(text);
    let ends: Vec<_> = spans
        .iter()
        .map(|it| {
            (
                it["function"].as_str().unwrap(),
                it["end"].as_str().unwrap(),
            )
        })
        .collect();
    let expected = [
        ("read", "return"),
        ("parse", "interrupted"),
        ("main", "interrupted"),
        ("token", "return"),
        ("parse", "unmatched"),
        ("main", "unmatched"),
    ];
    assert_eq!((status, &ends[..]), (1, &expected[..]));
}

#[test]
fn the_last_events_at_one_time_are_in_the_order_of_all_events() {
    let folder = TempDir::new().unwrap();
    for (number, id) in [(1, 2), (2, 1)] {
        let path = folder.path().join("run").join(segment(number));
        let writer = SessionWriter::create(path, &WriteOptions::default()).unwrap();
        let mut thread = writer.thread(id).unwrap();
        thread
            .write(&Event::new(100, 7, EventKind::CALL, 1))
            .unwrap();
        thread.finalize().unwrap();
        writer.finalize().unwrap();
    }
    let all = clean(folder.path(), &["dump", "--json", "run"]);
    assert_eq!(lines(&all).len(), 2);
    let last = atf(folder.path(), &["dump", "--json", "--last", "1", "run"]);
    assert_eq!(texts(&last).1, all);
}

#[test]
fn deleted_first_segments_are_stated_and_are_no_damage() {
    let folder = TempDir::new().unwrap();
    write(&folder.path().join("run"));
    fs::remove_dir_all(folder.path().join("run").join(segment(1))).unwrap();
    let output = atf(folder.path(), &["report", "run"]);
    let (status, text, messages) = texts(&output);
    assert_eq!(status, 0);
    assert!(
        messages.contains("segment 1 of the recording is not in this trace"),
        "{messages}"
    );
    assert!(text.contains("1 return without a call"), "{text}");
}

/// Returns each function's calls and times.
fn functions(folder: &Path, arguments: &[&str]) -> Vec<[serde_json::Value; 5]> {
    let output = atf(folder, &[&["report", "--json"], arguments].concat());
    let (status, text, messages) = texts(&output);
    assert!(
        status == 0 && !messages.contains("not in this trace"),
        "{messages}"
    );
    let report = lines(text);
    assert_eq!(report.len(), 1, "one trace");
    let keys = ["function", "calls", "self_ns", "total_ns", "unmatched"];
    let row = |row: &serde_json::Value| keys.map(|key| row[key].clone());
    let functions = report[0]["functions"].as_array().unwrap();
    functions.iter().map(row).collect()
}

#[test]
fn a_cut_over_segments_has_the_report_of_its_range() {
    let folder = TempDir::new().unwrap();
    write(&folder.path().join("run"));
    for (name, from, to, segments) in [
        ("whole", "0", "9us", &[1, 2, 3][..]),
        ("in the first", "1500", "2500", &[1]),
        // Open calls return at the time of the next event, which is in the third segment.
        ("in the second", "3700", "5200", &[2, 3]),
        ("over the first change", "2500", "4500", &[1, 2, 3]),
        ("over both changes", "2500", "6500", &[1, 2, 3]),
        // `main` and `parse` are open. The next event of each is in the third segment.
        ("without an event", "5000", "5100", &[3]),
        ("at the end", "+7us", "9us", &[3]),
        ("after the end", "20us", "30us", &[1]),
    ] {
        let range = ["--from", from, "--to", to];
        let out = ["run", "--out", name];
        let output = atf(folder.path(), &[&["cut"], &range[..], &out].concat());
        let (status, _, messages) = texts(&output);
        assert_eq!((status, messages.is_empty()), (0, name != "after the end"));
        let expected = functions(folder.path(), &[&range[..], &["run"]].concat());
        assert_eq!(functions(folder.path(), &[name]), expected, "{name}");
        let mut folders: Vec<_> = fs::read_dir(folder.path().join(name))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        folders.sort();
        let expected: Vec<_> = segments.iter().map(|number| segment(*number)).collect();
        assert_eq!(folders, expected, "{name}");
        // Each open call is added once, and everything else is unchanged.
        clean(folder.path(), &["check", "--deny", "must", name]);
        let spans = lines(&clean_dump(folder.path(), name));
        let ends = spans.iter().all(|span| span["end"] == "return");
        assert!(ends, "{name}: {spans:?}");
    }
    // A segment on its own lacks the calls from earlier segments.
    let one = format!("run/{}", segment(2));
    let arguments = ["cut", "--to", "5000", &one, "--out", "part"];
    let output = atf(folder.path(), &arguments);
    assert_eq!(texts(&output).0, 0);
    let said = "segment 1 of the recording is not in this trace";
    assert!(texts(&output).2.contains(said));
    let part = functions(folder.path(), &["part"]);
    assert_eq!(part.len(), 1, "only parse: {part:?}");
}

/// Returns the dumped calls of a trace that may have losses.
fn clean_dump(folder: &Path, path: &str) -> String {
    let output = atf(folder, &["dump", "--spans", "--json", path]);
    assert_eq!(texts(&output).0, 0);
    texts(&output).1.to_owned()
}

#[test]
fn a_cut_does_not_carry_calls_over_a_missing_segment() {
    let folder = TempDir::new().unwrap();
    write(&folder.path().join("run"));
    fs::remove_dir_all(folder.path().join("run").join(segment(2))).unwrap();
    let arguments = ["cut", "--from", "5800", "run", "--out", "part"];
    let output = atf(folder.path(), &arguments);
    let (status, _, messages) = texts(&output);
    let said = "segment 2 of the recording is missing before this one";
    assert!(status == 1 && messages.contains(said), "{messages}");
    let spans = lines(&clean_dump(folder.path(), "part"));
    let found: Vec<_> = spans
        .iter()
        .map(|it| (&it["function"], &it["end"]))
        .collect();
    let expected = [
        ("token", "return"),
        ("parse", "unmatched"),
        ("main", "unmatched"),
    ];
    let expected = expected.map(|(name, end)| (name.into(), end.into()));
    assert_eq!(found, expected.each_ref().map(|(name, end)| (name, end)));
}

#[test]
fn a_damaged_segment_outside_the_range_of_a_cut_is_told() {
    let folder = TempDir::new().unwrap();
    write(&folder.path().join("run"));
    let index = folder.path().join("run/pid_42/thread_0/index.atf");
    let mut bytes = fs::read(&index).unwrap();
    bytes[64 + 8] ^= 0x40;
    fs::write(&index, bytes).unwrap();
    let arguments = ["cut", "--from", "6500", "run", "--out", "part"];
    let output = atf(folder.path(), &arguments);
    let (status, text, _) = texts(&output);
    assert_eq!(status, 1);
    assert!(
        text.contains("pid_42: not copied: a damaged segment outside the range"),
        "{text}"
    );
}

#[test]
fn rewritten_segments_are_one_trace() {
    let folder = TempDir::new().unwrap();
    write(&folder.path().join("run"));
    for arguments in [
        &["recover", "run", "--out", "recovered"][..],
        &["scrub", "run", "--out", "scrubbed"],
        &["convert", "--wire", "2", "run", "--out", "two"],
        &["convert", "--wire", "1", "two", "--out", "one"],
    ] {
        clean(folder.path(), arguments);
        let out = arguments.last().unwrap();
        assert_eq!(totals(folder.path(), &[out]), expected(), "{out}");
    }
    // Depths continue from segment to segment.
    let output = atf(folder.path(), &["dump", "--json", "one"]);
    let depths: Vec<_> = lines(texts(&output).1)
        .iter()
        .map(|event| event["call_depth"].as_u64().unwrap())
        .collect();
    assert_eq!(depths, [1, 2, 2, 2, 3, 3, 2, 1]);
}

#[test]
fn processes_with_segments_are_merged() {
    let folder = TempDir::new().unwrap();
    write(&folder.path().join("run"));
    let other = SessionWriter::create(folder.path().join("run/pid_43"), &WriteOptions::default());
    let other = other.unwrap();
    let mut thread = other.thread(0).unwrap();
    thread
        .write(&Event::new(4_500, 1, EventKind::CALL, 1))
        .unwrap();
    thread.finalize().unwrap();
    other.finalize().unwrap();
    let output = atf(folder.path(), &["dump", "--json", "run"]);
    let (status, text, _) = texts(&output);
    assert_eq!(status, 0);
    let processes = lines(text);
    let processes: Vec<_> = processes
        .iter()
        .map(|it| it["process"].as_u64().unwrap())
        .collect();
    assert_eq!(processes, [42, 42, 42, 42, 43, 42, 42, 42, 42]);
    let output = atf(folder.path(), &["report", "--json", "run"]);
    assert_eq!(lines(texts(&output).1).len(), 2);
}

/// A session's events count only once, no matter how its path is spelled.
#[test]
fn a_session_that_is_named_twice_is_refused() {
    let folder = TempDir::new().unwrap();
    write(folder.path());
    let whole = folder.path().to_str().unwrap();
    for command in [
        &["report", ".", whole][..],
        &["report", "pid_42", "pid_42/thread_0/../"],
        &["last", "pid_42", "pid_42"],
        &["dump", ".", "pid_42"],
        &["export", "--format", "csv", "--out", "-", "pid_42", whole],
        &["flamegraph", "pid_42", "pid_42"],
        &["diff", "--before", "pid_42", "pid_42", "--after", "pid_42"],
        &["diff", "--before", "pid_42", "--after", whole, "."],
    ] {
        let output = atf(folder.path(), command);
        let (status, text, messages) = texts(&output);
        assert_eq!((status, text), (2, ""), "{command:?}: {messages}");
        assert!(messages.contains(": named twice, also as "), "{messages}");
    }
    let arguments = ["diff", "--before", ".", "--after", "."];
    assert!(clean(folder.path(), &arguments).contains("noise"));
}
