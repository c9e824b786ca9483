//! Writes the events of files that are still being written, as they arrive.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::mem;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use atf::detail::{DetailEvent, DetailReader};
use atf::follow::{
    DetailFollower, FollowedThread, IndexFollower, Polled, SessionFollower, ThreadEvent,
    ThreadFollower,
};
use atf::index::{IndexEvent, IndexReader};
use atf::manifest::Manifest;
use atf::session::{ProcessName, Segments, SessionReader};
use atf::thread::ThreadReader;
use atf::{Error, ErrorKind, FileKind, Wire};

use super::detail::{Detail, has_fields};
use super::filter::{Filter, times};
use super::names::Names;
use super::told::{Dangling, Told, tell_losses_of};
use super::trace::ThreadName;
use super::{Dump, Row, Sink, is_zero, wire_of};
use crate::clock::Clock;
use crate::output::{Failure, Outcome, State, complain, damaged};
use crate::parts::tell_deleted;
use crate::target::session_around;
use crate::target::{Target, several};

/// The number of events to write from one thread before moving on to the next.
const TURN: usize = 4096;

/// Writes events as they arrive, until all files are finalized.
pub(super) fn run(dump: &Dump<'_>, interval: Duration, sink: &mut dyn Sink) -> Outcome {
    let [path] = dump.paths else {
        return Err(Failure::Usage("--follow takes one path".to_owned()));
    };
    if dump.clock == Clock::Media {
        let message = "--clock media: not with --follow, since anchors may be added until the end";
        return Err(Failure::Usage(message.to_owned()));
    }
    let mut is_said = false;
    let target = loop {
        if let Some(target) = target(path)? {
            break target;
        }
        if !is_said {
            complain(format_args!("waiting for {}", path.display()));
            is_said = true;
        }
        sleep(interval);
    };
    let mut threads = Vec::new();
    let mut session = match target {
        Target::File(path, FileKind::Detail) => {
            dump.check_details_alone(&path)?;
            return details(dump, interval, sink, &path);
        }
        Target::File(path, FileKind::Index) | Target::OtherFile(path) => {
            dump.check_index_alone(&path)?;
            let source = Source::Index(Box::new(IndexFollower::new(&path)));
            threads.push(Thread::new(None, None, source));
            None
        }
        Target::Thread(path) => {
            threads.push(Thread::of_folder(None, &path, dump.details));
            let around = session_around(&path);
            around.map(|around| Session::new(around.path(), false))
        }
        Target::Session(path) => Some(Session::first(&path)),
        Target::Sessions(paths) => match Segments::group(paths).as_slice() {
            [segments] => segments.first().map(|path| Session::first(path)),
            processes => return Err(several(dump.paths, &processes.concat())),
        },
    };
    let named = dump.symbols.map(Names::in_file).transpose()?;
    let mut output = Output {
        dump,
        sink,
        has_fields: false,
        start_ns: None,
        filter: None,
        left: dump.limit,
        told: Told::default(),
        dangling: Dangling::default(),
        seqs: Seqs::default(),
    };
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
        let of_session = of_session.map_or_else(Names::none, |follower| {
            Names::of_manifest(manifest, follower.symbols())
        });
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
                    output.seqs.end(&thread);
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
                session.tell_problems(dump.threads, &mut output.told);
                session.go_on(&next, &mut output.told)?;
                output.seqs.go_on();
                output.filter = None;
            }
            continue;
        }
        if output.left == 0 || (has_threads && threads.is_empty()) {
            break;
        }
        if is_quiet {
            if !has_threads && !dump.threads.is_empty() && !is_said {
                complain("waiting for a thread that --thread selects");
                is_said = true;
            }
            sleep(interval);
        }
    }
    output.dangling.tell(&mut output.told);
    if let Some(session) = &mut session {
        if session.has_threads {
            session.tell_problems(dump.threads, &mut output.told);
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
        let origin_ns = Some(start_ns.unwrap_or(0));
        tell_losses_of(&manifests, &times, origin_ns, |ns| ns, name_of);
    }
    Ok(output.told.state())
}

/// A session that provides names. If the session is the dumped path, its threads are followed too.
struct Session {
    follower: SessionFollower,
    has_threads: bool,
    /// The folders of the current segment's threads that are or were followed.
    followed: BTreeSet<PathBuf>,
    /// The previous segment.
    before: Option<SessionFollower>,
    /// The manifests of the segments before `before`, without names.
    manifests: Vec<Manifest>,
}

impl Session {
    fn new(path: &Path, has_threads: bool) -> Self {
        Self {
            follower: SessionFollower::new(path),
            has_threads,
            followed: BTreeSet::new(),
            before: None,
            manifests: Vec::new(),
        }
    }

    /// Follows a session and its threads. Reports the segments that were deleted before it.
    fn first(path: &Path) -> Self {
        if let Ok(segments) = Segments::open([path]) {
            tell_deleted(&segments);
        }
        Self::new(path, true)
    }

    /// Returns the new threads that `--thread` selects.
    fn new_threads(&mut self, dump: &Dump<'_>) -> Result<Vec<Thread>, Error> {
        let new = self.follower.poll_threads()?.into_iter();
        let new: Vec<_> = new
            .filter(|thread| is_selected(dump.threads, thread.id()))
            .collect();
        let folders = new.iter().map(|thread| thread.path().to_path_buf());
        self.followed.extend(folders);
        let thread =
            |new: FollowedThread| Thread::of_folder(Some(new.id()), new.path(), dump.details);
        Ok(new.into_iter().map(thread).collect())
    }

    /// Reports the problems with the current segment itself, and its threads that could not be
    /// followed.
    fn tell_problems(&self, ids: &[u32], told: &mut Told) {
        let path = self.follower.path();
        let session = match SessionReader::open(path) {
            Ok(session) => session,
            // A recording that keeps only its last segments has deleted this one.
            Err(_) if !path.exists() => return,
            Err(error) => return told.tell(&error),
        };
        for error in &session.problems() {
            // A folder without an id cannot belong to a selected thread.
            if ids.is_empty() || *error.kind() != ErrorKind::NoThreadId {
                told.tell(error);
            }
        }
        for thread in session.threads() {
            let is_followed = self.followed.contains(thread.path());
            if !is_followed
                && is_selected(ids, thread.id())
                && let Err(error) = thread.open_index()
            {
                told.tell(&error);
            }
        }
    }

    /// Finds the process's next segment, which exists before the last thread of the current one is
    /// finalized.
    fn next_segment(&self) -> Result<Option<PathBuf>, Failure> {
        let path = self.follower.path();
        let (Some(this), Some(folder)) = (ProcessName::of(path), path.parent()) else {
            return Ok(None);
        };
        let folder = if folder.as_os_str().is_empty() {
            Path::new(".")
        } else {
            folder
        };
        let failed = |error| Failure::Usage(format!("{}: {error}", folder.display()));
        let mut next: Option<(ProcessName, PathBuf)> = None;
        for entry in fs::read_dir(folder).map_err(failed)? {
            let path = path.with_file_name(entry.map_err(failed)?.file_name());
            if let Some(name) = ProcessName::of(&path)
                && (name.pid, name.program) == (this.pid, this.program)
                && name > this
                && next.as_ref().is_none_or(|(least, _)| name < *least)
            {
                next = Some((name, path));
            }
        }
        Ok(next.map(|(_, path)| path))
    }

    /// Follows the next segment. Reports the segments that are missing before it.
    fn go_on(&mut self, next: &Path, told: &mut Told) -> Result<(), Error> {
        if let Some(missing) = missing_between(self.follower.path(), next) {
            told.say(format!("{}: {missing}", next.display()));
        }
        self.keep_manifest_before()?;
        self.followed.clear();
        let next = SessionFollower::new(next);
        self.before = Some(mem::replace(&mut self.follower, next));
        Ok(())
    }

    /// Keeps the losses in the manifest of the previous segment. The manifest may have been
    /// completed after the segment's last event, and may even have been deleted in the meantime.
    fn keep_manifest_before(&mut self) -> Result<(), Error> {
        let Some(mut before) = self.before.take() else {
            return Ok(());
        };
        let known = before.manifest().cloned();
        before.poll_manifest()?;
        let last = before.manifest().cloned().or(known);
        self.manifests.extend(last.map(|mut manifest| {
            (manifest.modules, manifest.symbols) = (Vec::new(), Vec::new());
            manifest
        }));
        Ok(())
    }
}

/// The number of each thread's events in earlier segments, by id.
#[derive(Default)]
struct Seqs {
    first: BTreeMap<u32, u64>,
    /// The number of events of finished threads in the current segment.
    ended: BTreeMap<u32, u64>,
}

impl Seqs {
    fn end(&mut self, thread: &Thread) {
        self.ended
            .extend(thread.id.map(|id| (id, thread.next_seq())));
    }

    fn go_on(&mut self) {
        for (id, count) in mem::take(&mut self.ended) {
            *self.first.entry(id).or_default() += count;
        }
    }

    /// Converts an event's `seq` within its segment to its position across all segments.
    fn of(&self, id: u32, seq: u64) -> u64 {
        seq + self.first.get(&id).copied().unwrap_or_default()
    }
}

/// Determines what a path refers to. Returns `None` as long as this cannot be determined.
fn target(path: &Path) -> Result<Option<Target>, Failure> {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Failure::Usage(format!("{}: {error}", path.display()))),
    };
    match Target::of(path) {
        // A file's magic bytes or a folder's first file may still be missing.
        Ok(Target::OtherFile(_)) if metadata.len() < 4 => Ok(None),
        Err(Failure::Usage(_)) if metadata.is_dir() && fs::read_dir(path).is_ok() => Ok(None),
        target => target.map(Some),
    }
}

/// Returns whether `--thread` selects a thread.
fn is_selected(ids: &[u32], id: u32) -> bool {
    ids.is_empty() || ids.contains(&id)
}

/// Returns the segments that are missing between two segments of a recording.
fn missing_between(before: &Path, next: &Path) -> Option<ErrorKind> {
    let first = ProcessName::of(before)?.segment.checked_add(1)?;
    let last = ProcessName::of(next)?.segment.checked_sub(1)?;
    (first <= last).then_some(ErrorKind::SegmentsMissing { first, last })
}

/// A followed thread.
struct Thread {
    /// The id in the folder's name, if the thread belongs to a session.
    id: Option<u32>,
    /// The thread's folder; `None` for a single index file.
    folder: Option<PathBuf>,
    source: Source,
    /// The last event received, and its position.
    last: Option<(u64, IndexEvent)>,
    /// Whether an event was all zeros or lacked its detail.
    is_doubtful: bool,
}

enum Source {
    Index(Box<IndexFollower>),
    Both(Box<ThreadFollower>),
}

/// The result of a thread's turn.
enum Turn {
    /// There may be more events.
    More,
    /// There are no more events for now.
    NotYet,
    /// All events were written, or the thread cannot be read further.
    Over,
}

impl Source {
    fn index(&self) -> &IndexFollower {
        match self {
            Self::Index(index) => index,
            Self::Both(both) => both.index(),
        }
    }

    fn poll(&mut self) -> Result<Polled<ThreadEvent>, Error> {
        let index = match self {
            Self::Index(index) => index,
            Self::Both(both) => return both.poll(),
        };
        let seq = index.next_seq();
        Ok(match index.poll_event()? {
            Polled::New(event) => Polled::New(ThreadEvent::new(seq, event)),
            Polled::NotYet => Polled::NotYet,
            Polled::Finalized => Polled::Finalized,
        })
    }

    /// Continues without details if the error concerns details. Returns whether to continue.
    fn goes_on_after(&mut self, error: &Error) -> bool {
        match self {
            Self::Both(both) if error.path() == Some(both.detail().path()) => {
                both.ignore_details();
                true
            }
            _ => false,
        }
    }
}

impl Thread {
    fn new(id: Option<u32>, folder: Option<PathBuf>, source: Source) -> Self {
        Self {
            id,
            folder,
            source,
            last: None,
            is_doubtful: false,
        }
    }

    fn of_folder(id: Option<u32>, folder: &Path, with_details: bool) -> Self {
        let source = if with_details {
            Source::Both(Box::new(ThreadFollower::new(folder)))
        } else {
            Source::Index(Box::new(IndexFollower::in_thread(folder)))
        };
        Self::new(id, Some(folder.to_path_buf()), source)
    }

    fn next_seq(&self) -> u64 {
        self.last.map_or(0, |(seq, _)| seq + 1)
    }

    /// Returns the id in the folder's name or, failing that, in the header, if known yet.
    fn id(&self) -> Option<u32> {
        let header = self.source.index().header();
        self.id.or(header.map(|header| header.thread_id))
    }

    /// Writes some of the thread's events.
    fn turn(&mut self, output: &mut Output<'_, '_>, names: &Names<'_>) -> Result<Turn, Failure> {
        for _ in 0..TURN {
            if output.left == 0 {
                break;
            }
            match self.source.poll() {
                Ok(Polled::New(new)) => {
                    self.last = Some((new.seq, new.event));
                    let (detail, count) = match &self.source {
                        Source::Both(both) => {
                            let reader = both.detail();
                            let detail = |event| Detail::followed(reader, event, output.has_fields);
                            (new.detail.map(detail), Some(reader.next_seq()))
                        }
                        Source::Index(_) => (None, None),
                    };
                    let event = (new.seq, new.event);
                    self.is_doubtful |=
                        output.event(self.id(), event, (detail.as_ref(), count), names)?;
                }
                Ok(Polled::NotYet) => return Ok(Turn::NotYet),
                Ok(Polled::Finalized) => {
                    if self.is_doubtful {
                        self.reread(output);
                    }
                    return Ok(Turn::Over);
                }
                Err(error) if *error.kind() == ErrorKind::Replaced => {
                    self.go_on_in_new_files(error, output, names)?;
                    return Ok(Turn::Over);
                }
                Err(error) => {
                    let goes_on = self.source.goes_on_after(&error);
                    output.told.tell(&error);
                    if !goes_on {
                        return Ok(Turn::Over);
                    }
                }
            }
        }
        Ok(Turn::More)
    }

    /// Writes the rest of a thread whose files were replaced: `atf record` replaces the session of
    /// a killed program with a recovered copy. Reports `replaced`, the follower's error, if the new
    /// files do not contain the last event received.
    fn go_on_in_new_files(
        &mut self,
        replaced: Error,
        output: &mut Output<'_, '_>,
        names: &Names<'_>,
    ) -> Result<(), Failure> {
        let new = self.new_files().and_then(|new| new.ok_or(replaced));
        let result = new.map(|new| self.rest(&new, output, names));
        result.unwrap_or_else(|error| {
            output.told.tell(&error);
            Ok(())
        })
    }

    /// Reports the problems that only a second pass over a finalized file finds: gaps, and links to
    /// lost details.
    fn reread(&self, output: &mut Output<'_, '_>) {
        let problems = match &self.folder {
            Some(folder) => ThreadReader::open(folder).and_then(|thread| self.problems(&thread)),
            None => IndexReader::open(self.source.index().path()).and_then(|index| {
                index.scan()?;
                Ok(index.problems())
            }),
        };
        let problems = problems.unwrap_or_else(|error| vec![error]);
        problems.iter().for_each(|error| output.told.tell(error));
    }

    /// Returns the problems of the thread's files, as far as they are shown.
    fn problems(&self, thread: &ThreadReader) -> Result<Vec<Error>, Error> {
        if self.is_doubtful {
            thread.index().scan()?;
        }
        match self.source {
            Source::Both(_) => thread.problems(),
            Source::Index(_) => Ok(thread.index().problems()),
        }
    }

    fn new_files(&self) -> Result<Option<ThreadReader>, Error> {
        let Some(folder) = &self.folder else {
            return Ok(None);
        };
        let new = ThreadReader::open(folder)?;
        let Some((seq, last)) = self.last else {
            return Ok(Some(new));
        };
        // Do not compare links, because a recovery may remove the link to a lost detail.
        let same = |event: IndexEvent| (event.timestamp_ns, event.function_id, event.event_kind);
        let found = new.index().get(seq)?.map(same);
        Ok((found == Some(same(last))).then_some(new))
    }

    fn rest(
        &mut self,
        new: &ThreadReader,
        output: &mut Output<'_, '_>,
        names: &Names<'_>,
    ) -> Result<(), Failure> {
        let with_details = matches!(self.source, Source::Both(_));
        let id = self.id();
        let next_seq = self.next_seq();
        for (seq, event) in (next_seq..).zip(new.index().events_in(next_seq..)) {
            if output.left == 0 {
                return Ok(());
            }
            let event = match event {
                Ok(event) => event,
                Err(error) => {
                    output.told.tell(&error);
                    continue;
                }
            };
            self.last = Some((seq, event));
            let detail = match new.detail().filter(|_| with_details) {
                Some(reader) => {
                    let found = new.detail_of(&event)?.found();
                    let own = found.filter(|found| found.header.index_seq == seq);
                    own.map(|event| Detail::new(reader, event, output.has_fields))
                }
                None => None,
            };
            let count = with_details.then(|| new.detail().map_or(0, DetailReader::event_count));
            self.is_doubtful |= output.event(id, (seq, event), (detail.as_ref(), count), names)?;
        }
        for problem in &self.problems(new)? {
            output.told.tell(problem);
        }
        Ok(())
    }
}

/// A filter that passes the selected events to the sink.
struct Output<'a, 'b> {
    dump: &'a Dump<'a>,
    sink: &'b mut dyn Sink,
    /// Whether the session's details contain fields.
    has_fields: bool,
    /// The time of the first event that was read.
    start_ns: Option<u64>,
    /// The filter, resolved with the first event's time and the names known so far.
    filter: Option<Filter<'a>>,
    /// The number of events that may still be written.
    left: u64,
    told: Told,
    dangling: Dangling,
    seqs: Seqs,
}

impl Output<'_, '_> {
    /// Writes an event if the filter admits it. Returns whether it is all zeros or lacks its
    /// detail. `count` is the number of details read so far, if details are written.
    fn event(
        &mut self,
        id: Option<u32>,
        (seq, event): (u64, IndexEvent),
        (detail, count): (Option<&Detail<'_>>, Option<u64>),
        names: &Names<'_>,
    ) -> Result<bool, Failure> {
        let start_ns = match self.start_ns {
            Some(start_ns) => start_ns,
            None => {
                let start_ns = event.timestamp_ns;
                self.sink.start(Some(start_ns))?;
                Filter::complain_of_unknown(self.dump, names);
                *self.start_ns.insert(start_ns)
            }
        };
        let filter = match &self.filter {
            Some(filter) => filter,
            None => {
                let filter = Filter::new(self.dump, Some(start_ns), names)?;
                self.filter.insert(filter)
            }
        };
        let id = id.unwrap_or_default();
        let is_zero = is_zero(&event);
        let function = (0, event.function_id);
        if !is_selected(self.dump.threads, id)
            || !filter.admits(function, event.timestamp_ns, event.event_kind)
        {
            return Ok(is_zero);
        }
        self.left -= 1;
        let thread = ThreadName { process: None, id };
        let missing = event.detail_seq.zip(count);
        let missing = missing.filter(|_| detail.is_none() && !is_zero);
        if let Some((detail_seq, count)) = missing {
            self.dangling.add(thread, detail_seq < count, seq);
        }
        self.sink.event(&Row {
            thread,
            seq: self.seqs.of(id, seq),
            wire: wire_of(&event),
            event,
            is_zero,
            function: names.named(function),
            detail,
        })?;
        Ok(is_zero || missing.is_some())
    }
}

/// Writes the events of a `detail.atf` as they arrive.
fn details(dump: &Dump<'_>, interval: Duration, sink: &mut dyn Sink, path: &Path) -> Outcome {
    let names = Names::of_file(dump.symbols)?;
    let mut follower = DetailFollower::new(path);
    let mut range = None;
    let mut left = dump.limit;
    while left > 0 {
        let event: DetailEvent = match follower.poll() {
            Ok(Polled::New(event)) => event,
            Ok(Polled::NotYet) => {
                sink.flush()?;
                sleep(interval);
                continue;
            }
            Ok(Polled::Finalized) => break,
            Err(error) => {
                let state = damaged(&error);
                sink.flush()?;
                return Ok(state);
            }
        };
        let time = event.header.timestamp;
        let range = match &range {
            Some(range) => range,
            None => {
                sink.start(Some(time))?;
                range.insert(times(dump, Some(time))?)
            }
        };
        if range.contains(&time) {
            let wire = follower.header().map_or(Wire::V1, |header| header.wire);
            let detail = Detail::followed(&follower, event, false);
            sink.detail(wire, &detail, &names)?;
            left -= 1;
        }
    }
    sink.flush()?;
    Ok(State::Fine)
}
