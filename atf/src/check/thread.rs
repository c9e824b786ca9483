//! Checks a thread's folder: its two files, the links between them, and its `ring.atf`.

use std::fs;
use std::path::Path;

use crate::detail::DetailReader;
use crate::files::{DETAIL_FILE, INDEX_FILE, RING_FILE, thread_id};
use crate::source::Input;
use crate::thread::ThreadReader;
use crate::wire::Record;
use crate::{Completeness, Error, ErrorKind, OpenOptions};

use super::end::Times;
use super::link::{Backward, Pair};
use super::one_pass::OnePass;
use super::output::{Output, add_problem, broken, linked, place_of, refused};
use super::{detail, index};
use crate::check::Verdict;
use crate::check::content;
use crate::check::finding::{At, FileReport, Kind};
use crate::rules::table as rules;

/// The facts about a thread that the session's check needs.
#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) has_detail: bool,
    pub(crate) clock: Option<u8>,
    pub(crate) times: Times,
}

impl Facts {
    /// Returns the facts about a thread whose index cannot be read.
    pub(crate) const fn without_index(has_detail: bool) -> Self {
        Self {
            has_detail,
            clock: None,
            times: Times::Unknown,
        }
    }
}

/// Checks a thread's folder on its own, without its session. If the folder's name contains a thread
/// id, the header must contain the same one.
pub(super) fn folder(path: &Path, output: &mut dyn Output) {
    check(path, id_in_name(path), None, output);
}

pub(super) fn id_in_name(folder: &Path) -> Option<u32> {
    thread_id(&folder.file_name()?.to_string_lossy())
}

/// Checks the files of a thread's folder. `folder_id` is the id in the folder's name, and
/// `first_clock` is the clock of the session's first thread, with that thread's id. The index
/// header must agree with both.
pub(super) fn check(
    path: &Path,
    folder_id: Option<u32>,
    first_clock: Option<(u8, u32)>,
    output: &mut dyn Output,
) -> Facts {
    let mut one_pass = OnePass::new(path);
    let mut tap = |index: &_, header: &_, detail: &_, payload: Option<&_>| {
        one_pass.add(index, header, detail, payload);
    };
    match ThreadReader::tapped(path, OpenOptions::new(), Some(&mut tap)) {
        Ok(thread) => whole(&thread, one_pass, folder_id, first_clock, output),
        Err(error) => {
            if error.is_not_found() {
                let message = format!("no {INDEX_FILE}");
                broken(path, Kind::Folder, &rules::ATF_SESS_002, &message, output);
            } else {
                refused(&path.join(INDEX_FILE), Kind::Index, &error, output);
            }
            detail_alone(path, output)
        }
    }
}

/// Checks the detail file of a thread without a readable index.
fn detail_alone(path: &Path, output: &mut dyn Output) -> Facts {
    let file = path.join(DETAIL_FILE);
    let has_detail = fs::symlink_metadata(&file).is_ok();
    if has_detail {
        let opened = Input::open_in_session(&file, OpenOptions::new());
        detail::file(&file, opened.and_then(DetailReader::new), output);
    }
    Facts::without_index(has_detail)
}

fn whole(
    thread: &ThreadReader,
    one_pass: OnePass,
    folder_id: Option<u32>,
    first_clock: Option<(u8, u32)>,
    output: &mut dyn Output,
) -> Facts {
    let checked = one_pass.links(thread);
    let pair = Pair::new(thread.index(), comparable(thread));
    let header = thread.index().header();
    let disagreements = thread.disagreements();
    let at = At::header(Record::IndexHeader, header.wire);
    let mut times = Times::Unknown;
    let mut index = Draft::new(thread, INDEX_FILE, Kind::Index);
    index.fill(|report| {
        times = index::check(thread.index(), one_pass.into_events(), report)?;
        if let Some(folder_id) = folder_id {
            content::thread_id(header, folder_id, report);
        }
        let clock = header.clock_type.0;
        if let Some((other, first)) = first_clock.filter(|(other, _)| *other != clock) {
            report.add(&rules::ATF_SESS_005, at.field("clock_type"), || {
                format!("{clock}, but thread {first} has {other}")
            });
        }
        for problem in &disagreements {
            if let ErrorKind::WrongDetailFlag { .. } = problem.kind() {
                report.add(&rules::ATF_IHDR_018, place_of(problem), || {
                    problem.kind().to_string()
                });
            }
        }
        Ok(())
    });
    let mut links = None;
    let mut detail = thread.detail().map(|reader| {
        let mut draft = Draft::new(thread, DETAIL_FILE, Kind::Detail);
        draft.fill(|report| {
            if checked.is_none() {
                links = Backward::new(&pair, &report.path).filter(|_| !index.is_refused());
            }
            detail::check(reader, checked, links.as_mut(), report)
        });
        draft
    });
    // A file that is rejected, unreadable or of a different wire version cannot prove that the
    // other file's links are wrong.
    let is_refused = index.is_refused() || detail.as_ref().is_some_and(Draft::is_refused);
    if are_comparable(thread) && !is_refused {
        let proven = match checked {
            Some(links) => links.count,
            None => links.as_ref().map_or(0, Backward::proven),
        };
        index.fill(|report| pair.check_forward(proven, report));
    }
    index.finish(output);
    if let Some(mut detail) = detail.take() {
        detail.fill(|report| {
            for problem in &disagreements {
                if let ErrorKind::Disagrees { .. } = problem.kind() {
                    add_problem(report, problem)?;
                }
            }
            if let Some(links) = links.filter(|_| !is_refused) {
                report.append(links.report);
            }
            Ok(())
        });
        detail.finish(output);
    }
    if let Some(error) = thread.detail_error() {
        let file = thread.path().join(DETAIL_FILE);
        refused(&file, Kind::Detail, error, output);
    }
    ring(thread, output);
    Facts {
        has_detail: thread.has_detail_file(),
        clock: Some(header.clock_type.0),
        times,
    }
}

/// Checks the ring in a thread's folder, if there is one: whether it is allowed, and whether it
/// belongs to the thread's other files. Its events are counted in the reports on these.
fn ring(thread: &ThreadReader, output: &mut dyn Output) {
    let path = thread.path().join(RING_FILE);
    let is_finalized = matches!(thread.index().completeness(), Completeness::Finalized);
    if is_finalized && fs::symlink_metadata(&path).is_ok() {
        let message = "left next to finalized files, which already contain all events";
        return broken(&path, Kind::Ring, &rules::ATF_RING_001, message, output);
    }
    let Some(problem) = thread.ring_error() else {
        return;
    };
    if *problem.kind() == ErrorKind::SymbolicLink {
        return linked(&path, Kind::Ring, output);
    }
    let Some(rule) = problem.rule() else {
        return output.unreadable(&path, &problem.message());
    };
    let mut report = FileReport::new(&path, Kind::Ring);
    report.add(rule, place_of(problem), || {
        format!("{}; the ring is ignored", problem.kind())
    });
    output.file(report);
}

/// A report that is filled in step by step.
struct Draft {
    report: FileReport,
    /// The error that stopped the check early.
    error: Option<Error>,
}

impl Draft {
    fn new(thread: &ThreadReader, name: &str, kind: Kind) -> Self {
        Self {
            report: FileReport::new(&thread.path().join(name), kind),
            error: None,
        }
    }

    fn fill(&mut self, step: impl FnOnce(&mut FileReport) -> Result<(), Error>) {
        if self.error.is_none() {
            self.error = step(&mut self.report).err();
        }
    }

    fn is_refused(&self) -> bool {
        self.error.is_some() || self.report.verdict() == Verdict::Reject
    }

    fn finish(self, output: &mut dyn Output) {
        match self.error {
            None => output.file(self.report),
            Some(error) => output.unreadable(&self.report.path, &error.message()),
        }
    }
}

/// Returns whether the links of the thread's files can be compared. A thread without a detail file
/// has none to compare, so each of its links dangles.
pub(crate) fn are_comparable(thread: &ThreadReader) -> bool {
    thread.has_detail_file() == comparable(thread).is_some()
}

/// Returns the detail file if its links can be compared with the index.
fn comparable(thread: &ThreadReader) -> Option<&DetailReader> {
    thread
        .detail()
        .filter(|detail| detail.wire() == thread.index().wire())
}
