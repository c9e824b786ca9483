//! Reduces a script that does not determine which events survive to the events that did.

use std::collections::BTreeMap;
use std::path::Path;

use atf::thread::{DETAIL_FILE, INDEX_FILE, ThreadReader};

use super::Wrong;
use crate::results::Note;
use crate::scripts::{Operation, Script, Thread};

/// The rule about lost events.
pub(super) const LOST: &str = "ATF-WRTR-008";

/// A script that was reduced to what is on disk.
pub(super) struct Settled {
    /// The part of the script that is on disk.
    pub(super) script: Script,
    /// Notes on events that were lost in a kill, where such losses are allowed.
    pub(super) lost: Vec<Note>,
}

/// The contents of a thread's files.
#[derive(Default)]
struct Held {
    events: usize,
    details: usize,
    is_finalized: bool,
    /// Whether the index can be opened.
    begins: bool,
}

impl Settled {
    /// Returns whether a file was started before the kill. If not, the file is not graded.
    pub(super) fn begins(&self, asked: &Script, file: &str) -> bool {
        let of = |id: &u32| file.split('/').next() == Some(&format!("thread_{id}"));
        let kept = self.script.threads();
        !asked
            .threads()
            .keys()
            .any(|id| of(id) && !kept.contains_key(id))
    }
}

impl Held {
    fn read(folder: &Path) -> Self {
        let Ok(reader) = ThreadReader::open(folder) else {
            return Self::default();
        };
        let count = |count| usize::try_from(count).unwrap_or(usize::MAX);
        let detail = reader.detail();
        Self {
            events: count(reader.index().event_count()),
            details: detail.map_or(0, |detail| count(detail.event_count())),
            is_finalized: reader.index().footer().is_some(),
            begins: true,
        }
    }
}

/// Reduces a script with a kill, closed threads or late events to what the folder `out` contains.
/// Returns any other script unchanged.
pub(super) fn settle(script: &Script, out: &Path) -> Result<Settled, Wrong> {
    let is_closed = |operation: &Operation| matches!(operation, Operation::Close(_));
    if !script.is_killed() && !script.any(is_closed) && !script.is_late() {
        return Ok(Settled {
            script: script.clone(),
            lost: Vec::new(),
        });
    }
    let mut lost = Vec::new();
    let mut held = BTreeMap::new();
    // No event that precedes the end of a finalized thread may be missing.
    let is_open = |thread: &Thread<'_>| !thread.is_finalized || thread.has_late_events();
    let threads = script.threads().into_iter();
    for (id, thread) in threads.filter(|(_, thread)| is_open(thread)) {
        let found = Held::read(&out.join(format!("thread_{id}")));
        if thread.is_finalized && found.events < thread.flushed.0 {
            let expected = format!("at least {}, which were finalized", thread.flushed.0);
            let file = format!("thread_{id}/{INDEX_FILE}");
            return Err(too_few(&file, &expected, found.events));
        }
        if script.is_killed() {
            let (asked, kept) = ((thread.events.len(), thread.details.len()), thread.flushed);
            for (file, what, found, asked, flushed) in [
                (INDEX_FILE, "events", found.events, asked.0, kept.0),
                (DETAIL_FILE, "details", found.details, asked.1, kept.1),
            ] {
                if found < flushed {
                    let expected = format!("at least {flushed}, flushed before the kill");
                    return Err(too_few(&format!("thread_{id}/{file}"), &expected, found));
                }
                if found < asked {
                    let gone = asked - found;
                    let text = format!(
                        "thread_{id}/{file}: the kill lost {gone} of {asked} {what}; \
                         {flushed} were flushed"
                    );
                    lost.push(Note {
                        rule: Some(LOST.to_owned()),
                        ..Note::advice(text)
                    });
                }
            }
        }
        held.insert(id, found);
    }
    Ok(Settled {
        script: rewritten(script, &held),
        lost,
    })
}

/// Makes a failure for a file with too few events.
pub(super) fn too_few(file: &str, expected: &str, found: usize) -> Wrong {
    let what = if file.ends_with(DETAIL_FILE) {
        "details"
    } else {
        "events"
    };
    let place = format!("{file}: the number of {what}");
    Wrong::at(&place, expected, &found.to_string(), LOST)
}

/// Makes a script from the operations whose effects are on disk. `held` has the threads that the
/// script does not finalize.
fn rewritten(script: &Script, held: &BTreeMap<u32, Held>) -> Script {
    let mut left: BTreeMap<u32, (usize, usize)> = BTreeMap::new();
    let is_killed = script.is_killed();
    let may_lose = is_killed || script.is_late();
    let mut is_open = is_killed;
    let mut operations = Vec::new();
    for operation in script.operations() {
        let Some(id) = operation.thread_id() else {
            continue;
        };
        let Some(held) = held.get(&id) else {
            operations.push(operation.clone());
            continue;
        };
        let (events, details) = left.entry(id).or_insert((held.events, held.details));
        let room = match operation {
            Operation::Index(_) if may_lose => events,
            Operation::Detail(_) if is_killed => details,
            Operation::Open(_) if is_killed && !held.begins => continue,
            Operation::Flush(_) => continue,
            Operation::Close(thread_id) if held.is_finalized => {
                operations.push(Operation::Finalize(*thread_id));
                continue;
            }
            Operation::Close(_) => {
                is_open = true;
                continue;
            }
            other => {
                operations.push(other.clone());
                continue;
            }
        };
        if let Some(less) = room.checked_sub(1) {
            *room = less;
            operations.push(operation.clone());
        }
    }
    if is_open {
        operations.push(Operation::Abort);
    }
    Script::settled(operations)
}

/// Returns the link, or `None` if the kill lost the detail.
pub(super) fn link(thread: &Thread<'_>, detail_seq: Option<u64>) -> Option<u64> {
    detail_seq.filter(|seq| *seq < thread.details.len() as u64)
}
