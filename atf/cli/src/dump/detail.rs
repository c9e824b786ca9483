//! Details of events: registers and stack, fields, or a payload that only the tracer understands.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;

use atf::detail::{DetailEvent, DetailReader, FunctionPayload, LARGEST_FIELDS, fields};
use atf::follow::DetailFollower;
use atf::manifest::Manifest;
use atf::merge::MergedEvent;
use atf::thread::ThreadReader;
use atf::trace::{ThreadFiles, Trace};
use atf::{Arch, Error};

use super::reported::Reported;
use super::trace::NamedThread;
use crate::text::Hex;

/// A detail event and the file with its payload.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Detail<'a> {
    pub(crate) event: DetailEvent,
    file: File<'a>,
    /// Whether the session's details contain fields.
    has_fields: bool,
}

/// An open file: read as it is, or followed while it is written.
#[derive(Debug, Clone, Copy)]
pub(crate) enum File<'a> {
    Read(&'a DetailReader),
    Followed(&'a DetailFollower),
}

impl<'a> Detail<'a> {
    pub(crate) fn new(file: File<'a>, event: DetailEvent, has_fields: bool) -> Self {
        Self {
            event,
            file,
            has_fields,
        }
    }

    /// Returns the registers and stack, if the payload contains them.
    pub(crate) fn function(&self) -> Result<Option<FunctionPayload>, Error> {
        match self.file {
            File::Read(reader) => reader.function_payload(&self.event),
            File::Followed(follower) => follower.function_payload(&self.event),
        }
    }

    /// Returns the names of the registers, in the order of the payload.
    pub(crate) fn register_names(&self) -> [&'static str; 11] {
        let header = match self.file {
            File::Read(reader) => Some(reader.header()),
            File::Followed(follower) => follower.header(),
        };
        FunctionPayload::register_names(header.map_or(Arch(0), |header| header.arch))
    }

    /// Returns the fields, a JSON object, if the payload contains them.
    pub(crate) fn fields(&self) -> Result<Option<String>, Error> {
        if !self.has_fields || self.event.payload_size() > LARGEST_FIELDS as u64 {
            return Ok(None);
        }
        let payload = self.head(LARGEST_FIELDS)?;
        Ok(fields(&payload).map(str::to_owned))
    }

    /// Fills `buffer` with the payload starting at byte `start`. Returns the number of bytes.
    fn read(&self, start: u64, buffer: &mut [u8]) -> Result<usize, Error> {
        match self.file {
            File::Read(reader) => reader.read_payload(&self.event, start, buffer),
            File::Followed(follower) => follower.read_payload(&self.event, start, buffer),
        }
    }

    /// Returns up to `size` bytes from the start of the payload.
    pub(crate) fn head(&self, size: usize) -> Result<Vec<u8>, Error> {
        let mut bytes = vec![0; size];
        let read = self.read(0, &mut bytes)?;
        bytes.truncate(read);
        Ok(bytes)
    }

    pub(crate) fn hex(&self) -> PayloadHex<'_> {
        PayloadHex {
            detail: self,
            failure: RefCell::new(None),
        }
    }
}

/// Returns whether the details of a session with this manifest contain fields.
pub(crate) fn has_fields(manifest: Option<&Manifest>) -> bool {
    manifest.is_some_and(|manifest| manifest.detail_fields == Some(true))
}

/// A payload in hexadecimal. The payload is read while being printed, because it can be as large as
/// its file.
pub(crate) struct PayloadHex<'a> {
    detail: &'a Detail<'a>,
    failure: RefCell<Option<Error>>,
}

impl PayloadHex<'_> {
    /// Returns the error that truncated the payload, if any.
    pub(crate) fn failure(&self) -> Option<Error> {
        self.failure.borrow_mut().take()
    }
}

impl fmt::Display for PayloadHex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let left = usize::try_from(self.detail.event.payload_size()).unwrap_or(usize::MAX);
        let mut buffer = vec![0; left.min(64 << 10)];
        let mut start = 0;
        loop {
            match self.detail.read(start, &mut buffer) {
                Ok(0) => return Ok(()),
                Ok(read) => {
                    write!(f, "{}", Hex(&buffer[..read]))?;
                    start += read as u64;
                }
                Err(error) => {
                    *self.failure.borrow_mut() = Some(error);
                    return Ok(());
                }
            }
        }
    }
}

/// The number of threads kept open for their details. Together with the 128 index files that a
/// merge keeps open, this stays below 256 files, the limit of some systems.
const MOST_OPEN: usize = 48;

/// The details of events. Threads are opened as needed.
pub(crate) struct Details<'a> {
    /// Whether the details of each session contain fields.
    with_fields: Vec<bool>,
    /// The threads' files by session and id. Several folders can share an id, such as `thread_1`
    /// and `thread_01`.
    files: BTreeMap<(u32, u32), Vec<ThreadFiles<'a>>>,
    /// Open threads by session and position, each with the value of `uses` at its last use.
    open: BTreeMap<(u32, usize), (u64, Option<ThreadReader>)>,
    uses: u64,
}

/// The result of looking up an event's detail.
pub(crate) enum Found<'a> {
    /// The event has no detail.
    None,
    /// The event's detail.
    Detail(Detail<'a>),
    /// The event's link leads to a detail that does not belong to the event.
    Foreign,
    /// The event's link leads to no detail.
    Dangling,
}

impl<'a> Details<'a> {
    /// Prepares the lookup of details in these threads.
    pub(crate) fn new(trace: &Trace, threads: &[NamedThread<'a>]) -> Self {
        let mut all: BTreeMap<_, Vec<ThreadFiles<'a>>> = BTreeMap::new();
        for thread in threads {
            for (session, files) in thread.files() {
                let key = (session, thread.name.id);
                all.entry(key).or_default().push(*files);
            }
        }
        Self {
            with_fields: trace
                .sessions()
                .map(|it| has_fields(it.manifest()))
                .collect(),
            files: all,
            open: BTreeMap::new(),
            uses: 0,
        }
    }

    /// Finds an event's detail. Reports each thread's detail problems only once.
    pub(crate) fn find(
        &mut self,
        event: &MergedEvent,
        reported: &mut Reported,
    ) -> Result<Found<'_>, Error> {
        let Some(detail_seq) = event.event.detail_seq else {
            return Ok(Found::None);
        };
        let (mut is_there, session) = (false, event.session);
        let all = self.files.get(&(session, event.thread));
        for files in all.cloned().unwrap_or_default() {
            let thread = self.open(session, &files, reported);
            let reader = thread.and_then(ThreadReader::detail);
            let Some(found) = reader.map(|reader| reader.get(detail_seq)).transpose()? else {
                continue;
            };
            // If several folders share the id, take the one whose detail links back.
            let back = (event.seq, event.event.timestamp_ns);
            let leads_back =
                |found: &DetailEvent| (found.header.index_seq, found.header.timestamp) == back;
            is_there |= found.is_some();
            if let Some(found) = found.filter(leads_back) {
                let has_fields = self.with_fields.get(session as usize);
                let has_fields = has_fields.copied().unwrap_or_default();
                let thread = self.open(session, &files, reported);
                let reader = thread.and_then(ThreadReader::detail);
                return Ok(reader.map_or(Found::Dangling, |reader| {
                    Found::Detail(Detail::new(File::Read(reader), found, has_fields))
                }));
            }
        }
        Ok(if is_there {
            Found::Foreign
        } else {
            Found::Dangling
        })
    }

    fn open(
        &mut self,
        session: u32,
        files: &ThreadFiles<'_>,
        reported: &mut Reported,
    ) -> Option<&ThreadReader> {
        self.uses += 1;
        let key = (session, files.position());
        if !self.open.contains_key(&key) {
            let least = self.open.iter().min_by_key(|(_, (used, _))| *used);
            let least = least.map(|(key, _)| *key);
            if let Some(least) = least.filter(|_| self.open.len() >= MOST_OPEN) {
                self.open.remove(&least);
            }
            let thread = files.open().and_then(|thread| {
                let problems = thread.as_ref().map(ThreadReader::problems).transpose()?;
                reported.report_all(problems.iter().flatten());
                Ok(thread)
            });
            let thread = thread.unwrap_or_else(|error| {
                reported.report(&error);
                None
            });
            // Also keep a thread that cannot be opened, so opening it is not retried for every
            // event.
            self.open.insert(key, (self.uses, thread));
        }
        let (used, thread) = self.open.get_mut(&key)?;
        *used = self.uses;
        thread.as_ref()
    }
}
