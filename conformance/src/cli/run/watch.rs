//! `run --watch`: runs again whenever an implementation changes. Each run is a separate process, so
//! that a signal ends it like any other run.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::{Duration, SystemTime};

use atf_conformance::protocol::Manifest;
use atf_conformance::results::Role;
use serde_json::Value;
use walkdir::{DirEntry, WalkDir};

use super::{Options, failure, kit};

/// The time between two checks of the files.
const PAUSE: Duration = Duration::from_millis(200);
/// The maximum number of files to watch in each folder.
const MOST_FILES: usize = 10_000;

/// The time of the last change and the size of each watched file.
type Files = BTreeMap<PathBuf, (Option<SystemTime>, u64)>;

/// Runs all cases, and after each change those that failed. If they all pass, runs all cases again.
/// Only a signal or a mistake in the command line ends this.
pub(super) fn run(options: &Options) -> ExitCode {
    let mut failed = BTreeSet::new();
    loop {
        let before = files(options);
        let again = match once(options, &failed) {
            Ok((Some(2), _)) => return ExitCode::from(2),
            Ok((_, again)) => again,
            Err(error) => return failure(&error.to_string()),
        };
        let is_fixed = again.is_empty() && !failed.is_empty();
        failed = again;
        if is_fixed {
            continue;
        }
        // The run continues if standard error is closed.
        let _ = writeln!(
            io::stderr(),
            "\nwatching {} files; on a change, {} run again; Ctrl-C ends this",
            before.len(),
            if failed.is_empty() {
                "all cases"
            } else {
                "the cases that failed"
            }
        );
        wait(options, &before);
    }
}

/// Waits until files have changed and then stayed the same, because a build writes them gradually.
fn wait(options: &Options, before: &Files) {
    let mut last = before.clone();
    loop {
        std::thread::sleep(PAUSE);
        let now = files(options);
        if now != *before && now == last {
            return;
        }
        last = now;
    }
}

/// Runs the given cases; an empty set selects all. Returns the exit status and the cases that failed.
fn once(
    options: &Options,
    cases: &BTreeSet<String>,
) -> io::Result<(Option<i32>, BTreeSet<String>)> {
    let report = tempfile::NamedTempFile::new()?;
    let mut target = OsString::from("json=");
    target.push(report.path());
    let mut command = Command::new(kit()?);
    command.args(own_arguments(!cases.is_empty()));
    if options.reports.is_empty() {
        let form = if options.details { "text" } else { "summary" };
        command.args(["--report", form]);
    }
    command.arg("--report").arg(target);
    for case in cases {
        command.args(["--case", case]);
    }
    let status = command.status()?;
    let results: Value = serde_json::from_slice(&fs::read(report.path())?).unwrap_or_default();
    let results = results["cases"].as_array().into_iter().flatten();
    let failed = results.filter(|case| case["outcome"] == "failed" && case["listed"].is_null());
    let failed = failed.filter_map(|case| Some(case["case"].as_str()?.to_owned()));
    Ok((status.code(), failed.collect()))
}

/// Returns this process's arguments without `--watch`, and without `--case` if other cases are given.
fn own_arguments(has_cases: bool) -> Vec<OsString> {
    let mut own = Vec::new();
    let mut arguments = std::env::args_os().skip(1);
    while let Some(argument) = arguments.next() {
        let text = argument.to_string_lossy();
        if has_cases && text == "--case" {
            arguments.next();
        } else if text != "--watch" && !(has_cases && text.starts_with("--case=")) {
            own.push(argument);
        }
    }
    own
}

/// Returns the files of all implementations: those in the folders of their manifests, and programs
/// elsewhere.
fn files(options: &Options) -> Files {
    let mut files = Files::new();
    for path in &options.testees.manifests {
        let Ok(manifest) = Manifest::open(path) else {
            add(&mut files, path.clone());
            continue;
        };
        let is_ours = |entry: &DirEntry| {
            let name = entry.file_name().to_string_lossy();
            entry.depth() == 0 || (!name.starts_with('.') && name != "__pycache__")
        };
        let all = WalkDir::new(&manifest.folder)
            .into_iter()
            .filter_entry(is_ours);
        let all = all.flatten().filter(|entry| entry.file_type().is_file());
        for entry in all.take(MOST_FILES) {
            add(&mut files, entry.into_path());
        }
        for role in Role::ALL {
            if let Some([program, ..]) = manifest.command(*role) {
                add(&mut files, manifest.folder.join(program));
            }
        }
    }
    files
}

fn add(files: &mut Files, path: PathBuf) {
    if let Ok(metadata) = fs::metadata(&path)
        && metadata.is_file()
    {
        files.insert(path, (metadata.modified().ok(), metadata.len()));
    }
}
