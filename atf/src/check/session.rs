//! Checks a session: its threads, its manifest, and their agreement.

use std::path::Path;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::error::Result;
use crate::files::INDEX_FILE;
use crate::header;
use crate::index::IndexHeader;
use crate::session::{Presence, SessionReader, ThreadEntry};
use crate::source::{Input, OpenOptions};

use super::manifest::{self, SessionFacts};
use super::output::{Output, linked};
use super::thread;
use crate::check::finding::{FileReport, Kind, Place};
use crate::rules::of_file::INDEX;
use crate::rules::table as rules;

/// A session whose threads are checked one by one, in any order or in parallel.
#[derive(Debug)]
pub(super) struct Session {
    reader: SessionReader,
    /// The position, clock and id of the first thread with a readable header.
    first_clock: Option<(usize, (u8, u32))>,
    /// The result of each thread's check, by position; `None` until the thread is checked.
    found: Mutex<Vec<Option<Found>>>,
    /// Signals each new result.
    news: Condvar,
}

/// The result of a thread's check.
#[derive(Debug)]
enum Found {
    /// The manifest lists the thread, but it has no folder.
    Missing,
    Facts(thread::Facts),
}

impl Session {
    pub(super) fn open(path: &Path) -> Result<Self> {
        let reader = SessionReader::open(path)?;
        let mut threads = reader.threads().iter().enumerate();
        let first_clock =
            threads.find_map(|(position, entry)| Some((position, (clock(entry)?, entry.id()))));
        let found = reader.threads().iter().map(|_| None).collect();
        Ok(Self {
            reader,
            first_clock,
            found: Mutex::new(found),
            news: Condvar::new(),
        })
    }

    /// Returns the number of threads.
    pub(super) fn threads(&self) -> usize {
        self.reader.threads().len()
    }

    /// Checks the thread at `position`.
    pub(super) fn check_thread(&self, position: usize, output: &mut dyn Output) {
        let Some(entry) = self.reader.threads().get(position) else {
            return;
        };
        let mut done = Done {
            session: self,
            position,
            found: Found::Facts(thread::Facts::without_index(false)),
        };
        let first = self.first_clock.filter(|(first, _)| *first < position);
        done.found = check_thread(entry, first.map(|(_, clock)| clock), output);
    }

    /// Waits until all threads are checked, and then checks the rest of the session.
    pub(super) fn check_rest(&self, output: &mut dyn Output) {
        let mut facts = SessionFacts::default();
        let mut found = self.found();
        while found.iter().any(Option::is_none) {
            found = self
                .news
                .wait(found)
                .unwrap_or_else(PoisonError::into_inner);
        }
        for (entry, found) in self.reader.threads().iter().zip(found.iter()) {
            match found {
                Some(Found::Facts(found)) => facts.add(entry.id(), entry.is_listed(), found),
                Some(Found::Missing) | None => {
                    facts.missing.insert(entry.id());
                }
            }
        }
        drop(found);
        let path = self.reader.path();
        for name in self.reader.unrecognized() {
            odd_name(&path.join(name), output);
        }
        manifest::check(path, self.reader.manifest(), &facts, output);
    }

    fn found(&self) -> MutexGuard<'_, Vec<Option<Found>>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A guard that marks a thread as checked even if its check panics; otherwise, the rest of the
/// check would wait forever.
struct Done<'a> {
    session: &'a Session,
    position: usize,
    found: Found,
}

impl Drop for Done<'_> {
    fn drop(&mut self) {
        let found = std::mem::replace(&mut self.found, Found::Missing);
        if let Some(place) = self.session.found().get_mut(self.position) {
            *place = Some(found);
        }
        self.session.news.notify_all();
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
        Presence::Folder => {
            let id = Some(entry.id());
            thread::check(entry.path(), &thread::Expected { id, clock }, output)
        }
        Presence::SymbolicLink => {
            linked(entry.path(), Kind::Folder, output);
            thread::Facts::without_index(false)
        }
        Presence::NotAFolder => {
            let mut report = FileReport::new(entry.path(), Kind::Folder);
            report.add(&rules::ATF_SESS_002, Place::in_field(""), || {
                "not a folder".to_owned()
            });
            output.file(report);
            thread::Facts::without_index(false)
        }
        Presence::Missing => return Found::Missing,
    };
    let name = entry
        .path()
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    if name != Some(format!("thread_{}", entry.id())) {
        odd_name(entry.path(), output);
    }
    Found::Facts(found)
}

fn odd_name(path: &Path, output: &mut dyn Output) {
    let mut report = FileReport::new(path, Kind::Folder);
    report.add(&rules::ATF_SESS_004, Place::in_field(""), || {
        "expected thread_N, where N is a decimal 32-bit number without leading zeros".to_owned()
    });
    output.file(report);
}
