//! Runs the C API on arbitrary bytes, and checks that it agrees with the Rust API and never panics.

#![allow(unsafe_code, reason = "C is called")]

use std::ptr;

use atf::Checksum;
use atf::detail::{DetailEvent, DetailReader};
use atf::index::{IndexEvent, IndexReader};
use atf_capi::detail::{
    AtfDetailReader, atf_detail_checksum, atf_detail_close, atf_detail_event_count, atf_detail_get,
    atf_detail_info, atf_detail_open_bytes, atf_detail_payload,
};
use atf_capi::event::{AtfDetailEvent, AtfEvent};
use atf_capi::index::{
    AtfIndexReader, atf_index_checksum, atf_index_close, atf_index_event_count, atf_index_get,
    atf_index_info, atf_index_open_bytes, atf_index_read, atf_index_time_range,
};
use atf_capi::reader::{AtfChecksum, AtfFileInfo};
use atf_capi::status::AtfStatus;

/// Opens bytes as an index file and as a detail file, and calls every function on the resulting
/// readers, on null, and on closed readers.
pub fn capi(data: &[u8]) {
    capi_index(data);
    capi_detail(data);
}

/// The maximum number of events to read one by one.
const SOME: u64 = 64;

/// Returns the event as the C API must return it.
fn index_event(seq: u64, event: &IndexEvent, reader: &IndexReader) -> AtfEvent {
    AtfEvent {
        timestamp_ns: event.timestamp_ns,
        function_id: event.function_id,
        index_seq: seq,
        detail_seq: event.detail_seq.unwrap_or(u64::MAX),
        thread_id: event.thread_id,
        thread: reader.header().thread_id,
        event_kind: event.event_kind.into(),
        call_depth: event.call_depth.unwrap_or(u32::MAX),
        session: 0,
        reserved: [0; 3],
    }
}

fn detail_event(event: &DetailEvent) -> AtfDetailEvent {
    AtfDetailEvent {
        timestamp_ns: event.header.timestamp,
        detail_seq: event.seq,
        index_seq: event.header.index_seq,
        offset: event.offset,
        payload_size: event.payload_size(),
        thread_id: event.header.thread_id,
        event_type: event.header.event_type.into(),
        flags: event.header.flags,
        reserved: [0; 2],
    }
}

fn checksum(checksum: Checksum) -> AtfChecksum {
    match checksum {
        Checksum::NotChecked => AtfChecksum::NotChecked,
        Checksum::Absent => AtfChecksum::Absent,
        Checksum::Good => AtfChecksum::Good,
        Checksum::Bad { .. } => AtfChecksum::Bad,
        Checksum::Ieee { .. } => AtfChecksum::Ieee,
        other => panic!("{other:?} has no number in C"),
    }
}

/// Like [`capi`], for bytes opened as an index file.
pub fn capi_index(data: &[u8]) {
    let mut reader: *mut AtfIndexReader = ptr::null_mut();
    // SAFETY: the pointer is valid for `data.len()` bytes, and the output pointer for one handle.
    let status = unsafe { atf_index_open_bytes(data.as_ptr().cast(), data.len(), &raw mut reader) };
    assert_ne!(status, AtfStatus::Panic);
    let expected = IndexReader::from_bytes(data);
    assert_eq!(status == AtfStatus::Ok, expected.is_ok());
    // SAFETY: the reader is open or null.
    let count = unsafe { atf_index_event_count(reader) };
    assert_eq!(count, expected.as_ref().map_or(0, IndexReader::event_count));
    // SAFETY: all fields are numbers, so every bit pattern is valid.
    let mut events: [AtfEvent; 7] = unsafe { std::mem::zeroed() };
    // SAFETY: all fields are numbers, so every bit pattern is valid.
    let mut info: AtfFileInfo = unsafe { std::mem::zeroed() };
    // SAFETY: the reader is open or null, and the output pointer is valid for this size.
    let status = unsafe { atf_index_info(reader, &raw mut info, size_of::<AtfFileInfo>()) };
    assert_eq!(status == AtfStatus::Ok, expected.is_ok());
    let (mut start, mut end) = (0, 0);
    let mut sum = AtfChecksum::NotChecked;
    // SAFETY: the reader is open or null, and the output pointers are valid.
    let [range, summed] = unsafe {
        [
            atf_index_time_range(reader, &raw mut start, &raw mut end),
            atf_index_checksum(reader, &raw mut sum),
        ]
    };
    if let Ok(expected) = &expected {
        for seq in (0..count.min(SOME)).chain([count, u64::MAX]) {
            // SAFETY: the reader is open, and the output pointer is valid for one event.
            let status = unsafe { atf_index_get(reader, seq, &raw mut events[0]) };
            match expected.get(seq).expect("bytes in memory can be read") {
                Some(event) => {
                    assert_eq!(status, AtfStatus::Ok);
                    assert_eq!(events[0], index_event(seq, &event, expected));
                }
                None => assert_eq!(status, AtfStatus::None),
            }
        }
        let (mut seq, mut read) = (0, 1);
        let mut status = AtfStatus::Ok;
        let mut all = expected.events_in(..);
        while read > 0 {
            assert_eq!(status, AtfStatus::Ok);
            // SAFETY: the reader is open, and the output pointers are valid for seven events and
            // one count.
            status = unsafe {
                atf_index_read(
                    reader,
                    seq,
                    events.as_mut_ptr(),
                    events.len(),
                    &raw mut read,
                )
            };
            for event in &events[..read] {
                let wanted = all.next().map(|event| event.expect("as above"));
                let wanted = wanted.map(|it| index_event(seq, &it, expected));
                assert_eq!(Some(*event), wanted);
                seq += 1;
            }
        }
        assert_eq!(seq, count, "blocks contain all events");
        expected.scan().expect("as above");
        let at_end = if expected.problems().is_empty() {
            AtfStatus::None
        } else {
            AtfStatus::Damaged
        };
        assert_eq!(status, at_end);
        assert_eq!(info.file_size, data.len() as u64);
        assert_eq!(info.event_count, count);
        assert_eq!(info.events_end, expected.events_end());
        assert_eq!(info.footer_offset, expected.footer_offset().unwrap_or(0));
        let times = (range == AtfStatus::Ok).then_some((start, end));
        assert_eq!(times, expected.time_range().expect("as above"));
        assert_eq!(summed, AtfStatus::Ok);
        assert_eq!(sum, checksum(expected.checksum().expect("as above")));
    }
    // SAFETY: the reader is open or null, and is not used afterwards.
    let closed = unsafe { atf_index_close(reader) };
    assert_ne!(closed, AtfStatus::Panic);
}

/// Like [`capi`], for bytes opened as a detail file.
pub fn capi_detail(data: &[u8]) {
    let mut reader: *mut AtfDetailReader = ptr::null_mut();
    // SAFETY: the pointer is valid for `data.len()` bytes, and the output pointer for one handle.
    let status =
        unsafe { atf_detail_open_bytes(data.as_ptr().cast(), data.len(), &raw mut reader) };
    assert_ne!(status, AtfStatus::Panic);
    let expected = DetailReader::from_bytes(data);
    assert_eq!(status == AtfStatus::Ok, expected.is_ok());
    // SAFETY: the reader is open or null.
    let count = unsafe { atf_detail_event_count(reader) };
    // SAFETY: all fields are numbers, so every bit pattern is valid.
    let mut info: AtfFileInfo = unsafe { std::mem::zeroed() };
    // SAFETY: the reader is open or null, and the output pointer is valid for this size.
    let status = unsafe { atf_detail_info(reader, &raw mut info, size_of::<AtfFileInfo>()) };
    assert_eq!(status == AtfStatus::Ok, expected.is_ok());
    let mut sum = AtfChecksum::NotChecked;
    // SAFETY: the reader is open or null, and the output pointer is valid for a checksum.
    let summed = unsafe { atf_detail_checksum(reader, &raw mut sum) };
    if let Ok(expected) = &expected {
        assert_eq!(count, expected.event_count());
        for (seq, event) in (0..SOME).zip(expected.events_in(..)) {
            let event = event.expect("bytes in memory can be read");
            // SAFETY: all fields are numbers, so every bit pattern is valid.
            let mut given: AtfDetailEvent = unsafe { std::mem::zeroed() };
            // SAFETY: the reader is open, and the output pointer is valid for one event.
            let status = unsafe { atf_detail_get(reader, seq, &raw mut given) };
            assert_eq!(status, AtfStatus::Ok);
            assert_eq!(given, detail_event(&event));
            let wanted = expected.payload_bytes(&event).expect("they are in memory");
            let mut buffer = [0; 32];
            let mut size = 0;
            // SAFETY: the reader is open, the buffer has 32 bytes, and the output pointer is valid
            // for one size.
            let status = unsafe {
                let buffer = buffer.as_mut_ptr().cast();
                atf_detail_payload(reader, seq, 0, buffer, 32, &raw mut size)
            };
            let is_read = matches!(status, AtfStatus::Ok | AtfStatus::Buffer);
            assert!(is_read, "{status:?}");
            let fits = wanted.len().min(32);
            assert_eq!(buffer[..fits], wanted[..fits]);
        }
        assert_eq!(info.file_size, data.len() as u64);
        assert_eq!(info.event_count, count);
        assert_eq!(info.events_end, expected.events_end());
        assert_eq!(info.footer_offset, expected.footer_offset().unwrap_or(0));
        assert_eq!(summed, AtfStatus::Ok);
        assert_eq!(sum, checksum(expected.checksum().expect("as above")));
    }
    // SAFETY: the reader is open or null, and is not used afterwards.
    let closed = unsafe { atf_detail_close(reader) };
    assert_ne!(closed, AtfStatus::Panic);
}
