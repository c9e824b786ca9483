//! Truncates every manifest of the corpus at every byte, flips its bits, and reads the session
//! after each mutation.
//!
//! These guarantees hold for any manifest:
//!
//! - no reader, name lookup or checker panics;
//! - every thread that has files is found and keeps its events;
//! - the recovered session has the same events and payloads, and breaks no structural MUST; from the
//!   original manifest, it also has the same names.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::fs;
use std::num::NonZero;
use std::path::PathBuf;

use atf::session::MANIFEST_FILE;
use atf::thread::RING_FILE;
use atf_conformance::Checked;
use atf_conformance::corpus::{self, Case};
use atf_fuzz::scratch;
use tempfile::TempDir;

use crate::Shard;

use super::subject::{Events, Names, Subject};
use super::{Mutation, Scope, Tally, workers};

/// In a quick run, the session is recovered for only one in this many mutations.
const RECOVERED: usize = 64;

/// A session of the corpus.
#[derive(Debug, Clone)]
pub struct Session {
    case: Case,
    /// The manifest's path in the case.
    manifest: String,
}

impl Session {
    /// Returns the size of the manifest in bytes.
    #[must_use]
    pub fn size(&self) -> usize {
        self.bytes().len()
    }

    fn bytes(&self) -> &[u8] {
        let bytes = self.case.files.get(&self.manifest);
        bytes.map_or(&[], Vec::as_slice)
    }
}

/// Returns one session per distinct manifest.
#[must_use]
pub fn sessions() -> Vec<Session> {
    let mut seen = BTreeSet::new();
    let mut sessions = Vec::new();
    for case in corpus::cases() {
        for (path, bytes) in &case.files {
            let is_manifest = path.rsplit('/').next() == Some(MANIFEST_FILE);
            if is_manifest && seen.insert(bytes.clone()) {
                sessions.push(Session {
                    case: case.clone(),
                    manifest: path.clone(),
                });
            }
        }
    }
    sessions
}

/// Attacks a shard of `sessions`, using `threads` threads.
pub fn run(
    subject: &Subject,
    sessions: &[Session],
    scope: Scope,
    shard: Shard,
    threads: NonZero<usize>,
) -> Tally {
    workers::run(
        threads,
        &sessions[shard.range(sessions.len())],
        || (),
        |session, (), tally| {
            let name = format!("{}/{}", session.case.name, session.manifest);
            let place = match Place::new(subject, session) {
                Ok(place) => place,
                Err(fault) => return tally.fault(&name, Mutation::Cut(session.size()), &fault),
            };
            let [count, _] = Mutation::count(session.size());
            for mutation in (0..count).map(|at| Mutation::nth(session.size(), at)) {
                match mutation {
                    Mutation::Cut(_) => tally.cuts += 1,
                    _ if scope == Scope::Quick && !mutation.is_one_of_its_byte() => {
                        tally.skipped_flips += 1;
                        continue;
                    }
                    _ => tally.flips += 1,
                }
                let recovers = scope == Scope::All || mutation.place().is_multiple_of(RECOVERED);
                tally.recovered += u64::from(recovers);
                let check = || place.holds(subject, mutation.apply(session.bytes()), recovers);
                if let Err(fault) = workers::caught(check) {
                    tally.fault(&name, mutation, &fault);
                }
            }
        },
    )
}

struct Place {
    folder: TempDir,
    session: PathBuf,
    manifest: PathBuf,
    read: Events,
    recovered: Option<Events>,
}

impl Place {
    fn new(subject: &Subject, session: &Session) -> Result<Self, String> {
        let folder = scratch();
        let files = folder.path().join("session");
        let written = session.case.write(&files);
        written.map_err(|error| error.to_string())?;
        let manifest = files.join(&session.manifest);
        let mut place = Self {
            session: manifest.with_file_name(""),
            manifest,
            folder,
            read: Events::default(),
            recovered: None,
        };
        let (read, names) = (subject.session)(&place.session)?;
        if let Some((events, found)) = place.recover(subject)? {
            let mut files = session.case.files.keys();
            // Only a recovery reads a ring whose details do not belong to the thread.
            if !files.any(|path| path.ends_with(RING_FILE)) {
                same("recovered", &read, &events)?;
            }
            same("recovered names", &names, &found)?;
            place.recovered = Some(events);
        }
        place.read = read;
        Ok(place)
    }

    fn holds(&self, subject: &Subject, bytes: Vec<u8>, recovers: bool) -> Result<(), String> {
        fs::write(&self.manifest, bytes).map_err(|error| error.to_string())?;
        same("read", &self.read, &(subject.session)(&self.session)?.0)?;
        // The mutated manifest may break rules, but the check must not panic.
        let _ = Checked::new(&self.session);
        if recovers {
            let recovered = self.recover(subject)?.map(|(events, _)| events);
            same("recovered", &self.recovered, &recovered)?;
        }
        Ok(())
    }

    /// Recovers the session. Returns `None` if the session cannot be recovered.
    fn recover(&self, subject: &Subject) -> Result<Option<(Events, Names)>, String> {
        let out = self.folder.path().join("out");
        if out.exists() {
            fs::remove_dir_all(&out).map_err(|error| error.to_string())?;
        }
        match (subject.recover)(&self.session, &out) {
            Ok(()) => {}
            Err(_) if !out.exists() => return Ok(None),
            Err(error) => return Err(format!("refused, but left output: {error}")),
        }
        let broken = Checked::new(&out).structural_faults();
        if broken.is_empty() {
            (subject.session)(&out).map(Some)
        } else {
            Err(format!("recovered session breaks {broken:?}"))
        }
    }
}

fn same<T: Debug + PartialEq>(how: &str, before: &T, now: &T) -> Result<(), String> {
    if before == now {
        Ok(())
    } else {
        Err(format!("{how} were {before:?}, now {now:?}"))
    }
}
