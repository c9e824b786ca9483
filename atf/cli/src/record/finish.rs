//! Finishes the sessions of a run: finalizes those of processes that died, names functions, and
//! summarizes.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process;

use atf::analyze;
use atf::manifest::ManifestThread;
use atf::rewrite::{RecoverOptions, recover};
use atf::session::{ProcessName, SessionReader};
use atf::write::set_ended_by;
use rustix::fs::{CWD, RenameFlags, renameat_with, statvfs};

use super::summary::Summary;
use super::{Ended, Settings};
use crate::output::{Failure, complain};
use crate::symbolize;
use crate::target::sessions_in;
use crate::text::{Printable, Span};

/// The library's file, in the list of what a process has mapped. A program that is linked with it
/// has mapped its session's files.
const LIBRARY_NAME: &str = "libatf_instrument";

/// How many functions are told.
const HOTTEST: usize = 10;

/// Finishes the sessions in a folder. Returns why nothing was recorded, if so; the folder is then
/// gone.
pub(super) fn sessions(
    folder: &Path,
    settings: &Settings<'_>,
    ended: &Ended,
) -> Result<Option<String>, Failure> {
    let sessions = sessions_in(folder)?;
    let exited = last_program(&sessions, ended.process).filter(|_| ended.status.code().is_some());
    let mut summary = Summary::default();
    // Whether a process runs or died, so that the session says something even without events.
    let mut is_kept = false;
    for session in &sessions {
        if still_runs(session) {
            is_kept = true;
            let session = Printable(session.display());
            complain(format_args!(
                "{session}: this process still runs and is recorded; when it ends, name its functions with `atf symbolize`"
            ));
        } else {
            let has_died = finish(session, settings, exited == Some(session));
            summary.is_unfinished |= has_died && exited == Some(session);
            is_kept |= has_died;
        }
        summary.add(session)?;
    }
    if let Some(signal) = ended.signal()
        && let Some(session) = last_program(&sessions, ended.process)
        && let Err(error) = set_ended_by(session, signal)
    {
        complain(format_args!("{signal} is not in the manifest: {error}"));
    }
    if summary.events == 0 && !is_kept {
        let why = why_nothing(folder, settings, &summary);
        // A program without hooks leaves nothing, one whose functions are all excluded leaves
        // sessions without events.
        fs::remove_dir_all(folder)?;
        return Ok(Some(why));
    }
    summary.tell(folder, settings, ended.elapsed);
    for session in &sessions {
        tell_hottest(session, sessions.len() > 1)?;
    }
    Ok(None)
}

/// Explains why no event was recorded.
fn why_nothing(folder: &Path, settings: &Settings<'_>, summary: &Summary) -> String {
    if statvfs(folder).is_ok_and(|disk| disk.f_bavail == 0) {
        return format!("the disk of {} is full", Printable(folder.display()));
    }
    if summary.processes.is_empty() {
        let program = Printable(Path::new(&settings.program[0]).display());
        return format!(
            "{program} must be compiled with -finstrument-functions, linked dynamically, and keep its environment"
        );
    }
    // A session was created, so the program has hooks.
    if let Some(lost) = summary.lost() {
        return lost;
    }
    match settings.has_filters() {
        true => "no call matched the filters".to_owned(),
        false => "the program's hooks wrote no event".to_owned(),
    }
}

/// Finalizes a session if its process did not, and names its functions. Returns whether it did not,
/// as a process does that died. `has_exited` if it is known to have ended by itself.
fn finish(session: &Path, settings: &Settings<'_>, has_exited: bool) -> bool {
    let name = Printable(session.display());
    let finalized = finalize(session);
    let has_died = finalized != Ok(false);
    if let Err(error) = &finalized {
        complain(format_args!("{name}: not finalized: {error}"));
    }
    if has_died {
        match settings.loss_by_death(unwritten_events(session)) {
            _ if has_exited => complain(format_args!(
                "{name}: the program did not finish this session: unless it called _exit or exec, later events are missing"
            )),
            Some(loss) => complain(format_args!("{name}: the process died, so {loss}")),
            None => {}
        }
    }
    match symbolize::Report::of(session, settings.debug_dirs) {
        Err(failure) => complain(format_args!("no names: {failure}")),
        Ok(report) if report.lacks_something() => complain(format_args!(
            "{name}: some functions have no names; to see why, and to look elsewhere: `atf symbolize --debug-dir DIR`"
        )),
        Ok(_) => {}
    }
    has_died
}

fn unwritten_events(session: &Path) -> Option<u64> {
    SessionReader::open(session)
        .ok()?
        .manifest()?
        .unwritten_events
}

/// Finds the last session of a process's last program.
fn last_program(sessions: &[PathBuf], process: u32) -> Option<&PathBuf> {
    let name = |session: &PathBuf| ProcessName::of(session).filter(|name| name.pid == process);
    let named = sessions.iter().filter(|session| name(session).is_some());
    named.max_by_key(|session| name(session))
}

/// Returns whether the process of a session still runs, as a forked child may. Its files must not be
/// replaced.
///
/// The folder's name, `pid_N`, has the id that the process knows, which is that of its innermost
/// namespace.
fn still_runs(session: &Path) -> bool {
    let name = ProcessName::of(session);
    let (Some(name), Ok(processes)) = (name, fs::read_dir("/proc")) else {
        return false;
    };
    let id = name.pid.to_string();
    processes.flatten().any(|process| {
        // A process that has ended, and one of another user, have nothing to read here.
        let read = |name: &str| fs::read_to_string(process.path().join(name)).unwrap_or_default();
        let status = read("status");
        let ids = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
        let known = ids.and_then(|ids| ids.split_whitespace().last());
        let is_recorded = |maps: String| {
            maps.contains(LIBRARY_NAME) || maps.contains(&*session.to_string_lossy())
        };
        known == Some(id.as_str()) && is_recorded(read("maps"))
    })
}

/// Tells which functions of a process took the most time themselves.
fn tell_hottest(path: &Path, is_one_of_many: bool) -> Result<(), Failure> {
    let session = SessionReader::open(path)?;
    // `atf info` reports problems that the analysis finds.
    let found = analyze::functions(&session, &analyze::Options::default())?;
    let symbols = session.symbols();
    let mut out = io::stderr().lock();
    let process = path.file_name().filter(|_| is_one_of_many);
    let process = process.map(|name| format!(" in {}", name.to_string_lossy()));
    let process = process.unwrap_or_default();
    let write = || {
        writeln!(
            out,
            "{:>12} {:>12}  function{}",
            "self",
            "calls",
            Printable(process)
        )?;
        for function in found.functions.iter().take(HOTTEST) {
            let name = symbols.function(function.function_id);
            let (time, calls) = (Span(function.times.self_ns), function.times.calls);
            writeln!(out, "{time:>12} {calls:>12}  {}", Printable(name))?;
        }
        io::Result::Ok(())
    };
    // As for other messages, an error of stderr itself is ignored.
    let _ = write();
    Ok(())
}

/// Replaces the session of a process that died by a finalized one, if nothing is lost by that.
/// Returns whether it had died.
fn finalize(session: &Path) -> Result<bool, String> {
    if is_finalized(session).map_err(|error| error.to_string())? {
        return Ok(false);
    }
    // Other commands know that the events in such a folder are duplicates.
    let name = format!(".atf-{}-{}", process::id(), u32::MAX);
    let copy = session.with_file_name(name);
    let report = recover(session, &copy, &RecoverOptions::default());
    let report = report.map_err(|error| error.to_string())?;
    let failed = |error: io::Error| error.to_string();
    if report.losses() > 0 {
        fs::remove_dir_all(&copy).map_err(failed)?;
        return Err("it is damaged; `atf recover` tells how".to_owned());
    }
    if let Err(error) = renameat_with(CWD, &copy, CWD, session, RenameFlags::EXCHANGE) {
        // Not all file systems exchange names. The original is as good as it was.
        fs::remove_dir_all(&copy).map_err(failed)?;
        return Err(failed(error.into()));
    }
    fs::remove_dir_all(&copy).map_err(failed)?;
    Ok(true)
}

/// Returns whether all threads have footers and are in the manifest, which a full disk prevents.
fn is_finalized(session: &Path) -> atf::Result<bool> {
    let session = SessionReader::open(session)?;
    let listed = session.manifest().map(|manifest| &manifest.threads);
    for thread in session.threads() {
        let is_it = |listed: &ManifestThread| listed.id == thread.id();
        if !listed.is_some_and(|all| all.iter().any(is_it)) {
            return Ok(false);
        }
        let thread = thread.open()?;
        if !thread.index().completeness().has_verified_footer() {
            return Ok(false);
        }
    }
    Ok(true)
}
