//! Recipes for the rules on ring.atf. The ring contains one event that is not in the files, and a
//! reader that wrongly trusts the ring returns this event.

use crate::Verdict::{Accept, Recover};

use crate::corpus::recipe::{Recipe, breaks, holds, meets};
use crate::corpus::trace::{DETAIL, INDEX, T, Trace, call};
use atf_samples::files::{RingArea, RingFile, crc32c};

const RING: &str = "thread_7/ring.atf";

pub(super) fn recipes() -> Vec<Recipe> {
    [belonging(), headers(), areas(), needless()]
        .into_iter()
        .flatten()
        .collect()
}

/// Rings next to an index that has a footer.
fn needless() -> Vec<Recipe> {
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
        breaks("ATF-RING-001", "one with a detail of its own", |t| {
            t.unfinalize_detail();
            let mut ring = RingFile::of(t.version, 7);
            ring.detail = detail_area(t);
            t.put(RING, ring.bytes());
        })
        .in_file(RING, "", Accept)
        .also(DETAIL, "ATF-DFTR-001")
        .flag("stray-ring")
        .titled("a ring with a detail of its own, and detail.atf has no footer")
        .note("The index decides: next to a finalized index.atf, a ring is ignored."),
        breaks("ATF-IHDR-017", "a footer and a ring", |t| {
            t.index(|file| *file = file.clone().placeholder());
            let mut ring = with_event(t);
            ring.index.start = 320;
            ring.index.checksum = crc32c(&t.file(INDEX)[64..]);
            t.put(RING, ring.bytes());
        })
        .at(INDEX, "header", 0, Recover)
        .of("")
        .flag("stray-ring")
        .titled("a placeholder, and a ring that continues the file after the footer")
        .note("The footer states where the events end, so the ring is ignored."),
    ]
}

/// Rings that belong to their files and contain nothing that these lack.
fn belonging() -> Vec<Recipe> {
    vec![
        unfinalized(meets("ATF-RING-002", "an empty one", |t| {
            unfinalize(t);
            let ring = RingFile::of(t.version, 7);
            t.put(RING, ring.bytes());
        }))
        .titled("an empty ring"),
        unfinalized(meets("ATF-RING-002", "events that the files have", |t| {
            unfinalize(t);
            let (index, detail) = (t.file(INDEX), t.file(DETAIL));
            let ring = RingFile {
                index: RingArea {
                    capacity: 64,
                    start: 192,
                    checksum: crc32c(&index[64..192]),
                    bytes: index[192..].to_vec(),
                },
                detail: RingArea {
                    capacity: 132,
                    start: 329,
                    checksum: crc32c(&detail[64..329]),
                    bytes: detail[329..].to_vec(),
                },
                ..RingFile::of(t.version, 7)
            };
            t.put(RING, ring.bytes());
        }))
        .flag("stray-ring")
        .titled("a ring whose bytes are all in the files already")
        .note(
            "A kill between writing an area's bytes to its file and emptying the area leaves both.",
        ),
        unfinalized(meets("ATF-RING-002", "unused starts and checksums", |t| {
            put(t, |ring| {
                ring.index.bytes.clear();
                (ring.index.start, ring.index.checksum) = (u64::MAX, 1);
                (ring.detail.start, ring.detail.checksum) = (0, 2);
            });
        }))
        .titled("an empty ring with a wrong start and checksum in each area")
        .note("While an area's size is 0, a reader ignores its start and checksum."),
        unfinalized(meets(
            "ATF-RING-002",
            "reserved bytes and a longer file",
            |t| {
                unfinalize(t);
                t.put(RING, RingFile::of(t.version, 7).bytes());
                t.patch(RING, 6, &[1; 2]);
                t.patch(RING, 12, &[1; 4]);
                t.patch(RING, 72, &[1; 56]);
                t.append(RING, &[1; 100]);
            },
        ))
        .titled("an empty ring with nonzero reserved bytes, and 100 bytes after the areas"),
    ]
}

/// Rings whose headers do not fit the files.
fn headers() -> Vec<Recipe> {
    vec![
        broken("another magic", "header.magic", Some(0), |t| {
            put(t, |ring| ring.magic = *b"ATR1");
        }),
        broken("of the other wire version", "header.version", None, |t| {
            put(t, |ring| ring.version = 3 - ring.version);
        }),
        broken("of thread 8", "header.thread_id", None, |t| {
            put(t, |ring| ring.thread_id = 8);
        }),
        broken("of another byte order", "header.endian", Some(4), |t| {
            put(t, |_| {});
            t.patch(RING, 4, &[2]);
        }),
        broken("cut in its header", "header", Some(127), |t| {
            put(t, |_| {});
            t.cut(RING, 127);
        })
        .titled("truncated in its header"),
        broken("no bytes", "header", Some(0), |t| {
            put(t, |_| {});
            t.cut(RING, 0);
        })
        .titled("an empty file"),
    ]
}

/// Rings whose areas do not fit the ring or the files.
fn areas() -> Vec<Recipe> {
    vec![
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
        broken(
            "an index area of the greatest size",
            "header.index_capacity",
            None,
            |t| put(t, |ring| ring.index.capacity = u64::MAX),
        )
        .note("Adding it to the header's size wraps around."),
        broken(
            "more events than the area holds",
            "header.index_size",
            None,
            |t| put(t, |ring| ring.index.capacity = 16),
        ),
        broken(
            "more details than the area holds",
            "header.detail_size",
            None,
            |t| {
                put_both(t, |ring| ring.detail.capacity = 120);
            },
        ),
        broken(
            "positioned in the header",
            "header.index_start",
            None,
            |t| {
                put(t, |ring| ring.index.start = 32);
            },
        )
        .titled("positioned in the header of index.atf"),
        broken(
            "other bytes than the file",
            "header.index_start",
            None,
            |t| {
                put(t, |ring| ring.index.start = 224);
                let checksum = crc32c(&t.file(INDEX)[64..224]);
                t.patch(RING, 40, &checksum.to_le_bytes());
            },
        )
        .titled("other bytes than index.atf has there"),
        broken(
            "bound to other details",
            "header.detail_checksum",
            None,
            |t| {
                put_both(t, |ring| ring.detail.checksum ^= 1);
            },
        )
        .note("The index area fits, but the whole ring is ignored."),
        broken(
            "details past the end of the file",
            "header.detail_start",
            None,
            |t| {
                put_both(t, |ring| ring.detail.start = u64::MAX);
            },
        )
        .titled("details positioned past the end of the file")
        .note("The index area fits, but the whole ring is ignored."),
        breaks("ATF-RING-002", "details without a detail.atf", |t| {
            t.without_details();
            t.unfinalize_index();
            let mut ring = with_event(t);
            ring.detail = detail_area(&Trace::clean(t.version));
            t.put(RING, ring.bytes());
        })
        .in_file(RING, "detail.atf", Recover)
        .also(INDEX, "ATF-IFTR-001")
        .flag("stray-ring")
        .titled("details, but there is no detail.atf")
        .note("The index area fits, but the whole ring is ignored."),
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

/// Like [`put`], but the ring also contains one detail.
fn put_both(trace: &mut Trace, edit: impl FnOnce(&mut RingFile)) {
    let detail = detail_area(trace);
    put(trace, |ring| {
        ring.detail = detail;
        edit(ring);
    });
}

/// Returns a detail area that contains one event, the next after the file's three.
fn detail_area(trace: &Trace) -> RingArea {
    let details = trace.file(DETAIL);
    RingArea {
        capacity: 128,
        start: 461,
        checksum: crc32c(&details[64..461]),
        bytes: details[64..188].to_vec(),
    }
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
