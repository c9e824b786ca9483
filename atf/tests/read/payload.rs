//! Reads payloads of `detail.atf` whole, in parts, and in memory.

use atf::detail::{DetailReader, FunctionPayload, LARGEST_FIELDS, fields};
use atf::{Checksum, ErrorKind};

use crate::detail::open;
use crate::{details, ways};
use atf_samples::files::{DetailFile, DetailRecord, patched};

#[test]
fn a_payload_is_read_in_parts_and_never_past_the_callers_limit() {
    let payload: Vec<u8> = (0..200_000_u32).map(|i| i.to_le_bytes()[0]).collect();
    let event = DetailRecord::new(77, 0, 5, payload.clone());
    let detail = open(&DetailFile::new(2, vec![event]));
    let event = detail.get(0).unwrap().unwrap();
    let (found, limit) = (200_000, 199_999);
    let kind = ErrorKind::PayloadTooLarge { found, limit };
    assert_eq!(detail.payload(&event, 199_999).unwrap_err().kind(), &kind);
    assert_eq!(detail.payload(&event, 200_000).unwrap(), payload);
    assert_eq!(detail.function_payload(&event).unwrap(), None);
    let mut part = [0; 1000];
    let read = detail.read_payload(&event, 199_500, &mut part).unwrap();
    assert_eq!(read, 500);
    assert_eq!(part[..500], payload[199_500..]);
    assert_eq!(detail.read_payload(&event, u64::MAX, &mut part).unwrap(), 0);
}

#[test]
fn a_payload_of_another_size_than_its_stack_needs_is_opaque() {
    let stack_of = |event: &DetailRecord| {
        let detail = open(&DetailFile::new(1, vec![event.clone()]));
        let payload = detail.function_payload(&detail.get(0).unwrap().unwrap());
        payload.unwrap().map(|payload| payload.stack.len())
    };
    for size in [300, u16::MAX] {
        let mut event = DetailRecord::call(0, 1, size);
        assert_eq!(stack_of(&event), Some(usize::from(size)));
        event.payload.push(0);
        assert_eq!(stack_of(&event), None);
        event.payload.truncate(event.payload.len() - 2);
        assert_eq!(stack_of(&event), None);
    }
}

#[test]
fn a_payload_in_memory_is_not_copied() {
    let bytes = DetailFile::finalized(1, 3).bytes();
    let detail = DetailReader::from_bytes(bytes.clone()).unwrap();
    let event = detail.get(2).unwrap().unwrap();
    assert_eq!(detail.payload_bytes(&event), Some(&[5, 5, 5][..]));
    let seekable = atf::Seekable::new(std::io::Cursor::new(bytes)).unwrap();
    let detail = DetailReader::from_source(seekable).unwrap();
    assert_eq!(detail.payload_bytes(&event), None);
}

#[test]
fn events_across_blocks_and_larger_than_blocks_are_found() {
    for version in [1, 2] {
        let mut file = DetailFile::finalized(version, 2000);
        for (seq, size) in [(5, 65_536), (900, 200_001), (901, 0), (1999, 70_000)] {
            file.events[seq].payload = vec![9; size];
        }
        let file = DetailFile::new(version, file.events);
        let detail = ways::detail(file.bytes()).unwrap();
        assert!(details(&detail) == file.events);
        let places: Vec<u64> = (0..2000)
            .map(|seq| detail.event_offset(seq).unwrap())
            .collect();
        assert_eq!(places, file.places()[..2000]);
        assert_eq!(detail.checksum().unwrap(), Checksum::Good);
        let cut = ways::detail(file.without_footer()).unwrap();
        let end = file.places()[2000];
        assert_eq!((cut.event_count(), cut.events_end()), (2000, end));
        let last = usize::try_from(end).unwrap() - 1;
        let changed = ways::detail(patched(&file.bytes(), last, &[8])).unwrap();
        assert!(matches!(changed.checksum().unwrap(), Checksum::Bad { .. }));
    }
}

#[cfg(target_pointer_width = "32")]
#[test]
fn a_payload_larger_than_any_vector_is_an_error_but_can_be_read_in_parts() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("detail.atf");
    let mut bytes = DetailFile::finalized(1, 1).placeholder().without_footer();
    // Set the event's length. Everything after its header is a hole, which takes no disk space.
    let length = (2_u32 << 30) + 24;
    bytes[64..68].copy_from_slice(&length.to_le_bytes());
    std::fs::write(&path, bytes).unwrap();
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    file.set_len(64 + u64::from(length)).unwrap();

    let detail = DetailReader::open(&path).unwrap();
    let event = detail.get(0).unwrap().unwrap();
    assert_eq!(event.payload_size(), 2 << 30);
    let error = detail.payload(&event, usize::MAX).unwrap_err();
    let expected = ErrorKind::Io(std::io::ErrorKind::OutOfMemory);
    assert_eq!((error.kind(), error.offset()), (&expected, Some(88)));
    let mut last = [7; 9];
    let size = detail.read_payload(&event, (2 << 30) - 8, &mut last);
    assert_eq!((size.unwrap(), last), (8, [0, 0, 0, 0, 0, 0, 0, 0, 7]));
}

#[test]
fn the_fields_of_a_call_are_a_json_object() {
    for object in ["{}", r#"{"path":"\u0000é","size":-1}"#, r#"{"a":[{}]}"#] {
        assert_eq!(fields(object.as_bytes()), Some(object));
    }
    for other in [
        "",
        "1",
        " {}",
        "{} ",
        "[]",
        "{",
        "{}{}",
        "{a:1}",
        "{\"a\":\n1}",
        "{\"a\":\"\u{1}\"}",
    ] {
        assert_eq!(fields(other.as_bytes()), None, "{other:?}");
    }
    assert_eq!(fields(b"{\"a\":\"\xff\"}"), None);
    let of_length = |length: usize| format!("{{\"a\":\"{}\"}}", "x".repeat(length - 8));
    let longest = of_length(LARGEST_FIELDS);
    assert_eq!(fields(longest.as_bytes()), Some(&*longest));
    assert_eq!(fields(of_length(LARGEST_FIELDS + 1).as_bytes()), None);
}

#[test]
fn the_longest_fields_are_those_that_the_specification_allows() {
    let (topic, limit) = ("manifest.detail_fields", LARGEST_FIELDS);
    let decision = atf::rules::decision(topic).unwrap();
    let stated = format!("at most {},{:03} bytes", limit / 1000, limit % 1000);
    assert!(decision.answer.contains(&stated), "{stated}");
}

#[test]
fn fields_never_have_the_shape_of_a_function_payload() {
    // The smallest stack size whose two bytes are printable characters, and the shortest payload
    // with this size.
    let size = u16::from_le_bytes(*b"  ");
    let payload = [b' '].repeat(FunctionPayload::SIZE + usize::from(size));
    assert!(FunctionPayload::decode(&payload).is_some());
    assert!(payload.len() > LARGEST_FIELDS);
}
