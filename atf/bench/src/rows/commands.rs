//! The commands, run as separate processes and compared with `cat` and `cp` of the same files.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use atf_synth::Synth;

use crate::context::Context;
use crate::harness::{Result, Stopwatch, Time, compare};
use crate::input;
use crate::table::{Amount, Fact, Row};

/// The number of events in a session of eight threads. Every seventh event has a detail; the
/// session is about 800 MB.
const EVENTS: u64 = 12_000_000;
const THREADS: u32 = 8;

/// Adds the rows for commands.
pub(crate) fn run(context: &mut Context) -> Result<()> {
    let atf = build("cli", "atf")?;
    let synth = Synth {
        threads: THREADS,
        events_per_thread: context.events(EVENTS / u64::from(THREADS)),
        detail_per_mille: 150,
        ..Synth::default()
    };
    let session = input::session(context, "commands", &synth)?;
    let files = files(&session, THREADS);
    let sizes = files.iter().map(|file| Ok(file.metadata()?.len()));
    let bytes = sizes.sum::<std::io::Result<u64>>()?;
    let events = synth.events_per_thread * u64::from(THREADS);
    let (out, copy) = (context.path("out"), context.path("copy"));
    let cat = |watch: &mut Stopwatch| time(watch, Command::new("cat").args(&files));
    let cp = |watch: &mut Stopwatch| {
        time(watch, Command::new("cp").arg("-R").arg(&session).arg(&copy))?;
        Ok(std::fs::remove_dir_all(&copy)?)
    };
    let reads: [(&str, &[&str], _, _); 4] = [
        ("check", &["check"], 0.25, Amount::Bytes(bytes)),
        (
            "info --verify",
            &["info", "--verify"],
            0.5,
            Amount::Bytes(bytes),
        ),
        ("dump", &["dump"], 0.06, Amount::Each(events, "event")),
        (
            "dump --json",
            &["dump", "--json"],
            0.05,
            Amount::Each(events, "event"),
        ),
    ];
    for (name, arguments, goal, amount) in reads {
        let ours =
            |watch: &mut Stopwatch| time(watch, Command::new(&atf).args(arguments).arg(&session));
        let comparison = compare(context.pairs, Time::Wall, ours, cat)?;
        context.report.add(Row {
            work: format!("atf {name} of a session of {THREADS} threads with details"),
            baseline: "cat of the same files",
            goal: Some(goal),
            comparison,
            amount,
        });
    }
    let writes: [(&str, &[&str]); 2] = [
        ("recover", &["recover"]),
        ("convert --wire 2", &["convert", "--wire", "2"]),
    ];
    for (name, arguments) in writes {
        let ours = |watch: &mut Stopwatch| {
            let mut command = Command::new(&atf);
            command.args(arguments).arg(&session).arg("--out").arg(&out);
            time(watch, &mut command)?;
            Ok(std::fs::remove_dir_all(&out)?)
        };
        let comparison = compare(context.pairs, Time::Wall, ours, cp)?;
        context.report.add(Row {
            work: format!("atf {name} of the same session"),
            baseline: "cp -R of the session",
            goal: Some(0.8),
            comparison,
            amount: Amount::Bytes(bytes),
        });
    }
    for (name, arguments) in reads
        .map(|(name, arguments, ..)| (name, arguments))
        .into_iter()
        .chain(writes)
    {
        let mut command = Command::new(&atf);
        command.args(arguments).arg(&session);
        if writes.iter().any(|(writer, _)| *writer == name) {
            command.arg("--out").arg(&out);
        }
        let Some((read, calls)) = reads_of(&mut command)? else {
            continue;
        };
        context.report.state_reads(Fact {
            what: format!("atf {name} of that session"),
            figure: format!(
                "{:.2} times the bytes of its files, in {calls} calls",
                read as f64 / bytes as f64
            ),
        });
        if out.exists() {
            std::fs::remove_dir_all(&out)?;
        }
    }
    std::fs::remove_dir_all(session)?;
    Ok(())
}

/// Runs a command, and returns how many bytes it read, and in how many calls; `None` if the system
/// does not count them.
#[cfg(target_os = "linux")]
fn reads_of(command: &mut Command) -> Result<Option<(u64, u64)>> {
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

    let mut child = command.stdout(Stdio::null()).spawn()?;
    // Read the counts before the process is reaped.
    let ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    waitid(WaitId::Pid(Pid::from_child(&child)), ended)?;
    let counts = std::fs::read_to_string(format!("/proc/{}/io", child.id()))?;
    let status = child.wait()?;
    if !status.success() {
        return Err(format!("{command:?}: {status}").into());
    }
    let count = |name| {
        let line = counts.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|number| number.parse().ok())
    };
    Ok(count("rchar: ").zip(count("syscr: ")))
}

#[cfg(not(target_os = "linux"))]
fn reads_of(_: &mut Command) -> Result<Option<(u64, u64)>> {
    Ok(None)
}

/// Builds a package next to this one with the same optimizations, and returns the path of its
/// result.
pub(crate) fn build(package: &str, name: &str) -> Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let packages = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let manifest = packages.join(package).join("Cargo.toml");
    let status = Command::new(cargo)
        .args(["build", "--locked", "--quiet", "--release"])
        .arg("--manifest-path")
        .arg(manifest)
        .status()?;
    let path = std::env::current_exe()?.with_file_name(name);
    if status.success() && path.exists() {
        Ok(path)
    } else {
        Err(format!("{} was not built", path.display()).into())
    }
}

/// Returns the files of all threads in a session.
pub(crate) fn files(session: &Path, threads: u32) -> Vec<PathBuf> {
    let folders = (0..threads).map(|thread| session.join(format!("thread_{thread}")));
    let files = |folder: PathBuf| ["index.atf", "detail.atf"].map(|name| folder.join(name));
    folders.flat_map(files).collect()
}

/// Times a command from start to finish; its output is discarded.
pub(crate) fn time(watch: &mut Stopwatch, command: &mut Command) -> Result<()> {
    command.stdout(Stdio::null());
    let status = watch.time(|| command.status())?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{command:?}: {status}").into())
    }
}
