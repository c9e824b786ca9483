//! A valid session for recipes to edit.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use super::shape::{Region, Shape, ring_regions};
use atf_samples::files::{
    DetailFile, DetailRecord, EventRecord, IndexFile, crc32c, padded, patched,
};
use atf_samples::layout::{Record, little_endian};

/// The index file of thread 7 in the clean session.
pub const INDEX: &str = "thread_7/index.atf";
/// The detail file of thread 7.
pub const DETAIL: &str = "thread_7/detail.atf";
/// The index file of the second thread, which has no details.
pub const OTHER: &str = "thread_9/index.atf";
/// The kill journal of thread 7, which the clean session does not have.
pub const RING: &str = "thread_7/ring.atf";
/// The manifest.
pub const MANIFEST: &str = "manifest.json";

/// The first timestamp of thread 7.
pub const T: u64 = 1_234_567_000_000_000;

/// The module that contains all functions. Symbol indices start at 1.
const MODULE: u64 = 0x0644_4fc1 << 32;

/// The module of functions in files outside the session, which no reader may open.
pub const CANARY: u64 = 0x0bad_cafe << 32;

const MANIFEST_TEXT: &str = r#"{
  "format_version": "2.1",
  "threads": [
    {"id": 7, "has_detail": true},
    {"id": 9, "has_detail": false}
  ],
  "time_start_ns": 1234566999999000,
  "time_end_ns": 1234567000099000,
  "clock_type": 3,
  "modules": [
    {"module_id": 105140161, "path": "/bin/d", "base_address": "0x100", "size": 4096, "uuid": "A"}
  ],
  "symbols": [
    {"function_id": "0x06444fc100000001", "module_id": 105140161, "symbol_index": 1, "name": "load"}
  ]
}
"#;

/// A field's value.
pub(super) enum Value {
    Number(u64),
    Text(String),
    /// The value of a link that leads nowhere.
    NoLink,
}

/// Returns the fields that are 0 in a header that is a placeholder.
pub(super) const fn zeros_of_placeholder(is_detail: bool) -> [&'static str; 4] {
    if is_detail {
        [
            "event_count",
            "bytes_length",
            "index_seq_start",
            "index_seq_end",
        ]
    } else {
        ["flags", "event_count", "time_start_ns", "time_end_ns"]
    }
}

/// An in-memory session in one wire version. Without edits, it passes every check:
///
/// | file                  | size | events                                            | footer |
/// |-----------------------|------|---------------------------------------------------|--------|
/// | `thread_7/index.atf`  | 320  | 6 at 64 + 32 k, those at 0, 2 and 3 with a link   | at 256 |
/// | `thread_7/detail.atf` | 525  | 3 at 64, 188 and 329, stacks of 0, 17 and 8 bytes | at 461 |
/// | `thread_9/index.atf`  | 192  | 2, no link; first and last of the session         | at 128 |
/// | `manifest.json`       | 451  |                                                   |        |
#[derive(Debug, Clone)]
pub struct Trace {
    /// The wire version.
    pub version: u8,
    index: IndexFile,
    detail: DetailFile,
    files: BTreeMap<String, Vec<u8>>,
    folders: Vec<String>,
    symlinks: BTreeMap<String, String>,
    /// The parts of the files, by path. Files of arbitrary bytes have no entry.
    shapes: BTreeMap<String, Shape>,
}

impl Trace {
    /// Returns the unedited session.
    #[must_use]
    pub fn clean(version: u8) -> Self {
        let index = IndexFile::new(version, events());
        let detail = DetailFile::new(version, details());
        let others = vec![call(T - 1000, 1, 1), ret(T + 99_000, 1, 1)];
        let other = thread(version, 9, others);
        let mut this = Self {
            version,
            index,
            detail,
            files: BTreeMap::new(),
            folders: Vec::new(),
            symlinks: BTreeMap::new(),
            shapes: BTreeMap::new(),
        };
        this.put_index(INDEX, &this.index.clone());
        this.put_detail(DETAIL, &this.detail.clone());
        this.put_index(OTHER, &other);
        this.put(MANIFEST, MANIFEST_TEXT);
        this
    }

    /// Returns a minimal session without symbols. Its only thread has two events and a detail of the
    /// first one.
    #[must_use]
    pub fn small(version: u8) -> Self {
        let mut this = Self::clean(version);
        this.remove("thread_9");
        this.events(|events| {
            *events = vec![call(T, 1, 1), ret(T + 1000, 1, 1)];
            events[0].detail_seq = Some(0);
        });
        this.details(|details| details.truncate(1));
        let times = format!(r#""time_start_ns":{T},"time_end_ns":{}"#, T + 1000);
        let threads = r#""threads":[{"id":7,"has_detail":true}]"#;
        let text = format!(r#"{{{threads},{times},"clock_type":3}}"#);
        this.put(MANIFEST, text);
        this
    }

    /// Edits the fields of thread 7's index file and discards its patches. The result need not be
    /// consistent.
    pub fn index(&mut self, edit: impl FnOnce(&mut IndexFile)) {
        edit(&mut self.index);
        self.put_index(INDEX, &self.index.clone());
    }

    /// Edits the events of thread 7 and updates the header and footer.
    pub fn events(&mut self, edit: impl FnOnce(&mut Vec<EventRecord>)) {
        let mut events = self.index.events.clone();
        edit(&mut events);
        let old = &self.index;
        self.index = with_events(old.version, old.thread_id, old.flags, events);
        self.put_index(INDEX, &self.index.clone());
    }

    /// Edits the fields of the detail file and discards its patches. The result need not be
    /// consistent.
    pub fn detail(&mut self, edit: impl FnOnce(&mut DetailFile)) {
        edit(&mut self.detail);
        self.put_detail(DETAIL, &self.detail.clone());
    }

    /// Edits the detail events and updates the header and footer.
    pub fn details(&mut self, edit: impl FnOnce(&mut Vec<DetailRecord>)) {
        let mut details = self.detail.events.clone();
        edit(&mut details);
        self.detail = DetailFile::new(self.version, details);
        self.put_detail(DETAIL, &self.detail.clone());
    }

    /// Removes the detail file, all links to it, the index's flag, and `has_detail` in the
    /// manifest.
    pub fn without_details(&mut self) {
        self.without_links();
        self.index(|file| file.flags = 0);
        self.remove(DETAIL);
        self.replace(
            MANIFEST,
            r#""id": 7, "has_detail": true"#,
            r#""id": 7, "has_detail": false"#,
        );
    }

    fn without_links(&mut self) {
        self.events(|events| events.iter_mut().for_each(|event| event.detail_seq = None));
    }

    /// Removes the events of a file of thread 7, so that its footer begins at 64, and the links to
    /// details.
    pub(super) fn clear(&mut self, path: &str) {
        if path == DETAIL {
            self.without_links();
            self.details(Vec::clear);
        } else {
            self.without_details();
            self.events(Vec::clear);
        }
    }

    /// Turns a file's header into a placeholder.
    pub(super) fn placeholder(&mut self, path: &str) {
        let is_detail = path.ends_with("detail.atf");
        if !is_detail {
            self.set(path, "header.footer_offset", &Value::Number(64));
        }
        for name in zeros_of_placeholder(is_detail) {
            self.set(path, &format!("header.{name}"), &Value::Number(0));
        }
    }

    /// Removes a file's footer and turns its header into a placeholder. If `path` is a ring, does
    /// this to the two files next to it.
    pub(super) fn unfinalize(&mut self, path: &str) {
        if path == RING {
            self.unfinalize(INDEX);
            return self.unfinalize(DETAIL);
        }
        self.placeholder(path);
        self.cut(path, self.shape(path).map_or(0, Shape::events_end));
    }

    /// Adds a detail with a stack of this size to each event of thread 7.
    pub(super) fn detail_each(&mut self, stacks: &[u16]) {
        let mut made = Vec::new();
        self.events(|events| {
            for ((event, seq), stack) in events.iter_mut().zip(0..).zip(stacks) {
                event.detail_seq = Some(seq);
                let event_type = if event.kind == 1 { 3 } else { 4 };
                let symbol = event.function_id - MODULE;
                made.push(record(event_type, seq, event.timestamp_ns, symbol, *stack));
            }
        });
        self.details(|details| *details = made);
    }

    /// Sets the id of thread 7 in one of its files.
    pub(super) fn set_thread_id(&mut self, path: &str, id: u32) {
        if path == DETAIL {
            self.detail(|file| {
                file.thread_id = id;
                file.checksum = crc32c(&file.section());
            });
        } else {
            self.index(|file| {
                file.thread_id = id;
                file.checksum = crc32c(&file.section());
            });
        }
    }

    /// Adds a manifest with these threads and times.
    pub(super) fn list(&mut self, ids: &str, (start, end): (u64, u64)) {
        let threads = ids.split(' ').map(|id| format!(r#"{{"id": {id}}}"#));
        let threads = threads.collect::<Vec<_>>().join(", ");
        let text = format!(
            r#"{{"format_version": "2.0", "threads": [{threads}], "time_start_ns": {start}, "time_end_ns": {end}, "clock_type": 3}}"#
        );
        self.put(MANIFEST, text);
    }

    /// Sets the operating system and clock of all files.
    pub fn platform(&mut self, os: u8, clock: u8) {
        for file in [INDEX, OTHER] {
            self.patch(file, 7, &[os]);
            self.patch(file, 16, &[clock]);
        }
        self.patch(DETAIL, 7, &[os]);
        self.replace(
            MANIFEST,
            r#""clock_type": 3"#,
            &format!(r#""clock_type": {clock}"#),
        );
    }

    /// Returns a file's bytes.
    #[must_use]
    pub fn file(&self, path: &str) -> &[u8] {
        &self.files[path]
    }

    /// Adds a file of arbitrary bytes.
    pub fn put(&mut self, path: &str, bytes: impl Into<Vec<u8>>) {
        self.files.insert(path.to_owned(), bytes.into());
        self.shapes.remove(path);
    }

    /// Adds an index file. Its fields need not be consistent.
    pub fn put_index(&mut self, path: &str, file: &IndexFile) {
        let shape = Shape::new(false, file.version, vec![32; file.events.len()]);
        self.put_shaped(path, file.bytes(), shape);
    }

    /// Adds a detail file. Its fields need not be consistent.
    pub fn put_detail(&mut self, path: &str, file: &DetailFile) {
        let sizes = file.events.iter().map(|event| 24 + event.payload.len());
        let shape = Shape::new(true, file.version, sizes.collect());
        self.put_shaped(path, file.bytes(), shape);
    }

    /// Adds a trace file whose parts are described by `shape`.
    pub(super) fn put_shaped(&mut self, path: &str, bytes: Vec<u8>, shape: Shape) {
        self.put(path, bytes);
        self.shapes.insert(path.to_owned(), shape);
    }

    /// Copies a file from another trace.
    pub fn take(&mut self, path: &str, other: &Self) {
        self.put(path, other.file(path));
        if let Some(shape) = other.shapes.get(path) {
            self.shapes.insert(path.to_owned(), shape.clone());
        }
    }

    /// Adds zeros at the end of the header, or removes bytes there.
    pub(super) fn shift(&mut self, path: &str, by: isize) {
        let (file, end) = (self.file(path), 64_usize.saturating_add_signed(by));
        let header = padded(&file[..end.min(64)], end.saturating_sub(64));
        let moved = [&header, &file[64..]].concat();
        self.change(path, moved);
        if let Some(shape) = self.shapes.get_mut(path) {
            shape.start = shape.start.saturating_add_signed(by);
            shape.own = shape.own.saturating_add_signed(by);
        }
    }

    /// Sets the sizes of the events that a reader finds, for edits that hide some events from it.
    pub fn survive(&mut self, path: &str, sizes: &[usize]) {
        if let Some(shape) = self.shapes.get_mut(path) {
            shape.framed = Some(sizes.to_vec());
        }
    }

    /// Sets the sizes of the events that a reader finds if it also reads the bytes after the
    /// original events as events.
    pub fn continue_events(&mut self, path: &str, sizes: &[usize]) {
        if let Some(shape) = self.shapes.get_mut(path) {
            shape.events = sizes.to_vec();
            shape.own = shape.events_end();
        }
    }

    /// Replaces a file's bytes but keeps the description of its parts.
    fn change(&mut self, path: &str, bytes: impl Into<Vec<u8>>) {
        self.files.insert(path.to_owned(), bytes.into());
    }

    /// Returns the files, by path.
    #[must_use]
    pub const fn files(&self) -> &BTreeMap<String, Vec<u8>> {
        &self.files
    }

    /// Returns the empty folders.
    #[must_use]
    pub fn folders(&self) -> &[String] {
        &self.folders
    }

    /// Returns the targets of symlinks, by path.
    #[must_use]
    pub const fn symlinks(&self) -> &BTreeMap<String, String> {
        &self.symlinks
    }

    pub(super) fn shape(&self, path: &str) -> Option<&Shape> {
        self.shapes.get(path)
    }

    /// Returns the regions of a trace file, or nothing for other files.
    pub(super) fn regions(&self, path: &str) -> Vec<Region> {
        if path.ends_with("ring.atf") {
            return ring_regions(self.version, self.file(path));
        }
        let shape = self.shapes.get(path);
        shape.map_or_else(Vec::new, |shape| shape.regions(self.file(path)))
    }

    /// Removes a file, folder or symlink.
    pub fn remove(&mut self, path: &str) {
        self.symlinks.remove(path);
        let is_below = |file: &String| Path::new(file).starts_with(path);
        self.files.retain(|file, _| !is_below(file));
        self.shapes.retain(|file, _| !is_below(file));
    }

    /// Writes the session into a folder.
    ///
    /// # Errors
    ///
    /// Returns the file system's error.
    pub fn write(&self, folder: &Path) -> std::io::Result<()> {
        super::write(folder, &self.files, &self.folders, &self.symlinks)
    }

    /// Renames a file or folder.
    pub fn rename(&mut self, from: &str, to: &str) {
        let renamed = |file: String| match file.strip_prefix(from) {
            Some("") => to.to_owned(),
            Some(rest) if rest.starts_with('/') => format!("{to}{rest}"),
            _ => file,
        };
        let files = std::mem::take(&mut self.files).into_iter();
        self.files = files.map(|(file, bytes)| (renamed(file), bytes)).collect();
        let shapes = std::mem::take(&mut self.shapes).into_iter();
        self.shapes = shapes.map(|(file, shape)| (renamed(file), shape)).collect();
    }

    /// Adds an empty folder.
    pub fn folder(&mut self, path: &str) {
        self.folders.push(path.to_owned());
    }

    /// Adds a symlink.
    pub fn symlink(&mut self, path: &str, target: &str) {
        self.symlinks.insert(path.to_owned(), target.to_owned());
    }

    /// Overwrites bytes.
    pub fn patch(&mut self, path: &str, offset: usize, bytes: &[u8]) {
        let patched = patched(&self.files[path], offset, bytes);
        self.change(path, patched);
    }

    /// Sets a field of a file. A field of an event also updates the checksum, and the times and
    /// positions in header and footer.
    pub(super) fn set(&mut self, path: &str, field: &str, value: &Value) {
        let place = self.field(path, field);
        let mut bytes = match value {
            Value::Number(number) => number.to_le_bytes().to_vec(),
            Value::Text(text) => text.clone().into_bytes(),
            Value::NoLink => vec![0xff; place.len()],
        };
        let rest = bytes.split_off(place.len());
        assert!(
            rest.iter().all(|byte| *byte == 0),
            "too large for {field} of {path}"
        );
        self.patch(path, place.start, &bytes);
        if field.starts_with("events") {
            self.update(path);
        }
    }

    /// Updates the values in header and footer that repeat those of the events.
    fn update(&mut self, path: &str) {
        let (start, end) = (self.shapes[path].start, self.shapes[path].events_end());
        self.checksum(path, start..end);
        let last = self.shapes[path].events.len() - 1;
        for (seq, end) in [(0, "start"), (last, "end")] {
            let copies = if path.ends_with("detail.atf") {
                [
                    ("timestamp", format!("footer.time_{end}_ns")),
                    ("index_seq", format!("header.index_seq_{end}")),
                ]
            } else {
                ["footer", "header"].map(|it| ("timestamp_ns", format!("{it}.time_{end}_ns")))
            };
            for (from, to) in copies {
                let from = self.field(path, &format!("events[{seq}].{from}"));
                let value = little_endian(&self.file(path)[from]);
                self.set(path, &to, &Value::Number(value));
            }
        }
    }

    /// Sets the footer's checksum to the checksum of a range of the file. In a ring, sets the index's
    /// checksum, computed from a range of the index.
    pub(super) fn checksum(&mut self, path: &str, range: Range<usize>) {
        let (of, field) = match path {
            RING => (INDEX, "header.index_checksum"),
            path => (path, "footer.checksum"),
        };
        let checksum = crc32c(&self.file(of)[range]).into();
        self.set(path, field, &Value::Number(checksum));
    }

    /// Returns the place of a field, such as `header.event_size`, `events[2].detail_seq`,
    /// `events[0].payload.stack_size` or `footer.reserved`.
    pub(super) fn field(&self, path: &str, field: &str) -> Range<usize> {
        let found = self.find_field(path, field);
        found.unwrap_or_else(|| panic!("{path} of wire version {} has no {field}", self.version))
    }

    fn find_field(&self, path: &str, field: &str) -> Option<Range<usize>> {
        let (place, name) = field.rsplit_once('.')?;
        let start = self.region(path, place)?;
        let is_detail = path.ends_with("detail.atf");
        let record = match place {
            "header" if path == RING => Record::RingHeader,
            "header" if is_detail => Record::DetailHeader,
            "header" => Record::IndexHeader,
            "footer" if is_detail => Record::DetailFooter,
            "footer" => Record::IndexFooter,
            payload if payload.ends_with(".payload") => Record::DetailFunctionPayload,
            _ if is_detail => Record::DetailEventHeader,
            _ => Record::IndexEvent,
        };
        let mut fields = record.fields(self.version).iter();
        let found = fields.find(|field| field.name == name)?;
        Some(start + found.offset..start + found.offset + found.size)
    }

    /// Returns the offset of a region of a file: `header`, `events[2]`, `events[0].payload` or
    /// `footer`.
    fn region(&self, path: &str, name: &str) -> Option<usize> {
        if name == "header" {
            return Some(0);
        }
        let shape = self.shape(path)?;
        if name == "footer" {
            return Some(shape.events_end());
        }
        let (seq, rest) = name.strip_prefix("events[")?.split_once(']')?;
        let seq: usize = seq.parse().ok()?;
        shape.events.get(seq)?;
        let payload = match rest {
            "" => 0,
            ".payload" => 24,
            _ => return None,
        };
        let before: usize = shape.events[..seq].iter().sum();
        Some(shape.start + before + payload)
    }

    /// Returns the offset of a field or a region of an index or detail file; `None` for other files and
    /// places.
    pub(super) fn offset_of(&self, path: &str, place: &str) -> Option<u64> {
        if path == RING {
            return None;
        }
        let field = self.find_field(path, place).map(|range| range.start);
        let offset = field.or_else(|| self.region(path, place));
        offset.map(|it| it as u64)
    }

    /// Sets the size of a detail's payload or stack.
    pub(super) fn resize(&mut self, seq: usize, size: usize, is_stack: bool) {
        self.details(|details| {
            let payload = &mut details[seq].payload;
            if is_stack {
                let size = u16::try_from(size).expect("a 16-bit size");
                let function = payload[..8].to_vec();
                *payload = patched(&DetailRecord::call(0, 0, size).payload, 0, &function);
            } else {
                payload.resize(size, 0);
            }
        });
    }

    /// Truncates a file.
    pub fn cut(&mut self, path: &str, size: usize) {
        let bytes = self.files[path][..size].to_vec();
        self.change(path, bytes);
        if let Some(shape) = self.shapes.get_mut(path) {
            shape.own = shape.own.min(size);
        }
    }

    /// Appends bytes to a file.
    pub fn append(&mut self, path: &str, bytes: &[u8]) {
        let all = [&self.files[path], bytes].concat();
        self.change(path, all);
    }

    /// Replaces a string that occurs exactly once.
    pub fn replace(&mut self, path: &str, from: &str, to: &str) {
        let text = str::from_utf8(&self.files[path]).unwrap();
        assert_eq!(text.matches(from).count(), 1, "{from} in {path}");
        let text = text.replace(from, to);
        self.change(path, text);
    }
}

/// Returns the index file of a thread without details.
#[must_use]
pub fn thread(version: u8, thread_id: u32, events: Vec<EventRecord>) -> IndexFile {
    with_events(version, thread_id, 0, events)
}

/// Returns an index file with these events and with matching counts, times, offsets and checksum.
fn with_events(version: u8, thread_id: u32, flags: u32, events: Vec<EventRecord>) -> IndexFile {
    let built = IndexFile {
        thread_id,
        flags,
        ..IndexFile::new(version, events)
    };
    IndexFile {
        checksum: crc32c(&built.section()),
        ..built
    }
}

/// Returns an event of any kind, without a link.
#[must_use]
pub fn event(kind: u8, timestamp_ns: u64, symbol: u64, depth: u32) -> EventRecord {
    EventRecord {
        timestamp_ns,
        function_id: MODULE + symbol,
        kind,
        depth,
        detail_seq: None,
    }
}

/// Returns the event of a function call.
pub fn call(timestamp_ns: u64, symbol: u64, depth: u32) -> EventRecord {
    event(1, timestamp_ns, symbol, depth)
}

/// Returns the event of a function return.
pub fn ret(timestamp_ns: u64, symbol: u64, depth: u32) -> EventRecord {
    event(2, timestamp_ns, symbol, depth)
}

/// Returns the events of thread 7. Function 1 calls function 2, which returns, and function 3,
/// which throws. Finally, function 1 returns.
fn events() -> Vec<EventRecord> {
    let mut events = vec![
        call(T, 1, 1),
        call(T + 1000, 2, 2),
        ret(T + 2000, 2, 2),
        call(T + 3000, 3, 2),
        event(3, T + 4000, 3, 2),
        ret(T + 5000, 1, 1),
    ];
    for (detail_seq, seq) in [0, 2, 3].into_iter().enumerate() {
        events[seq].detail_seq = Some(detail_seq as u64);
    }
    events
}

/// Returns the details of the first call, the first return and the call that throws.
fn details() -> Vec<DetailRecord> {
    vec![
        record(3, 0, T, 1, 0),
        record(4, 2, T + 2000, 2, 17),
        record(3, 3, T + 3000, 3, 8),
    ]
}

/// Returns the detail of a call or return, with registers and `stack` bytes of stack.
pub fn record(
    event_type: u16,
    index_seq: u64,
    timestamp: u64,
    symbol: u64,
    stack: u16,
) -> DetailRecord {
    let call = DetailRecord::call(index_seq, timestamp, stack);
    DetailRecord {
        event_type,
        payload: patched(&call.payload, 0, &(MODULE + symbol).to_le_bytes()),
        ..call
    }
}
