//! A thread's folder: its two files and their links.

use std::fs;
use std::mem::offset_of;
use std::path::Path;

use atf::detail::DetailReader;
use atf::thread::{DETAIL_FILE, INDEX_FILE, ThreadReader};
use atf::wire::v1::IndexHeader;
use atf::{Error, ErrorKind};

use super::end::Times;
use super::link::{Pair, agreement_rule};
use super::{Output, detail, index, place_of, ring};
use crate::finding::{FileReport, Kind, Place};
use crate::rules::table as rules;

/// What the names of thread folders begin with; the id in decimal follows.
pub(crate) const FOLDER: &str = "thread_";

/// What a session needs to know of a thread.
#[derive(Debug)]
pub(super) struct Facts {
    pub(super) has_detail: bool,
    pub(super) clock: Option<u8>,
    pub(super) times: Times,
}

impl Facts {
    /// What is known of a thread whose index cannot be read.
    pub(super) const fn without_index(has_detail: bool) -> Self {
        Self {
            has_detail,
            clock: None,
            times: Times::Unknown,
        }
    }
}

/// Checks a thread's folder by itself; its name is held against the header if it is a thread's.
pub(super) fn folder(path: &Path, output: &mut dyn Output) {
    let name = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    let own = Expected {
        id: name.as_deref().and_then(id),
        clock: None,
    };
    check(path, &own, output);
}

/// The thread's id in the name of its folder.
pub(super) fn id(name: &str) -> Option<u32> {
    let digits = name.strip_prefix(FOLDER)?;
    let is_decimal = digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| is_decimal)
}

/// What the index header must say of what its surroundings know.
#[derive(Debug)]
pub(super) struct Expected {
    /// The id in the folder's name.
    pub(super) id: Option<u32>,
    /// The clock of the session's first thread, and that thread.
    pub(super) clock: Option<(u8, u32)>,
}

/// Checks the files of a thread's folder.
pub(super) fn check(path: &Path, expected: &Expected, output: &mut dyn Output) -> Facts {
    match ThreadReader::open(path) {
        Ok(thread) => whole(&thread, expected, output),
        Err(error) => {
            let file = path.join(INDEX_FILE);
            match error.kind() {
                ErrorKind::Io(std::io::ErrorKind::NotFound) => {
                    let mut report = FileReport::new(path, Kind::Folder);
                    report.add(&rules::ATF_SESS_002, Place::of(""), || {
                        format!("no {INDEX_FILE}")
                    });
                    output.file(report);
                }
                ErrorKind::SymbolicLink => linked(&file, Kind::Index, output),
                _ => index::refused(&file, &error, output),
            }
            detail_alone(path, output)
        }
    }
}

/// Without an index, what the detail file holds is still worth a verdict.
fn detail_alone(path: &Path, output: &mut dyn Output) -> Facts {
    let file = path.join(DETAIL_FILE);
    let has_detail = match fs::symlink_metadata(&file) {
        Err(_) => false,
        Ok(meta) if meta.is_symlink() => {
            linked(&file, Kind::Detail, output);
            true
        }
        Ok(_) => {
            detail::file(&file, DetailReader::open(&file), output);
            true
        }
    };
    Facts::without_index(has_detail)
}

fn whole(thread: &ThreadReader, expected: &Expected, output: &mut dyn Output) -> Facts {
    let pair = Pair {
        index: thread.index(),
        detail: comparable(thread),
    };
    let header = thread.index().header();
    let is_finalized = matches!(thread.index().completeness(), atf::Completeness::Finalized);
    let disagreements = thread.disagreements();
    let mut times = Times::Unknown;
    super::report(
        &thread.path().join(INDEX_FILE),
        Kind::Index,
        output,
        |report| {
            times = index::check(thread.index(), report)?;
            if let Some(id) = expected.id.filter(|id| *id != header.thread_id) {
                let at = offset_of!(IndexHeader, thread_id) as u64;
                report.add(
                    &rules::ATF_SESS_001,
                    Place::at("header.thread_id", at),
                    || format!("{}, the folder is thread_{id}", header.thread_id),
                );
            }
            let clock = header.clock_type.0;
            if let Some((other, first)) = expected.clock.filter(|(other, _)| *other != clock) {
                let at = offset_of!(IndexHeader, clock_type) as u64;
                report.add(
                    &rules::ATF_SESS_005,
                    Place::at("header.clock_type", at),
                    || format!("{clock}, thread {first} has {other}"),
                );
            }
            for problem in &disagreements {
                if let ErrorKind::WrongDetailFlag { .. } = problem.kind()
                    && is_finalized
                {
                    report.add(&rules::ATF_IHDR_018, place_of(problem), || {
                        problem.kind().to_string()
                    });
                }
            }
            // A detail file that cannot be read, or has the other wire version, proves no link
            // wrong.
            match thread.has_detail_file() == pair.detail.is_some() {
                true => pair.check_forward(report),
                false => Ok(()),
            }
        },
    );
    let file = thread.path().join(DETAIL_FILE);
    match (thread.detail(), thread.detail_error()) {
        (Some(reader), _) => details(&file, reader, &pair, &disagreements, output),
        (None, Some(error)) if *error.kind() == ErrorKind::SymbolicLink => {
            linked(&file, Kind::Detail, output);
        }
        (None, Some(error)) => detail::refused(&file, error, output),
        (None, None) => {}
    }
    ring::check(thread, output);
    Facts {
        has_detail: thread.has_detail_file(),
        clock: Some(header.clock_type.0),
        times,
    }
}

fn details(
    file: &Path,
    reader: &DetailReader,
    pair: &Pair<'_>,
    disagreements: &[Error],
    output: &mut dyn Output,
) {
    super::report(file, Kind::Detail, output, |report| {
        detail::check(reader, report)?;
        for problem in disagreements {
            if let ErrorKind::Disagrees { .. } = problem.kind() {
                let rule = agreement_rule(problem.field());
                report.add(rule, place_of(problem), || problem.kind().to_string());
            }
        }
        pair.check_backward(report)
    });
}

/// The detail file, if its links can be held against the index.
fn comparable(thread: &ThreadReader) -> Option<&DetailReader> {
    thread
        .detail()
        .filter(|detail| detail.wire() == thread.index().wire())
}

/// Reports a file or folder that is a symbolic link.
pub(super) fn linked(path: &Path, kind: Kind, output: &mut dyn Output) {
    let mut report = FileReport::new(path, kind);
    report.add(&rules::ATF_SESS_003, Place::of(""), || {
        "a symbolic link, which is not followed: it may lead out of the session".to_owned()
    });
    output.file(report);
}
