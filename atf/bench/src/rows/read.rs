//! Reading in the default mode: positioned reads with verified events.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use atf::detail::DetailEvent;
use atf::index::{EventSlice, IndexEvent, IndexReader};
use atf::thread::{Linked, ThreadReader};
use atf::{OpenOptions, Wire};
use atf_synth::Shape;

use crate::context::Context;
use crate::harness::{Result, checked, timed};
use crate::input::{HEADER_SIZE, Session, mapped};

/// Events in the file without details, 32 bytes each: larger than any cache.
const EVENTS: u64 = 20_000_000;
/// Events in the file with details. Every third event has one.
const LINKED: u64 = 1_000_000;
/// The size in bytes of a detail event's header.
const DETAIL_HEADER: usize = 24;

pub(crate) fn run(context: &mut Context) -> Result<()> {
    iterate(context)?;
    links(context)
}

fn iterate(context: &mut Context) -> Result<()> {
    let session = Session::new(context, 1, EVENTS, 0, Shape::Independent)?;
    let path = session.index();
    let open = |options: OpenOptions| {
        let reader = IndexReader::open_with(&path, options)?;
        match reader.slice(..) {
            Some(events) => Ok(events.iter().fold(0, fold)),
            None => sum(&reader),
        }
    };
    let reader = IndexReader::open(&path)?;
    let expected = sum(&reader)?;
    let row = context.row(
        "open a file, iterate over its events, verify them",
        "the same loop over a new mapping, not verified",
        0.9,
    );
    row.each(session.count, "event").compare(
        checked(expected, || open(OpenOptions::new())),
        checked(expected, || open(mapped())),
    )?;
    let row = context.row(
        "iterate over the events of an open file",
        "read(2) into 64 KiB and the same loop over them",
        0.9,
    );
    row.each(session.count, "event").compare(
        checked(expected, || sum(&reader)),
        checked(expected, || sum_of_copies(&path)),
    )
}

fn links(context: &mut Context) -> Result<()> {
    let session = Session::new(context, 1, LINKED, 333, Shape::Independent)?;
    let thread = ThreadReader::open(session.thread())?;
    let events: std::result::Result<Vec<_>, _> = thread.index().events().collect();
    let linked = events?
        .into_iter()
        .filter(|event| event.detail_seq.is_some());
    let linked: Vec<IndexEvent> = linked.collect();
    let detail = thread.detail().ok_or("the session has no details")?;
    let details: std::result::Result<Vec<DetailEvent>, _> = detail.events().collect();
    let details = details?;
    let count = linked.len() as u64;
    let offset = |event: &IndexEvent| {
        let seq = event.detail_seq.unwrap_or_default();
        detail.event_offset(seq).unwrap_or_default()
    };
    let offsets: Vec<u64> = linked.iter().map(offset).collect();
    let file = File::open(session.thread().join("detail.atf"))?;

    let forward = || {
        linked.iter().try_fold(0, |found, event| {
            let link = thread.detail_of(event)?;
            Ok::<_, atf::Error>(found + u64::from(matches!(link, Linked::To(_))))
        })
    };
    let backward = || {
        details.iter().try_fold(0, |found, event| {
            let link = thread.event_of(event)?;
            Ok::<_, atf::Error>(found + u64::from(matches!(link, Linked::To(_))))
        })
    };
    let read_each = || {
        offsets.iter().try_fold(0_u8, |sum, offset| {
            let mut bytes = [0; DETAIL_HEADER];
            file.read_exact_at(&mut bytes, *offset)?;
            Ok::<_, std::io::Error>(sum ^ bytes[0])
        })
    };
    let example = || {
        let mut sum = 0;
        for event in thread.index().events() {
            let event = event?;
            if let (Some(detail), Linked::To(found)) = (thread.detail(), thread.detail_of(&event)?)
                && let Some(payload) = detail.function_payload(&found)?
            {
                sum ^= payload.sp ^ payload.stack.len() as u64;
            }
        }
        Ok::<_, atf::Error>(sum)
    };
    let row = context.row(
        "follow links from events to details, in order",
        "read(2) of the details into 64 KiB and a loop over their headers",
        0.8,
    );
    row.each(count, "event").compare(
        checked(count, forward),
        timed(|| headers_of_copies(&file, &offsets)),
    )?;
    let positioned = "a positioned read of 24 bytes per link";
    let work = "follow links from details to events, in order";
    let row = context.row(work, positioned, 20.0);
    row.each(count, "event")
        .compare(checked(count, backward), timed(read_each))?;
    let work = "README's reading example without printing: each event, its detail, its payload";
    let row = context.row(work, positioned, 5.0);
    row.each(count, "event")
        .compare(timed(example), timed(read_each))
}

fn sum(reader: &IndexReader) -> atf::Result<u64> {
    reader
        .events()
        .try_fold(0, |sum, event| Ok(fold(sum, event?)))
}

/// Uses every field of an event.
#[inline]
fn fold(sum: u64, event: IndexEvent) -> u64 {
    let small = u64::from(event.event_kind.0) ^ u64::from(event.call_depth.unwrap_or_default());
    sum ^ event.timestamp_ns ^ event.function_id ^ event.detail_seq.unwrap_or_default() ^ small
}

/// Does the same with copies of the file's bytes and without verification. This is the minimum cost
/// of positioned reads.
fn sum_of_copies(path: &Path) -> Result<u64> {
    let (file, mut buffer) = (File::open(path)?, vec![0; 64 << 10]);
    let (mut sum, mut offset) = (0, HEADER_SIZE as u64);
    let end = file.metadata()?.len() - HEADER_SIZE as u64;
    while offset < end {
        let size = buffer.len().min(usize::try_from(end - offset)?);
        file.read_exact_at(&mut buffer[..size], offset)?;
        sum = EventSlice::new(Wire::V1, 0, &buffer[..size])
            .iter()
            .fold(sum, fold);
        offset += size as u64;
    }
    Ok(sum)
}

/// Finds the headers of details in copies of the file's bytes. This is the minimum cost of
/// following links in order with positioned reads.
fn headers_of_copies(file: &File, offsets: &[u64]) -> std::io::Result<u8> {
    let mut buffer = vec![0; 64 << 10];
    let (mut sum, mut start, mut size) = (0, 0, 0);
    for offset in offsets {
        if offset + DETAIL_HEADER as u64 > start + size as u64 {
            start = *offset;
            size = file.read_at(&mut buffer, start)?;
        }
        sum ^= buffer[(offset - start) as usize];
    }
    Ok(sum)
}
