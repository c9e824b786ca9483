//! Tests `recover` while calls fail.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};

use atf::ErrorKind;
use atf::manifest::Manifest;
use atf::rewrite::{RecoverOptions, Report};
use atf::session::MANIFEST_FILE;
use atf::write::Durability;
use atf_conformance::corpus;
use atf_samples::tree;

use super::{EINTR, Extent, FAULTS, Fault, Layer, Plan, Tally};

/// The difference in bytes between successive disk sizes. It is prime, so that the disk fills up at
/// every position in a record.
const SPACES: usize = 13;

/// A recovery: the library's [`recover`](atf::rewrite::recover) or, in a test, a version with a
/// planted bug.
pub type Recover<'a> = &'a dyn Fn(&Path, &Path, &RecoverOptions<'_>) -> atf::Result<Report>;

/// Makes each of the recovery's calls fail in turn, with each kind of fault, and also makes the
/// disk fill up. Stops after `most` faults.
///
/// # Errors
///
/// Returns an error if the temporary folders cannot be created.
pub fn recovering(layer: Layer, recovers: Recover<'_>, most: usize) -> io::Result<Tally> {
    let folder = super::layer::scratch()?;
    let mut case = Case {
        layer,
        recovers,
        root: folder.path().to_path_buf(),
        expected: BTreeMap::new(),
        source: BTreeMap::new(),
    };
    damaged_session(&case.root.join("in"))?;
    case.source = tree(&case.root.join("in"))?;
    let (result, log) = case.recover(Plan::Count)?;
    let mut tally = Tally {
        calls: log.len() as u64,
        ..Tally::default()
    };
    if let Err(error) = result {
        tally.faults.push(format!("without a fault: {error}"));
        return Ok(tally);
    }
    case.expected = tree(&case.root.join("out"))?;
    let written: usize = case.expected.values().map(Vec::len).sum();
    let calls = (0..tally.calls)
        .flat_map(|call| FAULTS.map(|(fault, extent)| Plan::Call(call, fault, extent)));
    // In-memory writers share their code with writers of real files, and are tested with every
    // size.
    let spaces = (0..written as u64).step_by(SPACES).map(Plan::Space);
    for plan in calls.chain(spaces) {
        if tally.faults.len() >= most {
            break;
        }
        tally.runs += 1;
        fs::remove_dir_all(case.root.join("out")).or_else(not_found)?;
        let run = panic::catch_unwind(AssertUnwindSafe(|| case.run(plan)));
        match run {
            Ok(Ok(())) => {}
            Ok(Err(fault)) => tally.faults.push(format!("{plan}: {fault}")),
            Err(_) => tally.faults.push(format!("{plan}: panics")),
        }
    }
    Ok(tally)
}

/// Writes a session that exercises every step of a recovery. It contains a thread with a gap, an
/// orphan detail and a torn detail; an unreadable thread; a renamed folder; files left by an
/// earlier recovery; and a wrong manifest.
fn damaged_session(path: &Path) -> io::Result<()> {
    let case = corpus::find("v1/clean-session").ok_or(io::ErrorKind::NotFound)?;
    case.write(path)?;
    let thread = path.join("thread_7");
    let mut index = fs::read(thread.join("index.atf"))?;
    index.truncate(64 + 6 * 32 - 8);
    index[64 + 4 * 32..64 + 5 * 32].fill(0);
    fs::write(thread.join("index.atf"), &index)?;
    let detail = fs::read(thread.join("detail.atf"))?;
    fs::write(thread.join("detail.atf"), &detail[..detail.len() - 70])?;
    fs::write(thread.join("orphans.atf"), &detail)?;
    let broken = path.join("thread_8");
    fs::create_dir_all(&broken)?;
    fs::write(broken.join("index.atf"), &index[..40])?;
    fs::write(broken.join("detail.atf"), &detail)?;
    let renamed = path.join("thread_old");
    fs::create_dir_all(&renamed)?;
    fs::write(renamed.join("index.atf"), &index)?;
    fs::write(path.join("recovery.json"), "{}")?;
    fs::write(path.join("notes.txt"), "no part of a session")
}

struct Case<'a> {
    layer: Layer,
    recovers: Recover<'a>,
    root: PathBuf,
    /// The files that a run without faults writes.
    expected: BTreeMap<String, Vec<u8>>,
    /// The files of the damaged session, which must not change.
    source: BTreeMap<String, Vec<u8>>,
}

impl Case<'_> {
    fn recover(&self, plan: Plan) -> io::Result<(atf::Result<Report>, Vec<String>)> {
        let options = RecoverOptions::default()
            .salvage(true)
            .durability(Durability::Finalize);
        let (from, to) = (self.root.join("in"), self.root.join("out"));
        self.layer.plan(plan);
        let result = (self.recovers)(&from, &to, &options);
        Ok((result, self.layer.log()?))
    }

    fn run(&self, plan: Plan) -> Result<(), String> {
        let system = |error: io::Error| format!("the test itself: {error}");
        let (result, log) = self.recover(plan).map_err(system)?;
        if tree(&self.root.join("in")).map_err(system)? != self.source {
            return Err("changes its input".to_owned());
        }
        let at = match plan {
            Plan::Call(call, ..) => usize::try_from(call).ok().and_then(|call| log.get(call)),
            _ => None,
        };
        let at = at.map_or("", String::as_str);
        let out = tree(&self.root.join("out"));
        let is_for_ever = matches!(plan, Plan::Call(_, _, Extent::ForEver));
        match result {
            Err(error) => {
                // The result may be complete if its folder could be neither synchronized nor
                // removed.
                let is_complete =
                    is_for_ever && out.as_ref().is_ok_and(|out| *out == self.expected);
                if out.is_ok() && !is_complete {
                    return Err(format!("{at}: returns {error}, but leaves a result"));
                }
                if is_complete {
                    return Ok(());
                }
                self.nothing_is_left(is_for_ever)
                    .map_err(|fault| format!("{at}: {fault}"))?;
                match plan {
                    Plan::Call(_, Fault::Short, _) => Err(format!("{at}: gives up: {error}")),
                    Plan::Call(_, Fault::Error(EINTR), _) if is_repeated(at) => {
                        Err(format!("{at}: gives up: {error}"))
                    }
                    Plan::Call(_, Fault::Error(number), _) => says(&error, number, at),
                    _ => says(&error, super::ENOSPC, at),
                }
            }
            Ok(report) => {
                let out = out.map_err(|error| format!("{at}: succeeds, but {error}"))?;
                if self.is_expected(&out) || is_named(&report) {
                    Ok(())
                } else {
                    Err(format!(
                        "{at}: succeeds with different files and does not report it: {}\n{report}",
                        self.differs(&out)
                    ))
                }
            }
        }
    }

    /// Returns whether these are the files of a run without faults, except for a manifest that may
    /// have been rewritten.
    fn is_expected(&self, out: &BTreeMap<String, Vec<u8>>) -> bool {
        let is_same = |(name, expected): (&String, &Vec<u8>)| {
            let says = |bytes: &[u8]| format!("{:?}", Manifest::parse(bytes));
            out.get(name).is_some_and(|found| {
                let is_manifest = Path::new(name).ends_with(MANIFEST_FILE);
                found == expected || (is_manifest && says(found) == says(expected))
            })
        };
        out.len() == self.expected.len() && self.expected.iter().all(is_same)
    }

    fn differs(&self, out: &BTreeMap<String, Vec<u8>>) -> String {
        let names = self.expected.keys().chain(out.keys());
        let names = names.filter(|name| self.expected.get(*name) != out.get(*name));
        format!("{:?}", names.collect::<std::collections::BTreeSet<_>>())
    }

    /// Checks that nothing is left next to the source. If `may_stay` is set, an unfinished folder
    /// that could not be removed is allowed.
    fn nothing_is_left(&self, may_stay: bool) -> Result<(), String> {
        let entries = fs::read_dir(&self.root).map_err(|error| error.to_string())?;
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_unfinished = name.starts_with(".atf-");
            if is_unfinished {
                fs::remove_dir_all(entry.path()).map_err(|error| error.to_string())?;
            }
            if name != "in" && !(is_unfinished && may_stay) {
                return Err(format!("{name} is left"));
            }
        }
        Ok(())
    }
}

/// Returns whether this call must be repeated if it is interrupted.
fn is_repeated(call: &str) -> bool {
    ["read ", "write ", "pread64", "pwrite64", "open ", "fsync"]
        .iter()
        .any(|name| call.starts_with(name))
}

/// Checks that an error contains the system's error code.
fn says(error: &atf::Error, number: i32, at: &str) -> Result<(), String> {
    let system =
        std::error::Error::source(error).and_then(|source| source.downcast_ref::<io::Error>());
    let found = system.and_then(io::Error::raw_os_error);
    if matches!(error.kind(), ErrorKind::Io(_)) && found == Some(number) {
        Ok(())
    } else {
        Err(format!("{at}: the system's error is not reported: {error}"))
    }
}

/// Returns whether the report lists an unreadable file.
fn is_named(report: &Report) -> bool {
    report.to_string().contains("os error")
}

pub(super) fn not_found(error: io::Error) -> io::Result<()> {
    match error.kind() {
        io::ErrorKind::NotFound => Ok(()),
        _ => Err(error),
    }
}
