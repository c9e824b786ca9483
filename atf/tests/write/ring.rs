//! Tests buffers that outlive their writer. The offsets are from the reference documentation.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

use atf::thread::ThreadReader;
use atf::write::{Memory, ThreadWriter, WriteOptions};
use atf::{ErrorKind, Wire};

use super::{assert_event, created, put};

const INDEX_CAPACITY: usize = 16;
pub(crate) const INDEX_START: usize = 24;
pub(crate) const INDEX_SIZE: usize = 32;
pub(crate) const INDEX_CHECKSUM: usize = 40;
pub(crate) const DETAIL_CHECKSUM: usize = 44;
const DETAIL_CAPACITY: usize = 48;
pub(crate) const DETAIL_START: usize = 56;
pub(crate) const DETAIL_SIZE: usize = 64;
const INDEX_AREA: usize = 128;

const PAYLOAD: [u8; 20] = [3; 20];

fn options(wire: Wire) -> WriteOptions {
    WriteOptions::default()
        .wire(wire)
        .survive_kill(true)
        .buffer_size(4 << 10)
}

/// The contents of a thread's folder: its files by name.
#[derive(Clone, PartialEq)]
struct Files(BTreeMap<String, Vec<u8>>);

impl Files {
    fn read(folder: &Path) -> Self {
        Self(atf_samples::tree(folder).unwrap())
    }

    fn open(&self) -> ThreadReader {
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in &self.0 {
            fs::write(folder.path().join(name), bytes).unwrap();
        }
        ThreadReader::open(folder.path()).unwrap()
    }

    fn file(&mut self, name: &str) -> &mut Vec<u8> {
        self.0.get_mut(name).unwrap()
    }

    fn set(&mut self, offset: usize, bytes: &[u8]) {
        self.file("ring.atf")[offset..offset + bytes.len()].copy_from_slice(bytes);
    }

    fn put(&mut self, offset: usize, value: u64) {
        self.set(offset, &value.to_le_bytes());
    }

    fn number(&self, offset: usize) -> u64 {
        let bytes = &self.0["ring.atf"][offset..offset + 8];
        u64::from_le_bytes(bytes.try_into().unwrap())
    }
}

/// Writes events `from` to `to`. Every third event has a detail.
fn write(writer: &mut ThreadWriter, from: u64, to: u64) {
    for seq in from..to {
        put(writer, seq, (seq % 3 == 0).then_some(&PAYLOAD)).unwrap();
    }
}

/// Compares the first `count` events and their details with what was written.
#[track_caller]
fn assert_whole(thread: &ThreadReader, count: u64) {
    assert!(thread.ring_error().is_none(), "{:?}", thread.ring_error());
    assert_eq!(thread.index().event_count(), count);
    let details = thread.detail().unwrap();
    assert_eq!(details.event_count(), count.div_ceil(3));
    for (seq, read) in thread.index().events_in(..).enumerate() {
        let (seq, read) = (seq as u64, read.unwrap());
        assert_event(&read, seq);
        let detail = thread.detail_of(&read).unwrap().found();
        assert_eq!(detail.is_some(), seq.is_multiple_of(3));
        if let Some(detail) = detail {
            assert_eq!(detail.header.index_seq, seq);
            assert_eq!(details.payload(&detail, 100).unwrap(), PAYLOAD);
        }
    }
}

#[test]
fn a_finalized_thread_has_no_ring_and_the_same_files() {
    for &wire in Wire::ALL {
        let files = [true, false].map(|survive_kill| {
            let (folder, mut writer) = created(&options(wire).survive_kill(survive_kill));
            write(&mut writer, 0, 1000);
            assert_eq!(folder.path().join("ring.atf").exists(), survive_kill);
            writer.finalize().unwrap();
            assert!(!folder.path().join("ring.atf").exists());
            Files::read(folder.path())
        });
        assert!(files[0] == files[1]);
    }
}

#[test]
fn a_kill_between_any_two_steps_of_a_flush_loses_nothing() {
    for &wire in Wire::ALL {
        let (folder, mut writer) = created(&options(wire));
        // The files already contain events, so the areas' starts and checksums no longer have their
        // initial values.
        write(&mut writer, 0, 40);
        writer.flush().unwrap();
        write(&mut writer, 40, 100);
        let before = Files::read(folder.path());
        writer.flush().unwrap();
        let after = Files::read(folder.path());
        assert_ne!(before.number(INDEX_START), after.number(INDEX_START));
        assert_ne!(before.number(DETAIL_START), after.number(DETAIL_START));
        let sizes = [INDEX_SIZE, DETAIL_SIZE].map(|at| after.number(at));
        assert_eq!(sizes, [0, 0]);

        let mut state = before.clone();
        let mut steps = 0;
        let mut check = |state: &Files| {
            assert_whole(&state.open(), 100);
            steps += 1;
        };
        check(&state);
        // The details reach the file in small steps before their area is emptied and moved.
        // Afterwards, the index reaches its file in the same way.
        let lanes = [
            ("detail.atf", DETAIL_SIZE, DETAIL_START, DETAIL_CHECKSUM),
            ("index.atf", INDEX_SIZE, INDEX_START, INDEX_CHECKSUM),
        ];
        for (name, area_size, start, checksum) in lanes {
            let (from, to) = (before.0[name].len(), after.0[name].len());
            for size in (from..=to).step_by(7).chain([to]) {
                *state.file(name) = after.0[name][..size].to_vec();
                check(&state);
            }
            for (field, size) in [(area_size, 8), (start, 8), (checksum, 4)] {
                state.set(field, &after.0["ring.atf"][field..field + size]);
                check(&state);
            }
        }
        assert!(steps > 300, "{steps}");
    }
}

/// A change to the folder, and the field that the error must mention.
type Case = (fn(&mut Files), &'static str);

#[test]
fn a_ring_that_does_not_belong_to_its_files_is_ignored_and_reported() {
    let (folder, mut writer) = created(&options(Wire::V1));
    write(&mut writer, 0, 40);
    writer.flush().unwrap();
    write(&mut writer, 40, 100);
    let good = Files::read(folder.path());
    assert_whole(&good.open(), 100);

    let cases: [Case; 21] = [
        (|it| it.set(3, b"1"), "header.magic"),
        (|it| it.set(4, &[2]), "header.endian"),
        (|it| it.set(5, &[3]), "header.version"),
        (|it| it.set(5, &[2]), "header.version"),
        (|it| it.set(8, &[6]), "header.thread_id"),
        (|it| it.set(INDEX_CHECKSUM, &[0]), "header.index_checksum"),
        (|it| it.set(DETAIL_CHECKSUM, &[0]), "header.detail_checksum"),
        // Starts after the end, in the header and between two events.
        (|it| it.put(INDEX_START, 1 << 40), "header.index_start"),
        (|it| it.put(INDEX_START, 32), "header.index_start"),
        (|it| it.put(INDEX_START, 96), "header.index_start"),
        (|it| it.put(DETAIL_START, u64::MAX), "header.detail_start"),
        (|it| it.put(INDEX_SIZE, 5000), "header.index_size"),
        (|it| it.put(DETAIL_SIZE, u64::MAX), "header.detail_size"),
        (
            |it| it.put(INDEX_CAPACITY, u64::MAX),
            "header.index_capacity",
        ),
        (|it| it.put(DETAIL_CAPACITY, 5000), "header.detail_capacity"),
        (
            |it| it.file("ring.atf").truncate(4000),
            "header.index_capacity",
        ),
        (|it| it.file("ring.atf").truncate(127), "header"),
        (|it| it.file("ring.atf").clear(), "header"),
        (|it| drop(it.0.remove("detail.atf")), "detail.atf"),
        // The file continues differently, and has a different event.
        (
            |it| it.file("index.atf").extend([0xee; 32]),
            "header.index_start",
        ),
        (|it| it.file("index.atf")[100] ^= 1, "header.index_checksum"),
    ];
    for (at, (change, field)) in cases.into_iter().enumerate() {
        let mut files = good.clone();
        change(&mut files);
        let thread = files.open();
        assert_eq!(thread.ring(), None, "case {at}");
        let error = thread.ring_error().expect(field);
        assert_eq!(error.field(), Some(field), "case {at}: {error}");
        assert!(error.path().unwrap().ends_with("ring.atf"), "case {at}");
        let events = (files.0["index.atf"].len() as u64 - 64) / 32;
        assert_eq!(thread.index().event_count(), events, "case {at}");
    }
    // The last byte that an area uses matters, but the byte after it does not.
    let mut files = good.clone();
    let end = INDEX_AREA + usize::try_from(good.number(INDEX_SIZE)).unwrap();
    files.set(end, &[0xff]);
    assert_whole(&files.open(), 100);
}

#[test]
fn a_ring_next_to_a_finalized_index_is_ignored() {
    let (folder, mut writer) = created(&options(Wire::V1));
    write(&mut writer, 0, 100);
    let ring = fs::read(folder.path().join("ring.atf")).unwrap();
    writer.finalize().unwrap();
    for ring in [ring, b"garbage".to_vec()] {
        fs::write(folder.path().join("ring.atf"), ring).unwrap();
        let thread = ThreadReader::open(folder.path()).unwrap();
        assert_eq!(thread.ring(), None);
        assert!(thread.index().footer().is_some());
        assert_whole(&thread, 100);
    }
}

#[test]
fn a_ring_that_cannot_be_created_leaves_no_files() {
    let memory = Memory::new();
    let storage = Arc::new(memory.clone());
    let error = ThreadWriter::create_on(storage, "t", 0, &options(Wire::V1)).unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Io(io::ErrorKind::Unsupported));
    assert!(memory.paths().is_empty() && memory.folders().is_empty());

    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("thread_0");
    for size in [(16 << 20) + 32, usize::MAX / 8] {
        let large = options(Wire::V1).buffer_size(size);
        let error = ThreadWriter::create(&folder, 0, &large).unwrap_err();
        assert_eq!(error.field(), Some("buffer_size"));
        assert_eq!(error.path(), Some(&*folder.join("ring.atf")));
        assert!(!folder.exists());
    }
}
