//! The parts of a trace that are analysed one by one: sessions, or a thread, or a file.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use atf::analyze::Threads;
use atf::index::IndexReader;
use atf::manifest::Manifest;
use atf::session::{SessionReader, ThreadEntry};
use atf::symbols::{Function, SymbolTable};
use atf::thread::ThreadReader;
use atf::{Error, FileKind};
use atf_export::Process;

use crate::dump::{are_processes, session_around};
use crate::output::Failure;
use crate::target::Target;

/// How many threads a message lists at most.
const NAMED: usize = 20;

/// A session, a thread's folder or an index file.
#[derive(Debug)]
pub(crate) struct Part {
    /// Its path.
    pub(crate) path: PathBuf,
    /// The time that relative times count from: the first event's.
    pub(crate) start_ns: Option<u64>,
    /// The last event's time.
    pub(crate) end_ns: Option<u64>,
    reader: Reader,
    names: OtherNames,
}

/// The names of another session's manifest, if they replace those of a trace.
pub(crate) type OtherNames = Option<Arc<SymbolTable>>;

/// Reads the names in the manifest at a path.
pub(crate) fn other_names(path: Option<&Path>) -> Result<OtherNames, Failure> {
    let failed = |error: &Error| Failure::Usage(error.to_string());
    let open = |path: &Path| {
        let manifest = Manifest::open(path).map_err(|error| failed(&error))?;
        match manifest.problems.first() {
            Some(error) if manifest.is_unreadable() => Err(failed(error)),
            _ => Ok(Arc::new(manifest.into())),
        }
    };
    path.map(open).transpose()
}

#[derive(Debug)]
enum Reader {
    Session(Box<SessionReader>),
    /// A thread's folder, and the session that it belongs to.
    Thread(Box<ThreadReader>, Option<Box<SessionReader>>),
    Index(Box<IndexReader>),
}

impl Part {
    /// Opens what is at a path. The inner error is that of a thread or a file alone. Functions get
    /// the names in `names`, or else those in the trace's own manifests.
    pub(crate) fn all(
        path: &Path,
        names: &OtherNames,
    ) -> Result<Result<Vec<Self>, Error>, Failure> {
        let sessions = match Target::of(path)? {
            Target::Session(path) => vec![path],
            Target::Sessions(paths) => paths,
            Target::Thread(path) => {
                let session = session_around(&path).map(Box::new);
                let reader = ThreadReader::open(&path);
                let reader = reader.map(|thread| Reader::Thread(Box::new(thread), session));
                return Ok(reader.map(|reader| vec![Self::new(path, reader, names)]));
            }
            Target::File(path, FileKind::Index) | Target::OtherFile(path) => {
                let index = IndexReader::open(&path).map(Box::new);
                return Ok(index.map(|index| vec![Self::new(path, Reader::Index(index), names)]));
            }
            Target::File(path, FileKind::Detail) => {
                let what = "details alone: calls and returns are in the index file next to it";
                return Err(Failure::Usage(format!("{}: {what}", path.display())));
            }
        };
        let open = |path: &PathBuf| {
            let session = SessionReader::open(path)?;
            let reader = Reader::Session(Box::new(session));
            Ok(Self::new(path.clone(), reader, names))
        };
        let mut parts = sessions
            .iter()
            .map(open)
            .collect::<Result<Vec<_>, Error>>()?;
        if are_processes(&sessions) {
            // They share the machine's clock.
            let start_ns = parts.iter().filter_map(|part| part.start_ns).min();
            let end_ns = parts.iter().filter_map(|part| part.end_ns).max();
            for part in &mut parts {
                (part.start_ns, part.end_ns) = (start_ns, end_ns);
            }
        }
        Ok(Ok(parts))
    }

    fn new(path: PathBuf, reader: Reader, names: &OtherNames) -> Self {
        let times = reader.times();
        Self {
            path,
            start_ns: times.map(|(start_ns, _)| start_ns),
            end_ns: times.map(|(_, end_ns)| end_ns),
            reader,
            names: names.clone(),
        }
    }

    /// Its threads, for an analysis.
    pub(crate) fn threads(&self) -> Threads<'_> {
        match &self.reader {
            Reader::Session(session) => (&**session).into(),
            Reader::Thread(thread, _) => (&**thread).into(),
            Reader::Index(index) => (&**index).into(),
        }
    }

    /// Its calls, for an export.
    pub(crate) fn process(&self) -> Process<'_> {
        let process = match &self.reader {
            Reader::Session(session) => Process::of_session(session),
            Reader::Thread(thread, session) => Process::of_thread(thread, session.as_deref()),
            Reader::Index(index) => Process::of_index(index),
        };
        match &self.names {
            Some(names) => process.with_symbols(names.symbols()),
            None => process,
        }
    }

    /// Describes it for people.
    pub(crate) fn what(&self) -> &'static str {
        match self.reader {
            Reader::Session(_) => "session",
            Reader::Thread(..) => "thread",
            Reader::Index(_) => "index file",
        }
    }

    fn session(&self) -> Option<&SessionReader> {
        match &self.reader {
            Reader::Session(session) | Reader::Thread(_, Some(session)) => Some(session),
            Reader::Thread(_, None) | Reader::Index(_) => None,
        }
    }

    /// A function with its name, as far as a manifest has it.
    pub(crate) fn function(&self, id: u64) -> Function<'_> {
        match (&self.names, self.session()) {
            (Some(names), _) => names.symbols().function(id),
            (None, Some(session)) => session.symbols().function(id),
            (None, None) => Function::new(id, None),
        }
    }

    /// A thread's name in the manifest.
    pub(crate) fn thread_name(&self, id: u32) -> Option<&str> {
        let mut threads = self.manifest().into_iter().flat_map(|it| &it.threads);
        threads.find(|thread| thread.id == id)?.name.as_deref()
    }

    /// The manifest of the session, or of the one that the thread belongs to.
    pub(crate) fn manifest(&self) -> Option<&Manifest> {
        self.session()?.manifest()
    }

    /// The problems of a session itself, which no single thread has.
    pub(crate) fn problems(&self) -> Vec<Error> {
        match &self.reader {
            Reader::Session(session) => session.problems(),
            Reader::Thread(..) | Reader::Index(_) => Vec::new(),
        }
    }

    /// The ids of its threads.
    fn thread_ids(&self) -> BTreeSet<u32> {
        match &self.reader {
            Reader::Session(session) => session.threads().iter().map(ThreadEntry::id).collect(),
            Reader::Thread(thread, _) => [thread.index().header().thread_id].into(),
            Reader::Index(index) => [index.header().thread_id].into(),
        }
    }

    /// The ids of its threads that are selected: all if `ids` is empty.
    pub(crate) fn selected(&self, ids: &[u32]) -> BTreeSet<u32> {
        let mut selected = self.thread_ids();
        selected.retain(|id| ids.is_empty() || ids.contains(id));
        selected
    }
}

impl Reader {
    /// The times of the first and the last event, of all threads of the session.
    fn times(&self) -> Option<(u64, u64)> {
        let threads: Threads<'_> = match self {
            Self::Session(session) | Self::Thread(_, Some(session)) => (&**session).into(),
            Self::Thread(thread, None) => (&**thread).into(),
            Self::Index(index) => (&**index).into(),
        };
        threads.time_range()
    }
}

/// Refuses ids that no part has.
pub(crate) fn check_threads(parts: &[Part], ids: &[u32]) -> Result<(), Failure> {
    let all: BTreeSet<u32> = parts.iter().flat_map(Part::thread_ids).collect();
    let Some(id) = ids.iter().find(|id| !all.contains(id)) else {
        return Ok(());
    };
    let mut names: Vec<_> = all.iter().take(NAMED).map(u32::to_string).collect();
    if all.len() > NAMED {
        names.push(format!("and {} more", all.len() - NAMED));
    }
    let names = match &names[..] {
        [] => "the trace has no threads".to_owned(),
        names => format!("threads: {}", names.join(", ")),
    };
    Err(Failure::Usage(format!("there is no thread {id} ({names})")))
}
