//! Finishes the sessions of a run: finalizes those whose processes died, adds function names, and
//! prints a summary.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process;
use std::time::Duration;

use atf::ErrorKind;
use atf::rewrite::{RecoverOptions, recover};
use atf::session::{ProcessName, Search, SessionReader, ThreadEntry};
use atf::trace::Process;
use atf::write::set_ended_by;
use rustix::fs::{CWD, RenameFlags, renameat_with, statvfs};

use super::alive::still_runs;
use super::folder::RunFolder;
use super::summary::{Summary, Unwritten};
use super::{Ended, Options, patterns};
use crate::output::Failure;
use crate::report::{Modules, listed};
use crate::symbolize;
use crate::text::{Printable, Span};

/// The number of functions to show.
const HOTTEST: usize = 10;

/// The maximum time per event for finding the functions with the most self time. They are shown
/// only if finding them takes at most a tenth of the program's run.
const COST: Duration = Duration::from_nanos(100);

/// Finishes the sessions in a folder. If nothing was recorded, removes the folder and returns the
/// reason.
pub(super) fn sessions(
    run: &RunFolder,
    options: &Options,
    ended: &Ended,
) -> Result<Option<String>, Failure> {
    run.check()?;
    let folder = &*run.path();
    let failed = |error: io::Error| Failure::at(folder, error);
    remove_remains(folder, ended.process).map_err(failed)?;
    // The folder of a segment may vanish during the search: see `finish_all`.
    let listed = || Search::new(folder).collect::<Result<Vec<_>, _>>();
    let mut listed = listed().or_else(|_| listed())?;
    listed.sort();
    let (summary, sessions, is_kept) = finish_all(run, &listed, options, ended);
    if let Some(signal) = ended.signal()
        && let Some(session) = last_program(&sessions, ended.process)
        && let Err(error) = set_ended_by(session, signal)
    {
        run.complain(format_args!("{signal} is not in the manifest: {error}"));
    }
    if summary.events == 0 && !is_kept {
        let why = run.message(why_nothing(folder, options, &summary, ended));
        // A program without hooks leaves nothing. A program whose functions are all excluded leaves
        // sessions without events.
        if remove_ended(folder, run.name(), still_runs).map_err(failed)? {
            return Ok(Some(why));
        }
    }
    let unmatched = patterns::unmatched(&sessions, options, summary.may_lack_events());
    let is_cheap = is_cheap(summary.events, ended.elapsed);
    let mut tables = Vec::new();
    let processes = Process::group(sessions);
    for segments in processes.iter().filter(|_| is_cheap) {
        match hottest(segments, processes.len() > 1) {
            Err(failure) if segments.iter().all(|session| session.exists()) => {
                run.complain(failure);
            }
            table => tables.extend(table.map(|table| run.message(table))),
        }
    }
    let shown = run.shown();
    summary.report(&shown, options, ended.started.elapsed());
    for message in unmatched {
        run.complain(Printable(message));
    }
    if !is_cheap {
        let folder = Printable(shown.display());
        run.complain(format_args!(
            "the functions with the most self time: `atf report {folder}`"
        ));
    }
    // As with other messages, ignore errors in writing to stderr.
    let _ = tables
        .iter()
        .try_for_each(|table| write!(io::stderr(), "{table}"));
    Ok(None)
}

/// Returns whether finding the functions with the most self time takes at most a tenth of the run.
fn is_cheap(events: u64, run: Duration) -> bool {
    u128::from(events) * COST.as_nanos() <= run.as_nanos() / 10
}

/// Finishes each session. Returns a summary, the sessions that can be read, and whether a process
/// died or is still running. If so, keep its session even without events.
///
/// A child that outlives the program may delete its oldest segments meanwhile.
fn finish_all(
    run: &RunFolder,
    sessions: &[PathBuf],
    options: &Options,
    ended: &Ended,
) -> (Summary, Vec<PathBuf>, bool) {
    let exited = last_program(sessions, ended.process).filter(|_| ended.status.code().is_some());
    let (mut summary, mut readable) = (Summary::default(), Vec::new());
    let mut is_kept = false;
    for session in sessions.iter().filter(|session| session.exists()) {
        let name = Printable(session.display());
        if still_runs(session) {
            is_kept = true;
            run.complain(format_args!(
                "{name}: this process is still running and recorded; after it exits, name its functions with `atf symbolize`"
            ));
        } else {
            let has_died = finish(run, session, options, exited == Some(session));
            summary.is_unfinished |= has_died && exited == Some(session);
            is_kept |= has_died;
        }
        match summary.add(session, options) {
            Ok(()) => readable.push(session.clone()),
            Err(failure) if session.exists() => run.complain(failure),
            Err(_) => {}
        }
    }
    (summary, readable, is_kept)
}

/// Removes the sessions of ended processes, and their folder. Returns whether nothing remains: a
/// daemon may have started a session in the meantime.
fn remove_ended(
    folder: &Path,
    name: &Path,
    still_runs: impl Fn(&Path) -> bool,
) -> io::Result<bool> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() && !still_runs(&entry.path()) {
            fs::remove_dir_all(entry.path())?;
        }
    }
    match fs::remove_dir(name) {
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(false),
        removed => removed.map(|()| true),
    }
}

/// Removes the folders of segments that a process was creating or deleting when it ended.
fn remove_remains(folder: &Path, process: u32) -> io::Result<()> {
    let mut segments = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = ProcessName::from_path(&path).filter(|name| name.pid == process);
        segments.extend(name.map(|name| (name, path)));
    }
    for (name, path) in &segments {
        let is_later =
            |other: &ProcessName| other.program == name.program && other.segment > name.segment;
        let has_later = segments.iter().any(|(other, _)| is_later(other));
        if name.segment > 1 && is_begun(path) || has_later && is_partly_deleted(path) {
            fs::remove_dir_all(path)?;
        }
    }
    Ok(())
}

/// Returns whether the deletion of a segment was interrupted. The segment must not be the last one.
/// A segment's manifest is written before the next segment begins, and is the first file to be
/// deleted. A folder with other files is kept.
fn is_partly_deleted(segment: &Path) -> bool {
    let is_thread = |entry: io::Result<fs::DirEntry>| {
        entry.is_ok_and(|entry| entry.file_name().as_encoded_bytes().starts_with(b"thread_"))
    };
    fs::read_dir(segment).is_ok_and(|mut entries| entries.all(is_thread))
}

/// Returns whether a segment has no events yet. Its manifest is written before the first event.
fn is_begun(segment: &Path) -> bool {
    !segment.join("manifest.json").exists()
        && match SessionReader::open(segment) {
            Ok(session) => has_no_event(&session),
            Err(error) => *error.kind() == ErrorKind::NotASession,
        }
}

fn has_no_event(session: &SessionReader) -> bool {
    let is_empty = |thread: &ThreadEntry| match thread.open_index() {
        Ok(index) => index.event_count() == 0,
        // Not even the header has been written.
        Err(_) => !fs::metadata(thread.path().join("index.atf")).is_ok_and(|file| file.len() > 0),
    };
    session.threads().iter().all(is_empty)
}

/// Explains why no event was recorded.
fn why_nothing(folder: &Path, options: &Options, summary: &Summary, ended: &Ended) -> String {
    if statvfs(folder).is_ok_and(|disk| disk.f_bavail == 0) {
        return format!("the disk of {} is full", Printable(folder.display()));
    }
    if summary.processes.is_empty() {
        let program = Printable(Path::new(&options.program[0]).display());
        if let Some(obstacle) = &ended.obstacle {
            return format!("{program} {}", obstacle.text());
        }
        let needs = format!(
            "{program} must be compiled with -finstrument-functions and linked dynamically, and must keep its environment"
        );
        return match ended.signal() {
            Some(signal) => format!("{signal} arrived before the first event, or {needs}"),
            None => needs,
        };
    }
    // A session exists, so the program has hooks.
    if let Some(lost) = summary.lost() {
        return lost;
    }
    if options.has_filters() {
        "no call matched the filters".to_owned()
    } else {
        "the program's hooks wrote no event".to_owned()
    }
}

/// Finalizes a session if its process did not, for example because the process died, and adds
/// function names. `has_exited` is true if the process is known to have exited on its own. Returns
/// whether the process left the session unfinalized.
fn finish(run: &RunFolder, session: &Path, options: &Options, has_exited: bool) -> bool {
    let name = Printable(session.display());
    let finalized = finalize(session);
    // A flight recorder that was never triggered leaves no files to finalize.
    let reader = SessionReader::open(session).ok();
    let manifest = reader.as_ref().and_then(SessionReader::manifest);
    let unwritten = manifest.and_then(Unwritten::from_manifest);
    let has_died = finalized != Ok(false) || unwritten.is_some();
    if let Err(error) = &finalized {
        run.complain(format_args!("{name}: not finalized: {error}"));
    }
    if has_died {
        match unwritten {
            _ if has_exited => run.complain(format_args!(
                "{name}: the program did not finish this session: unless it called _exit or exec, later events are missing"
            )),
            Some(unwritten) => {
                let loss = options.loss_by_death(unwritten);
                run.complain(format_args!("{name}: the process died, so {loss}"));
            }
            None => {}
        }
    }
    // Without events, there are no functions to name.
    if reader.is_some_and(|session| has_no_event(&session)) {
        return has_died;
    }
    match symbolize::Report::look_up(session, &options.debug_dir) {
        Err(failure) => run.complain(format_args!("no names: {failure}")),
        Ok(report) if report.lacks_something() => run.complain(format_args!(
            "{name}: some functions have no names; to see why, and to search elsewhere: `atf symbolize --debug-dir DIR`"
        )),
        Ok(_) => {}
    }
    has_died
}

/// Returns the last session of the last program that a process ran.
fn last_program(sessions: &[PathBuf], process: u32) -> Option<&PathBuf> {
    let name =
        |session: &PathBuf| ProcessName::from_path(session).filter(|name| name.pid == process);
    let named = sessions.iter().filter(|session| name(session).is_some());
    named.max_by_key(|session| name(session))
}

/// Returns a table of the functions of a process with the most self time.
fn hottest(segments: &[PathBuf], is_one_of_many: bool) -> Result<String, Failure> {
    let process = Process::open(segments)?;
    // `atf info` reports any problems that the analysis finds.
    let found = atf_analyze::functions(&process, &atf_analyze::Options::default());
    let folder = segments.first().and_then(|path| path.file_name());
    let folder = folder.filter(|_| is_one_of_many);
    let folder = folder.map(|name| format!(" in {}", name.to_string_lossy()));
    let folder = folder.unwrap_or_default();
    let (time, calls, folder) = ("self", "calls", Printable(folder));
    let mut table = format!("{time:>12} {calls:>12}  function{folder}\n");
    let hottest = found.functions.iter().take(HOTTEST);
    let hottest = hottest.map(|it| (process.function(it.function_id), it));
    let hottest: Vec<_> = hottest.collect();
    let modules = Modules::new(hottest.iter().map(|(function, _)| listed(function)));
    for (function, it) in hottest {
        let module = modules.after_name(listed(&function));
        let (time, calls) = (Span(it.times.self_ns), it.times.calls);
        let name = Printable(function);
        table += &format!("{time:>12} {calls:>12}  {name}{module}\n");
    }
    Ok(table)
}

/// If a process died, replaces its session with a finalized copy, unless the copy would lose
/// something. Returns whether the process had died.
fn finalize(session: &Path) -> Result<bool, String> {
    if is_finalized(session).map_err(|error| error.to_string())? {
        return Ok(false);
    }
    // Other commands recognize this name and ignore the folder, because it duplicates the original
    // events.
    let name = format!(".atf-{}-{}", process::id(), u32::MAX);
    let copy = session.with_file_name(name);
    let report = recover(session, &copy, &RecoverOptions::default());
    // The user does not know the copy's name.
    let named = |error: atf::Error| {
        let [copy, session] = [&*copy, session].map(|path: &Path| path.display().to_string());
        error.to_string().replace(&copy, &session)
    };
    let report = report.map_err(named)?;
    let failed = |error: io::Error| error.to_string();
    if report.losses() > 0 {
        fs::remove_dir_all(&copy).map_err(failed)?;
        return Err("it is damaged; `atf recover` shows how".to_owned());
    }
    if let Err(error) = renameat_with(CWD, &copy, CWD, session, RenameFlags::EXCHANGE) {
        // Not all file systems can swap two names. If this one cannot, the original is unchanged.
        fs::remove_dir_all(&copy).map_err(failed)?;
        return Err(failed(error.into()));
    }
    fs::remove_dir_all(&copy).map_err(failed)?;
    Ok(true)
}

/// Returns whether all threads have footers and are in the manifest. Either may be missing if the
/// disk was full.
fn is_finalized(session: &Path) -> atf::Result<bool> {
    let session = SessionReader::open(session)?;
    for thread in session.threads() {
        let listed = session.manifest().and_then(|it| it.thread(thread.id()));
        if listed.is_none() || !thread.open()?.index().completeness().has_verified_footer() {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use std::process::ExitStatus;
    use std::time::Instant;

    use atf::EventKind;
    use atf::write::{Event, SessionWriter, WriteOptions};
    use atf_record::settings::Settings;
    use atf_samples::files::IndexFile;

    use super::*;
    use crate::record::Recorder;

    #[test]
    fn the_hottest_functions_cost_at_most_a_tenth_of_the_run() {
        let millis = Duration::from_millis;
        // A program that mostly calls functions, and one that mostly does other work.
        for (events, run, is_cheap) in [
            (13_100_000, 900, false),
            (1_204_372, 97, false),
            (200_001, 200, false),
            (200_000, 200, true),
            (10, 2, true),
            (u64::MAX, 1000, false),
        ] {
            assert_eq!(super::is_cheap(events, millis(run)), is_cheap, "{events}");
        }
    }

    #[test]
    fn the_session_of_a_running_process_is_not_removed() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("session_1");
        let [ended, running] = ["pid_7", "pid_8"].map(|name| folder.join(name));
        for path in [&ended, &running] {
            fs::create_dir_all(path.join("thread_0")).unwrap();
        }
        assert!(!remove_ended(&folder, &folder, |path| path == running).unwrap());
        assert!(running.join("thread_0").exists() && !ended.exists());
        assert!(remove_ended(&folder, &folder, |_| false).unwrap());
        assert!(!folder.exists());
    }

    #[test]
    fn a_missing_or_unreadable_session_does_not_keep_others_from_being_finished() {
        let out = tempfile::tempdir().unwrap();
        let run = RunFolder::create(out.path()).unwrap();
        let folder = run.path();
        // No process has such a large id.
        let names = ["pid_4294967291", "pid_4294967292", "pid_4294967293"];
        let [gone, unreadable, good] = names.map(|name| folder.join(name));
        fs::write(&unreadable, "no folder").unwrap();
        let session = SessionWriter::create(&good, &WriteOptions::default()).unwrap();
        let mut thread = session.thread(0).unwrap();
        for time in 0..3 {
            let event = Event::new(time, 7, EventKind::CALL, 1);
            thread.write(&event).unwrap();
        }
        drop(thread);
        let options = Options {
            out: folder.clone(),
            recorder: Recorder(Settings::default()),
            debug_dir: Vec::new(),
            library: None,
            program: Vec::new(),
        };
        let ended = Ended {
            process: u32::MAX,
            status: ExitStatus::default(),
            elapsed: Duration::ZERO,
            started: Instant::now(),
            obstacle: None,
        };
        let sessions = [gone, unreadable, good.clone()];
        let (summary, readable, is_kept) = finish_all(&run, &sessions, &options, &ended);
        assert_eq!(
            (summary.events, readable, is_kept),
            (3, vec![good.clone()], true)
        );
        assert!(is_finalized(&good).unwrap());
    }

    #[test]
    fn only_empty_segments_of_the_process_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let session = folder.path().join("pid_7");
        let names = ["pid_7_segment_000002", "pid_8_segment_000002", "other"];
        let [deleted, foreign] = ["pid_7_2", "pid_7_3"].map(|name| folder.path().join(name));
        for path in [&deleted, &foreign] {
            fs::create_dir_all(path.join("thread_0")).unwrap();
        }
        fs::write(foreign.join("note.txt"), "mine").unwrap();
        for first in [&deleted, &foreign] {
            let later = format!("{}_segment_000002", first.display());
            fs::create_dir(&later).unwrap();
            fs::write(Path::new(&later).join("manifest.json"), "{}").unwrap();
        }
        let [empty, others, unnamed] = names.map(|name| folder.path().join(name));
        let [begun, with_events] =
            ["pid_7_segment_000003", "pid_7_segment_000006"].map(|name| folder.path().join(name));
        for path in [&session, &empty, &others, &unnamed] {
            fs::create_dir(path).unwrap();
        }
        fs::write(session.join("manifest.json"), "{}").unwrap();
        for (path, events) in [(&begun, 0), (&with_events, 1)] {
            let thread = path.join("thread_1");
            fs::create_dir_all(&thread).unwrap();
            let index = IndexFile::finalized(1, events).placeholder();
            fs::write(thread.join("index.atf"), index.without_footer()).unwrap();
            fs::write(path.join("manifest.json.part"), "").unwrap();
        }
        let unwritten = folder.path().join("pid_7_segment_000005");
        fs::create_dir_all(unwritten.join("thread_1")).unwrap();
        fs::write(unwritten.join("thread_1/index.atf"), "").unwrap();
        remove_remains(folder.path(), 7).unwrap();
        let removed = [empty, begun, unwritten, deleted];
        assert!(!removed.iter().any(|path| path.exists()));
        let kept = [session, others, unnamed, with_events, foreign];
        assert!(kept.iter().all(|path| path.exists()));
    }
}
