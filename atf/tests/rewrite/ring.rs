//! Recovers events that a killed writer left in `ring.atf`.

use atf::Wire;
use serde_json::json;

use atf::rewrite::{RecoverOptions, Report, recover};

use crate::{Places, count, files, thread_of};
use atf_samples::files::{DetailFile, IndexFile, patched, ring_after};

const EVENTS: u64 = 9;
const DETAILS: u64 = 3;

/// A thread whose writer was killed. Each file contains only its first `…_size` bytes, and the ring
/// contains the bytes from `…_start` on.
struct Killed {
    version: u8,
    index_size: usize,
    index_start: usize,
    detail_size: usize,
    detail_start: usize,
}

impl Killed {
    /// Describes a thread whose files contain four of nine events and one of three details. Its
    /// ring also contains two of these four events.
    fn new(version: u8) -> Self {
        let details = DetailFile::finalized(version, DETAILS);
        let first_detail = usize::try_from(details.places()[1]).unwrap();
        Self {
            version,
            index_size: 64 + 4 * 32,
            index_start: 64 + 2 * 32,
            detail_size: first_detail,
            detail_start: first_detail,
        }
    }

    /// Creates a session with this thread. Also returns the ring.
    fn session(&self) -> (Places, Vec<u8>) {
        let places = Places::new();
        let index = IndexFile::finalized(self.version, EVENTS).placeholder();
        let index = index.without_footer();
        let detail = DetailFile::finalized(self.version, DETAILS).placeholder();
        let detail = detail.without_footer();
        let starts = [self.index_start, self.detail_start];
        let ring = ring_after(self.version, 7, [&index, &detail], starts);
        places.put_thread(
            "thread_7",
            &index[..self.index_size],
            &detail[..self.detail_size],
        );
        places.put("in/thread_7/ring.atf", &ring);
        (places, ring)
    }
}

fn recovered(places: &Places) -> Report {
    places.recover_twice(&RecoverOptions::default())
}

#[test]
fn events_from_a_ring_are_written_and_counted() {
    for (version, torn) in [(1, [0, 0]), (2, [0, 0]), (1, [10, 30]), (2, [10, 30])] {
        let mut killed = Killed::new(version);
        // An event that is torn in a file is whole in the ring.
        killed.index_size += torn[0];
        killed.detail_size += torn[1];
        let (places, _) = killed.session();
        let report = recovered(&places);
        let thread = thread_of(&report);
        assert_eq!(thread["events"], json!({"kept": 9, "from_ring": 5}));
        assert_eq!(thread["details"], json!({"kept": 3, "from_ring": 2}));
        assert!(thread.get("set_aside").is_none() && thread.get("dropped").is_none());
        let text = report.to_string();
        let line = "9 events (5 from ring.atf), 3 details (2 from ring.atf)\n";
        assert!(text.contains(line), "{text}");

        let found = files(&places.path("out"));
        let names: Vec<_> = found.keys().map(String::as_str).collect();
        let expected = [
            "manifest.json",
            "recovery.json",
            "thread_7/detail.atf",
            "thread_7/index.atf",
        ];
        assert_eq!(names, expected);
        let index = IndexFile::finalized(version, EVENTS).bytes();
        assert!(found["thread_7/index.atf"] == index);
        let detail = DetailFile::finalized(version, DETAILS).bytes();
        assert!(found["thread_7/detail.atf"] == detail);
    }
}

#[test]
fn the_events_of_a_ring_survive_even_if_its_details_do_not_match() {
    for (version, is_deleted) in [(1, false), (2, false), (1, true), (2, true)] {
        let (places, ring) = Killed::new(version).session();
        let details = places.path("in/thread_7/detail.atf");
        if is_deleted {
            std::fs::remove_file(details).unwrap();
        } else {
            // A byte of the first detail's payload has changed.
            let bytes = std::fs::read(&details).unwrap();
            let last = bytes.len() - 1;
            std::fs::write(&details, patched(&bytes, last, &[!bytes[last]])).unwrap();
        }
        let report = recovered(&places);
        let thread = thread_of(&report);
        let events = json!({"kept": 9, "from_ring": 5});
        assert_eq!(thread["events"], events, "{report}");
        let details = json!({"kept": u64::from(!is_deleted)});
        assert_eq!(thread["details"], details, "{report}");
        let kinds = ["ring_details_not_read", "ring_not_read"];
        assert_eq!(kinds.map(|what| count(&thread, what)), [1, 0]);
        assert!(report.losses() > 0);
        let found = files(&places.path("out"));
        assert_eq!(found["unreadable/thread_7/ring.atf"], ring);
    }
}

#[test]
fn a_ring_next_to_a_damaged_header_is_salvaged() {
    for version in [1, 2] {
        let (places, _) = Killed::new(version).session();
        let index = std::fs::read(places.path("in/thread_7/index.atf")).unwrap();
        places.put("in/thread_7/index.atf", patched(&index, 0, b"????"));
        let report = places.recover_by(&RecoverOptions::default().salvage(true));
        assert_eq!((report.events(), report.details()), (9, 3), "{report}");
        let thread = thread_of(&report);
        assert_eq!(thread["events"]["from_ring"], 5);
        assert_eq!(thread["details"]["from_ring"], 2);
        assert_eq!(count(&thread, "ring_not_read"), 0);
    }
}

/// The system crashed after the kill: the files lost the bytes written last, but the ring survived.
#[test]
fn salvage_keeps_the_events_of_a_ring_whose_files_lost_their_ends() {
    for version in [1, 2] {
        let whole = Killed::new(version);
        let cut = Killed {
            index_size: 64 + 2 * 32 + 5,
            index_start: 64 + 4 * 32,
            detail_size: whole.detail_size - 3,
            ..whole
        };
        let (places, _) = cut.session();
        assert_eq!(recovered(&places).events(), 2);
        let options = RecoverOptions::default().salvage(true);
        let report = recover(places.path("in"), places.path("salvaged"), &options).unwrap();
        let thread = thread_of(&report);
        let events = json!({"kept": 7, "from_ring": 5});
        assert_eq!(thread["events"], events, "{report}");
        let details = json!({"kept": 1, "from_ring": 1});
        assert_eq!(thread["details"], details, "{report}");
        assert_eq!(count(&thread, "ring_not_read"), 0);
        assert!(report.losses() > 0);
    }
}

#[test]
fn events_from_a_ring_are_converted_and_scrubbed_like_all_others() {
    let (places, _) = Killed::new(1).session();
    let thread = thread_of(&places.convert("in", "two", Wire::V2));
    assert_eq!(thread["events"]["from_ring"], 5);
    assert_eq!(count(&thread, "call_depth_lost"), 9);
    let found = files(&places.path("two"));
    let index = IndexFile::finalized(2, EVENTS).bytes();
    assert!(found["thread_7/index.atf"] == index);

    places.scrub("shared");
    let found = files(&places.path("shared"));
    assert!(found["thread_7/index.atf"] == IndexFile::finalized(1, EVENTS).bytes());
    assert!(found.keys().all(|name| !name.contains("ring")));
}

/// A killed writer's last payload ends with what looks like a footer, with or without plausible
/// numbers. The payload survives completely, in the ring and in the file, with and without salvage.
#[test]
fn a_payload_that_ends_like_a_footer_survives_in_the_ring_and_in_the_file() {
    for (wire, survive_kill, fits, salvage) in [Wire::V1, Wire::V2]
        .into_iter()
        .flat_map(|wire| (0..8).map(move |bits| (wire, bits & 1 > 0, bits & 2 > 0, bits & 4 > 0)))
    {
        let places = Places::new();
        let options = atf::write::WriteOptions::default()
            .wire(wire)
            .survive_kill(survive_kill);
        let thread = places.path("in/thread_7");
        let mut writer = atf::write::ThreadWriter::create(&thread, 7, &options).unwrap();
        let mut payloads = vec![vec![7; 100], Vec::new()];
        let section = 2 * 24 + 100 + 40;
        let mut footer = b"2DTA\0\0\0\0".to_vec();
        for number in [2, section - 40, 1000, 1001] {
            footer.extend(u64::to_le_bytes(if fits { number } else { 0 }));
        }
        footer.extend([0; 24]);
        payloads[1] = [vec![9; 40], footer].concat();
        for (seq, payload) in (0..).zip(&payloads) {
            let event = atf::write::Event::new(1000 + seq, 1, atf::EventKind::CALL, 1);
            let detail = atf::write::Detail::new(atf::DetailEventType(3), payload);
            writer.write_with_detail(&event, &detail).unwrap();
        }
        if !survive_kill {
            writer.flush().unwrap();
        }
        // Leave the files as a killed process would.
        std::mem::forget(writer);
        let report = places.recover_by(&RecoverOptions::default().salvage(salvage));
        let thread = thread_of(&report);
        assert_eq!(thread["events"]["kept"], 2, "{report}");
        assert_eq!(thread["details"]["kept"], 2, "{report}");
        assert_eq!(report.losses(), 0, "{report}");
        let detail = atf::detail::DetailReader::open(places.path("out/thread_7/detail.atf"));
        let detail = detail.unwrap();
        for (event, payload) in detail.events().zip(&payloads) {
            assert_eq!(detail.payload(&event.unwrap(), 1000).unwrap(), *payload);
        }
    }
}

/// The reader compares the checksum of all bytes before the ring's.
#[test]
#[cfg(target_os = "linux")]
fn a_hole_before_the_bytes_of_a_ring_is_not_read() {
    const TERABYTE: u64 = 1 << 40;
    let places = Places::new();
    let index = IndexFile::finalized(1, 3).placeholder().without_footer();
    let start = 64 + 2 * 32;
    let ring = ring_after(1, 7, [&index, &index], [start, index.len()]);
    let ring = patched(&ring, 24, &TERABYTE.to_le_bytes());
    places.put("in/thread_7/index.atf", &index[..start]);
    places.put("in/thread_7/ring.atf", ring);
    let index = places.path("in/thread_7/index.atf");
    let file = std::fs::File::options().write(true).open(index).unwrap();
    file.set_len(TERABYTE).unwrap();
    let thread = atf::thread::ThreadReader::open(places.path("in/thread_7")).unwrap();
    assert_eq!(thread.ring(), None);
    let error = thread.ring_error().unwrap();
    assert_eq!(error.field(), Some("header.index_checksum"));
}
