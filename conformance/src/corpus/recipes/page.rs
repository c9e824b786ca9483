//! Files that end exactly at the end of a memory page, so that nothing in the mapping follows the
//! last byte.
//!
//! A page is 4096 bytes on most machines and 16384 bytes on Apple's.

use crate::Verdict::Recover;

use crate::corpus::recipe::{Recipe, breaks, whole};
use crate::corpus::trace::{DETAIL, INDEX, T, Trace, call, event, record};

use super::valid::{alone, manifest};

/// The size of a header or footer in bytes.
const END: usize = 64;
/// The size in bytes of the smallest detail event with registers.
const LEAST: usize = 24 + 100;
/// The size in bytes of the largest detail event with registers.
const GREATEST: usize = LEAST + 256;

pub(super) fn recipes() -> Vec<Recipe> {
    let all = [index(), detail()].into_iter().flatten();
    all.map(|recipe| recipe.flag("end-of-page")).collect()
}

fn index() -> Vec<Recipe> {
    vec![
        page("index-of-4096-bytes", INDEX, "ATF-IFTR-009", |t| {
            events(t, 4096 - END);
        }),
        page("index-of-16384-bytes", INDEX, "ATF-IFTR-009", |t| {
            events(t, 16384 - END);
        }),
        breaks("ATF-IFTR-001", "at the end of a page", |t| {
            open_index(t, 4096);
        })
        .at(INDEX, "footer", 4096, Recover),
        breaks("ATF-IFTR-001", "at the end of a page of 16 KiB", |t| {
            open_index(t, 16384);
        })
        .at(INDEX, "footer", 16384, Recover),
        breaks("ATF-IFTR-012", "half of it at the end of a page", |t| {
            events(t, 4096 - END / 2);
            t.index(|file| *file = file.clone().placeholder());
            t.cut(INDEX, 4096);
        })
        .at(INDEX, "footer", 4096 - 32, Recover)
        .also(INDEX, "ATF-IFTR-001")
        .titled("half of the footer at the end of a page"),
    ]
}

fn detail() -> Vec<Recipe> {
    vec![
        page("detail-of-4096-bytes", DETAIL, "ATF-DFTR-009", |t| {
            details(t, 4096 - END, 0);
        }),
        page("detail-of-16384-bytes", DETAIL, "ATF-DFTR-009", |t| {
            details(t, 16384 - END, 0);
        }),
        breaks("ATF-DFTR-001", "at the end of a page", |t| {
            open_detail(t, 4096, 4096);
        })
        .at(DETAIL, "footer", 4096, Recover),
        breaks("ATF-DFTR-001", "at the end of a page of 16 KiB", |t| {
            open_detail(t, 16384, 16384);
        })
        .at(DETAIL, "footer", 16384, Recover),
        breaks("ATF-DFTR-010", "half a length at the end of a page", |t| {
            open_detail(t, 4096 - 2, 4096);
        })
        .at(DETAIL, "events", 4096 - 2, Recover)
        .also(DETAIL, "ATF-DFTR-001")
        .also(INDEX, "ATF-LINK-002"),
        breaks(
            "ATF-DFTR-010",
            "a header and no payload at the end of a page",
            |t| {
                open_detail(t, 4096 - 24, 4096);
            },
        )
        .at(DETAIL, "events", 4096 - 24, Recover)
        .also(DETAIL, "ATF-DFTR-001")
        .also(INDEX, "ATF-LINK-002"),
        breaks(
            "ATF-DPAY-002",
            "a stack that goes on past the end of a page",
            |t| {
                open_detail(t, 4096, 4096);
                t.patch(DETAIL, LAST + 24 + 96, &256_u16.to_le_bytes());
            },
        )
        .at(DETAIL, "events[10].payload", LAST as u64 + 24, Recover)
        .also(DETAIL, "ATF-DFTR-001")
        .titled("a stack that continues past the end of a page"),
    ]
}

/// Makes a recipe for a valid file that ends at the end of a page.
fn page(
    name: &'static str,
    file: &'static str,
    rule: &'static str,
    edit: fn(&mut Trace),
) -> Recipe {
    const NOTE: &str = "The footer's last byte is the last byte of a page.";
    whole(name, &[rule], NOTE, edit).of(file)
}

/// The offset of the last detail in a full page of 4096 bytes.
const LAST: usize = 4096 - 232;

/// Keeps only thread 7, with events up to the offset `end`.
fn events(trace: &mut Trace, end: usize) {
    let count = (end - END) / 32;
    let happening = |seq: u64| event(if seq.is_multiple_of(2) { 1 } else { 2 }, T + seq, 1, 1);
    alone(trace);
    trace.events(|events| *events = (0..).map(happening).take(count).collect());
    manifest(trace, "7", (T, T + count as u64 - 1));
}

fn open_index(trace: &mut Trace, size: usize) {
    events(trace, size);
    trace.index(|file| *file = file.clone().placeholder());
    trace.cut(INDEX, size);
}

/// Keeps only thread 7, with one detail per event. The first details fill the file up to the offset
/// `end`, and `more` details follow.
fn details(trace: &mut Trace, end: usize, more: usize) {
    let mut left = end - END;
    let mut stacks = Vec::new();
    while left > 0 {
        // The remaining space must always be enough for another event.
        let size = if left <= GREATEST {
            left
        } else {
            GREATEST.min(left - LEAST)
        };
        stacks.push(u16::try_from(size - LEAST).unwrap());
        left -= size;
    }
    stacks.extend(vec![0; more]);
    let count = stacks.len() as u64;
    trace.remove("thread_9");
    trace.events(|events| {
        let made = (0..)
            .take(stacks.len())
            .map(|seq: u32| call(T + u64::from(seq), 1, 1 + seq));
        *events = made.collect();
        for (event, seq) in events.iter_mut().zip(0..) {
            event.detail_seq = Some(seq);
        }
    });
    trace.details(|details| {
        let made = (0..).zip(&stacks);
        *details = made
            .map(|(seq, stack)| record(3, seq, T + seq, 1, *stack))
            .collect();
    });
    manifest(trace, "7", (T, T + count - 1));
}

/// Like [`details`], but without a footer: a torn event fills the file from `end` to `size`.
fn open_detail(trace: &mut Trace, end: usize, size: usize) {
    details(trace, end, usize::from(end < size));
    trace.detail(|file| *file = file.clone().placeholder());
    trace.cut(DETAIL, size);
}
