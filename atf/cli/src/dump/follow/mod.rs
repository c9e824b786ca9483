//! Writes the events of files that are still being written, as they arrive.

mod output;
mod session;
mod thread;

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread::sleep;

use atf::detail::DetailEvent;
use atf::follow::{DetailFollower, IndexFollower, Polled, SessionFollower};
use atf::session::{SessionReader, thread_id};
use atf::trace::{PathKind, Process};
use atf::{ErrorKind, FileKind, Wire};

use self::output::Output;
use self::session::Session;
use self::thread::{Source, Thread, Turn};
use super::detail::{Detail, File, has_fields};
use super::filter::{Filter, times};
use super::names::Names;
use super::reported::report_losses_of;
use super::trace::ThreadName;
use super::{Dump, Sink};
use crate::output::{Failure, Outcome, State, complain};
use crate::trace::{Clock, other_names, several};

/// Writes events as they arrive, until all files are finalized.
pub(super) fn run(dump: &Dump, paths: &[PathBuf], sink: &mut dyn Sink) -> Outcome {
    let interval = dump.interval;
    let [path] = paths else {
        return Err(Failure::Usage("--follow takes one path".to_owned()));
    };
    if dump.clock.clock == Clock::Media {
        let message = "--clock media: not usable with --follow: anchors may be added until the end";
        return Err(Failure::Usage(message.to_owned()));
    }
    let mut is_reported = false;
    let target = loop {
        if let Some(target) = target(path)? {
            break target;
        }
        if !is_reported {
            complain(format_args!("waiting for {}", path.display()));
            is_reported = true;
        }
        sleep(interval);
    };
    let mut threads = Vec::new();
    let mut session = match target {
        PathKind::File(FileKind::Detail) => {
            dump.check_details_alone(path)?;
            return details(dump, sink, path);
        }
        PathKind::File(FileKind::Index) => {
            dump.check_index_alone(path)?;
            let source = Source::Index(Box::new(IndexFollower::new(path)));
            threads.push(Thread::new(None, None, source));
            None
        }
        PathKind::Thread => {
            let name = path.file_name().unwrap_or_default();
            let id = thread_id(&name.to_string_lossy());
            threads.push(Thread::of_folder(id, path, dump.details));
            let around = SessionReader::around(path);
            around.map(|around| Session::new(around.path(), false))
        }
        PathKind::Session => Some(Session::first(path)),
        PathKind::Sessions(sessions) => match Process::group(sessions).as_slice() {
            [segments] => segments.first().map(|path| Session::first(path)),
            processes => return Err(several(paths, &processes.concat())),
        },
    };
    let other = other_names(dump.symbols.as_deref())?;
    let named = other.as_deref().map(|other| Names::of_other(Some(other)));
    let mut output = Output::new(dump, sink);
    let mut has_threads = false;
    let mut dumped = BTreeSet::new();
    loop {
        let mut is_quiet = true;
        if let Some(session) = &mut session {
            if session.follower.poll_manifest()? {
                // With the new names, a pattern may match more functions.
                output.filter = None;
            }
            if session.has_threads {
                threads.extend(session.new_threads(dump)?);
            }
        }
        let of_session = session.as_ref().map(|session| &session.follower);
        let manifest = of_session.and_then(SessionFollower::manifest);
        let of_session = of_session.map_or_else(
            || Names::of_other(None),
            |follower| Names::of_manifest(manifest, follower.symbols()),
        );
        let names = named.as_ref().unwrap_or(&of_session);
        output.has_fields = has_fields(manifest);
        has_threads |= !threads.is_empty();
        let mut still = Vec::with_capacity(threads.len());
        for mut thread in threads {
            let turn = thread.turn(&mut output, names)?;
            dumped.extend(thread.id());
            match turn {
                Turn::More => is_quiet = false,
                Turn::NotYet => {}
                Turn::Over => {
                    output.seqs.end(thread.id, thread.next_seq());
                    continue;
                }
            }
            still.push(thread);
        }
        threads = still;
        output.sink.flush()?;
        if output.left > 0
            && threads.is_empty()
            && let Some(session) = session.as_mut().filter(|session| session.has_threads)
            && let Some(next) = session.next_segment()?
        {
            // A thread may have started since the last check, but no thread can start in this
            // segment once the next segment exists.
            threads = session.new_threads(dump)?;
            if threads.is_empty() {
                session.report_problems(dump, &mut output.reported);
                session.go_on(&next, &mut output.reported)?;
                output.seqs.go_on();
                output.filter = None;
            }
            continue;
        }
        if output.left == 0 || (has_threads && threads.is_empty()) {
            break;
        }
        if is_quiet {
            if !has_threads && !dump.threads.is_empty() && !is_reported {
                complain("waiting for a thread selected by --thread");
                is_reported = true;
            }
            sleep(interval);
        }
    }
    output.dangling.report(&mut output.reported);
    if let Some(session) = &mut session {
        if session.has_threads {
            session.report_problems(dump, &mut output.reported);
        }
        // The tracer may update its loss counts after the last event.
        session.keep_manifest_before()?;
        session.follower.poll_manifest()?;
        let times = output.filter.as_ref().map(Filter::times);
        let (times, start_ns) = (times.unwrap_or(0..=u64::MAX), output.start_ns);
        let manifests = session.manifests.iter();
        let manifests: Vec<_> = manifests.chain(session.follower.manifest()).collect();
        let name_of = |id| {
            let process = None;
            dumped.contains(&id).then_some(ThreadName { process, id })
        };
        let is_for_all = dump.threads.is_empty();
        report_losses_of(&manifests, &times, start_ns, is_for_all, |ns| ns, name_of);
    }
    Ok(output.reported.state())
}

/// Determines what a path refers to. Returns `None` as long as this cannot be determined.
fn target(path: &Path) -> Result<Option<PathKind>, Failure> {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Failure::at(path, error)),
    };
    match PathKind::detect(path) {
        // A file's magic bytes or a folder's first file may still be missing.
        Ok(PathKind::File(_)) if metadata.len() < 4 => Ok(None),
        Err(error) if matches!(error.kind(), ErrorKind::NotATrace { .. }) && metadata.is_dir() => {
            Ok(None)
        }
        kind => Ok(Some(kind?)),
    }
}

/// Writes the events of a `detail.atf` as they arrive.
fn details(dump: &Dump, sink: &mut dyn Sink, path: &Path) -> Outcome {
    let other = other_names(dump.symbols.as_deref())?;
    let names = Names::of_other(other.as_deref());
    let mut follower = DetailFollower::new(path);
    let mut range = None;
    let mut left = dump.limit;
    while left > 0 {
        let event: DetailEvent = match follower.poll() {
            Ok(Polled::New(event)) => event,
            Ok(Polled::NotYet) => {
                sink.flush()?;
                sleep(dump.interval);
                continue;
            }
            Ok(Polled::Finalized) => break,
            Err(error) => {
                sink.flush()?;
                return Err(Failure::Damaged(error));
            }
        };
        let time = event.header.timestamp;
        let range = match &range {
            Some(range) => range,
            None => {
                sink.start(Some(time))?;
                range.insert(times(dump, Some((time, time)))?)
            }
        };
        if range.contains(&time) {
            let wire = follower.header().map_or(Wire::V1, |header| header.wire);
            let detail = Detail::new(File::Followed(&follower), event, false);
            sink.detail(wire, &detail, &names)?;
            left -= 1;
        }
    }
    sink.flush()?;
    Ok(State::Fine)
}
