//! Reads the files of a killed writer together with `ring.atf`.

use arbitrary::{Arbitrary, Unstructured};
use atf::Wire;
use atf::detail::DetailReader;
use atf::index::{IndexFooter, IndexReader};
use atf::thread::{DETAIL_FILE, INDEX_FILE, RING_FILE, ThreadReader};
use atf::wire::Record;
use atf_samples::files::{padded, ring_after};

use crate::packed;
use crate::scratch::{put, scratch};
use crate::session::Damage;
use crate::writer::{HEADER_SIZE as HEADER, Ops};

/// How a thread's events are split between its files and its kill journal.
#[derive(Debug, Arbitrary)]
struct Killed<'a> {
    index: Parted,
    detail: Parted,
    journal: Damage,
    ops: Ops<'a>,
}

/// How events are split between a file and its journal area, in bytes of the events section. Larger
/// numbers are reduced to the section's size.
#[derive(Debug, Arbitrary)]
struct Parted {
    start: u16,
    size: u16,
    /// The number of the area's bytes that are already in the file.
    written: u16,
}

/// A file and its journal area.
struct Part {
    file: Vec<u8>,
    /// The offset of the area in the file.
    start: usize,
    /// The file, continued with everything in the kill journal.
    whole: Vec<u8>,
}

/// Reads a thread with a kill journal.
///
/// - If a writer wrote the journal, the thread has exactly the events of the file and the journal.
/// - Whatever the journal contains, nothing panics, and the thread starts with the events of the
///   file itself, in order.
pub fn ring(data: &[u8]) {
    let scratch = scratch();
    let folder = scratch.path();
    if packed::unpack(data, folder) {
        return any_ring(&folder.join("thread_0"));
    }
    let Ok(killed) = Killed::arbitrary(&mut Unstructured::new(data)) else {
        return;
    };
    let written = killed.ops.run(7);
    let [index, detail] = written.grown(7);
    let (placeholder, last) = index.expect("there is always an index file");
    let index = killed.index.part(&placeholder, &last);
    let detail = detail.map(|(placeholder, last)| killed.detail.part(&placeholder, &last));
    let mut ring = ring_of(written.wire.version(), [Some(&index), detail.as_ref()]);
    killed.journal.apply(&mut ring);
    put(&folder.join(INDEX_FILE), &index.file);
    put(&folder.join(RING_FILE), &ring);
    if let Some(detail) = &detail {
        put(&folder.join(DETAIL_FILE), &detail.file);
    }
    any_ring(folder);
    if killed.journal.is_none() {
        as_written(folder, &index, detail.as_ref());
    }
}

/// Returns a packed thread whose writer was killed halfway: the journal contains the second half of
/// the events, and the first half of those is also in the file.
pub(crate) fn killed(index: &[u8], detail: Option<&[u8]>) -> Vec<u8> {
    let part = |bytes: &[u8]| {
        let (header, section) = bytes.split_at(bytes.len().min(HEADER));
        let half = u16::try_from(section.len() / 64 * 32).unwrap_or_default();
        let parted = Parted {
            start: half,
            size: half,
            written: half / 2,
        };
        parted.part(header, bytes)
    };
    let index = part(index);
    let detail = detail.map(part);
    let version = index
        .file
        .get(offset(Record::IndexHeader, "version"))
        .copied()
        .unwrap_or_default();
    let mut ring = ring_of(version, [Some(&index), detail.as_ref()]);
    // Use the thread's actual id.
    let [from, to] = [Record::IndexHeader, Record::RingHeader].map(|it| offset(it, "thread_id"));
    if let Some(thread_id) = index.file.get(from..from + 4) {
        ring[to..to + 4].copy_from_slice(thread_id);
    }
    let detail = detail.map(|detail| detail.file).unwrap_or_default();
    packed::pack_files(&[(1, 0, &index.file), (2, 0, &detail), (3, 0, &ring)])
}

/// Returns the offset of a header's version or thread id, which is the same in every wire version.
fn offset(header: Record, field: &str) -> usize {
    let field = header.field(Wire::V2, field);
    field.expect("the header has the field").offset
}

impl Parted {
    fn part(&self, placeholder: &[u8], last: &[u8]) -> Part {
        let section = last.get(HEADER..).unwrap_or_default();
        let start = usize::from(self.start).min(section.len());
        let size = usize::from(self.size).min(section.len() - start);
        let written = usize::from(self.written).min(size);
        let file = |end: usize| [placeholder, &section[..end]].concat();
        Part {
            file: file(start + written),
            start: HEADER + start,
            whole: file(start + size),
        }
    }
}

/// Returns the kill journal of a thread. A file may be missing or shorter than a header.
fn ring_of(version: u8, files: [Option<&Part>; 2]) -> Vec<u8> {
    let starts = files.map(|file| file.map_or(HEADER, |file| file.start));
    let wholes = files.map(|file| {
        let whole = file.map_or(&[][..], |file| &file.whole[..]);
        padded(whole, HEADER.saturating_sub(whole.len()))
    });
    ring_after(version, 7, wholes.each_ref().map(Vec::as_slice), starts)
}

fn all<T>(events: impl Iterator<Item = atf::Result<T>>) -> Vec<T> {
    events.map(|event| event.expect("it can be read")).collect()
}

fn any_ring(folder: &std::path::Path) {
    let Ok(thread) = ThreadReader::open(folder) else {
        return;
    };
    let file = IndexReader::open(folder.join(INDEX_FILE)).expect("it was opened with the journal");
    if thread.ring().is_none_or(|ring| ring.index_bytes == 0) {
        assert_eq!(all(file.events_in(..)), all(thread.index().events_in(..)));
    } else {
        assert!(file.footer().is_none(), "nothing is missing");
        let mut file = all(file.events_in(..));
        let with_ring = all(thread.index().events_in(..));
        // Bytes that look like the beginning of a footer may become a footer once the journal's
        // bytes are added.
        let magic = u64::from(u32::from_le_bytes(IndexFooter::MAGIC));
        let footer = file
            .iter()
            .position(|event| event.timestamp_ns & 0xffff_ffff == magic);
        file.truncate(footer.unwrap_or(file.len()));
        // Bytes with a damaged magic and the correct count may also become one.
        let next = with_ring.len();
        let after = file.get(next);
        if after.is_some_and(|it| it.function_id == next as u64) {
            file.truncate(next);
        }
        // An event of kind 0 is torn if only zeros follow it, and the journal may add such zeros.
        file.pop_if(|event| u32::from(event.event_kind) == 0);
        assert!(with_ring.starts_with(&file), "{file:#?}\n{with_ring:#?}");
    }
    if let Some(detail) = thread.detail() {
        let count = all(detail.events_in(..)).len();
        assert_eq!(count as u64, detail.event_count());
    }
    for event in thread.index().events_in(..).take(64) {
        let event = event.expect("the event can be read");
        let _ = thread.detail_of(&event).expect("the detail can be read");
    }
}

fn as_written(folder: &std::path::Path, index: &Part, detail: Option<&Part>) {
    // An unfinalized file can have a footer only if some of its events look like one.
    let file = IndexReader::from_bytes(index.file.as_slice());
    let is_finalized = file.is_ok_and(|file| file.footer().is_some());
    let Ok(whole) = IndexReader::from_bytes(index.whole.as_slice()) else {
        return;
    };
    if is_finalized {
        return;
    }
    let thread = ThreadReader::open(folder).expect("both can be read together");
    assert!(thread.ring_error().is_none(), "{:?}", thread.ring_error());
    assert_eq!(all(whole.events_in(..)), all(thread.index().events_in(..)));
    let whole = detail.map(|detail| DetailReader::from_bytes(detail.whole.as_slice()));
    if let Some(Ok(whole)) = whole {
        let found = thread.detail().expect("both can be read together");
        assert_eq!(all(whole.events_in(..)), all(found.events_in(..)));
    }
}
