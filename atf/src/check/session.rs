//! Checks a session: its threads, its manifest, and whether they agree.

use std::path::Path;

use crate::session::{Presence, SessionReader, ThreadEntry};

use super::manifest::{self, SessionFacts};
use super::thread::{self, linked};
use super::{Output, without_path};
use crate::check::finding::{FileReport, Kind, Place};
use crate::check::rules::table as rules;

/// Checks a session's folder.
pub(super) fn folder(path: &Path, output: &mut dyn Output) {
    let session = match SessionReader::open(path) {
        Ok(session) => session,
        Err(error) => return output.unreadable(path, &without_path(&error)),
    };
    let mut facts = SessionFacts::new();
    for entry in session.threads() {
        thread(entry, &mut facts, output);
    }
    for name in session.unrecognized() {
        odd_name(&path.join(name), output);
    }
    manifest::check(path, session.manifest(), &facts, output);
}

fn thread(entry: &ThreadEntry, facts: &mut SessionFacts, output: &mut dyn Output) {
    let found = match entry.presence() {
        Presence::Folder => {
            let expected = thread::Expected {
                id: Some(entry.id()),
                clock: facts.first_clock,
            };
            thread::check(entry.path(), &expected, output)
        }
        Presence::SymbolicLink => {
            linked(entry.path(), Kind::Folder, output);
            thread::Facts::without_index(false)
        }
        Presence::NotAFolder => {
            let mut report = FileReport::new(entry.path(), Kind::Folder);
            report.add(&rules::ATF_SESS_002, Place::of(""), || {
                "not a folder".to_owned()
            });
            output.file(report);
            thread::Facts::without_index(false)
        }
        Presence::Missing => {
            facts.missing.insert(entry.id());
            return;
        }
    };
    let name = entry
        .path()
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    if name != Some(format!("thread_{}", entry.id())) {
        odd_name(entry.path(), output);
    }
    facts.add(entry.id(), entry.is_listed(), &found);
}

fn odd_name(path: &Path, output: &mut dyn Output) {
    let mut report = FileReport::new(path, Kind::Folder);
    report.add(&rules::ATF_SESS_004, Place::of(""), || {
        "expected thread_N, where N is a decimal 32-bit number without leading zeros".to_owned()
    });
    output.file(report);
}
