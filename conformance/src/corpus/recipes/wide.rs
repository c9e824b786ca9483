//! Numbers that implementations cut to fewer bits or read as signed, and products that wrap.

use crate::Verdict::{Accept, Recover, Reject};

use super::valid::{alone, manifest};
use crate::corpus::recipe::{Recipe, breaks, meets, whole};
use crate::corpus::trace::{DETAIL, INDEX, Trace, call, ret, thread};

/// The first number that 32 bits cannot hold.
const WRAP: u64 = 1 << 32;

pub(super) fn recipes() -> Vec<Recipe> {
    let tables = [counts(), links(), fields(), merged()];
    tables.into_iter().flatten().collect()
}

fn counts() -> Vec<Recipe> {
    vec![
        breaks("ATF-IFTR-002", "2^32 more", |t| {
            t.index(|file| file.footer_count += WRAP);
        })
        .at(INDEX, "footer.event_count", 264, Reject)
        .flag("count-beyond-file")
        .flag("wide-numbers")
        .note("In 32 bits, it is right."),
        breaks("ATF-IFTR-002", "2^59 more", |t| {
            t.index(|file| file.footer_count += 1 << 59);
        })
        .at(INDEX, "footer.event_count", 264, Reject)
        .flag("count-beyond-file")
        .note("Times 32, it wraps to the right size in bytes."),
        breaks("ATF-IFTR-003", "2^32 more", |t| {
            t.index(|file| file.bytes_written += WRAP);
        })
        .at(INDEX, "footer.bytes_written", 288, Reject)
        .flag("wide-numbers"),
        breaks("ATF-IHDR-014", "2^32 more", |t| {
            t.index(|file| file.header_count += WRAP);
        })
        .at_field(INDEX, "header.event_count", Accept)
        .only(&[2])
        .flag("wide-numbers"),
        breaks("ATF-IHDR-006", "288", |t| {
            t.patch_field("header.event_size", &288_u32.to_le_bytes());
        })
        .at_field(INDEX, "header.event_size", Reject)
        .flag("wide-numbers")
        .note("Its lowest byte is 32."),
        breaks("ATF-IHDR-006", "65568", |t| {
            t.patch_field("header.event_size", &65_568_u32.to_le_bytes());
        })
        .at_field(INDEX, "header.event_size", Reject)
        .flag("wide-numbers")
        .note("Its two lowest bytes are 32."),
        breaks("ATF-IHDR-007", "2^32 more", |t| {
            t.index(|file| file.events_offset += WRAP);
        })
        .at(INDEX, "header.events_offset", 32, Reject)
        .flag("events-offset-outside"),
        breaks("ATF-DHDR-005", "2^32 more", |t| {
            t.detail(|file| file.events_offset += WRAP);
        })
        .at(DETAIL, "header.events_offset", 20, Reject)
        .flag("events-offset-outside"),
        breaks("ATF-IHDR-015", "2^32 more", |t| {
            t.index(|file| file.footer_offset += WRAP);
        })
        .at(INDEX, "header.footer_offset", 40, Accept)
        .flag("wide-numbers"),
        breaks("ATF-DFTR-001", "under a header whose length wraps", |t| {
            t.detail(|file| file.header_bytes = u64::MAX - 63);
            t.cut(DETAIL, 461);
        })
        .at(DETAIL, "footer", 461, Recover)
        .flag("offset-wraps")
        .titled("missing, and the header's length plus its events_offset wraps to 0"),
        breaks("ATF-DFTR-002", "2^32 more", |t| {
            t.detail(|file| file.footer_count += WRAP);
        })
        .at(DETAIL, "footer.event_count", 469, Reject)
        .flag("wide-numbers"),
        breaks("ATF-DFTR-003", "2^32 more", |t| {
            t.detail(|file| file.footer_bytes += WRAP);
        })
        .at(DETAIL, "footer.bytes_length", 477, Reject)
        .flag("wide-numbers"),
        breaks("ATF-DHDR-009", "2^32 more", |t| {
            t.detail(|file| file.header_count += WRAP);
        })
        .at(DETAIL, "header.event_count", 28, Accept)
        .flag("wide-numbers"),
    ]
}

fn links() -> Vec<Recipe> {
    vec![
        breaks("ATF-LINK-001", "2^32 more", |t| {
            t.events(|events| events[3].detail_seq = Some(WRAP + 2));
        })
        .at_field(INDEX, "events[3].detail_seq", Accept)
        .only(&[2])
        .also(INDEX, "ATF-LINK-005")
        .also(DETAIL, "ATF-LINK-003")
        .flag("wide-numbers")
        .titled("2³² more than the event's position"),
        breaks("ATF-LINK-001", "to 2^32 - 1", |t| {
            t.events(|events| events[3].detail_seq = Some(WRAP - 1));
        })
        .at_field(INDEX, "events[3].detail_seq", Accept)
        .only(&[2])
        .also(INDEX, "ATF-LINK-005")
        .also(DETAIL, "ATF-LINK-003")
        .flag("wide-numbers")
        .note("Only in version 1, this number means that there is no detail."),
        breaks("ATF-LINK-001", "to 2^63", |t| {
            t.events(|events| events[3].detail_seq = Some(1 << 63));
        })
        .at_field(INDEX, "events[3].detail_seq", Accept)
        .only(&[2])
        .also(INDEX, "ATF-LINK-005")
        .also(DETAIL, "ATF-LINK-003")
        .flag("wide-numbers"),
        breaks("ATF-LINK-001", "to 2^64 - 2", |t| {
            t.events(|events| events[3].detail_seq = Some(u64::MAX - 1));
        })
        .at_field(INDEX, "events[3].detail_seq", Accept)
        .only(&[2])
        .also(INDEX, "ATF-LINK-005")
        .also(DETAIL, "ATF-LINK-003")
        .flag("links-dangling"),
        breaks("ATF-LINK-003", "to 2^63", |t| {
            t.details(|details| details[2].index_seq = 1 << 63);
        })
        .at(DETAIL, "events[2].index_seq", 329 + 8, Accept)
        .only(&[2])
        .also(INDEX, "ATF-LINK-001")
        .flag("wide-numbers"),
        breaks("ATF-LINK-003", "2^32 more", |t| {
            t.details(|details| details[2].index_seq += WRAP);
        })
        .at(DETAIL, "events[2].index_seq", 329 + 8, Accept)
        .only(&[2])
        .also(INDEX, "ATF-LINK-001")
        .flag("wide-numbers")
        .titled("2³² more than the event's position"),
    ]
}

fn fields() -> Vec<Recipe> {
    vec![
        breaks("ATF-IEVT-002", "200", |t| {
            t.events(|events| events[4].kind = 200);
        })
        .at_field(INDEX, "events[4].event_kind", Accept)
        .flag("wide-numbers"),
        breaks("ATF-IEVT-002", "2^31", |t| {
            t.patch_event(192 + 20, &(1_u32 << 31).to_le_bytes());
        })
        .at_field(INDEX, "events[4].event_kind", Accept)
        .only(&[1])
        .flag("wide-numbers"),
        meets("ATF-IFTR-010", "an event of kind 256 before zeros", |t| {
            t.unfinalize_index();
            t.patch(INDEX, 224 + 20, &256_u32.to_le_bytes());
            t.append(INDEX, &[0; 32]);
        })
        .only(&[1])
        .also(INDEX, "ATF-IFTR-001")
        .also(INDEX, "ATF-IFTR-011")
        .also(INDEX, "ATF-IEVT-002")
        .flag("zero-tail")
        .titled("an event of kind 256, followed by zeros"),
        breaks("ATF-IEVT-005", "the first byte", |t| {
            t.patch_event(64 + 25, &[1]);
        })
        .at(INDEX, "events[0]._reserved", 64 + 25, Accept)
        .only(&[2])
        .note("It follows the kind, which has one byte."),
        breaks("ATF-DPAY-002", "a stack_size of 256 more", |t| {
            t.details(|details| details[1].payload[97] += 1);
        })
        .at(DETAIL, "events[1].payload", 188 + 24, Accept)
        .flag("wide-numbers")
        .titled("a stack_size that is 256 too large")
        .note("Its lowest byte is right."),
        whole(
            "index-of-wide-numbers",
            &["ATF-IEVT-001", "ATF-IHDR-016", "ATF-IFTR-007"],
            "Numbers whose highest bit is set: the thread's id, times, functions, depths and links.",
            wide_index,
        )
        .also("thread_2147483655/index.atf", "ATF-LINK-001")
        .also("thread_2147483655/index.atf", "ATF-LINK-005")
        .of("thread_2147483655/index.atf")
        .flag("wide-numbers"),
        meets(
            "ATF-IEVT-004",
            "a trace that begins within 2^31 calls",
            |t| {
                t.events(|events| {
                    for event in events {
                        event.depth += (1 << 31) + (1 << 16);
                    }
                });
            },
        )
        .only(&[1])
        .flag("wide-numbers")
        .titled("a trace that begins inside more than 2³¹ calls"),
    ]
}

fn merged() -> Vec<Recipe> {
    vec![
        whole(
            "session-across-2-32-ns",
            &["ATF-IEVT-001", "ATF-RDER-004"],
            "Two threads whose times pass a multiple of 2³². In 32 bits, the later events come first.",
            |t| {
                let start = 3 * WRAP - 2;
                of_two(t, [1, 2], [start, start + 1]);
            },
        )
        .flag("wide-numbers"),
        whole(
            "session-of-times-2-32-ns-apart",
            &["ATF-IEVT-001", "ATF-RDER-004"],
            "Two threads, one of them exactly 2³² nanoseconds after the other. In 32 bits, their times are equal.",
            |t| of_two(t, [1, 2], [2 * WRAP + 5, WRAP + 5]),
        )
        .flag("wide-numbers"),
        whole(
            "session-of-ties-with-thread-2147483648",
            &["ATF-SESS-001", "ATF-RDER-004"],
            "Two threads with equal times. As a signed number, the second thread's id comes first.",
            |t| of_two(t, [1, 1 << 31], [1000, 1000]),
        )
        .flag("ties")
        .flag("wide-numbers"),
        whole(
            "session-of-two-events",
            &["ATF-RDER-004", "ATF-RDER-013"],
            "One event in each of two threads, the first thread's being the later.",
            |t| {
                let version = t.version;
                alone(t);
                t.events(|events| *events = vec![call(2000, 1, 1)]);
                t.put_index("thread_9/index.atf", &thread(version, 9, vec![call(1000, 1, 1)]));
                manifest(t, "7 9", (1000, 2000));
            },
        ),
    ]
}

/// Replaces the threads by one of three calls whose numbers need all of their bits.
fn wide_index(trace: &mut Trace) {
    let (version, id) = (trace.version, (1 << 31) + 7);
    alone(trace);
    trace.remove("thread_7");
    let depths = [u32::MAX - 2, u32::MAX - 1, u32::MAX];
    let links = match version {
        1 => [0x0001_ffff, 1 << 31, u64::from(u32::MAX) - 1],
        _ => [0x0001_ffff, 1 << 63, u64::MAX - 1],
    };
    let events = (1..).zip(depths).zip(links).map(|((after, depth), link)| {
        let mut event = call((1 << 63) + after, 1, depth);
        event.function_id = u64::MAX - after;
        event.detail_seq = Some(link);
        event
    });
    let file = thread(version, id, events.collect());
    trace.put_index(&format!("thread_{id}/index.atf"), &file);
    manifest(trace, &id.to_string(), ((1 << 63) + 1, (1 << 63) + 3));
}

/// Replaces the threads by two of four events each, a nanosecond apart.
fn of_two(trace: &mut Trace, ids: [u32; 2], starts: [u64; 2]) {
    let version = trace.version;
    alone(trace);
    trace.remove("thread_7");
    for (id, start) in ids.into_iter().zip(starts) {
        let events = vec![
            call(start, 1, 1),
            call(start + 1, 2, 2),
            ret(start + 2, 2, 2),
            ret(start + 3, 1, 1),
        ];
        let path = format!("thread_{id}/index.atf");
        trace.put_index(&path, &thread(version, id, events));
    }
    let [one, other] = ids;
    let start = starts[0].min(starts[1]);
    let end = starts[0].max(starts[1]) + 3;
    manifest(trace, &format!("{one} {other}"), (start, end));
}
