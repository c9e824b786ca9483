//! Counts losses, which are original data that the new files omit or change, and lists those that
//! the new manifest keeps.

use super::{
    LeftBehind, ManifestReport, Note, NoteKind, Report, SessionReport, SetAside, ThreadReport,
};
use crate::files::{INDEX_FILE, thread_id};
use crate::manifest::Damage;

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
const OF_THREAD: [NoteKind; 8] = [
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

/// Returns what a rewrite lost or changed in a session, apart from what its action removes. Without
/// `names_places`, returns only the kinds of losses and changes.
///
/// If the session was not finalized, a listed thread without a folder lost nothing: a tracer lists
/// a thread before it creates the folder.
pub(in crate::rewrite) fn damage(
    threads: &[ThreadReport],
    left_behind: &[LeftBehind],
    manifest: &ManifestReport,
    was_finalized: bool,
    names_places: bool,
) -> Vec<Damage> {
    let mut all: Vec<Damage> = threads.iter().flat_map(damage_of_thread).collect();
    // Only the names of threads and their files indicate lost events.
    let left = left_behind.iter().filter(|item| item.is_loss);
    all.extend(left.map(|item| {
        let what = format!("not copied: {}: {}", item.path, item.why);
        Damage::new(what, item.rule.is_some())
    }));
    if let Some(problem) = manifest.problems.first().filter(|_| manifest.is_lost) {
        let what = format!("the whole manifest: {}", problem.found);
        all.push(Damage::new(what, false));
    } else if let (Some(problem), 1..) = (manifest.problems.first(), manifest.values_lost) {
        let (count, first) = (manifest.values_lost, &problem.field);
        let what = format!("values of the manifest: {count}, first problem at {first}");
        all.push(Damage::new(what, false));
    }
    let noted = manifest.notes.iter().filter_map(|note| {
        let is_loss = match note.kind {
            NoteKind::ThreadMissing => was_finalized,
            NoteKind::ManifestMissing => false,
            _ => return None,
        };
        Some(Damage::new(note.to_string(), is_loss))
    });
    all.extend(noted);
    if !names_places {
        // The places may contain names and values from the original.
        let counted = NoteKind::EventsMissing.to_string();
        for damage in all.iter_mut().filter(|it| !it.what.starts_with(&counted)) {
            let kind = damage.what.split(": ").next().unwrap_or_default();
            damage.what = kind.to_owned();
        }
    }
    all
}

fn damage_of_thread(thread: &ThreadReport) -> Vec<Damage> {
    let mut all = Vec::new();
    let mut add = |fact: String, is_loss| {
        let mut damage = Damage::new(fact, is_loss);
        damage.thread = thread_id(&thread.folder);
        all.push(damage);
    };
    if let Some(why) = &thread.not_recovered {
        add(
            format!("the whole thread: {}: {}", why.file, why.found),
            true,
        );
    }
    for note in thread.notes.iter() {
        if let Some(is_loss) = is_loss(note) {
            add(note.to_string(), is_loss);
        }
    }
    for dropped in thread.dropped.iter().filter(|it| it.why.is_loss()) {
        add(dropped.to_string(), true);
    }
    let aside = thread.set_aside.iter();
    let is_event = |aside: &&SetAside| aside.from == INDEX_FILE;
    for aside in aside.filter(is_event) {
        add(aside.to_string(), true);
    }
    all
}

/// Returns whether a note is about lost or guessed events or details, or `None` if they were
/// neither lost nor changed.
fn is_loss(note: &Note) -> Option<bool> {
    match note.kind {
        NoteKind::DetailSalvaged => Some(true),
        NoteKind::LinkToNothing | NoteKind::LinkNotReturned | NoteKind::LinkOutOfOrder => {
            Some(false)
        }
        kind => OF_THREAD.contains(&kind).then_some(true),
    }
}
