//! A session without a fault, to put faults into.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::files::{DetailFile, DetailRecord, EventRecord, IndexFile, crc32c, patched};
use super::{DETAIL, INDEX, MANIFEST, OTHER};

/// The first timestamp of thread 7.
pub(crate) const T: u64 = 1_234_567_000_000_000;

/// The module of all functions; their symbols count from 1.
const MODULE: u64 = 0x0644_4fc1 << 32;

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

/// A session in memory, in one wire version. Without an edit a check finds nothing in it:
///
/// | file                  | size | events                                            | footer |
/// |-----------------------|------|---------------------------------------------------|--------|
/// | `thread_7/index.atf`  | 320  | 6 at 64 + 32 k, those at 0, 2 and 3 with a link   | at 256 |
/// | `thread_7/detail.atf` | 525  | 3 at 64, 188 and 329, stacks of 0, 17 and 8 bytes | at 461 |
/// | `thread_9/index.atf`  | 192  | 2, no link; first and last of the session         | at 128 |
/// | `manifest.json`       | 451  |                                                   |        |
pub(crate) struct Trace {
    pub(crate) version: u8,
    index: IndexFile,
    detail: DetailFile,
    files: BTreeMap<String, Vec<u8>>,
    folders: Vec<String>,
    symlinks: BTreeMap<String, PathBuf>,
}

impl Trace {
    pub(crate) fn clean(version: u8) -> Self {
        let index = IndexFile::of(version, events());
        let detail = DetailFile::of(version, details());
        let other = IndexFile {
            thread_id: 9,
            flags: 0,
            ..IndexFile::of(version, Vec::new())
        };
        let other = with_events(&other, vec![call(T - 1000, 1, 1), ret(T + 99_000, 1, 1)]);
        let mut this = Self {
            version,
            index,
            detail,
            files: BTreeMap::new(),
            folders: Vec::new(),
            symlinks: BTreeMap::new(),
        };
        this.put(INDEX, this.index.bytes());
        this.put(DETAIL, this.detail.bytes());
        this.put(OTHER, other.bytes());
        this.put(MANIFEST, MANIFEST_TEXT);
        this
    }

    /// The least session: one thread of two events, one of them with a detail, and no symbols.
    pub(crate) fn small(version: u8) -> Self {
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

    /// Edits the fields of thread 7's index file, each of which may lie. Undoes patches.
    pub(crate) fn index(&mut self, edit: impl FnOnce(&mut IndexFile)) {
        edit(&mut self.index);
        self.put(INDEX, self.index.bytes());
    }

    /// Edits thread 7's events; header and footer follow.
    pub(crate) fn events(&mut self, edit: impl FnOnce(&mut Vec<EventRecord>)) {
        let mut events = self.index.events.clone();
        edit(&mut events);
        self.index = with_events(&self.index, events);
        self.put(INDEX, self.index.bytes());
    }

    /// Edits the fields of the detail file, each of which may lie. Undoes patches.
    pub(crate) fn detail(&mut self, edit: impl FnOnce(&mut DetailFile)) {
        edit(&mut self.detail);
        self.put(DETAIL, self.detail.bytes());
    }

    /// Edits the detail events; header and footer follow.
    pub(crate) fn details(&mut self, edit: impl FnOnce(&mut Vec<DetailRecord>)) {
        let mut details = self.detail.events.clone();
        edit(&mut details);
        self.detail = DetailFile::of(self.version, details);
        self.put(DETAIL, self.detail.bytes());
    }

    /// Takes detail recording away: no detail file, no links, no flag, and the manifest says so.
    pub(crate) fn without_details(&mut self) {
        self.events(|events| {
            for event in events {
                event.detail_seq = None;
            }
        });
        self.index(|file| file.flags = 0);
        self.remove(DETAIL);
        self.replace(
            MANIFEST,
            r#""id": 7, "has_detail": true"#,
            r#""id": 7, "has_detail": false"#,
        );
    }

    /// Gives all files this operating system and clock.
    pub(crate) fn platform(&mut self, os: u8, clock: u8) {
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

    pub(crate) fn file(&self, path: &str) -> &[u8] {
        &self.files[path]
    }

    pub(crate) fn put(&mut self, path: &str, bytes: impl Into<Vec<u8>>) {
        self.files.insert(path.to_owned(), bytes.into());
    }

    /// Removes a file or a folder.
    pub(crate) fn remove(&mut self, path: &str) {
        self.files
            .retain(|file, _| !Path::new(file).starts_with(path));
    }

    pub(crate) fn rename(&mut self, from: &str, to: &str) {
        let files = std::mem::take(&mut self.files).into_iter();
        let renamed = |file: String| match Path::new(&file).strip_prefix(from) {
            Ok(rest) if rest == Path::new("") => to.to_owned(),
            Ok(rest) => Path::new(to).join(rest).to_string_lossy().into_owned(),
            Err(_) => file,
        };
        self.files = files.map(|(file, bytes)| (renamed(file), bytes)).collect();
    }

    pub(crate) fn folder(&mut self, path: &str) {
        self.folders.push(path.to_owned());
    }

    pub(crate) fn symlink(&mut self, path: &str, target: impl Into<PathBuf>) {
        self.symlinks.insert(path.to_owned(), target.into());
    }

    /// Overwrites bytes.
    pub(crate) fn patch(&mut self, path: &str, offset: usize, bytes: &[u8]) {
        let patched = patched(&self.files[path], offset, bytes);
        self.put(path, patched);
    }

    /// Overwrites bytes of the index events and gives the footer their checksum.
    pub(crate) fn patch_event(&mut self, offset: usize, bytes: &[u8]) {
        self.patch(INDEX, offset, bytes);
        let checksum = crc32c(&self.files[INDEX][64..256]);
        self.patch(INDEX, 256 + 4, &checksum.to_le_bytes());
    }

    /// Overwrites bytes of the detail events and gives the footer their checksum.
    pub(crate) fn patch_detail(&mut self, offset: usize, bytes: &[u8]) {
        self.patch(DETAIL, offset, bytes);
        let checksum = crc32c(&self.files[DETAIL][64..461]);
        self.patch(DETAIL, 461 + 4, &checksum.to_le_bytes());
    }

    pub(crate) fn cut(&mut self, path: &str, size: usize) {
        let bytes = self.files[path][..size].to_vec();
        self.put(path, bytes);
    }

    pub(crate) fn append(&mut self, path: &str, bytes: &[u8]) {
        let all = [&self.files[path], bytes].concat();
        self.put(path, all);
    }

    /// Replaces the one place with this text.
    pub(crate) fn replace(&mut self, path: &str, from: &str, to: &str) {
        let text = str::from_utf8(&self.files[path]).unwrap();
        assert_eq!(text.matches(from).count(), 1, "{from} in {path}");
        let text = text.replace(from, to);
        self.put(path, text);
    }

    /// Writes the session into a folder.
    pub(crate) fn write(&self, folder: &Path) {
        for path in &self.folders {
            fs::create_dir_all(folder.join(path)).unwrap();
        }
        for (path, bytes) in &self.files {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        #[cfg(unix)]
        for (path, target) in &self.symlinks {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(target, path).unwrap();
        }
    }
}

/// The same file with other events: counts, times, places and checksum follow.
fn with_events(file: &IndexFile, events: Vec<EventRecord>) -> IndexFile {
    let built = IndexFile {
        thread_id: file.thread_id,
        flags: file.flags,
        ..IndexFile::of(file.version, events)
    };
    IndexFile {
        checksum: crc32c(&built.section()),
        ..built
    }
}

fn event(kind: u8, timestamp_ns: u64, symbol: u64, depth: u32) -> EventRecord {
    EventRecord {
        timestamp_ns,
        function_id: MODULE + symbol,
        kind,
        depth,
        detail_seq: None,
    }
}

/// A call to a function.
pub(crate) fn call(timestamp_ns: u64, symbol: u64, depth: u32) -> EventRecord {
    event(1, timestamp_ns, symbol, depth)
}

/// Its return.
pub(crate) fn ret(timestamp_ns: u64, symbol: u64, depth: u32) -> EventRecord {
    event(2, timestamp_ns, symbol, depth)
}

/// Function 1 calls 2, which returns, and 3, which throws; then it returns.
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

/// The details of the first call, of the first return, and of the call that throws.
fn details() -> Vec<DetailRecord> {
    vec![
        record(3, 0, T, 1, 0),
        record(4, 2, T + 2000, 2, 17),
        record(3, 3, T + 3000, 3, 8),
    ]
}

/// A call or return with registers and a piece of the stack.
pub(crate) fn record(
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
