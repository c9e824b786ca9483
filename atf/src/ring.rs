//! Reads `ring.atf`: events that a killed writer had not yet written.

use std::io;
use std::mem;
use std::path::{Path, PathBuf};

use zerocopy::little_endian::{U32, U64};

use crate::checksum::Crc32c;
use crate::error::{Error, ErrorKind, Result, zeros};
use crate::files::{DETAIL_FILE, INDEX_FILE, RING_FILE};
use crate::header;
use crate::index::IndexReader;
use crate::rules::{Rule, table as rules};
use crate::source::{Input, OpenOptions, Sparse, Tail, Unreadable};
use crate::window::Window;
use crate::wire::{HEADER_SIZE, RingHeader};

/// How many times to try to read the ring of a running writer.
const ATTEMPTS: usize = 8;

/// The bytes that a thread's `ring.atf` adds to its files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ring {
    /// The number of bytes that the ring appends to `index.atf`.
    pub index_bytes: u64,
    /// The number of bytes that the ring appends to `detail.atf`.
    pub detail_bytes: u64,
}

impl Ring {
    /// The magic bytes of `ring.atf`.
    pub const MAGIC: [u8; 4] = RingHeader::MAGIC;

    /// The maximum number of bytes of either kind. This limits the memory that a file can cause its
    /// reader to use.
    pub const MAX_BYTES: u64 = RingHeader::INDEX_CAPACITY_MAX;
}
const _: () = assert!(Ring::MAX_BYTES == RingHeader::DETAIL_CAPACITY_MAX);

/// A ring's contents at one moment.
pub(crate) struct Snapshot {
    path: Option<PathBuf>,
    options: OpenOptions,
    version: u8,
    thread_id: u32,
    index: Area,
    detail: Area,
}

#[derive(Default)]
struct Area {
    file: &'static str,
    /// The prefix of the header's fields for this area.
    name: &'static str,
    start: u64,
    checksum: u32,
    bytes: Vec<u8>,
    /// The offset of the area in `ring.atf`.
    origin: u64,
    /// The unreadable ranges, by their offsets in the file that the area continues.
    unreadable: Unreadable,
}

/// The bytes to append to each file.
pub(crate) struct Tails {
    pub(crate) index: Tail,
    pub(crate) detail: Tail,
    /// Why the details are not used although the events are.
    pub(crate) detail_error: Option<Error>,
}

impl Tails {
    pub(crate) fn added(&self) -> Ring {
        Ring {
            index_bytes: self.index.bytes.size(),
            detail_bytes: self.detail.bytes.size(),
        }
    }

    /// Returns whether readers without a recovery's options ignore the ring.
    pub(crate) fn are_salvaged(&self) -> bool {
        self.detail_error.is_some() || self.index.missing > 0 || self.detail.missing > 0
    }
}

/// Reads the ring in a thread's folder; returns `None` if the folder has no ring.
pub(crate) fn read(folder: &Path, options: OpenOptions) -> Result<Option<Snapshot>> {
    let path = folder.join(RING_FILE);
    // A running writer may change the ring, so it is never mapped.
    let options = OpenOptions {
        map: None,
        ..options
    };
    let input = match Input::open_in_session(&path, options) {
        Ok(input) => input,
        Err(error) if error.is_not_found() => return Ok(None),
        Err(error) => return Err(error),
    };
    for _ in 0..ATTEMPTS {
        if let Some(snapshot) = look(&input, options)? {
            return Ok(Some(snapshot));
        }
    }
    Err(error(&input, ErrorKind::Unsteady))
}

/// Reads a ring once. Returns `None` if its writer emptied an area in the meantime.
///
/// The index is copied before the details. A writer stores an event's detail first, so every detail
/// that a copied index event links to is in the ring when the details are copied.
fn look(input: &Input, options: OpenOptions) -> Result<Option<Snapshot>> {
    let before = header(input)?;
    let numbers = [before.index_capacity, before.index_size, before.index_start];
    let index = area(input, INDEX, 0, numbers, before.index_checksum)?;
    let between = header(input)?;
    let capacity = between.index_capacity.get();
    let numbers = [
        between.detail_capacity,
        between.detail_size,
        between.detail_start,
    ];
    let detail = area(input, DETAIL, capacity, numbers, between.detail_checksum)?;
    let after = header(input)?;
    // Starts only grow, so an area with an unchanged start was not emptied.
    let starts = |header: &RingHeader| (header.index_start, header.detail_start);
    if starts(&before) != starts(&after) || starts(&before) != starts(&between) {
        return Ok(None);
    }
    Ok(Some(Snapshot {
        path: input.path().map(Path::to_path_buf),
        options,
        version: before.version,
        thread_id: before.thread_id.get(),
        index,
        detail,
    }))
}

/// The start, the checksum and the bytes of an area.
#[cfg(feature = "testing")]
type Seen = (u64, u32, Vec<u8>);

/// Reads a ring once, as the readers do, for tests. Returns the areas for index and detail, or
/// `None` if the writer emptied one in the meantime.
///
/// # Errors
///
/// The readers' errors.
#[cfg(feature = "testing")]
pub fn look_at(source: impl crate::source::ReadAt + 'static) -> Result<Option<[Seen; 2]>> {
    let found = look(&Input::new(source), OpenOptions::new())?;
    let area = |area: Area| (area.start, area.checksum, area.bytes);
    Ok(found.map(|found| [found.index, found.detail].map(area)))
}

/// The rule that a ring is intact and belongs to the thread's other files.
const BELONGS: &Rule = &rules::ATF_RING_002;

/// Creates an error about a ring's contents.
fn error(input: &Input, kind: ErrorKind) -> Error {
    input.error(kind).with_rule(BELONGS)
}

fn header(input: &Input) -> Result<RingHeader> {
    let (found, needed) = (input.size(), RingHeader::SIZE as u64);
    if found < needed {
        let error = error(input, ErrorKind::TooShort { found, needed });
        return Err(error.with_field("header").with_offset(found));
    }
    if input.unreadable().overlaps(&(0..needed)) {
        let error = Error::io(io::Error::other("cannot be read")).with_path(input.path());
        let error = error.with_field("header").with_offset(0);
        return Err(error.with_rule(BELONGS));
    }
    let bytes = input.record::<{ RingHeader::SIZE }>(0)?;
    let wire = header::wire(&bytes, RingHeader::MAGIC, [BELONGS; 3]);
    wire.map_err(|error| error.with_path(input.path()))?;
    Ok(zerocopy::transmute!(bytes))
}

/// The file of an area, and the prefix of the header's fields for it.
type Names = (&'static str, &'static str);
const INDEX: Names = (INDEX_FILE, "index");
const DETAIL: Names = (DETAIL_FILE, "detail");

/// Returns the bytes of an area that contain events. `before` is the capacity of the areas before
/// it, and `numbers` are its own capacity, its size and its start.
fn area(
    input: &Input,
    (file, name): Names,
    before: u64,
    numbers: [U64; 3],
    checksum: U32,
) -> Result<Area> {
    let [capacity, size, start] = numbers.map(U64::get);
    let within = |found: u64, max: u64, field: &str| {
        if found <= max {
            Ok(())
        } else {
            let error = error(input, ErrorKind::OutOfRange { found, min: 0, max });
            Err(error.with_field(format!("header.{name}_{field}")))
        }
    };
    let room = input.size().saturating_sub(RingHeader::SIZE as u64);
    let most = room.saturating_sub(before).min(Ring::MAX_BYTES);
    within(capacity, most, "capacity")?;
    within(size, capacity, "size")?;
    // The size is at most 16 MiB and at most the size of the file.
    let bytes = zeros(usize::try_from(size).unwrap_or(usize::MAX));
    let mut bytes = bytes.map_err(|error| error.with_path(input.path()))?;
    let origin = before.saturating_add(RingHeader::SIZE as u64);
    input.read_exact(origin, &mut bytes)?;
    let mut unreadable = Unreadable::default();
    for range in input.unreadable().iter() {
        let place = |offset: u64| {
            let inside = offset.saturating_sub(origin).min(size);
            inside.saturating_add(start)
        };
        unreadable.add(place(range.start)..place(range.end));
    }
    Ok(Area {
        file,
        name,
        start,
        checksum: checksum.get(),
        bytes,
        origin,
        unreadable,
    })
}

impl Snapshot {
    pub(crate) fn is_empty(&self) -> bool {
        self.index.bytes.is_empty() && self.detail.bytes.is_empty()
    }

    /// Returns the bytes to append to the files, after checking that the ring belongs to them.
    pub(crate) fn tails(mut self, index: &IndexReader, detail: Option<&Input>) -> Result<Tails> {
        let header = index.header();
        let version = header.wire.version();
        self.compare(self.version.into(), version.into(), "header.version")?;
        self.compare(
            self.thread_id.into(),
            header.thread_id.into(),
            "header.thread_id",
        )?;
        let areas = (mem::take(&mut self.index), mem::take(&mut self.detail));
        let index = self.tail(areas.0, Some(&index.input))?;
        let (detail, detail_error) = match self.tail(areas.1, detail) {
            Ok(detail) => (detail, None),
            Err(error) if self.options.ring_without_details => (Tail::default(), Some(error)),
            Err(error) => return Err(error),
        };
        Ok(Tails {
            index,
            detail,
            detail_error,
        })
    }

    /// Returns the bytes of an area that are missing from its file.
    fn tail(&self, mut area: Area, file: Option<&Input>) -> Result<Tail> {
        if area.bytes.is_empty() {
            return Ok(Tail::default());
        }
        let Some(file) = file else {
            let error = self.error(ErrorKind::Io(io::ErrorKind::NotFound));
            return Err(error.with_field(area.file));
        };
        let (found, min, max) = (area.start, HEADER_SIZE as u64, file.size());
        let start_field = format!("header.{}_start", area.name);
        // Only a file with a whole header can be continued past bytes that are missing.
        let most_missing = if self.options.past_missing && max >= min {
            Ring::MAX_BYTES
        } else {
            0
        };
        if found < min || found.saturating_sub(max) > most_missing {
            let error = self.error(ErrorKind::OutOfRange { found, min, max });
            return Err(error.with_field(start_field));
        }
        // Do not read past the size that the file had when it was opened; it may have grown since.
        let size = usize::try_from(max.saturating_sub(found)).unwrap_or(usize::MAX);
        let size = size.min(area.bytes.len());
        // Compare only readable bytes.
        let unreadable = file.unreadable();
        let differs = |(at, (one, other)): (u64, (&u8, &u8))| {
            let byte = at..u64::saturating_add(at, 1);
            one != other && !unreadable.overlaps(&byte) && !area.unreadable.overlaps(&byte)
        };
        let (mut overlap, _) = area.bytes.split_at(size);
        let (mut window, mut at) = (Window::new(file), area.start);
        while !overlap.is_empty() {
            let in_file = window.chunk(at, at.saturating_add(overlap.len() as u64))?;
            let (own, rest) = overlap.split_at(in_file.len());
            if (at..).zip(own.iter().zip(in_file)).any(differs) {
                let error = self.error(ErrorKind::RingDiffers { file: area.file });
                return Err(error.with_field(start_field));
            }
            (overlap, at) = (rest, at.saturating_add(own.len() as u64));
        }
        let missing = area.start.saturating_sub(max);
        let is_known = missing == 0 && !unreadable.overlaps(&(min..area.start));
        let checksum = Crc32c::of_range(file, min, area.start.min(max))?;
        if is_known && checksum != area.checksum {
            let kind = ErrorKind::Disagrees {
                found: area.checksum.into(),
                expected: checksum.into(),
                by: area.file,
            };
            let field = format!("header.{}_checksum", area.name);
            return Err(self.error(kind).with_field(field));
        }
        let mut unreadable = Unreadable::default();
        for range in area.unreadable.iter() {
            unreadable.add(range.start.max(max)..range.end.max(max));
        }
        area.bytes.drain(..size);
        let bytes = Sparse::new(area.bytes);
        Ok(Tail {
            missing,
            bytes: bytes.map_err(|error| error.with_path(self.path.as_deref()))?,
            origin: area.origin.saturating_add(size as u64),
            unreadable,
        })
    }

    fn compare(&self, found: u64, expected: u64, field: &'static str) -> Result<()> {
        if found == expected {
            return Ok(());
        }
        let by = INDEX_FILE;
        let kind = ErrorKind::Disagrees {
            found,
            expected,
            by,
        };
        Err(self.error(kind).with_field(field))
    }

    fn error(&self, kind: ErrorKind) -> Error {
        let error = Error::new(kind).with_path(self.path.as_deref());
        error.with_rule(BELONGS)
    }
}
