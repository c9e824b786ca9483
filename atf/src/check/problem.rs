//! Maps a reader's problems to the rules that they break.

use super::end_rules;
use super::finding::Kind;
use super::link::rule_of_dangling;
use super::rules::{Rule, table as rules};
use crate::files::{DETAIL_FILE, INDEX_FILE, MANIFEST_FILE, RING_FILE};
use crate::{Error, ErrorKind};

/// Like [`rule_of`], but for a problem that contains the file's path. The file name determines the
/// kind of file.
#[must_use]
pub fn rule_of_file(problem: &Error) -> Option<&'static Rule> {
    let kind = match problem.path()?.file_name()?.to_str()? {
        INDEX_FILE => Kind::Index,
        DETAIL_FILE => Kind::Detail,
        RING_FILE => Kind::Ring,
        MANIFEST_FILE => Kind::Manifest,
        _ => return None,
    };
    rule_of(kind, problem)
}

/// Returns a problem's text, followed by the id of the broken rule: `… [ATF-IFTR-001]`.
#[must_use]
pub fn text_with_rule(problem: &Error) -> String {
    match rule_of_file(problem) {
        Some(rule) => format!("{problem} [{}]", rule.id),
        None => problem.to_string(),
    }
}

/// Returns the rule broken by a file in which a reader found `problem`. Returns `None` if the
/// problem does not concern the file's contents, for example if the file cannot be read.
#[must_use]
pub fn rule_of(kind: Kind, problem: &Error) -> Option<&'static Rule> {
    if *problem.kind() == ErrorKind::SymbolicLink {
        return Some(&rules::ATF_SESS_003);
    }
    match kind {
        Kind::Index => of_index(problem),
        Kind::Detail => of_detail(problem),
        Kind::Manifest => manifest(problem.kind()),
        Kind::Ring => is_content(problem).then_some(&rules::ATF_RING_002),
        Kind::Folder => (*problem.kind() == ErrorKind::NoThreadId).then_some(&rules::ATF_SESS_004),
    }
}

/// A fact that readers report as data rather than as an error, although it breaks a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fact {
    /// There are bytes after the footer.
    BytesAfterFooter,
    /// An event is all zeros, and no checksum proves that it was written.
    Hole,
    /// An event is earlier than its predecessor.
    TimeGoesBack,
    /// An index event links to a detail event that links to another event.
    LinksElsewhere,
    /// A detail event has a time other than the index event that it belongs to.
    TimesDiffer,
    /// The links to detail events are not numbered 0, 1, 2 and so on, in the order of the index.
    LinkOutOfOrder,
    /// A thread's clock differs from that of the session's first thread.
    ClocksDiffer,
    /// A `ring.atf` is next to a finalized `index.atf`.
    RingLeftOver,
    /// The session has no `manifest.json`.
    NoManifest,
    /// A thread's folder has no `index.atf`, or is not a folder.
    NotAThread,
}

/// Returns the rule broken by a file with this fact, or `None` if the fact breaks no rule there.
#[must_use]
pub const fn rule_of_fact(kind: Kind, fact: Fact) -> Option<&'static Rule> {
    Some(match (kind, fact) {
        (Kind::Index, Fact::BytesAfterFooter) => end_rules::INDEX.nothing_after,
        (Kind::Index, Fact::Hole) => &rules::ATF_IEVT_006,
        (Kind::Index, Fact::TimeGoesBack) => &rules::ATF_IEVT_001,
        (Kind::Index, Fact::LinksElsewhere) => &rules::ATF_LINK_001,
        (Kind::Index, Fact::LinkOutOfOrder) => &rules::ATF_LINK_005,
        (Kind::Index, Fact::ClocksDiffer) => &rules::ATF_SESS_005,
        (Kind::Detail, Fact::BytesAfterFooter) => end_rules::DETAIL.nothing_after,
        (Kind::Detail, Fact::TimesDiffer) => &rules::ATF_LINK_006,
        (Kind::Ring, Fact::RingLeftOver) => &rules::ATF_RING_001,
        (Kind::Manifest, Fact::NoManifest) => &rules::ATF_MANI_001,
        (Kind::Folder, Fact::NotAThread) => &rules::ATF_SESS_002,
        _ => return None,
    })
}

fn of_index(problem: &Error) -> Option<&'static Rule> {
    let field = problem.field().unwrap_or_default();
    Some(match problem.kind() {
        ErrorKind::BadMagic { .. } if field.starts_with("footer") => &rules::ATF_IFTR_013,
        ErrorKind::BadMagic { .. } => &rules::ATF_IHDR_002,
        ErrorKind::BadEndian { .. } => &rules::ATF_IHDR_003,
        ErrorKind::UnknownVersion { .. } => &rules::ATF_IHDR_004,
        ErrorKind::WrongLayoutForVersion { .. } => &rules::ATF_IHDR_005,
        ErrorKind::BadEventSize { .. } => &rules::ATF_IHDR_006,
        ErrorKind::BadEventsOffset { .. } | ErrorKind::UnprovenEventsOffset { .. } => {
            &rules::ATF_IHDR_007
        }
        ErrorKind::TooShort { .. } => &rules::ATF_IHDR_001,
        ErrorKind::NothingWritten | ErrorKind::NotFinalized { .. } => &rules::ATF_IFTR_001,
        ErrorKind::CountDoesNotFit { .. } => &rules::ATF_IFTR_002,
        ErrorKind::LengthDoesNotFit { .. } => &rules::ATF_IFTR_003,
        ErrorKind::ChecksumMismatch { .. } => &rules::ATF_IFTR_004,
        ErrorKind::IeeeChecksum { .. } => &rules::ATF_IFTR_005,
        ErrorKind::Gap { .. } => &rules::ATF_IEVT_006,
        ErrorKind::EventsMissing { .. } => &rules::ATF_IHDR_014,
        ErrorKind::DanglingLinks { may_be_lost, .. } => rule_of_dangling(*may_be_lost),
        ErrorKind::WrongDetailFlag { .. } => &rules::ATF_IHDR_018,
        ErrorKind::Disagrees { .. } => match field {
            "header.event_count" => &rules::ATF_IHDR_014,
            "header.footer_offset" => &rules::ATF_IHDR_015,
            "header.time_start_ns" | "header.time_end_ns" => &rules::ATF_IHDR_016,
            "footer.event_count" => &rules::ATF_IFTR_002,
            _ => return None,
        },
        _ => return None,
    })
}

fn of_detail(problem: &Error) -> Option<&'static Rule> {
    let field = problem.field().unwrap_or_default();
    Some(match problem.kind() {
        ErrorKind::BadMagic { .. } if field.starts_with("footer") => &rules::ATF_DFTR_013,
        ErrorKind::BadMagic { .. } => &rules::ATF_DHDR_002,
        ErrorKind::BadEndian { .. } => &rules::ATF_DHDR_003,
        ErrorKind::UnknownVersion { .. } => &rules::ATF_DHDR_004,
        ErrorKind::BadEventsOffset { .. } | ErrorKind::UnprovenEventsOffset { .. } => {
            &rules::ATF_DHDR_005
        }
        ErrorKind::TooShort { .. } => &rules::ATF_DHDR_001,
        ErrorKind::NothingWritten | ErrorKind::NotFinalized { .. } => &rules::ATF_DFTR_001,
        ErrorKind::CountDoesNotFit { .. } => &rules::ATF_DFTR_002,
        ErrorKind::LengthDoesNotFit { .. } => &rules::ATF_DFTR_003,
        ErrorKind::ChecksumMismatch { .. } => &rules::ATF_DFTR_004,
        ErrorKind::IeeeChecksum { .. } => &rules::ATF_DFTR_005,
        ErrorKind::EventsMissing { .. } => &rules::ATF_DHDR_009,
        ErrorKind::BadTotalLength { found, min, .. } if found < min => &rules::ATF_DEVT_001,
        ErrorKind::BadTotalLength { .. } | ErrorKind::TornEvent { .. } => &rules::ATF_DEVT_002,
        ErrorKind::Disagrees { .. } => match field {
            "header.event_count" => &rules::ATF_DHDR_009,
            "header.bytes_length" => &rules::ATF_DHDR_010,
            "header.version" => &rules::ATF_LINK_008,
            "header.thread_id" => &rules::ATF_LINK_009,
            "header.arch" | "header.os" => &rules::ATF_LINK_010,
            "footer.event_count" => &rules::ATF_DFTR_002,
            _ => return None,
        },
        _ => return None,
    })
}

fn manifest(problem: &ErrorKind) -> Option<&'static Rule> {
    Some(match problem {
        ErrorKind::ByteOrderMark
        | ErrorKind::Empty
        | ErrorKind::NotUtf8
        | ErrorKind::NotJson(_)
        | ErrorKind::DuplicateKey => &rules::ATF_MANI_002,
        ErrorKind::DuplicateThread { .. } => &rules::ATF_MANI_004,
        ErrorKind::UnknownKey => &rules::ATF_MANI_011,
        ErrorKind::EmptyName => &rules::ATF_MANI_013,
        ErrorKind::LostInRecovery { .. } => &rules::ATF_MANI_017,
        ErrorKind::WrongType { .. } | ErrorKind::MissingKey | ErrorKind::OutOfRange { .. } => {
            &rules::ATF_MANI_003
        }
        _ => return None,
    })
}

/// Returns whether a problem of `ring.atf` concerns its contents. An I/O error with a field
/// concerns a file that the ring refers to.
fn is_content(problem: &Error) -> bool {
    match problem.kind() {
        ErrorKind::Io(_) => problem.field().is_some(),
        ErrorKind::NotRegular { .. } | ErrorKind::UnexpectedEnd { .. } => false,
        _ => true,
    }
}
