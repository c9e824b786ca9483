//! `report`: its numbers can be computed from the calls that `dump --spans` lists.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use super::{atf, clean, expected, golden, lines, number, texts, written};
use atf_samples::files::{EventRecord, IndexFile, crc32c};

/// A function's calls, open calls, self time and total time.
type Numbers = [u64; 4];

/// Computes a session's functions from its spans. Time never goes backwards in the samples.
fn from_spans(path: &str) -> BTreeMap<u64, Numbers> {
    let text = written(&atf_samples::folder(), &["dump", "--spans", "--json", path]);
    let mut threads: BTreeMap<u64, Vec<(u64, u64, u64, bool)>> = BTreeMap::new();
    let ends = lines(&written(&atf_samples::folder(), &["last", "--json", path]));
    let ends = ends[0]["threads"].as_array().unwrap();
    let end_ns: BTreeMap<u64, u64> = ends
        .iter()
        .map(|thread| {
            (
                thread["thread"].as_u64().unwrap(),
                number(&thread["end_ns"]),
            )
        })
        .collect();
    for span in lines(&text) {
        let thread = span["thread"].as_u64().unwrap();
        let is_open = span["end"] == "open";
        let end_ns = if is_open {
            end_ns[&thread]
        } else {
            number(&span["end_ns"])
        };
        let id = number(&span["function_id"]);
        let span = (number(&span["start_ns"]), end_ns, id, is_open);
        threads.entry(thread).or_default().push(span);
    }
    let mut functions: BTreeMap<u64, Numbers> = BTreeMap::new();
    for spans in threads.values() {
        // Spans are ordered by end time, so the spans inside a span come right before it.
        for (place, (start_ns, end_ns, id, is_open)) in spans.iter().enumerate() {
            let before = spans[..place].iter().rev();
            let (mut inner_ns, mut reach_ns) = (0, *end_ns);
            for (inner_start_ns, inner_end_ns, ..) in before {
                if inner_start_ns < start_ns {
                    break;
                }
                if *inner_end_ns <= reach_ns {
                    inner_ns += inner_end_ns - inner_start_ns;
                    reach_ns = *inner_start_ns;
                }
            }
            let numbers = functions.entry(*id).or_default();
            numbers[0] += 1;
            numbers[1] += u64::from(*is_open);
            numbers[2] += end_ns - start_ns - inner_ns;
            let mut after = spans[place + 1..].iter();
            let is_inner = after.any(|(outer_start_ns, outer_end_ns, outer, _)| {
                outer == id && outer_start_ns <= start_ns && outer_end_ns >= end_ns
            });
            if !is_inner {
                numbers[3] += end_ns - start_ns;
            }
        }
    }
    functions
}

fn numbers(row: &Value) -> Numbers {
    ["calls", "open", "self_ns", "total_ns"].map(|key| number(&row[key]))
}

#[test]
fn each_function_has_the_numbers_of_its_spans() {
    for (path, _) in expected() {
        let text = written(
            &atf_samples::folder(),
            &["report", "--json", "--limit", "0", &path],
        );
        let [report] = &lines(&text)[..] else {
            panic!("{text}")
        };
        let functions = report["functions"].as_array().unwrap();
        let found: BTreeMap<u64, Numbers> = functions
            .iter()
            .map(|row| (number(&row["function_id"]), numbers(row)))
            .collect();
        assert_eq!(found, from_spans(&path), "{path}");
        let own: Vec<u64> = functions
            .iter()
            .map(|row| number(&row["self_ns"]))
            .collect();
        assert!(own.is_sorted_by(|a, b| a >= b));
        assert_eq!(
            number(&report["totals"]["busy_ns"]),
            own.iter().sum::<u64>()
        );
        for (key, sum) in [("calls", 0), ("open", 1)] {
            let all = found.values().map(|numbers| numbers[sum]);
            assert_eq!(number(&report["totals"][key]), all.sum::<u64>());
        }
    }
}

#[test]
fn reports_match_the_golden_files() {
    for (name, arguments) in [
        ("report.txt", &["--limit", "5", "."][..]),
        (
            "report-thread.txt",
            &[
                "--by-thread",
                "--limit",
                "2",
                "--sort",
                "max",
                "sample-crashed",
            ],
        ),
        (
            "report-tree.txt",
            &[
                "--tree",
                "--depth",
                "4",
                "--min-percent",
                "3",
                "sample-crashed",
            ],
        ),
        (
            "report-callers.txt",
            &[
                "--callers",
                "=_$s4Demo2load0",
                "--limit",
                "4",
                "sample-small",
            ],
        ),
        (
            "report-histogram.txt",
            &["--histogram", "=_$s4Demo0render2", "sample-crashed"],
        ),
        (
            "report-callees.txt",
            &["--callees", "*1parse9", "--sort", "name", "sample-small"],
        ),
        (
            "report-range.csv",
            &[
                "--csv",
                "--from",
                "+100us",
                "--to",
                "+120us",
                "--limit",
                "5",
                "sample-crashed",
            ],
        ),
    ] {
        let text = written(&atf_samples::folder(), &[&["report"], arguments].concat());
        golden(name, &text);
    }
}

#[test]
fn tables_can_be_sorted_and_selected() {
    let rows = |arguments: &[&str]| {
        let arguments = [
            &["report", "--json", "--limit", "0", "sample-small"],
            arguments,
        ];
        let report = lines(&written(&atf_samples::folder(), &arguments.concat())).remove(0);
        report["functions"].as_array().unwrap().clone()
    };
    for (key, field) in [("total", "total_ns"), ("calls", "calls"), ("max", "max_ns")] {
        let rows = rows(&["--sort", key]);
        assert!(rows.is_sorted_by(|a, b| number(&a[field]) >= number(&b[field])));
    }
    let by_name = rows(&["--sort", "name"]);
    assert!(by_name.is_sorted_by(|a, b| a["function"].as_str() <= b["function"].as_str()));
    let calls = |rows: &[Value]| rows.iter().map(|row| number(&row["calls"])).sum::<u64>();
    let threads = ["0", "1", "2"].map(|id| calls(&rows(&["--thread", id])));
    assert_eq!(threads.iter().sum::<u64>(), calls(&by_name));
    let text = written(
        &atf_samples::folder(),
        &["report", "--json", "--by-thread", "sample-small"],
    );
    let by_thread = lines(&text);
    let found = by_thread.iter().map(|it| number(&it["totals"]["calls"]));
    assert!(found.eq(threads));
    // If the time is split into ranges, the self times of the ranges add up to the total.
    let own = |rows: &[Value]| rows.iter().map(|row| number(&row["self_ns"])).sum::<u64>();
    let parts = [rows(&["--to", "+60us"]), rows(&["--from", "+60us"])];
    assert_eq!(own(&parts[0]) + own(&parts[1]), own(&by_name));
}

#[test]
fn the_tree_adds_up() {
    let arguments = [
        "report",
        "--json",
        "--tree",
        "--min-percent",
        "0",
        "sample-crashed",
    ];
    let report = lines(&written(&atf_samples::folder(), &arguments)).remove(0);
    let nodes = report["tree"].as_array().unwrap();
    assert_eq!(report["not_shown"], "0");
    for (place, node) in nodes.iter().enumerate() {
        let below = nodes[place + 1..].iter();
        let depth = |node: &Value| node["depth"].as_u64().unwrap();
        let below = below.take_while(|other| depth(other) > depth(node));
        let children = below.filter(|other| depth(other) == depth(node) + 1);
        let children_ns: u64 = children.map(|child| number(&child["total_ns"])).sum();
        assert_eq!(
            number(&node["total_ns"]),
            number(&node["self_ns"]) + children_ns
        );
    }
    let cut = [
        "report",
        "--json",
        "--tree",
        "--depth",
        "1",
        "--min-percent",
        "0",
        "sample-crashed",
    ];
    let cut = lines(&written(&atf_samples::folder(), &cut)).remove(0);
    let outermost: Vec<_> = nodes.iter().filter(|node| node["depth"] == 0).collect();
    assert_eq!(
        cut["tree"].as_array().unwrap().iter().collect::<Vec<_>>(),
        outermost
    );
    assert_eq!(
        number(&cut["not_shown"]),
        (nodes.len() - outermost.len()) as u64
    );
}

#[test]
fn a_histogram_counts_the_durations_of_the_spans() {
    let path = "sample-crashed";
    let spans = written(&atf_samples::folder(), &["dump", "--spans", "--json", path]);
    let mut durations: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for span in lines(&spans).iter().filter(|span| span["end"] != "open") {
        let of = durations.entry(number(&span["function_id"])).or_default();
        of.push(number(&span["duration_ns"]));
    }
    let options = ["report", "--histogram", "*", "--limit", "0", path];
    let text = written(
        &atf_samples::folder(),
        &[&options[..], &["--json"]].concat(),
    );
    let histograms = lines(&text)[0]["histograms"].as_array().unwrap().clone();
    let mut rows = Vec::new();
    for histogram in &histograms {
        let id = number(&histogram["function_id"]);
        let of = durations.remove(&id).unwrap_or_default();
        let buckets = histogram["buckets"].as_array().unwrap();
        for bucket in buckets {
            let [from_ns, to_ns, calls] =
                ["from_ns", "to_ns", "calls"].map(|key| number(&bucket[key]));
            let within = of.iter().filter(|ns| (from_ns..=to_ns).contains(*ns));
            assert_eq!(within.count() as u64, calls, "{histogram}");
            rows.push(format!("{from_ns},{to_ns},{calls}"));
        }
        let calls: u64 = buckets.iter().map(|bucket| number(&bucket["calls"])).sum();
        assert_eq!(calls, of.len() as u64, "{histogram}");
    }
    assert!(rows.len() > 100 && durations.is_empty(), "{durations:?}");
    let text = written(&atf_samples::folder(), &[&options[..], &["--csv"]].concat());
    let (found, notes): (Vec<_>, Vec<_>) =
        text.lines().skip(1).partition(|line| line.ends_with(','));
    for (line, row) in found.iter().zip(&rows) {
        assert!(line.ends_with(&format!("{row},")), "{line} {row}");
    }
    assert_eq!((found.len(), notes.len()), (rows.len(), 4));
}

/// Each output format lists the problems, so that saved output shows what is missing.
#[test]
fn damage_is_part_of_each_form() {
    let columns = |text: &str| {
        let rows = text.lines().map(|row| {
            let quoted = row
                .split('"')
                .skip(1)
                .step_by(2)
                .map(|it| it.matches(',').count());
            row.matches(',').count() - quoted.sum::<usize>()
        });
        rows.collect::<std::collections::BTreeSet<_>>().len()
    };
    let path = "sample-crashed/session_20260105_101500/pid_4243";
    let problem = "thread_1/index.atf: footer: no footer: the file was not finalized";
    for command in [
        &["report", path][..],
        &["report", "--by-thread", path],
        &["report", "--tree", path],
        &["report", "--callers", "*load0", path],
        &["report", "--callees", "*load0", path],
        &["report", "--histogram", "*load0", path],
        &["diff", "sample-small", path],
        &["last", path],
    ] {
        for form in ["", "--json", "--csv"] {
            if (command[0], form) == ("last", "--csv") {
                continue;
            }
            let form = Some(form).filter(|form| !form.is_empty());
            let arguments: Vec<_> = command.iter().copied().chain(form).collect();
            let output = atf(&atf_samples::folder(), &arguments);
            let (status, text, messages) = texts(&output);
            assert_eq!(status, 1, "{arguments:?}");
            assert_eq!(text.matches(problem).count(), 1, "{arguments:?}: {text}");
            // Text is for people, who would see the message twice.
            let told = messages.matches(problem).count();
            assert_eq!(told, usize::from(form.is_some()), "{arguments:?}");
            if form == Some("--csv") {
                assert_eq!(columns(text), 1, "{arguments:?}: {text}");
            }
        }
    }
}

/// Writes a session with these events in one thread, and a manifest with a name for function 1.
pub(crate) fn session(folder: &std::path::Path, events: &[(u64, u8, u64)], name: &str) {
    let event = |(timestamp_ns, kind, function_id): &(u64, u8, u64)| EventRecord {
        timestamp_ns: *timestamp_ns,
        function_id: *function_id,
        kind: *kind,
        depth: 1,
        detail_seq: None,
    };
    let mut file = IndexFile::of(1, events.iter().map(event).collect());
    file.thread_id = 4;
    file.checksum = crc32c(&file.section());
    let thread = folder.join("thread_4");
    fs::create_dir_all(&thread).unwrap();
    fs::write(thread.join("index.atf"), file.bytes()).unwrap();
    let manifest = serde_json::json!({
        "format_version": "2.1",
        "threads": [{"id": 4, "has_detail": false, "name": "ma\u{1b}in"}],
        "symbols": [{"function_id": "0x1", "name": name}],
        "modules": [],
    });
    fs::write(folder.join("manifest.json"), manifest.to_string()).unwrap();
}

#[test]
fn hostile_names_stay_in_their_field() {
    let folder = TempDir::new().unwrap();
    let name = "a,\"b\"\n\u{1b}[31mc";
    session(
        &folder.path().join("s"),
        &[(5, 1, 1), (9, 2, 1), (9, 2, 3)],
        name,
    );
    let output = atf(folder.path(), &["report", "--csv", "s"]);
    let (_, text, messages) = texts(&output);
    assert_eq!(
        messages.lines().count(),
        1 + messages.matches("manifest").count(),
        "{messages}"
    );
    assert!(messages.contains("1 return without a call"), "{messages}");
    let rows: Vec<_> = text.lines().collect();
    let name = r#""a,""b""\u{a}\u{1b}[31mc""#;
    assert_eq!(
        rows[1],
        format!("s,,0x0000000000000001,{name},1,0,0,4,4,4,4,4,4,0,")
    );
    assert_eq!(
        rows[2],
        "s,,0x0000000000000003,0x0000000000000003,0,0,0,0,0,,,,,1,"
    );
    let note =
        "1 thread, 3 events, 1 call in 4 ns; 0 calls open at the end, 1 return without a call";
    assert!(
        rows[3].starts_with(&format!("s,{}\"{note}, ", ",".repeat(13))),
        "{rows:?}"
    );
    for arguments in [
        &["report", "--by-thread", "s"][..],
        &["report", "--tree", "s"],
        &["last", "s"],
    ] {
        let text = written(folder.path(), arguments);
        assert!(!text.contains('\u{1b}'), "{text}");
    }
}

#[test]
fn each_process_has_its_own_table_and_names_but_one_clock() {
    let folder = TempDir::new().unwrap();
    let events = [(100, 1, 1), (300, 2, 1)];
    session(&folder.path().join("run/pid_7"), &events, "first");
    session(
        &folder.path().join("run/pid_8"),
        &events.map(|it| (it.0 + 100, it.1, it.2)),
        "second",
    );
    let text = written(
        folder.path(),
        &["report", "--json", "--from", "+150", "run"],
    );
    let rows: Vec<_> = lines(&text)
        .iter()
        .map(|it| it["functions"][0].clone())
        .collect();
    assert_eq!(
        (&rows[0]["function"], &rows[0]["self_ns"]),
        (&"first".into(), &"50".into())
    );
    assert_eq!(
        (&rows[1]["function"], &rows[1]["self_ns"]),
        (&"second".into(), &"150".into())
    );
    let text = written(folder.path(), &["last", "run"]);
    assert!(
        text.contains("ended +0.000000200 s, 100 ns before the last event"),
        "{text}"
    );
    assert!(
        text.contains("ended +0.000000300 s, with the last event"),
        "{text}"
    );
}

#[test]
fn what_cannot_be_told_is_refused_or_told() {
    for (arguments, status, message) in [
        (
            &["report", "--thread", "9", "sample-small"][..],
            2,
            "there is no thread 9 (threads: 0, 1, 2)",
        ),
        (
            &["last", "--thread", "9", "sample-small"],
            2,
            "there is no thread 9 (threads: 0, 1, 2)",
        ),
        (
            &["report", "--from", "+2us", "--to", "+1us", "sample-small"],
            2,
            "is after --to",
        ),
        (
            &[
                "report",
                "--callers",
                "load0",
                "--sort",
                "max",
                "sample-small",
            ],
            2,
            "no durations",
        ),
        (
            &["report", "--min-percent", "101", "--tree", "sample-small"],
            2,
            "from 0 to 100",
        ),
        (
            &["report", "--callers", "nothing", "sample-small"],
            0,
            "no function matches nothing",
        ),
        (
            &["report", "--histogram", "nothing", "sample-small"],
            0,
            "no function matches nothing",
        ),
        (
            &[
                "report",
                "sample-small/session_20260105_101500/pid_4242/thread_0/detail.atf",
            ],
            2,
            "details alone",
        ),
        (&["report", "sample-crashed"], 1, "not finalized"),
        (
            &[
                "report",
                "sample-crashed/session_20260105_101500/pid_4243/thread_1",
            ],
            1,
            "links reach",
        ),
        (&["report", "nosuchpath"], 2, "nosuchpath"),
    ] {
        let output = atf(&atf_samples::folder(), arguments);
        let (found, text, messages) = texts(&output);
        assert_eq!(found, status, "{arguments:?} {messages}");
        // Problems are part of the output.
        let told = if status == 1 { text } else { messages };
        assert!(told.contains(message), "{arguments:?} {text} {messages}");
    }
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("s");
    session(&path, &[(5, 1, 1), (9, 2, 1)], "one");
    fs::create_dir(path.join("thread_x")).unwrap();
    for arguments in [
        &["report", "s"][..],
        &["report", "--by-thread", "s"],
        &["last", "s"],
    ] {
        let output = atf(folder.path(), arguments);
        let (status, text, messages) = texts(&output);
        assert_eq!((status, messages), (1, ""));
        assert_eq!(text.matches("thread_x").count(), 1, "{arguments:?} {text}");
    }
    fs::write(folder.path().join("index.atf"), [0; 100]).unwrap();
    for command in ["report", "last"] {
        let output = atf(folder.path(), &[command, "index.atf"]);
        let (status, text, messages) = texts(&output);
        assert_eq!((status, text), (1, ""));
        assert!(messages.contains("index.atf"), "{messages}");
    }
}

#[test]
fn calls_given_up_are_told() {
    let folder = TempDir::new().unwrap();
    let deep = (1 << 18) + 2;
    let calls: Vec<_> = (0..deep).map(|at| (at, 1, 1)).collect();
    session(&folder.path().join("s"), &calls, "f");
    for (command, text) in [
        ("report", "2 calls given up"),
        ("diff", "2 calls given up"),
        ("last", "2 outer calls not known"),
    ] {
        let paths = if command == "diff" {
            &["s", "s"][..]
        } else {
            &["s"]
        };
        let output = atf(folder.path(), &[&[command], paths].concat());
        let (status, written, _) = texts(&output);
        assert_eq!(status, 1);
        assert!(written.contains(text), "{written}");
        let problem = "more than 262144 calls were open";
        assert!(written.contains(problem), "{written}");
    }
}

#[test]
fn names_may_come_from_another_manifest() {
    let folder = TempDir::new().unwrap();
    session(&folder.path().join("s"), &[(5, 1, 1), (9, 2, 1)], "own");
    session(&folder.path().join("other"), &[], "better");
    let symbols = ["--symbols", "other/manifest.json"];
    for command in ["report", "last", "dump"] {
        for (options, name) in [(&[][..], "own"), (&symbols, "better")] {
            let text = written(folder.path(), &[&[command, "s"], options].concat());
            assert!(text.contains(name), "{text}");
        }
        let output = atf(
            folder.path(),
            &[command, "s", "--symbols", "s/thread_4/index.atf"],
        );
        let (status, _, messages) = texts(&output);
        assert_eq!(status, 2);
        assert!(messages.contains("index.atf"), "{messages}");
    }
}

#[test]
fn equal_names_show_their_modules() {
    let folder = TempDir::new().unwrap();
    let (a, b) = (1_u64 << 32 | 5, 2_u64 << 32 | 5);
    let events = [(5, 1, a), (6, 1, b), (8, 2, b), (9, 2, a)];
    session(&folder.path().join("s"), &events, "other");
    let manifest = serde_json::json!({
        "format_version": "2.1",
        "threads": [{"id": 4, "has_detail": false}],
        "symbols": [
            {"function_id": format!("{a:#x}"), "name": "init"},
            {"function_id": format!("{b:#x}"), "name": "init"},
        ],
        "modules": [{"module_id": 1, "path": "/lib/liba.so"}, {"module_id": 2, "path": "/lib/libb.so"}],
    });
    fs::write(folder.path().join("s/manifest.json"), manifest.to_string()).unwrap();
    for options in [&[][..], &["--tree"]] {
        let text = written(folder.path(), &[&["report", "s"], options].concat());
        for name in ["init [liba.so]", "init [libb.so]"] {
            assert!(text.lines().any(|line| line.ends_with(name)), "{text}");
        }
    }
}

#[test]
fn a_range_without_events_counts_the_calls_in_it() {
    let folder = TempDir::new().unwrap();
    session(folder.path(), &[(1_000, 1, 1), (1_900, 2, 1)], "one");
    let total = |arguments: &[&str]| {
        let text = clean(folder.path(), &[&["report", "."], arguments].concat());
        text.lines().last().unwrap().to_owned()
    };
    let rest = "0 calls open at the end, 0 returns without a call, 0 events lost by the tracer";
    assert_eq!(
        total(&["--from", "+300", "--to", "+500"]),
        format!("total: 1 thread, 0 events, 1 call in 200 ns; {rest}")
    );
    assert_eq!(
        total(&["--from", "+300"]),
        format!("total: 1 thread, 1 event, 1 call in 600 ns; {rest}")
    );
}

#[test]
fn a_session_without_names_is_told_how_to_get_them() {
    let folder = TempDir::new().unwrap();
    session(folder.path(), &[(1_000, 1, 1), (1_900, 2, 1)], "one");
    let messages = |manifest: &str| {
        fs::write(folder.path().join("manifest.json"), manifest).unwrap();
        let commands = [&["report", "."][..], &["last", "."], &["diff", ".", "."]];
        let told = commands.map(|command| texts(&atf(folder.path(), command)).2.to_owned());
        let hints = told.each_ref().map(|told| told.contains("symbolize"));
        assert!(hints == [hints[0]; 3], "{told:?}");
        told[0].clone()
    };
    let module = r#""modules": [{"module_id": 0, "path": "/bin/x", "function_offsets": true}]"#;
    let hint =
        "atf: .: functions have no names; `atf symbolize .` looks for them in the modules' files\n";
    assert!(messages(&format!("{{{module}}}")).starts_with(hint));
    let symbol = r#""symbols": [{"function_id": "0x1", "name": "one"}]"#;
    assert!(!messages(&format!("{{{module}, {symbol}}}")).contains("symbolize"));
    assert!(!messages(&module.replace("true", "false")).contains("symbolize"));
    let manifest = format!("{{{module}}}");
    session(folder.path(), &[], "one");
    assert!(!messages(&manifest).contains("symbolize"));
}
