//! Perfetto's packets, byte by byte, written by hand from `trace_packet.proto` and the files that
//! it imports.

use atf::detail::FunctionPayload;
use atf::session::SessionReader;
use atf::write::{Detail, Event};
use atf::{DetailEventType, EventKind};
use atf_analyze::Options;
use atf_export::Form;

use crate::{CALL, MAIN, RETURN, exported, reopened, session, write_session, write_session_with};

/// Splits a trace into its packets.
fn packets(mut trace: &[u8]) -> Vec<Vec<u8>> {
    let mut packets = Vec::new();
    while let [0x0a, rest @ ..] = trace {
        let (mut size, mut shift, mut at) = (0, 0, 0);
        loop {
            size |= usize::from(rest[at] & 0x7f) << shift;
            shift += 7;
            at += 1;
            if rest[at - 1] < 0x80 {
                break;
            }
        }
        packets.push(rest[at..at + size].to_vec());
        trace = &rest[at + size..];
    }
    assert!(trace.is_empty());
    packets
}

/// Returns how often a trace has these bytes.
fn count(trace: &[u8], wanted: &[u8]) -> usize {
    let parts = trace.windows(wanted.len());
    parts.filter(|part| *part == wanted).count()
}

#[test]
fn packets_have_the_bytes_of_the_published_messages() {
    let events = &[
        (300, MAIN, CALL),
        (400, MAIN, RETURN),
        (450, MAIN, CALL),
        (451, MAIN, RETURN),
    ];
    let (_folder, session) = write_session(&[(3, events)]);
    let (trace, _) = exported(&session, &Options::default(), Form::Perfetto);
    let packets = packets(&trace);
    let [process, thread, defaults, begin, end, again, _] = &packets[..] else {
        panic!("{packets:x?}");
    };
    // TracePacket.track_descriptor (60): uuid (1) 42 << 32; process (3): pid (1), process_name (6),
    // process_labels (8).
    let uuid = [0x80, 0x80, 0x80, 0x80, 0xa0, 0x05];
    let name = b"\x08\x2a\x32\x06pid_42";
    assert!(process.starts_with(&[0xe2, 0x03]));
    assert_eq!(process[3], 0x08);
    assert_eq!(process[4..10], uuid);
    assert_eq!(process[10], 0x1a);
    assert!(process[12..].starts_with(name));
    // uuid (1) 42 << 32 | 1; thread (4): pid (1), tid (2), thread_name (5); parent_uuid (5).
    let expected: &[&[u8]] = &[
        b"\xe2\x03\x1e\x08\x81\x80\x80\x80\xa0\x05",
        b"\x22\x0e\x08\x2a\x10\x01\x2a\x08thread 3",
        b"\x28\x80\x80\x80\x80\xa0\x05",
    ];
    assert_eq!(*thread, expected.concat());
    // trusted_packet_sequence_id (10) 1; interned_data (12): debug_annotation_names (3) of iid (1)
    // and name (2); sequence_flags (13) 1: state cleared; trace_packet_defaults (59):
    // track_event_defaults (11): track_uuid (11).
    assert!(defaults.starts_with(b"\x50\x01\x62"));
    let head = b"\x1a\x06\x08\x01\x12\x02x0\x1a\x06\x08\x02\x12\x02x1";
    assert!(count(defaults, head) > 0);
    assert!(defaults.ends_with(b"\x68\x01\xda\x03\x09\x5a\x07\x58\x81\x80\x80\x80\xa0\x05"));
    // timestamp (8) 300; sequence 1; track_event (11): type (9) 1, name_iid (10) 1; interned_data
    // (12): event_names (2): iid (1) 1, name (2); sequence_flags (13) 2: needs state.
    let expected: &[&[u8]] = &[
        b"\x40\xac\x02\x50\x01\x5a\x04\x48\x01\x50\x01",
        b"\x62\x0a\x12\x08\x08\x01\x12\x04main\x68\x02",
    ];
    assert_eq!(*begin, expected.concat());
    // type 2.
    assert_eq!(*end, b"\x40\x90\x03\x50\x01\x5a\x02\x48\x02\x68\x02");
    // The name is sent once.
    assert_eq!(
        *again,
        b"\x40\xc2\x03\x50\x01\x5a\x04\x48\x01\x50\x01\x68\x02"
    );
}

#[test]
fn registers_are_annotations_and_notes_are_instants() {
    let (_folder, session) = session();
    let (trace, _) = exported(&session, &Options::default(), Form::Perfetto);
    let contains = |wanted: &[u8]| count(&trace, wanted) > 0;
    // debug_annotations (4): name_iid (1), pointer_value (7): x0 0xabc at the call, end_x0 0xdef at
    // the return.
    assert!(contains(b"\x22\x05\x08\x01\x38\xbc\x15"));
    assert!(contains(b"\x22\x05\x08\x0d\x38\xef\x1b"));
    // x7 9, end_sp 0x7ff0; uint_value (3): end_stack_size 16.
    assert!(contains(b"\x22\x04\x08\x08\x38\x09"));
    assert!(contains(b"\x22\x06\x08\x17\x38\xf0\xff\x01"));
    assert!(contains(b"\x22\x04\x08\x18\x18\x10"));
    // string_value (6): how a call ended.
    assert!(contains(b"\x22\x0d\x08\x19\x32\x09exception"));
    // type (9) 3, name (23): a note.
    assert!(contains(b"\x48\x03\xba\x01\x161 call open at the end"));
    assert!(contains(b"worker (thread 7)"));
}

#[test]
fn fields_become_annotations_of_the_same_types() {
    let start = br#"{"s":"t","u":3,"i":-1,"f":0.5,"b":true,"n":null,"a":[1]}"#;
    let end: &[u8] = br#"{"u":4}"#;
    let events = [
        (EventKind::CALL, DetailEventType::FUNCTION_CALL, &start[..]),
        (EventKind::RETURN, DetailEventType::FUNCTION_RETURN, end),
        // A payload that is not a JSON object yields no annotations.
        (EventKind::CALL, DetailEventType::FUNCTION_CALL, b"{\"u\":5"),
    ];
    let (_folder, session) = write_session_with(&[], |session| {
        session.set_detail_fields();
        let mut thread = session.thread(1).unwrap();
        for (time, (kind, event_type, payload)) in (1..).zip(events) {
            let event = Event::new(time, 7, kind, 1);
            let detail = Detail::new(event_type, payload);
            thread.write_with_detail(&event, &detail).unwrap();
        }
        thread.finalize().unwrap();
    });
    let (trace, _) = exported(&session, &Options::default(), Form::Perfetto);
    // debug_annotations (4): a value in the field for its type, and name (10).
    let values: [&[u8]; 8] = [
        b"\x22\x06\x32\x01t\x52\x01s",
        b"\x22\x05\x18\x03\x52\x01u",
        b"\x22\x0e\x20\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x52\x01i",
        b"\x22\x0c\x29\x00\x00\x00\x00\x00\x00\xe0\x3f\x52\x01f",
        b"\x22\x05\x10\x01\x52\x01b",
        b"\x22\x09\x32\x04null\x52\x01n",
        b"\x22\x08\x32\x03[1]\x52\x01a",
        b"\x22\x09\x18\x04\x52\x05end_u",
    ];
    for value in values {
        assert_eq!(count(&trace, value), 1, "{value:?}");
    }
    assert_eq!(count(&trace, b"\x52\x01u"), 1);
}

#[test]
fn a_note_on_a_process_without_threads_needs_no_earlier_packet() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pid_42");
    std::fs::create_dir(&path).unwrap();
    let loss = r#"{"count": 3, "first_ns": 1700, "last_ns": 1950}"#;
    let manifest = format!(r#"{{"threads": [], "lost_events": {loss}}}"#);
    std::fs::write(path.join("manifest.json"), manifest).unwrap();
    let session = SessionReader::open(&path).unwrap();
    let (trace, _) = exported(&session, &Options::default(), Form::Perfetto);
    let packets = packets(&trace);
    let [_, note] = &packets[..] else {
        panic!("{packets:x?}");
    };
    // timestamp (8) 0; sequence 1, because Perfetto rejects sequence 0; track_event (11). No
    // sequence_flags (13) follow the event.
    assert!(note.starts_with(b"\x40\x00\x50\x01\x5a"), "{note:x?}");
    assert!(!note.ends_with(b"\x68\x02"), "{note:x?}");
}

#[test]
fn a_detail_of_another_event_is_not_annotated_but_noted() {
    let (folder, _) = write_session_with(&[], |session| {
        let mut thread = session.thread(1).unwrap();
        // The events have the same time, so only the details' own links tell them apart.
        for (kind, event_type, x0) in [
            (CALL, DetailEventType::FUNCTION_CALL, 0xabc),
            (RETURN, DetailEventType::FUNCTION_RETURN, 0xdef),
        ] {
            let payload = FunctionPayload::default().x_regs([x0; 8]);
            let detail = payload.encode().unwrap();
            let detail = Detail::new(event_type, &detail);
            let event = Event::new(1000, MAIN, kind, 1);
            thread.write_with_detail(&event, &detail).unwrap();
        }
        thread.finalize().unwrap();
    });
    let file = folder.path().join("pid_42/thread_1/index.atf");
    let mut index = std::fs::read(&file).unwrap();
    let links = [64, 96].map(|offset| offset + link_offset(&index));
    (index[links[0]], index[links[1]]) = (1, 0);
    // Remove the checksum.
    let footer = index.len() - 64;
    index[footer + 4..footer + 8].fill(0);
    std::fs::write(&file, index).unwrap();
    let session = reopened(&folder);
    let (trace, summary) = exported(&session, &Options::default(), Form::Perfetto);
    assert_eq!((summary.foreign_details, summary.is_whole()), (2, false));
    let contains = |wanted: &[u8]| count(&trace, wanted) > 0;
    assert!(!contains(b"\x38\xbc\x15") && !contains(b"\x38\xef\x1b"));
    assert!(contains(b"2 events with links to details of other events"));
}

/// Returns the offset of an event's link, which depends on the file's wire version.
fn link_offset(index: &[u8]) -> usize {
    if index[5] == 2 { 16 } else { 28 }
}
