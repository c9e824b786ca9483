//! Tests `recover` while calls fail.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, chown};
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};

use atf::ErrorKind;
use atf::manifest::Manifest;
use atf::rewrite::{RecoverOptions, Report};
use atf::session::MANIFEST_FILE;
use atf::write::Durability;
use atf_conformance::corpus;
use atf_fuzz::scratch;
use atf_samples::tree;
use serde_json::Value;

use super::{EINTR, FAULTS, Fault, Layer, Plan, Tally, code};

/// The difference in bytes between successive disk sizes. It is prime, so that the disk fills up at
/// every position in a record.
const SPACES: usize = 13;

/// The calls that a recovery must make.
const CALLS: [&str; 19] = [
    "chmod",
    "create",
    "fdopendir",
    "fsync",
    "ftruncate64",
    "lseek64",
    "mkdir",
    "open",
    "openat",
    "opendir",
    "pread64",
    "pwrite64",
    "read",
    "readdir64",
    "realpath",
    "renameat",
    "statx",
    "unlinkat",
    "write",
];

/// A recovery: the library's [`recover`](atf::rewrite::recover) or, in a test, a version with a
/// planted bug.
pub type Recover<'a> = &'a dyn Fn(&Path, &Path, &RecoverOptions<'_>) -> atf::Result<Report>;

/// Makes each of the recovery's calls fail in turn, with each kind of fault, and also makes the
/// disk fill up. Does only one in `step` of these runs, and stops after `most` faults.
///
/// # Errors
///
/// Returns an error if the temporary folders cannot be created.
pub fn recovering(
    layer: Layer,
    recovers: Recover<'_>,
    step: usize,
    most: usize,
) -> io::Result<Tally> {
    let mut tally = Tally::default();
    for version in ["v1", "v2"] {
        recovering_from(version, layer, recovers, [step, most], &mut tally)?;
    }
    Ok(tally)
}

fn recovering_from(
    version: &str,
    layer: Layer,
    recovers: Recover<'_>,
    [step, most]: [usize; 2],
    tally: &mut Tally,
) -> io::Result<()> {
    let folder = scratch();
    let mut case = Case {
        layer,
        recovers,
        root: folder.path().to_path_buf(),
        expected: BTreeMap::new(),
        modes: BTreeMap::new(),
        source: BTreeMap::new(),
    };
    let has_other_group = damaged_session(version, &case.root.join("in"))?;
    case.source = tree(&case.root.join("in"))?;
    let (result, log) = case.recover(Plan::Count)?;
    tally.calls += log.len() as u64;
    if let Err(error) = result {
        let fault = format!("{version}, without a fault: {error}");
        tally.faults.push(fault);
        return Ok(());
    }
    tally.must_call(&log, &CALLS);
    if has_other_group {
        tally.must_call(&log, &["chown"]);
    }
    case.expected = tree(&case.root.join("out"))?;
    case.modes = modes(&case.root.join("out"), &case.expected)?;
    tally.faults.extend(unsynced(&log, &case.expected));
    let written: usize = case.expected.values().map(Vec::len).sum();
    let calls = (0..log.len() as u64)
        .flat_map(|call| FAULTS.map(|(fault, extent)| Plan::Call(call, fault, extent)));
    // In-memory writers share their code with writers of real files, and are tested with every
    // size.
    let spaces = (0..written as u64).step_by(SPACES).map(Plan::Space);
    for plan in calls.chain(spaces).step_by(step) {
        if tally.faults.len() >= most {
            break;
        }
        tally.runs += 1;
        fs::remove_dir_all(case.root.join("out")).or_else(not_found)?;
        let run = panic::catch_unwind(AssertUnwindSafe(|| case.run(plan)));
        match run {
            Ok(Ok(())) => {}
            Ok(Err(fault)) => tally.faults.push(format!("{version}, {plan}: {fault}")),
            Err(_) => tally.faults.push(format!("{version}, {plan}: panics")),
        }
    }
    Ok(())
}

/// Writes a session that exercises every step of a recovery. It contains a thread with a gap, an
/// orphan detail and a torn detail; an unreadable thread; one with an unreadable detail file and
/// kill journal; one with a kill journal that was left over; a renamed folder; files left by an
/// earlier recovery; and a wrong manifest. Returns whether a file's group differs from that of new
/// files.
fn damaged_session(version: &str, path: &Path) -> io::Result<bool> {
    let case = format!("{version}/clean-session");
    let case = corpus::find(&case).ok_or(io::ErrorKind::NotFound)?;
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
    let other = path.join("thread_10");
    fs::create_dir_all(&other)?;
    fs::write(other.join("index.atf"), &index)?;
    fs::write(other.join("detail.atf"), "no details")?;
    fs::write(other.join("ring.atf"), "no kill journal")?;
    let whole = path.join("thread_9");
    fs::write(whole.join("ring.atf"), "left over")?;
    let renamed = path.join("thread_old");
    fs::create_dir_all(&renamed)?;
    fs::write(renamed.join("index.atf"), &index)?;
    fs::write(path.join("recovery.json"), "{}")?;
    fs::write(path.join("notes.txt"), "not part of a session")?;
    // Only root can set any group.
    let other_group = fs::metadata(&whole)?.gid() + 1;
    Ok(chown(whole.join("index.atf"), None, Some(other_group)).is_ok())
}

/// Returns the mode and group of each file.
fn modes(
    folder: &Path,
    files: &BTreeMap<String, Vec<u8>>,
) -> io::Result<BTreeMap<String, (u32, u32)>> {
    let mode = |name: &String| {
        let metadata = fs::metadata(folder.join(name))?;
        Ok((name.clone(), (metadata.mode(), metadata.gid())))
    };
    files.keys().map(mode).collect()
}

struct Case<'a> {
    layer: Layer,
    recovers: Recover<'a>,
    root: PathBuf,
    /// The files that a run without faults writes.
    expected: BTreeMap<String, Vec<u8>>,
    /// The modes and groups of these files.
    modes: BTreeMap<String, (u32, u32)>,
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
        let at = plan.call(&log);
        let out = tree(&self.root.join("out"));
        let is_for_ever = plan.is_for_ever();
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
                self.opens_nothing(&out)
                    .map_err(|fault| format!("{at}: {fault}"))?;
                let named = named(&report);
                let unnamed = self.differing(&out).filter(|name| !is_named(name, &named));
                let unnamed: Vec<_> = unnamed.collect();
                if unnamed.is_empty() {
                    Ok(())
                } else {
                    Err(format!(
                        "{at}: succeeds with different files and does not report it: {unnamed:?}\n{report}"
                    ))
                }
            }
        }
    }

    /// Returns the files that differ from those of a run without faults. A manifest may have been
    /// rewritten.
    fn differing<'a>(
        &'a self,
        out: &'a BTreeMap<String, Vec<u8>>,
    ) -> impl Iterator<Item = &'a String> {
        let names: BTreeSet<_> = self.expected.keys().chain(out.keys()).collect();
        names.into_iter().filter(move |name| {
            let [found, expected] = [out, &self.expected].map(|files| files.get(*name));
            let says =
                |bytes: Option<&Vec<u8>>| format!("{:?}", bytes.map(|it| Manifest::parse(it)));
            let is_manifest = Path::new(name).ends_with(MANIFEST_FILE);
            found != expected && !(is_manifest && says(found) == says(expected))
        })
    }

    /// Checks that no user has more access to a file than without faults.
    fn opens_nothing(&self, out: &BTreeMap<String, Vec<u8>>) -> Result<(), String> {
        let found = modes(&self.root.join("out"), out).map_err(|error| error.to_string())?;
        for (name, (mode, group)) in found {
            let Some((expected, expected_group)) = self.modes.get(&name) else {
                continue;
            };
            let is_open_to_others = group != *expected_group && mode & 0o070 != 0;
            if mode & !expected != 0 || is_open_to_others {
                return Err(format!("{name} has mode {mode:o} and group {group}"));
            }
        }
        Ok(())
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

/// Returns a fault if fewer folders are synchronized after the last file was created than the new
/// trace and its parent have.
fn unsynced(log: &[String], files: &BTreeMap<String, Vec<u8>>) -> Option<String> {
    let folders = files
        .keys()
        .flat_map(|name| Path::new(name).ancestors().skip(1));
    let folders = folders.collect::<BTreeSet<_>>().len() + 1;
    let last = log.iter().rev().take_while(|call| *call != "create");
    let synced = last.filter(|call| *call == "fsync").count();
    (synced < folders).then(|| format!("{synced} of {folders} folders are synchronized"))
}

/// Returns whether this call must be repeated if it is interrupted.
fn is_repeated(call: &str) -> bool {
    let names = ["read ", "write ", "pread64", "pwrite64", "open ", "fsync"];
    names.iter().any(|name| call.starts_with(name))
}

/// Checks that an error contains the system's error code.
fn says(error: &atf::Error, number: i32, at: &str) -> Result<(), String> {
    if matches!(error.kind(), ErrorKind::Io(_)) && code(error) == Some(number) {
        Ok(())
    } else {
        Err(format!("{at}: the system's error is not reported: {error}"))
    }
}

/// Returns the files and folders that a report lists as unreadable, with the system's error.
fn named(report: &Report) -> Vec<String> {
    let list = |value: &Value, key: &str| value[key].as_array().cloned().unwrap_or_default();
    let is_error = |value: &Value| value.to_string().contains("os error");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let report = serde_json::to_value(report).unwrap_or_default();
    let mut left = list(&report, "left_behind");
    let mut named = Vec::new();
    for session in list(&report, "sessions") {
        left.extend(list(&session, "left_behind"));
        for thread in list(&session, "threads") {
            let mut dropped = list(&thread, "dropped").into_iter();
            if is_error(&thread) || dropped.any(|dropped| dropped["why"] == "unreadable") {
                named.push(text(&thread["folder"]));
            }
        }
        if is_error(&session["manifest"]) {
            named.push(MANIFEST_FILE.to_owned());
        }
    }
    let left = left.iter().filter(|left| is_error(left));
    named.extend(left.map(|left| text(&left["path"])));
    named
}

/// Returns whether a file may differ if these files and folders are unreadable. The report and the
/// manifest describe all threads.
fn is_named(file: &str, named: &[String]) -> bool {
    let name = Path::new(file.strip_prefix("unreadable/").unwrap_or(file));
    // The session already has the report of an earlier recovery.
    let is_summary = ["recovery-2.json", MANIFEST_FILE].contains(&file);
    let mut named = named.iter();
    named.any(|path| name.starts_with(path) || is_summary)
}

pub(super) fn not_found(error: io::Error) -> io::Result<()> {
    match error.kind() {
        io::ErrorKind::NotFound => Ok(()),
        _ => Err(error),
    }
}
