//! The processes to export.

use atf::analyze::Threads;
use atf::index::IndexReader;
use atf::session::{ProcessName, SessionReader};
use atf::symbols::{Function, Symbols};
use atf::thread::ThreadReader;

/// A process whose threads are exported: a session, a thread's folder or an index file.
#[derive(Debug, Clone, Copy)]
pub struct Process<'a> {
    pub(crate) threads: Threads<'a>,
    pub(crate) session: Option<&'a SessionReader>,
    symbols: Option<Symbols<'a>>,
}

impl<'a> Process<'a> {
    /// Exports all threads of a session.
    #[must_use]
    pub fn of_session(session: &'a SessionReader) -> Self {
        Self {
            threads: session.into(),
            session: Some(session),
            symbols: Some(session.symbols()),
        }
    }

    /// Exports a thread. Names are from the session that it belongs to.
    #[must_use]
    pub fn of_thread(thread: &'a ThreadReader, session: Option<&'a SessionReader>) -> Self {
        Self {
            threads: thread.into(),
            session,
            symbols: session.map(SessionReader::symbols),
        }
    }

    /// Exports an index file, without names.
    #[must_use]
    pub fn of_index(index: &'a IndexReader) -> Self {
        Self {
            threads: index.into(),
            session: None,
            symbols: None,
        }
    }

    /// Takes the names of functions from another manifest.
    #[must_use]
    pub fn with_symbols(mut self, symbols: Symbols<'a>) -> Self {
        self.symbols = Some(symbols);
        self
    }

    /// Returns a function with its name, as far as the session's manifest or the other one has it.
    #[must_use]
    pub fn function(&self, function_id: u64) -> Function<'a> {
        match &self.symbols {
            Some(symbols) => symbols.function(function_id),
            None => Function::new(function_id, None),
        }
    }

    /// Returns the process id, from the name of its folder: 42 for `pid_42`, and for `pid_42_2` and
    /// `pid_42_segment_000002`.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        Some(ProcessName::of(self.session?.path())?.pid)
    }

    /// Returns its name: that of the first module, or else of its folder.
    #[must_use]
    pub fn name(&self) -> String {
        let session = self.session;
        let module = session.and_then(SessionReader::manifest);
        let module = module.and_then(|manifest| manifest.modules.first()?.path.as_deref());
        let module = module.and_then(|path| path.rsplit(['/', '\\']).find(|name| !name.is_empty()));
        let folder = session.and_then(|session| session.path().file_name());
        match (module, folder) {
            (Some(module), _) => module.to_owned(),
            (None, Some(folder)) => folder.to_string_lossy().into_owned(),
            (None, None) => "trace".to_owned(),
        }
    }

    /// Returns facts about the session for the metadata of a form: key and value.
    pub(crate) fn facts(&self) -> Vec<(String, String)> {
        let Some(manifest) = self.session.and_then(SessionReader::manifest) else {
            return Vec::new();
        };
        let fact = |key: &str, value: String| (key.to_owned(), value);
        let mut facts = Vec::new();
        let clock = manifest.clock_type.and_then(atf::Clock::name);
        facts.extend(clock.map(|clock| fact("clock", clock.to_owned())));
        let version = manifest.format_version.clone();
        facts.extend(version.map(|version| fact("format version", version)));
        for (number, anchor) in manifest.timing_anchors.iter().enumerate() {
            let media = anchor.media_time;
            let text = format!(
                "{} ns = {}/{} s",
                anchor.host_time_ns, media.value, media.timescale
            );
            facts.push((format!("timing anchor {number}"), text));
        }
        facts
    }
}
