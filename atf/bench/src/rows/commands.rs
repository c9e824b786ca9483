//! The commands, run as separate processes and compared with `cat` and `cp` of the same files. Their
//! output is discarded.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use atf_synth::Shape;

use crate::context::Context;
use crate::harness::{Result, Stopwatch};
use crate::input::Session;

/// The number of events in a session of eight threads. Every seventh event has a detail; the
/// session is about 800 MB.
const EVENTS: u64 = 12_000_000;
/// The number of events in the session to export, which has four threads.
const EXPORTED: u64 = 4_000_000;

pub(crate) fn run(context: &mut Context) -> Result<()> {
    let atf = build("cli", "atf")?;
    let session = Session::new(context, 8, EVENTS, 150, Shape::Independent)?;
    let bytes = size(&session)?;
    for (command, goal) in [
        ("check", 0.25),
        ("info --verify", 0.5),
        ("dump", 0.06),
        ("dump --json", 0.05),
    ] {
        let row = context.row(
            format!("atf {command} of a session of 8 threads with details"),
            "cat of the same files",
            goal,
        );
        let row = match command {
            "check" | "info --verify" => row.bytes(bytes),
            _ => row.each(session.count, "event"),
        };
        row.compare(
            |watch| read(watch, &atf, command, &session),
            |watch| cat(watch, &session),
        )?;
    }
    let (out, copy) = (context.path("out"), context.path("copy"));
    for command in ["recover", "convert --wire 2"] {
        let row = context.row(
            format!("atf {command} of the same session"),
            "cp -R of the session",
            0.8,
        );
        row.bytes(bytes).compare(
            |watch| {
                let mut process = Command::new(&atf);
                process.args(command.split(' ')).arg(session.path());
                time(watch, process.arg("--out").arg(&out))?;
                Ok(fs::remove_dir_all(&out)?)
            },
            |watch| {
                let mut process = Command::new("cp");
                time(watch, process.arg("-R").arg(session.path()).arg(&copy))?;
                Ok(fs::remove_dir_all(&copy)?)
            },
        )?;
    }
    drop(session);
    let session = Session::new(context, 4, EXPORTED, 150, Shape::Independent)?;
    for form in ["perfetto", "csv"] {
        let row = context.row(
            format!("atf export --format {form} of a session of 4 threads with details"),
            "cat of the same files",
            0.03,
        );
        let command = format!("export --out - --format {form}");
        row.each(session.count, "event").compare(
            |watch| read(watch, &atf, &command, &session),
            |watch| cat(watch, &session),
        )?;
    }
    Ok(())
}

fn read(watch: &mut Stopwatch, atf: &Path, command: &str, session: &Session) -> Result<()> {
    let mut process = Command::new(atf);
    // Exports report the open calls of synthetic traces.
    process.stderr(Stdio::null());
    time(watch, process.args(command.split(' ')).arg(session.path()))
}

fn cat(watch: &mut Stopwatch, session: &Session) -> Result<()> {
    let mut process = Command::new("cat");
    time(watch, process.args(files(session)))
}

fn files(session: &Session) -> impl Iterator<Item = PathBuf> {
    let pairs = session.files("index.atf").into_iter();
    pairs.flat_map(|index| [index.with_file_name("detail.atf"), index])
}

fn size(session: &Session) -> Result<u64> {
    let sizes = files(session).map(|file| Ok(file.metadata()?.len()));
    sizes.sum()
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
