//! Measures the peak memory of commands, as reported by the system. Reports and exports: at most
//! 256 MiB for 100 million events. Other commands: at most 8 bytes per detail.

use std::collections::BTreeSet;
use std::fs;
use std::iter;
use std::path::Path;
use std::process::Command;

use atf::EventKind;
use atf::write::{Detail, Event, SessionWriter, WriteOptions};
use atf_samples::tools;
use tempfile::TempDir;

const FORMS: [&str; 6] = [
    "chrome",
    "perfetto",
    "speedscope",
    "firefox",
    "folded",
    "csv",
];

const LIMIT: u64 = 256 << 20;
const EVENTS: u64 = 100_000_000;
const THREADS: u32 = 4;

/// A script that runs a command, discards its output, and prints its exit status and its peak
/// memory in KiB.
const PEAK: &str = "
import os, sys
null = (os.POSIX_SPAWN_OPEN, 1, '/dev/null', os.O_WRONLY, 0)
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=[null])
_, status, used = os.wait4(child, 0)
print(os.waitstatus_to_exitcode(status), used.ru_maxrss)
";

/// Returns a new folder, or `None` if peak memory cannot be measured.
fn folder() -> Option<TempDir> {
    tools::has("python3").then(|| TempDir::new().unwrap())
}

/// Runs `atf` and returns its peak memory in bytes. `/proc` no longer has this figure after a
/// process has ended, and Rust's libraries provide it only through unsafe code.
fn peak(folder: &Path, arguments: &[&str]) -> u64 {
    let atf = assert_cmd::cargo::cargo_bin("atf");
    let mut command = Command::new("python3");
    command.args(["-S", "-c", PEAK]).arg(atf).args(arguments);
    let output = command.current_dir(folder).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let (status, kib) = text.trim().split_once(' ').unwrap();
    // The status is 1 if a call tree or the stacks reached their limit.
    assert!(matches!(status, "0" | "1"), "{arguments:?}: {status}");
    1024 * kib.parse::<u64>().unwrap()
}

/// Returns the commands whose memory grows with the call tree, up to a limit.
fn with_trees(path: &str) -> Vec<Vec<&str>> {
    let export = |form| vec!["export", "--out", "out", path, "--format", form];
    vec![
        vec!["report", "--tree", path],
        vec!["report", "--callees", "0x1", path],
        vec!["flamegraph", "--out", "out", path],
        vec!["flamegraph", "--out", "out", "--diff", path, path],
        export("folded"),
        export("firefox"),
    ]
}

/// Returns all commands that report or export a trace.
fn all(path: &str) -> Vec<Vec<&str>> {
    let exports = FORMS.map(|form| vec!["export", "--out", "out", path, "--format", form]);
    let others = [
        vec!["report", path],
        vec!["report", "--by-thread", path],
        vec!["last", path],
        vec!["diff", path, path],
    ];
    let all = with_trees(path).into_iter().chain(exports).chain(others);
    let all: BTreeSet<_> = all.collect();
    all.into_iter().collect()
}

/// The other commands that read all events of a trace.
const READS: [&str; 6] = [
    "dump",
    "dump --spans",
    "dump --last 5",
    "dump --details",
    "check",
    "info --verify",
];

/// The commands that write a new trace. They also keep details in memory, up to a limit.
const REWRITES: [&str; 4] = [
    "recover --out recover",
    "convert --wire 2 --out convert",
    "scrub --out scrub",
    "cut --to +1 --out cut",
];

/// Writes a session in which each thread has these calls and returns. Function 1 has details.
fn session<I: Iterator<Item = (u64, EventKind)>>(path: &Path, events: impl Fn(u64) -> I) {
    let writer = SessionWriter::create(path, &WriteOptions::default()).unwrap();
    for id in 0..THREADS {
        let mut thread = writer.thread(id).unwrap();
        let mut now_ns = 1_000;
        for (function, kind) in events(id.into()) {
            now_ns += 1 << (function % 20);
            let event = Event::new(now_ns, function, kind, 1);
            if function == 1 {
                // Registers without a stack.
                let mut payload = [0; 100];
                payload[0] = 1;
                let detail = Detail::new(kind.detail_type(), &payload);
                thread.write_with_detail(&event, &detail).unwrap();
            } else {
                thread.write(&event).unwrap();
            }
        }
        thread.finalize().unwrap();
    }
    writer.finalize().unwrap();
}

#[test]
#[ignore = "slow: the nightly job runs it"]
fn memory_does_not_grow_with_events() {
    const COUNTS: [u64; 2] = [100_000, 1_000_000];
    let Some(folder) = folder() else { return };
    for (name, count) in ["few", "many"].into_iter().zip(COUNTS) {
        let rounds = count / u64::from(THREADS) / 10;
        for (suffix, first) in [("", 1), ("-plain", 2)] {
            let functions = move || first..first + 5;
            let stack = move || functions().map(|function| (function, EventKind::CALL));
            let back = move || {
                functions()
                    .rev()
                    .map(|function| (function, EventKind::RETURN))
            };
            session(&folder.path().join(format!("{name}{suffix}")), |_| {
                (0..rounds).flat_map(move |_| stack().chain(back()))
            });
        }
    }
    for (few, many) in all("few").iter().zip(all("many")) {
        let peaks = [peak(folder.path(), few), peak(folder.path(), &many)];
        let per_event = peaks[1].saturating_sub(peaks[0]) as f64 / (COUNTS[1] - COUNTS[0]) as f64;
        let of_all = peaks[1] as f64 + per_event * (EVENTS - COUNTS[1]) as f64;
        assert!(of_all <= LIMIT as f64, "{many:?}: {peaks:?} bytes");
    }
    let more = |command: &str, paths: [&str; 2]| {
        let peaks = paths.map(|path| {
            let _ = ["recover", "convert", "scrub", "cut"]
                .map(|out| fs::remove_dir_all(folder.path().join(out)));
            let words: Vec<_> = command.split(' ').chain([path]).collect();
            peak(folder.path(), &words)
        });
        peaks[1].saturating_sub(peaks[0])
    };
    // A fifth of the events have details. Buffers may be larger for the larger session.
    const BUFFERS: u64 = 8 << 20;
    let details = 8 * (COUNTS[1] - COUNTS[0]) / 5;
    for command in READS {
        let more = more(command, ["few", "many"]);
        assert!(more <= BUFFERS + details, "{command}: {more} bytes");
    }
    for command in READS.into_iter().chain(REWRITES) {
        let more = more(command, ["few-plain", "many-plain"]);
        assert!(more <= BUFFERS, "{command}: {more} bytes");
    }
}

#[test]
fn info_uses_as_much_memory_per_thread_as_its_help_states() {
    const COUNTS: [u32; 2] = [200, 1_200];
    let Some(folder) = folder() else { return };
    let peaks = COUNTS.map(|count| {
        let path = folder.path().join(count.to_string());
        let writer = SessionWriter::create(&path, &WriteOptions::default()).unwrap();
        for id in 0..count {
            let mut thread = writer.thread(id).unwrap();
            let event = Event::new(1_000, 1, EventKind::CALL, 1);
            let detail = Detail::new(EventKind::CALL.detail_type(), &[0; 100]);
            thread.write_with_detail(&event, &detail).unwrap();
            thread.finalize().unwrap();
        }
        writer.finalize().unwrap();
        peak(&path, &["info", "."])
    });
    let help = Command::new(assert_cmd::cargo::cargo_bin("atf"))
        .args(["info", "--help"])
        .output()
        .unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let (before, _) = help.split_once(" KB per thread").unwrap();
    let kilobytes: u64 = before.rsplit(' ').next().unwrap().parse().unwrap();
    let threads = u64::from(COUNTS[1] - COUNTS[0]);
    let per_thread = (peaks[1] - peaks[0]) / threads;
    assert!(per_thread <= 1000 * kilobytes, "{peaks:?} bytes");
}

/// Writes a thread with these calls, each a function and the base-2 logarithm of its duration.
fn write_calls(writer: &SessionWriter, id: u32, calls: impl Iterator<Item = (u64, u32)>) {
    let mut thread = writer.thread(id).unwrap();
    let mut now_ns = 0;
    for (function, power) in calls {
        for kind in [EventKind::CALL, EventKind::RETURN] {
            let event = Event::new(now_ns, function, kind, 1);
            thread.write(&event).unwrap();
            now_ns += 1 << power;
        }
    }
    thread.finalize().unwrap();
}

/// In this trace, every call of a function takes twice as long as the one before, so each
/// function's histogram has few calls but many buckets.
#[test]
fn many_functions_with_widely_spread_durations_fit() {
    const FUNCTIONS: u64 = 100_000;
    const COUNTS: [u64; 2] = [1_000, 10_000];
    let Some(folder) = folder() else { return };
    for (name, count) in ["few", "many"].into_iter().zip(COUNTS) {
        let path = folder.path().join(name);
        let writer = SessionWriter::create(path, &WriteOptions::default()).unwrap();
        for id in 0..THREADS {
            let each = |power| (0..count).map(move |function| (function, power));
            write_calls(&writer, id, (0..20).flat_map(each));
        }
        writer.finalize().unwrap();
    }
    let commands = |path| {
        [
            vec!["report", path],
            vec!["report", "--by-thread", path],
            vec!["report", "--histogram", "*", "--csv", path],
        ]
    };
    for (few, many) in commands("few").iter().zip(commands("many")) {
        let peaks = [peak(folder.path(), few), peak(folder.path(), &many)];
        let per_function = peaks[1].saturating_sub(peaks[0]) / (COUNTS[1] - COUNTS[0]);
        let of_all = peaks[1] + per_function * (FUNCTIONS - COUNTS[1]);
        assert!(of_all <= LIMIT, "{many:?}: {peaks:?} bytes");
    }
}

/// This trace has as many functions as a report can distinguish, more than a comparison can, and
/// more distinct durations than histograms keep.
#[test]
#[ignore = "slow: the nightly job runs it"]
fn functions_and_durations_that_reach_their_limits_fit() {
    const FUNCTIONS: u64 = 1 << 19;
    let Some(folder) = folder() else { return };
    let writer = SessionWriter::create(folder.path().join("s"), &WriteOptions::default()).unwrap();
    for (id, powers, powers_of_some) in [(0, 0..3, 3..20), (1, 3..4, 20..30)] {
        let all = powers.flat_map(|power| (0..FUNCTIONS).map(move |function| (function, power)));
        let some = powers_of_some.flat_map(|power| (0..10_000).map(move |id| (id, power)));
        write_calls(&writer, id, all.chain(some));
    }
    writer.finalize().unwrap();
    for command in [
        &["report", "s"][..],
        &["report", "--by-thread", "s"],
        &["report", "--histogram", "*", "--csv", "s"],
        &["diff", "s", "s"],
    ] {
        let peak = peak(folder.path(), command);
        assert!(peak <= LIMIT, "{command:?}: {peak} bytes");
    }
    let text = super::written(folder.path(), &["report", "s"]);
    assert!(
        text.contains("\nnote: too many different durations"),
        "{text}"
    );
}

/// The tree of the calls in this trace has more nodes than the commands keep.
#[test]
#[ignore = "slow: the nightly job runs it"]
fn a_call_tree_that_reaches_its_limit_fits() {
    let Some(folder) = folder() else { return };
    session(&folder.path().join("s"), |thread| {
        let around = |outer, inner: Vec<_>| {
            let call = iter::once((outer, EventKind::CALL));
            call.chain(inner).chain([(outer, EventKind::RETURN)])
        };
        let inner =
            || (2_000..3_024).flat_map(|it| [(it, EventKind::CALL), (it, EventKind::RETURN)]);
        let outer = 256 * thread..256 * (thread + 1);
        outer.flat_map(move |it| around(1_000 + it, inner().collect()))
    });
    for command in with_trees("s") {
        let peak = peak(folder.path(), &command);
        assert!(peak <= LIMIT, "{command:?}: {peak} bytes");
    }
}
