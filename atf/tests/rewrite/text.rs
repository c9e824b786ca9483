//! Tests the report's text line by line. Each expected line was checked against the files that it
//! describes.

mod sessions;

use atf::Wire;
use atf::manifest::Manifest;
use atf::rewrite::{RecoverOptions, Report, ScrubOptions, recover, scrub};

use crate::{Places, unlinked};
use atf_samples::files::{
    DetailFile, DetailRecord, EventRecord, IndexFile, RingFile, crc32_ieee, crc32c, padded, patched,
};

/// The offset of the first event.
const EVENTS: usize = 64;
/// The size of an event in bytes.
const EVENT: usize = 32;
/// The size in bytes of each detail in these files.
const DETAIL: usize = 124;
/// The time of the first event.
const TIME: u64 = 0x0004_62d5_3c8a_0000;
/// The function of the events with details.
const FUNCTION: u64 = 0x0644_4fc1_0000_0001;

/// Returns the index of a thread without details.
fn index(id: u32, count: u64) -> IndexFile {
    unlinked(linked(id, count))
}

/// Returns the index of a thread in which every third event has a detail.
fn linked(id: u32, count: u64) -> IndexFile {
    let mut index = IndexFile {
        thread_id: id,
        ..IndexFile::finalized(1, count)
    };
    for event in index.events.iter_mut().step_by(3) {
        (event.kind, event.function_id) = (1, FUNCTION);
    }
    rechecked(index)
}

/// Sets the checksum to match the events.
fn rechecked(mut index: IndexFile) -> IndexFile {
    index.checksum = crc32c(&index.section());
    index
}

/// Returns `count` details of calls, each 124 bytes long.
fn detail(id: u32, count: u64) -> DetailFile {
    let call = |seq| DetailRecord::call(3 * seq, TIME + 3000 * seq, 0);
    let mut detail = DetailFile {
        thread_id: id,
        ..DetailFile::new(1, (0..count).map(call).collect())
    };
    detail.checksum = crc32c(&detail.section());
    detail
}

fn put(places: &Places, id: u32, index: impl AsRef<[u8]>, detail: Option<&[u8]>) {
    places.put(&format!("in/thread_{id}/index.atf"), index);
    if let Some(detail) = detail {
        places.put(&format!("in/thread_{id}/detail.atf"), detail);
    }
}

/// Replaces placeholders for checksums in a text with their values.
fn with_numbers(text: &str, numbers: &[(&str, u32)]) -> String {
    let number =
        |text: String, (name, number): &(&str, u32)| text.replace(name, &format!("{number:#010x}"));
    numbers.iter().fold(text.to_owned(), number)
}

/// Compares the report's text and number of losses with the expected ones.
#[track_caller]
fn assert_report(report: &Report, losses: u64, expected: &str) {
    let text = report.to_string();
    assert_eq!(report.losses(), losses, "{text}");
    assert!(
        text == expected,
        "---- found\n{text}---- expected\n{expected}----"
    );
}

/// Compares the report on a session without a manifest with the expected one, whose last lines are
/// always the same.
#[track_caller]
fn assert_without_manifest(report: &Report, losses: u64, threads: &str) {
    let manifest = "  manifest.json: 0 modules, 0 symbols
    repaired: the original had no manifest: manifest.json [ATF-MANI-001]
";
    assert_report(report, losses, &[threads, manifest].concat());
}

#[test]
fn problems_of_events_and_details() {
    let event = |time, kind, link| EventRecord::new(time, FUNCTION, kind, link);
    let index = IndexFile::new(
        1,
        vec![
            event(1000, 1, Some(0)),
            event(900, 2, None),
            event(900, 1, None),
            event(1100, 9, None),
            event(1200, 1, None),
            event(1300, 2, Some(1)),
            event(1400, 1, Some(2)),
            event(1500, 1, Some(3)),
            event(1600, 1, Some(4)),
        ],
    );
    let detail = DetailFile::new(
        1,
        vec![
            DetailRecord::call(0, 1001, 0),
            DetailRecord::call(5, 1300, 0),
            DetailRecord::call(6, 1400, 0),
            DetailRecord::call(7, 1500, 257),
            DetailRecord::call(8, 1600, 256),
        ],
    );
    let places = Places::new();
    // Give event 4 a different thread id.
    let bytes = patched(&index.without_footer(), EVENTS + 4 * EVENT + 16, &[8]);
    // Give detail 2 a different thread id and function.
    let start = usize::try_from(detail.places()[2]).unwrap();
    let details = patched(&detail.without_footer(), start + 12, &[9]);
    let details = patched(&details, start + 24, &[2]);
    put(&places, 7, bytes, Some(&details));
    let expected = "\
session: recovered, 9 events and 5 details of 1 thread
  thread_7: 9 events, 5 details
    repaired: the file is damaged: detail.atf: footer: no footer (at 0x4ad) [ATF-DFTR-001]
    repaired: the file is damaged: index.atf: footer: no footer (at 0x160) [ATF-IFTR-001]
    stays: content that breaks a rule: detail.atf: events[2].thread_id: 9, the header has 7 (at 0x144) [ATF-DEVT-004]
    stays: content that breaks a rule: detail.atf: events[3].payload.stack_size: 257, at most 256 (at 0x22c) [ATF-DPAY-001]
    stays: content that breaks a rule: index.atf: events[1].timestamp_ns: 900 is less than the previous 1000 (at 0x60) [ATF-IEVT-001]
    stays: content that breaks a rule: index.atf: events[3].event_kind: unknown kind 9 (at 0xb4) [ATF-IEVT-002]
    stays: content that breaks a rule: index.atf: events[4].thread_id: 8, the header has 7 (at 0xd0) [ATF-IEVT-003]
    stays: content that breaks a rule: detail.atf: events[0].timestamp: 1001, index event 0 has 1000 (at 0x50) [ATF-LINK-006]
    stays: content that breaks a rule: detail.atf: events[1].event_type: 3, expected 4: index event 5 has kind 2 (at 0xc0) [ATF-LINK-007]
    stays: content that breaks a rule: detail.atf: events[2].payload.function_id: 0x06444fc100000002, index event 6 has 0x06444fc100000001 (at 0x150) [ATF-LINK-011]
";
    assert_without_manifest(&places.recover(), 0, expected);
}

#[test]
fn how_files_end() {
    let places = Places::new();
    let end = EVENTS + 4 * EVENT;
    let placeholder = |id| index(id, 4).placeholder();
    // Truncate files within the last event and within the footer, and add zeros after the events.
    let cut = &placeholder(1).without_footer()[..end - 5];
    put(&places, 1, cut, None);
    let cut = &placeholder(2).bytes()[..end + 20];
    put(&places, 2, cut, None);
    let zeros = padded(&placeholder(3).without_footer(), 4096);
    put(&places, 3, zeros, None);
    // Use a footer for different events, and bytes after a good footer.
    let other = IndexFile {
        footer_count: 5,
        ..index(4, 4)
    };
    let more = |bytes: Vec<u8>| [&bytes[..], b"more"].concat();
    put(&places, 4, more(other.bytes()), None);
    put(&places, 5, more(index(5, 4).bytes()), None);
    // Make the events section begin later.
    let later = IndexFile {
        events_offset: 96,
        footer_offset: 96 + 4 * 32,
        ..index(6, 4)
    };
    let later = [
        &later.header()[..],
        &[5; 32],
        &later.section(),
        &later.footer(),
    ]
    .concat();
    put(&places, 6, later, None);
    put(&places, 7, placeholder(7).bytes(), None);
    // Use headers that count more events than the files contain, and truncated files that once
    // contained all of them.
    let lies = IndexFile {
        header_count: 5,
        header_times: (1, 2),
        ..index(8, 4)
    };
    put(&places, 8, lies.bytes(), None);
    put(&places, 9, &index(9, 4).bytes()[..end - EVENT], None);
    // Put zeros in place of the last event, with nothing after them.
    let zeros = patched(&index(10, 4).bytes()[..end], end - EVENT, &[0; EVENT]);
    put(&places, 10, zeros, None);
    // Use checksums that are absent, computed with the other polynomial, or wrong. One is absent in
    // a file without events.
    for (id, checksum) in [(11, 0), (12, crc32_ieee(&index(12, 4).section())), (13, 77)] {
        let index = IndexFile {
            checksum,
            ..index(id, 4)
        };
        put(&places, id, index.bytes(), None);
    }
    let none = IndexFile {
        checksum: 0,
        ..index(14, 0)
    };
    put(&places, 14, none.bytes(), None);
    let expected = "\
session: recovered, 49 events and 0 details of 14 threads; 2 events are missing; 1 thing was lost or changed
  thread_1: 3 events, 0 details
    dropped: a torn event: index.atf: 27 bytes (at 0xa0) [ATF-IFTR-010]
    repaired: the file was not finalized: index.atf: footer: no footer (at 0xa0) [ATF-IFTR-001]
  thread_2: 4 events, 0 details
    dropped: a torn footer: index.atf: 20 bytes (at 0xc0) [ATF-IFTR-012]
    repaired: the file was not finalized: index.atf: footer: no footer (at 0xc0) [ATF-IFTR-001]
  thread_3: 4 events, 0 details
    dropped: zeros at the end: index.atf: 4096 bytes (at 0xc0) [ATF-IFTR-011]
    repaired: the file was not finalized: index.atf: footer: no footer (at 0xc0) [ATF-IFTR-001]
  thread_4: 4 events, 0 details
    dropped: a footer that contradicts the file: index.atf: 64 bytes (at 0xc0) [ATF-IFTR-002]
    dropped: bytes after the footer: index.atf: 4 bytes (at 0x100)
    repaired: the file is damaged: index.atf: footer.event_count: 5 events need 160 bytes, the events section has 128 (at 0xc8) [ATF-IFTR-002]
  thread_5: 4 events, 0 details
    dropped: bytes after the footer: index.atf: 4 bytes (at 0x100) [ATF-IFTR-009]
  thread_6: 4 events, 0 details
    dropped: bytes between the header and the first event: index.atf: 32 bytes (at 0x40)
  thread_7: 4 events, 0 details
    repaired: the file was not finalized: index.atf: header: a placeholder, but there is a footer (at 0x0) [ATF-IHDR-017]
  thread_8: 4 events, 0 details
    repaired: a header disagreed with the events, the footer or the other file: index.atf: header.event_count: 5, the footer has 4 (at 0x1c) [ATF-IHDR-014]
    repaired: a header disagreed with the events, the footer or the other file: 2 times, first index.atf: header.time_start_ns: 1, the footer has 1234567890075648 (at 0x30) [ATF-IHDR-016]
  thread_9: 3 events, 0 details
    repaired: the file is damaged: index.atf: footer: no footer (at 0xa0) [ATF-IFTR-001]
    lost: events that the header counts: index.atf: 1 of 4, the file was truncated at 0xa0 [ATF-IHDR-014]
  thread_10: 3 events, 0 details
    dropped: zeros at the end: index.atf: 32 bytes (at 0xa0) [ATF-IFTR-011]
    repaired: the file is damaged: index.atf: footer: no footer (at 0xa0) [ATF-IFTR-001]
    lost: events that the header counts: index.atf: 1 of 4, no event from 0xa0 on [ATF-IHDR-014]
  thread_11: 4 events, 0 details
    repaired: the events had no usable checksum: index.atf: footer.checksum: 0 (at 0xc4) [ATF-IFTR-006]
  thread_12: 4 events, 0 details
    repaired: the events had no usable checksum: index.atf: footer.checksum: [IEEE 12], the IEEE CRC-32 of the events (at 0xc4) [ATF-IFTR-005]
  thread_13: 4 events, 0 details
    stays: the events do not match their checksum: they changed since they were written; the new checksum covers them as they are: index.atf: footer.checksum: 0x0000004d, the events have [CRC 13] (at 0xc4) [ATF-IFTR-004]
  thread_14: 0 events, 0 details
";
    let expected = with_numbers(
        expected,
        &[
            ("[IEEE 12]", crc32_ieee(&index(12, 4).section())),
            ("[CRC 13]", crc32c(&index(13, 4).section())),
        ],
    );
    assert_without_manifest(&places.recover(), 3, &expected);
}

#[test]
fn how_detail_files_end() {
    let places = Places::new();
    let put = |id: u32, bytes: &[u8]| put(&places, id, linked(id, 4).bytes(), Some(bytes));
    let (second, end) = (EVENTS + DETAIL, EVENTS + 2 * DETAIL);
    put(1, &detail(1, 2).placeholder().without_footer()[..end - 5]);
    put(2, &detail(2, 2).placeholder().bytes()[..end + 20]);
    let placeholder = detail(3, 2).placeholder().without_footer();
    put(3, &padded(&placeholder, 4096));
    let other = |id| DetailFile {
        footer_count: 5,
        footer_bytes: 1,
        ..detail(id, 2)
    };
    put(4, &[&other(4).bytes()[..], b"more"].concat());
    put(5, &[&detail(5, 2).bytes()[..], b"more"].concat());
    // Put an impossible length before a good footer, before a wrong footer, and in a file without a
    // footer.
    let broken = |bytes: &[u8]| patched(bytes, second, &5_u32.to_le_bytes());
    put(6, &broken(&detail(6, 2).bytes()));
    put(7, &broken(&other(7).bytes()));
    put(8, &broken(&detail(8, 2).placeholder().without_footer()));
    // Use a file with only a header, one that is shorter than a header, and one without a valid
    // header.
    put(9, &detail(9, 0).header());
    put(10, &detail(10, 2).bytes()[..63]);
    put(11, &[7; 100]);
    // Truncate the file, so that details counted by the header are missing.
    put(12, &detail(12, 2).bytes()[..second + 10]);
    // Truncate both files of a thread.
    let cut = linked(13, 4).placeholder().without_footer();
    places.put("in/thread_13/index.atf", &cut[..cut.len() - 5]);
    let cut = detail(13, 2).placeholder().without_footer();
    places.put("in/thread_13/detail.atf", &cut[..cut.len() - 5]);
    let expected = "\
session: recovered, 51 events and 14 details of 13 threads; 12 things were lost or changed
  thread_1: 4 events, 1 detail
    dropped: a torn event: detail.atf: 119 bytes (at 0xbc) [ATF-DFTR-010]
    repaired: the file was not finalized: detail.atf: footer: no footer (at 0xbc) [ATF-DFTR-001]
    lost: a detail that the index links to: index.atf: events[3].detail_seq: 1 (at 0xbc) [ATF-LINK-002]
  thread_2: 4 events, 2 details
    dropped: a torn footer: detail.atf: 20 bytes (at 0x138) [ATF-DFTR-012]
    repaired: the file was not finalized: detail.atf: footer: no footer (at 0x138) [ATF-DFTR-001]
  thread_3: 4 events, 2 details
    dropped: zeros at the end: detail.atf: 4096 bytes (at 0x138) [ATF-DFTR-011]
    repaired: the file was not finalized: detail.atf: footer: no footer (at 0x138) [ATF-DFTR-001]
  thread_4: 4 events, 2 details
    dropped: a footer that contradicts the file: detail.atf: 64 bytes (at 0x138) [ATF-DFTR-003]
    dropped: bytes after the footer: detail.atf: 4 bytes (at 0x178)
    repaired: the file is damaged: detail.atf: footer.bytes_length: 1 bytes, the events section has 248 (at 0x148) [ATF-DFTR-003]
  thread_5: 4 events, 2 details
    dropped: bytes after the footer: detail.atf: 4 bytes (at 0x178) [ATF-DFTR-009]
  thread_6: 4 events, 1 detail
    dropped: bytes where no event can start: detail.atf: 124 bytes (at 0xbc) [ATF-DEVT-001]
    repaired: the file is damaged: detail.atf: events[1].total_length: 5, expected 24 to 124 (at 0xbc) [ATF-DEVT-001]
    repaired: a link to a missing detail was removed: index.atf: events[3].detail_seq: 1 (at 0xbc)
    stays: the events do not match their checksum: they changed since they were written; the new checksum covers them as they are: detail.atf: footer.checksum: [CRC 6], the events have [CRC 6 broken] (at 0x13c) [ATF-DFTR-004]
  thread_7: 4 events, 1 detail
    dropped: bytes where no event can start: detail.atf: 124 bytes (at 0xbc) [ATF-DFTR-010]
    dropped: a footer that contradicts the file: detail.atf: 64 bytes (at 0x138) [ATF-DFTR-003]
    repaired: the file is damaged: detail.atf: events[1].total_length: 5, expected 24 to 124 (at 0xbc) [ATF-DEVT-001]
    repaired: the file is damaged: detail.atf: footer.bytes_length: 1 bytes, the events section has 248 (at 0x148) [ATF-DFTR-003]
    repaired: a link to a missing detail was removed: index.atf: events[3].detail_seq: 1 (at 0xbc)
  thread_8: 4 events, 1 detail
    dropped: bytes where no event can start: detail.atf: 124 bytes (at 0xbc) [ATF-DFTR-010]
    repaired: the file was not finalized: detail.atf: footer: no footer (at 0xbc) [ATF-DFTR-001]
    repaired: the file is damaged: detail.atf: events[1].total_length: 5, expected 24 to 124 (at 0xbc) [ATF-DFTR-010]
    lost: a detail that the index links to: index.atf: events[3].detail_seq: 1 (at 0xbc) [ATF-LINK-002]
  thread_9: 4 events, 0 details
    repaired: the file was not finalized: detail.atf: footer: no footer (at 0x40) [ATF-DFTR-001]
    lost: a detail that the index links to: 2 times, first index.atf: events[0].detail_seq: 0 (at 0x5c) [ATF-LINK-002]
  thread_10: 4 events, 0 details
    repaired: the file was not finalized: detail.atf: header: truncated: 63 of 64 bytes (at 0x3f) [ATF-DHDR-001]
    lost: a detail that the index links to: 2 times, first index.atf: events[0].detail_seq: 0 (at 0x5c)
  thread_11: 4 events, 0 details
    repaired: a link to a missing detail was removed: 2 times, first index.atf: events[0].detail_seq: 0 (at 0x5c)
    lost: all details: their file cannot be read: detail.atf: header.magic: \"\\x07\\x07\\x07\\x07\", expected \"ATD2\" (at 0x0) [ATF-DHDR-002]
  thread_12: 4 events, 1 detail
    dropped: a torn event: detail.atf: 10 bytes (at 0xbc) [ATF-DFTR-010]
    repaired: the file is damaged: detail.atf: footer: no footer (at 0xbc) [ATF-DFTR-001]
    repaired: a link to a missing detail was removed: index.atf: events[3].detail_seq: 1 (at 0xbc) [ATF-LINK-002]
    lost: events that the header counts: detail.atf: 1 of 2, the file was truncated at 0xc6 [ATF-DHDR-009]
  thread_13: 3 events, 1 detail
    dropped: a torn event: index.atf: 27 bytes (at 0xa0) [ATF-IFTR-010]
    dropped: a torn event: detail.atf: 119 bytes (at 0xbc) [ATF-DFTR-010]
    repaired: the file was not finalized: detail.atf: footer: no footer (at 0xbc) [ATF-DFTR-001]
    repaired: the file was not finalized: index.atf: footer: no footer (at 0xa0) [ATF-IFTR-001]
";
    let section = detail(6, 2).section();
    let changed = patched(&section, DETAIL, &5_u32.to_le_bytes());
    let expected = with_numbers(
        expected,
        &[
            ("[CRC 6]", crc32c(&section)),
            ("[CRC 6 broken]", crc32c(&changed)),
        ],
    );
    assert_without_manifest(&places.recover(), 12, &expected);
}

#[test]
fn holes_and_what_follows_them() {
    let zeros = |bytes: Vec<u8>, seq: usize| patched(&bytes, EVENTS + seq * EVENT, &[0; EVENT]);
    let whole = linked(7, 10).placeholder().without_footer();
    let index = [2, 4, 5, 8].into_iter().fold(whole, zeros);
    let places = Places::new();
    put(&places, 7, &index, Some(&detail(7, 4).bytes()));
    let expected = "\
session: recovered, 2 events and 1 detail of 1 thread; 2 things were lost or changed
  thread_7: 2 events, 1 detail
    set aside in orphans.atf: 3 details that no event refers to, the first was detail.atf: events[1] (at 0xbc)
    dropped: a hole, 4 events of zeros: index.atf: 128 bytes (at 0x80 and 2 places more) [ATF-IEVT-006]
    dropped: 4 events after a hole: index.atf: 128 bytes (at 0xa0 and 2 places more)
    repaired: the file was not finalized: index.atf: footer: no footer (at 0x180) [ATF-IFTR-001]
";
    assert_without_manifest(&places.recover(), 2, expected);
    let options = RecoverOptions::default().salvage(true);
    let report = recover(places.path("in"), places.path("salvaged"), &options).unwrap();
    let expected = "\
session: recovered, 2 events and 1 detail of 1 thread; 2 things were lost or changed
  thread_7: 2 events, 1 detail
    set aside in salvaged.atf: 4 events from after a hole, the first was index.atf: events[3] (at 0xa0)
    set aside in orphans.atf: 3 details that no event refers to, the first was detail.atf: events[1] (at 0xbc)
    dropped: a hole, 4 events of zeros: index.atf: 128 bytes (at 0x80 and 2 places more) [ATF-IEVT-006]
    repaired: the file was not finalized: index.atf: footer: no footer (at 0x180) [ATF-IFTR-001]
";
    assert_without_manifest(&report, 2, expected);
}

#[test]
fn links_and_orphans() {
    let places = Places::new();
    let mut events = linked(7, 9).events;
    // Use a link to another event's detail, a link to a missing detail, and no link to detail 1.
    events[1].detail_seq = Some(0);
    events[2].detail_seq = Some(77);
    events[3].detail_seq = None;
    let index = IndexFile::new(1, events).bytes();
    put(&places, 7, index, Some(&detail(7, 3).bytes()));
    // Links begin at 1, so the first detail is an orphan.
    let mut events = linked(8, 6).events;
    events[0].detail_seq = None;
    let index = IndexFile {
        thread_id: 8,
        ..IndexFile::new(1, events)
    };
    let index = rechecked(index).bytes();
    put(&places, 8, index, Some(&detail(8, 2).bytes()));
    let expected = "\
session: recovered, 15 events and 3 details of 2 threads
  thread_7: 9 events, 2 details
    set aside in orphans.atf: 1 detail that no event refers to, the first was detail.atf: events[1] (at 0xbc) [ATF-LINK-003]
    repaired: a link to a missing detail was removed: index.atf: events[2].detail_seq: 77 (at 0x9c) [ATF-LINK-001]
    repaired: a link to the detail of another event was removed: index.atf: events[1].detail_seq: 0 (at 0x7c) [ATF-LINK-001]
    repaired: the links were not numbered 0, 1, 2 and so on: 3 times, first index.atf: events[1].detail_seq: 0 (at 0x7c) [ATF-LINK-005]
  thread_8: 6 events, 1 detail
    set aside in orphans.atf: 1 detail that no event refers to, the first was detail.atf: events[0] (at 0x40) [ATF-LINK-003]
    repaired: the links were not numbered 0, 1, 2 and so on: index.atf: events[3].detail_seq: 1 (at 0xbc) [ATF-LINK-005]
";
    assert_without_manifest(&places.recover(), 0, expected);
}

#[test]
fn headers_that_disagree_or_cannot_be_read() {
    let places = Places::new();
    // Damage the magic of one of the files, or of both.
    let bad = |bytes: Vec<u8>| patched(&bytes, 0, b"????");
    put(&places, 1, bad(index(1, 2).bytes()), None);
    let details = bad(detail(2, 2).bytes());
    put(&places, 2, bad(linked(2, 4).bytes()), Some(&details));
    let details = bad(detail(3, 2).bytes());
    put(&places, 3, linked(3, 4).bytes(), Some(&details));
    // Use a different architecture in the detail file, and a wrong flag.
    let other = DetailFile {
        arch: 2,
        ..detail(4, 2)
    };
    put(&places, 4, linked(4, 4).bytes(), Some(&other.bytes()));
    let flag = IndexFile {
        flags: 1,
        ..index(5, 1)
    };
    put(&places, 5, flag.bytes(), None);
    // Use a thread id that differs from the folder's.
    put(&places, 6, index(66, 1).bytes(), None);
    put(&places, 7, "x", None);
    // Salvage makes no difference to these threads.
    let others = "  thread_4: 4 events, 2 details
    repaired: a header disagreed with the events, the footer or the other file: detail.atf: header.arch: 2, index.atf has 1 (at 0x6) [ATF-LINK-010]
  thread_5: 1 event, 0 details
    repaired: a header disagreed with the events, the footer or the other file: index.atf: header.flags: has_detail_file is set, but there is no detail.atf (at 0x8) [ATF-IHDR-018]
  thread_6: 1 event, 0 details
    stays: content that breaks a rule: index.atf: header.thread_id: 66, the folder is thread_6 (at 0xc) [ATF-SESS-001]
  thread_7: cannot be read: index.atf: header: truncated: 1 of 64 bytes (at 0x1) [ATF-IHDR-001]; a copy is in unreadable/
";
    let expected = "\
session: recovered, 10 events and 2 details of 4 threads; 3 could not be read; 1 thing was lost or changed
  thread_1: cannot be read: index.atf: header.magic: \"????\", expected \"ATI2\" (at 0x0) [ATF-IHDR-002]; a copy is in unreadable/
  thread_2: cannot be read: index.atf: header.magic: \"????\", expected \"ATI2\" (at 0x0) [ATF-IHDR-002]; a copy is in unreadable/
  thread_3: 4 events, 0 details
    repaired: a link to a missing detail was removed: 2 times, first index.atf: events[0].detail_seq: 0 (at 0x5c)
    lost: all details: their file cannot be read: detail.atf: header.magic: \"????\", expected \"ATD2\" (at 0x0) [ATF-DHDR-002]
";
    assert_without_manifest(&places.recover(), 4, &[expected, others].concat());
    let options = RecoverOptions::default().salvage(true);
    let report = recover(places.path("in"), places.path("salvaged"), &options).unwrap();
    let expected = "\
session: recovered, 16 events and 6 details of 6 threads; 1 could not be read; 4 things were lost or changed
  thread_1: 2 events, 0 details
    deduced: a header: index.atf: header.magic: \"????\", expected \"ATI2\"; assumed wire version 1, thread_id 1, arch x86_64, os linux, clock boottime (at 0x0) [ATF-IHDR-002]
  thread_2: 4 events, 2 details
    deduced: a header: detail.atf: header: assumed to match index.atf (at 0x0) [ATF-DHDR-002]
    deduced: a header: index.atf: header.magic: \"????\", expected \"ATI2\"; assumed wire version 1, thread_id 2, arch x86_64, os linux, clock boottime (at 0x0) [ATF-IHDR-002]
  thread_3: 4 events, 2 details
    deduced: a header: detail.atf: header: assumed to match index.atf (at 0x0) [ATF-DHDR-002]
";
    assert_without_manifest(&report, 5, &[expected, others].concat());
    let report = places.scrub("scrubbed");
    assert_eq!(report.losses(), 4, "{report}");
    assert!(!report.to_string().contains("unreadable"), "{report}");
}

#[test]
fn details_after_damage() {
    let places = Places::new();
    let detail = detail(7, 5).placeholder().without_footer();
    let broken = patched(&detail, EVENTS + DETAIL, &5_u32.to_le_bytes());
    put(&places, 7, linked(7, 15).bytes(), Some(&broken));
    let expected = "\
session: recovered, 15 events and 4 details of 1 thread; 2 things were lost or changed
  thread_7: 15 events, 4 details
    dropped: bytes where no event can start: detail.atf: 124 bytes (at 0xbc) [ATF-DFTR-010]
    repaired: the file was not finalized: detail.atf: footer: no footer (at 0xbc) [ATF-DFTR-001]
    repaired: the file is damaged: detail.atf: events[1].total_length: 5, expected 24 to 496 (at 0xbc) [ATF-DFTR-010]
    lost: a detail that the index links to: index.atf: events[3].detail_seq: 1 (at 0xbc) [ATF-LINK-002]
    deduced: a detail past damage, found by its links: 3 times, first detail.atf: events[2] (at 0x138)
";
    let options = RecoverOptions::default().salvage(true);
    assert_without_manifest(&places.recover_by(&options), 2, expected);
}
