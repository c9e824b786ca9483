//! Counts losses: original data that the new files omit or change.

use crate::files::INDEX_FILE;

use super::{LeftBehind, NoteKind, Report, SessionReport, ThreadReport};

impl Report {
    /// Returns the number of losses and changes. A torn event or a missing footer after a crash is
    /// not a loss, and neither is a foreign file next to the sessions.
    #[must_use]
    pub fn losses(&self) -> u64 {
        let sessions = self.sessions.iter().map(|session| session.losses);
        sessions.fold(left_behind(&self.left_behind), u64::saturating_add)
    }
}

/// Counts the losses in a session's threads, and the parts of its folder that were not copied.
pub(in crate::rewrite) fn of_session(session: &SessionReport) -> u64 {
    let threads = session.threads.iter().map(of_thread);
    let manifest = session.manifest.as_ref().map(|manifest| {
        let noted = [NoteKind::ThreadMissing, NoteKind::SymbolsDropped];
        let noted = noted.iter().map(|what| manifest.notes.count(*what));
        let lost = manifest.values_lost.max(manifest.is_lost.into());
        noted.fold(lost, u64::saturating_add)
    });
    let losses = threads.chain(manifest);
    losses.fold(left_behind(&session.left_behind), u64::saturating_add)
}

fn left_behind(items: &[LeftBehind]) -> u64 {
    items.iter().filter(|item| item.is_loss).count() as u64
}

/// The notes on a thread that are losses. Events under a guessed header may be wrong.
pub(super) const OF_THREAD: [NoteKind; 8] = [
    NoteKind::HeaderGuessed,
    NoteKind::ChecksumBad,
    NoteKind::EventsMissing,
    NoteKind::DetailMissing,
    NoteKind::DetailFileUnreadable,
    NoteKind::RingNotRead,
    NoteKind::RingDetailsNotRead,
    NoteKind::CallsGivenUp,
];

fn of_thread(thread: &ThreadReport) -> u64 {
    let noted = OF_THREAD.iter().map(|what| thread.notes.count(*what));
    let dropped = thread
        .dropped
        .iter()
        .filter(|dropped| dropped.why.is_loss());
    let aside = thread.set_aside.iter();
    let aside = aside.filter(|aside| aside.from == INDEX_FILE);
    let unread = u64::from(thread.not_recovered.is_some());
    let counts = [unread, dropped.count() as u64, aside.count() as u64];
    noted.chain(counts).fold(0, u64::saturating_add)
}
