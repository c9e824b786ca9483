//! Writes the threads of the cases, each described by a line of text.

use std::fs;
use std::path::Path;

use atf_samples::files::{DetailFile, DetailRecord, EventRecord, IndexFile, RingFile, crc32c};

/// The events of a thread, with their details.
#[derive(Default)]
struct Events {
    index: Vec<EventRecord>,
    details: Vec<DetailRecord>,
}

impl Events {
    /// Adds an event, such as `5 call 1`: its time, kind and function. An optional fourth word is
    /// its depth (wire version 1), and a fifth is the payload of its detail.
    fn add(&mut self, text: &str) {
        let words: Vec<_> = text.splitn(5, ' ').collect();
        let timestamp = words[0].parse().unwrap();
        let detail_seq = words.get(4).map(|payload| {
            self.details.push(DetailRecord {
                event_type: 3,
                index_seq: self.index.len() as u64,
                timestamp,
                payload: payload.as_bytes().to_vec(),
            });
            self.details.len() as u64 - 1
        });
        self.index.push(EventRecord {
            timestamp_ns: timestamp,
            kind: match words[1] {
                "call" => 1,
                "return" => 2,
                "exception" => 3,
                kind => panic!("{kind}"),
            },
            function_id: words[2].parse().unwrap(),
            depth: words.get(3).map_or(1, |depth| depth.parse().unwrap()),
            detail_seq,
        });
    }

    /// Parses events that are separated by commas. `9 events` generates nine events, a third of
    /// them with details; `9 calls`, nine calls that do not return.
    fn parse(text: &str, version: u8) -> Self {
        if let Some(count) = text.strip_suffix(" events") {
            let count: u64 = count.parse().unwrap();
            return Self {
                index: IndexFile::finalized(version, count).events,
                details: DetailFile::finalized(version, count.div_ceil(3)).events,
            };
        }
        let mut events = Self::default();
        match text.strip_suffix(" calls") {
            Some(count) => (0..count.parse().unwrap())
                .for_each(|time: u64| events.add(&format!("{time} call 1"))),
            None => text.split(", ").for_each(|text| events.add(text)),
        }
        events
    }
}

/// Writes a finalized thread: `v` with the wire version, then its events. The path is a folder whose
/// name begins with `thread_`, or an index file.
///
/// If the text ends with ` unfinalized`, the file has no footer, and its header is a placeholder. The
/// events after ` | ` are in a kill journal.
pub(super) fn write(path: &Path, text: &str) {
    let (version, text) = text.split_once(' ').unwrap();
    let version = version.strip_prefix('v').unwrap().parse().unwrap();
    let name = path.file_name().unwrap().to_str().unwrap();
    let id = name.strip_prefix("thread_");
    let index_path = match id {
        Some(_) => path.join("index.atf"),
        None => path.to_owned(),
    };
    fs::create_dir_all(index_path.parent().unwrap()).unwrap();
    let without_end = text.strip_suffix(" unfinalized");
    let (text, journal) = match without_end.unwrap_or(text).split_once(" | ") {
        Some((text, journal)) => (text, Some(journal)),
        None => (without_end.unwrap_or(text), None),
    };
    let events = Events::parse(text, version);
    let mut index = IndexFile::new(version, events.index);
    index.flags = u32::from(!events.details.is_empty());
    if let Some(id) = id.and_then(|id| id.parse().ok()).filter(|id| *id != 7) {
        index.thread_id = id;
        index.checksum = crc32c(&index.section());
    }
    let bytes = match without_end.or(journal) {
        Some(_) => index.clone().placeholder().without_footer(),
        None => index.bytes(),
    };
    fs::write(index_path, &bytes).unwrap();
    if id.is_some() && !events.details.is_empty() {
        let mut detail = DetailFile::new(version, events.details);
        detail.thread_id = index.thread_id;
        detail.checksum = crc32c(&detail.section());
        fs::write(path.join("detail.atf"), detail.bytes()).unwrap();
    }
    if let Some(journal) = journal {
        let mut ring = RingFile::new(version, index.thread_id);
        ring.index.start = bytes.len() as u64;
        ring.index.checksum = index.checksum;
        index.events = Events::parse(journal, version).index;
        ring.index.bytes = index.section();
        fs::write(path.join("ring.atf"), ring.bytes()).unwrap();
    }
}
