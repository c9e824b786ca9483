//! Recipes for the rules on ring.atf. The ring contains one event that is not in the files, and a
//! reader that wrongly trusts the ring returns this event.

use crate::Verdict::{Accept, Recover};

use crate::corpus::recipe::{Recipe, breaks, holds, meets};
use crate::corpus::trace::{DETAIL, INDEX, T, Trace, call};
use atf_samples::files::{RingArea, RingFile, crc32c};

const RING: &str = "thread_7/ring.atf";

pub(super) fn recipes() -> Vec<Recipe> {
    vec![
        holds("ATF-RING-001", "none").titled("no ring"),
        breaks("ATF-RING-001", "an empty one", |t| {
            let ring = RingFile::of(t.version, 7);
            t.put(RING, ring.bytes());
        })
        .in_file(RING, "", Accept)
        .titled("an empty ring"),
        breaks("ATF-RING-001", "one with an event of its own", |t| {
            let ring = with_event(t);
            t.put(RING, ring.bytes());
        })
        .in_file(RING, "", Accept)
        .flag("stray-ring")
        .titled("a ring with an event of its own"),
        unfinalized(meets("ATF-RING-002", "an empty one", |t| {
            unfinalize(t);
            let ring = RingFile::of(t.version, 7);
            t.put(RING, ring.bytes());
        }))
        .titled("an empty ring"),
        broken("another magic", "header.magic", Some(0), |t| {
            put(t, |ring| ring.magic = *b"ATR1");
        }),
        broken("of the other wire version", "header.version", None, |t| {
            put(t, |ring| ring.version = 3 - ring.version);
        }),
        broken("of thread 8", "header.thread_id", None, |t| {
            put(t, |ring| ring.thread_id = 8);
        }),
        broken(
            "bound to other events",
            "header.index_checksum",
            None,
            |t| {
                put(t, |ring| ring.index.checksum ^= 1);
            },
        ),
        broken(
            "behind the end of the file",
            "header.index_start",
            None,
            |t| {
                put(t, |ring| ring.index.start += 32);
            },
        )
        .titled("positioned past the end of the file"),
        broken(
            "an area beyond its end",
            "header.detail_capacity",
            None,
            |t| {
                put(t, |ring| ring.detail.capacity += 1);
            },
        )
        .titled("an area past the end of the ring"),
        broken("cut in its header", "header", Some(127), |t| {
            put(t, |_| {});
            t.cut(RING, 127);
        })
        .titled("truncated in its header"),
    ]
}

/// Makes a recipe in which the ring does not belong to the unfinalized files next to it.
fn broken(
    name: &'static str,
    field: &'static str,
    offset: Option<u64>,
    edit: fn(&mut Trace),
) -> Recipe {
    let broken = breaks("ATF-RING-002", name, edit);
    let recipe = match offset {
        Some(offset) => broken.at(RING, field, offset, Recover),
        None => broken.in_file(RING, field, Recover),
    };
    unfinalized(recipe).flag("stray-ring")
}

/// Adds the rules that files break if they have no footers.
fn unfinalized(recipe: Recipe) -> Recipe {
    recipe
        .also(INDEX, "ATF-IFTR-001")
        .also(DETAIL, "ATF-DFTR-001")
}

/// Removes the footers of thread 7 and makes its headers placeholders.
fn unfinalize(trace: &mut Trace) {
    trace.unfinalize_index();
    trace.unfinalize_detail();
}

/// Makes the files unfinalized and adds a ring next to them.
fn put(trace: &mut Trace, edit: impl FnOnce(&mut RingFile)) {
    unfinalize(trace);
    let mut ring = with_event(trace);
    edit(&mut ring);
    trace.put(RING, ring.bytes());
}

/// Returns a ring whose index area contains one event, the next after the file's six.
fn with_event(trace: &Trace) -> RingFile {
    let mut other = Trace::clean(trace.version);
    other.without_details();
    other.events(|events| *events = vec![call(T + 6000, 2, 1)]);
    RingFile {
        index: RingArea {
            capacity: 64,
            start: 256,
            checksum: crc32c(&trace.file(INDEX)[64..256]),
            bytes: other.file(INDEX)[64..96].to_vec(),
        },
        ..RingFile::of(trace.version, 7)
    }
}
