//! Lists the losses and changes that the new manifest keeps.

use super::text::Fact;
use super::{LeftBehind, ManifestReport, Note, NoteKind, SetAside, ThreadReport, loss};
use crate::files::{INDEX_FILE, thread_id};
use crate::manifest::Damage;

/// Returns what a rewrite lost or changed in a session, apart from what its action removes. Without
/// `names_places`, returns only the kinds of losses and changes.
///
/// If the session was not finalized, a listed thread without a folder lost nothing: a tracer lists
/// a thread before it creates the folder.
pub(in crate::rewrite) fn of_session(
    threads: &[ThreadReport],
    left_behind: &[LeftBehind],
    manifest: &ManifestReport,
    was_finalized: bool,
    names_places: bool,
) -> Vec<Damage> {
    let mut all: Vec<Damage> = threads.iter().flat_map(of_thread).collect();
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
        Some(Damage::new(Fact::Note(note).to_string(), is_loss))
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

fn of_thread(thread: &ThreadReport) -> Vec<Damage> {
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
            add(Fact::Note(note).to_string(), is_loss);
        }
    }
    for dropped in thread.dropped.iter().filter(|it| it.why.is_loss()) {
        add(Fact::Dropped(dropped).to_string(), true);
    }
    let aside = thread.set_aside.iter();
    let is_event = |aside: &&SetAside| aside.from == INDEX_FILE;
    for aside in aside.filter(is_event) {
        add(Fact::SetAside(aside).to_string(), true);
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
        kind => loss::OF_THREAD.contains(&kind).then_some(true),
    }
}
