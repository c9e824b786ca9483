//! A walk over a file, which is read in pieces: a position that only moves forward.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

use atf::check::Finding;
use atf::{Error, FileSource, ReadAt};

use super::{Heading, Row, Selection, Sink};
use crate::format::{Decoded, Meaning, Shape, number_json, number_text};
use crate::info::Problem;
use crate::output::{Failure, complain};
use crate::text::counted;

/// The number of bytes to read at a time, enough for the longest payload that has fields.
const READ: usize = 128 << 10;
/// How many bytes of a run without fields are shown by default.
const OPAQUE: u64 = 64;
/// The maximum number of bytes passed to a sink at a time.
const PIECE: u64 = 4 << 10;

/// A file and the last piece read from it.
struct Bytes {
    source: FileSource,
    path: PathBuf,
    /// The offset of the piece in the file.
    start: u64,
    piece: Vec<u8>,
}

impl Bytes {
    fn open(path: &Path) -> Result<Self, Failure> {
        Ok(Self {
            source: FileSource::open(path)?,
            path: path.to_owned(),
            start: 0,
            piece: Vec::new(),
        })
    }

    /// Returns the size of the file in bytes at the time it was opened.
    fn size(&self) -> u64 {
        self.source.size()
    }

    /// Returns `size` bytes at `offset`, but at most 128 KiB, and fewer at the end of the file.
    fn get(&mut self, offset: u64, size: u64) -> Result<&[u8], Failure> {
        let left = self.size().saturating_sub(offset).min(size);
        let wanted = usize::try_from(left).unwrap_or(READ).min(READ);
        let skipped = usize::try_from(offset.wrapping_sub(self.start)).unwrap_or(usize::MAX);
        let end = skipped.saturating_add(wanted);
        if offset < self.start || end > self.piece.len() {
            self.fill(offset, wanted)?;
            return Ok(&self.piece[..wanted]);
        }
        Ok(&self.piece[skipped..end])
    }

    /// Reads the piece at `offset`, at least `wanted` bytes.
    fn fill(&mut self, offset: u64, wanted: usize) -> Result<(), Failure> {
        self.start = offset;
        self.piece.resize(READ, 0);
        let mut filled = 0;
        while filled < wanted {
            let place = offset.saturating_add(filled as u64);
            match self.source.read_at(place, &mut self.piece[filled..]) {
                Ok(0) => {
                    let what = "the file was truncated while it was being read";
                    return Err(self.failure(what, place));
                }
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.failure(error, place)),
            }
        }
        self.piece.truncate(filled);
        Ok(())
    }

    fn failure(&self, what: impl Display, place: u64) -> Failure {
        Failure::at(&self.path, format_args!("{what} (at {place:#x})"))
    }
}

/// A walk over a file. All bytes up to `place` have been shown.
pub(super) struct Walk<'s> {
    bytes: Bytes,
    sink: &'s mut dyn Sink,
    place: u64,
    selection: Selection,
    /// The first event's timestamp; times are shown relative to it.
    pub(super) start_ns: Option<u64>,
    /// Whether any damage was found.
    pub(super) is_damaged: bool,
    /// The records whose fields have already been described.
    described: BTreeSet<&'static str>,
}

impl<'s> Walk<'s> {
    pub(super) fn open(
        path: &Path,
        selection: Selection,
        sink: &'s mut dyn Sink,
    ) -> Result<Self, Failure> {
        let bytes = Bytes::open(path)?;
        sink.file(&path.to_string_lossy(), bytes.size())?;
        Ok(Self {
            bytes,
            sink,
            place: 0,
            selection,
            start_ns: None,
            is_damaged: false,
            described: BTreeSet::new(),
        })
    }

    /// Writes the file's problems to standard error, as `info` does.
    pub(super) fn report(&mut self, path: &Path, errors: &[Error], findings: Vec<Finding>) {
        let errors = errors.iter().map(Problem::from_error);
        for problem in errors.chain(findings.into_iter().map(Problem::found)) {
            complain(problem.in_file(path));
            self.is_damaged = true;
        }
    }

    /// Shows the selected ones of `count` events. `start_of` returns where an event starts or, for
    /// `count`, where the last one ends. If the selected positions are all past the last event,
    /// reports how many events `what` has.
    pub(super) fn events(
        &mut self,
        count: u64,
        what: &str,
        start_of: impl Fn(u64) -> u64,
        mut show: impl FnMut(&mut Self, u64) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        if let Selection::Range(range) = &self.selection
            && range.start >= count
        {
            let count = counted(count, "event");
            complain(format_args!("no event matches; {what} has {count}"));
        }
        let mut next = 0;
        for range in self.selection.ranges(count) {
            let left_out = range.start.saturating_sub(next);
            self.left_out(start_of(range.start), &counted(left_out, "event"))?;
            next = range.end;
            for seq in range {
                show(self, seq)?;
            }
        }
        Ok(())
    }

    /// Returns the position in bytes from the start of the file.
    pub(super) fn place(&self) -> u64 {
        self.place
    }

    /// Returns the size of the file in bytes.
    pub(super) fn size(&self) -> u64 {
        self.bytes.size()
    }

    /// Returns the next `size` bytes, or fewer at the end of the file, without advancing.
    pub(super) fn peek(&mut self, size: u64) -> Result<&[u8], Failure> {
        self.bytes.get(self.place, size)
    }

    /// Returns the bytes at `offset` without advancing.
    pub(super) fn peek_at(&mut self, offset: u64, size: u64) -> Result<&[u8], Failure> {
        self.bytes.get(offset, size)
    }

    /// Shows the part of a record before `end`.
    pub(super) fn record(
        &mut self,
        shape: Shape,
        seq: Option<u64>,
        end: u64,
        about: &str,
    ) -> Result<(), Failure> {
        let size = shape.size().min(end.saturating_sub(self.place));
        if size == 0 {
            return Ok(());
        }
        let bytes = self.bytes.get(self.place, size)?.to_vec();
        let is_new = self.described.insert(shape.name());
        let cut = if size < shape.size() {
            format!("truncated: {size} of {} bytes", shape.size())
        } else {
            String::new()
        };
        let doc = if is_new { shape.doc() } else { "" };
        let about = [cut.as_str(), about, doc];
        let about: Vec<_> = about.into_iter().filter(|text| !text.is_empty()).collect();
        self.heading(shape.name(), seq, size, &about.join("; "), false)?;
        for field in shape.decode(&bytes) {
            self.field(&field, is_new)?;
        }
        self.place = self.place.saturating_add(size);
        Ok(())
    }

    fn field(&mut self, decoded: &Decoded<'_>, is_new: bool) -> Result<(), Failure> {
        let field = decoded.field;
        let meaning = decoded.meaning(self.start_ns);
        self.is_damaged |= matches!(meaning, Meaning::Wrong(_));
        let start = self.place.saturating_add(field.offset.into());
        let mut offset = start;
        for (position, bytes) in decoded.elements() {
            let (name, text, value) = match position {
                Some(position) => {
                    let text = number_text(field, bytes);
                    let value = number_json(bytes);
                    (format!("{}[{position}]", field.name), text, value)
                }
                None => (field.name.clone(), decoded.to_string(), decoded.json()),
            };
            self.sink.row(&Row {
                name: &name,
                offset,
                bytes,
                text: &text,
                value: &value,
                meaning: &meaning,
                doc: (is_new && offset == start).then_some(&field.doc),
            })?;
            offset = offset.saturating_add(bytes.len() as u64);
        }
        Ok(())
    }

    /// Shows the bytes up to `end` as a run that has no fields.
    pub(super) fn opaque(&mut self, end: u64, name: &str, about: &str) -> Result<(), Failure> {
        let end = end.min(self.size());
        let size = end.saturating_sub(self.place);
        if size == 0 {
            return Ok(());
        }
        self.heading(name, None, size, about, false)?;
        self.stretch(end, name)
    }

    /// Shows the bytes up to `end`, and marks them as damage.
    pub(super) fn wrong(&mut self, end: u64, name: &str, about: &str) -> Result<(), Failure> {
        let end = end.min(self.size());
        let size = end.saturating_sub(self.place);
        self.is_damaged = true;
        self.heading(name, None, size, about, true)?;
        self.stretch(end, name)
    }

    /// Shows the bytes up to `end`. By default, shows only the first few of them, but all bytes of
    /// selected events.
    pub(super) fn stretch(&mut self, end: u64, name: &str) -> Result<(), Failure> {
        let start = self.place;
        let last = match self.selection {
            Selection::All => end,
            Selection::Range(_) if matches!(name, "stack" | "payload") => end,
            _ => end.min(start.saturating_add(OPAQUE)),
        };
        while self.place < last {
            let bytes = self.bytes.get(self.place, PIECE.min(last - self.place))?;
            self.sink
                .opaque(name, self.place - start, self.place, bytes)?;
            self.place += bytes.len() as u64;
        }
        self.left_out(end, &counted(end.saturating_sub(last), "byte"))
    }

    /// Skips to `offset` and reports the skipped bytes.
    fn left_out(&mut self, offset: u64, what: &str) -> Result<(), Failure> {
        let size = offset.saturating_sub(self.place);
        if size == 0 {
            return Ok(());
        }
        self.sink.left_out(what, self.place, size)?;
        self.place = offset;
        Ok(())
    }

    fn heading(
        &mut self,
        name: &str,
        seq: Option<u64>,
        size: u64,
        about: &str,
        is_wrong: bool,
    ) -> Result<(), Failure> {
        let offset = self.place;
        self.sink.heading(&Heading {
            name,
            seq,
            offset,
            size,
            about,
            is_wrong,
        })
    }
}
