//! Checks a session: its threads, its manifest, and their agreement.

use std::path::Path;
use std::sync::OnceLock;

use crate::error::Result;
use crate::files::INDEX_FILE;
use crate::header;
use crate::index::IndexHeader;
use crate::session::{Presence, SessionReader, ThreadEntry};
use crate::source::{Input, OpenOptions};

use super::manifest::{self, SessionFacts};
use super::output::{Output, broken, linked};
use super::thread;
use crate::check::finding::Kind;
use crate::rules::of_file::INDEX;
use crate::rules::table as rules;

/// A session whose threads are checked one by one, in any order or in parallel.
#[derive(Debug)]
pub(super) struct Session {
    reader: SessionReader,
    /// The position, clock and id of the first thread with a readable header.
    first_clock: Option<(usize, (u8, u32))>,
    /// The result of each thread's check, by position.
    found: Vec<OnceLock<Found>>,
}

/// The facts about a thread; `None` if the manifest lists the thread, but it has no folder.
type Found = Option<thread::Facts>;

impl Session {
    pub(super) fn open(path: &Path) -> Result<Self> {
        let reader = SessionReader::open(path)?;
        let mut threads = reader.threads().iter().enumerate();
        let first_clock =
            threads.find_map(|(position, entry)| Some((position, (clock(entry)?, entry.id()))));
        let found = reader.threads().iter().map(|_| OnceLock::new()).collect();
        Ok(Self {
            reader,
            first_clock,
            found,
        })
    }

    pub(super) fn threads(&self) -> usize {
        self.reader.threads().len()
    }

    pub(super) fn check_thread(&self, position: usize, output: &mut dyn Output) {
        let entry = self.reader.threads().get(position);
        let Some((entry, found)) = entry.zip(self.found.get(position)) else {
            return;
        };
        let _guard = Checked(found);
        let first = self.first_clock.filter(|(first, _)| *first < position);
        let clock = first.map(|(_, clock)| clock);
        found.get_or_init(|| check_thread(entry, clock, output));
    }

    /// Waits until all threads are checked, and then checks the rest of the session.
    pub(super) fn check_rest(&self, output: &mut dyn Output) {
        let mut facts = SessionFacts::default();
        for (entry, found) in self.reader.threads().iter().zip(&self.found) {
            match found.wait() {
                Some(found) => facts.add(entry.id(), entry.is_listed(), found),
                None => {
                    facts.missing.insert(entry.id());
                }
            }
        }
        let path = self.reader.path();
        for name in self.reader.unrecognized() {
            odd_name(&path.join(name), output);
        }
        manifest::check(path, self.reader.manifest(), &facts, output);
    }
}

/// A guard that marks a thread as checked even if its check panics; otherwise, the rest of the
/// check would wait forever.
struct Checked<'a>(&'a OnceLock<Found>);

impl Drop for Checked<'_> {
    fn drop(&mut self) {
        self.0
            .get_or_init(|| Some(thread::Facts::without_index(false)));
    }
}

/// Returns the clock in a thread's index header, if the header can be read.
fn clock(entry: &ThreadEntry) -> Option<u8> {
    if entry.presence() != Presence::Folder {
        return None;
    }
    let path = entry.path().join(INDEX_FILE);
    let input = Input::open_in_session(&path, OpenOptions::new()).ok()?;
    let header = IndexHeader::decode(&header::read(&input, &INDEX).ok()?, input.size());
    Some(header.ok()?.clock_type.0)
}

fn check_thread(entry: &ThreadEntry, clock: Option<(u8, u32)>, output: &mut dyn Output) -> Found {
    let found = match entry.presence() {
        Presence::Folder => thread::check(entry.path(), Some(entry.id()), clock, output),
        Presence::SymbolicLink => {
            linked(entry.path(), Kind::Folder, output);
            thread::Facts::without_index(false)
        }
        Presence::NotAFolder => {
            let rule = &rules::ATF_SESS_002;
            broken(entry.path(), Kind::Folder, rule, "not a folder", output);
            thread::Facts::without_index(false)
        }
        Presence::Missing => return None,
    };
    let name = entry
        .path()
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    if name != Some(format!("thread_{}", entry.id())) {
        odd_name(entry.path(), output);
    }
    Some(found)
}

fn odd_name(path: &Path, output: &mut dyn Output) {
    let message = "expected thread_N, where N is a decimal 32-bit number without leading zeros";
    broken(path, Kind::Folder, &rules::ATF_SESS_004, message, output);
}
