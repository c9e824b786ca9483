//! Checks that all commands report a damaged session consistently: `states.txt` lists states of a
//! session, and the output of each command for each state.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::{atf, texts};

const TABLE: &str = include_str!("states.txt");

/// The commands that `*` stands for in the table.
const READERS: &str = "info, info --verify, report, tree, last, dump, diff, export, flamegraph";

/// Runs `atf` in a folder. Returns the exit status, and the output followed by the messages.
fn outcome(folder: &Path, arguments: &str) -> (i32, String) {
    let arguments: Vec<_> = arguments.split_whitespace().collect();
    let output = atf(folder, &arguments);
    let (status, text, messages) = texts(&output);
    (status, [text, messages].concat())
}

/// Returns the command line of a command in the table. Rewrites write to `STATE.COMMAND`.
fn line(command: &str, state: &str) -> String {
    match command {
        "report" | "tree" => format!(
            "report {} {state}",
            if command == "tree" { "--tree" } else { "" }
        ),
        "diff" => format!("diff intact {state}"),
        "export" => format!("export --format csv --out - {state}"),
        "flamegraph" => format!("flamegraph --out - {state}"),
        "recover" | "cut" | "scrub" => format!("{command} {state} --out {state}.{command}"),
        "convert" => format!("convert --wire 2 {state} --out {state}.convert"),
        command => format!("{command} {state}"),
    }
}

fn replace(path: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.contains(from), "{text}");
    fs::write(path, text.replacen(from, to, 1)).unwrap();
}

fn copy(from: &Path, to: &Path) {
    for (name, bytes) in atf_samples::tree(from).unwrap() {
        let path = to.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

/// Puts a copy of the intact session into a state. Its thread 1 has a header of 64 bytes, 1000
/// events of 32 bytes and a footer of 64 bytes.
fn damage(session: &Path, state: &str) {
    let index = session.join("thread_1/index.atf");
    let manifest = session.join("manifest.json");
    let mut bytes = fs::read(&index).unwrap();
    let event = 64 + 500 * 32;
    // The header's flags, event count, footer offset and times.
    let placeholder = |bytes: &mut [u8]| {
        for range in [0x14..0x18, 0x1c..0x20, 0x28..0x40] {
            bytes[range].fill(0);
        }
    };
    match state {
        "intact" => {}
        "unfinalized" => {
            placeholder(&mut bytes);
            bytes.truncate(64 + 1000 * 32);
        }
        "disk-full" => {
            placeholder(&mut bytes);
            bytes.truncate(event + 7);
        }
        "cut-off" => bytes.truncate(event),
        "bit-rot" => bytes[event + 8] ^= 1,
        // Bit 46 of a timestamp in nanoseconds: 70,368 seconds.
        "time-rot" => bytes[event + 5] ^= 0x40,
        "hole" => bytes[event..event + 64].fill(0),
        "manifest-gone" => fs::remove_file(&manifest).unwrap(),
        "thread-gone" => fs::remove_dir_all(session.join("thread_1")).unwrap(),
        "killed" => replace(&manifest, "{", "{\"ended_by\": \"SIGKILL\","),
        "events-in-memory" => replace(&manifest, "{", "{\"unwritten_events\": 64,"),
        "events-lost" => {
            let lost = "\"id\": 1, \"lost_events\": {\"count\": 8400000, \
                        \"first_ns\": 1000000143425, \"last_ns\": 1000001033634}";
            replace(&manifest, "\"id\": 1", lost);
        }
        "unknown-key" => replace(&manifest, "{", "{\"tool\": 1,"),
        other => panic!("unknown state {other}"),
    }
    if index.exists() {
        fs::write(&index, bytes).unwrap();
    }
}

/// Creates a session in a state. `STATE.COMMAND` is the command's output for `STATE`.
fn create(folder: &Path, state: &str) {
    let session = folder.join(state);
    if session.exists() {
        return;
    }
    if let Some((from, _)) = state.split_once('/') {
        return create(folder, from);
    }
    if let Some((from, command)) = state.rsplit_once('.') {
        create(folder, from);
        outcome(folder, &line(command, from));
        return;
    }
    if state == "intact" {
        let options = "--threads 3 --events 1000 --functions 20 --seed 1";
        let (status, text) = outcome(folder, &format!("synth {options} --out intact"));
        assert_eq!(status, 0, "{text}");
    } else {
        copy(&folder.join("intact"), &session);
        damage(&session, state);
    }
}

/// A command in a state, from the table: the exit status, and texts that the output must contain
/// or, after `!`, must not contain.
struct Row {
    state: &'static str,
    command: &'static str,
    status: i32,
    texts: Vec<&'static str>,
}

fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    let is_row = |line: &&str| !line.is_empty() && !line.starts_with('#');
    for line in TABLE.lines().filter(is_row) {
        let mut cells = line.splitn(4, '|').map(str::trim);
        let mut next = || cells.next().unwrap_or_default();
        let (states, commands) = (next(), next());
        let status: i32 = next().parse().unwrap_or_else(|_| panic!("{line}"));
        let texts = next().split(" & ").filter(|text| !text.is_empty());
        let texts: Vec<_> = texts.collect();
        let commands = if commands == "*" { READERS } else { commands };
        for state in states.split(", ") {
            for command in commands.split(", ") {
                let texts = texts.clone();
                rows.push(Row {
                    state,
                    command,
                    status,
                    texts,
                });
            }
        }
    }
    rows
}

#[test]
fn all_commands_report_each_state_consistently() {
    let folder = TempDir::new().unwrap();
    create(folder.path(), "intact");
    let mut outputs = BTreeMap::new();
    let mut wrong = String::new();
    for row in rows() {
        create(folder.path(), row.state);
        let run = outputs.entry((row.state, row.command)).or_insert_with(|| {
            // A rewrite's output may exist, because it is itself a state.
            let out = folder.path().join(format!("{}.{}", row.state, row.command));
            let _ = fs::remove_dir_all(out);
            outcome(folder.path(), &line(row.command, row.state))
        });
        let is_right = |text: &&&str| match text.strip_prefix('!') {
            Some(text) => !run.1.contains(text),
            None => run.1.contains(**text),
        };
        let texts: Vec<_> = row.texts.iter().filter(|text| !is_right(text)).collect();
        if run.0 != row.status || !texts.is_empty() {
            let (state, command, status) = (row.state, row.command, run.0);
            let text: String = run.1.chars().take(1500).collect();
            writeln!(
                wrong,
                "{state} | {command} | {status}: not {texts:?}:\n{text}"
            )
            .unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
