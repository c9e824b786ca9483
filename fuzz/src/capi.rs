//! The C API on any bytes: it says what the Rust API says, and no call panics.

use std::ptr;

use atf::detail::DetailReader;
use atf::index::IndexReader;
use atf_capi::detail::{
    AtfDetailReader, atf_detail_checksum, atf_detail_close, atf_detail_event_count,
    atf_detail_open_bytes, atf_detail_payload,
};
use atf_capi::index::{
    AtfIndexReader, atf_index_checksum, atf_index_close, atf_index_event_count, atf_index_get,
    atf_index_open_bytes, atf_index_read, atf_index_time_range,
};
use atf_capi::status::AtfStatus;

/// Opens bytes as an index file and as a detail file, and calls every function on what that gave:
/// on readers, on null, and on readers that are closed.
pub fn capi(data: &[u8]) {
    index(data);
    detail(data);
}

/// So many events are looked at by themselves.
const SOME: u64 = 64;

fn index(data: &[u8]) {
    let mut reader: *mut AtfIndexReader = ptr::null_mut();
    // SAFETY: the bytes are as many as is said; the place is for one handle.
    let status = unsafe { atf_index_open_bytes(data.as_ptr().cast(), data.len(), &raw mut reader) };
    assert_ne!(status, AtfStatus::Panic);
    let expected = IndexReader::from_bytes(data);
    assert_eq!(status == AtfStatus::Ok, expected.is_ok());
    // SAFETY: a reader that is open, or null.
    let count = unsafe { atf_index_event_count(reader) };
    assert_eq!(count, expected.as_ref().map_or(0, IndexReader::event_count));
    // SAFETY: numbers, of which every pattern of bits is a value.
    let mut events: [atf_capi::event::AtfEvent; 7] = unsafe { std::mem::zeroed() };
    if let Ok(expected) = &expected {
        for seq in (0..count.min(SOME)).chain([count, u64::MAX]) {
            // SAFETY: a reader that is open, a place for one event.
            let status = unsafe { atf_index_get(reader, seq, &raw mut events[0]) };
            match expected.get(seq).expect("bytes in memory can be read") {
                Some(event) => {
                    assert_eq!(status, AtfStatus::Ok);
                    assert_eq!(events[0].timestamp_ns, event.timestamp_ns);
                    assert_eq!(events[0].function_id, event.function_id);
                    assert_eq!(events[0].index_seq, seq);
                }
                None => assert_eq!(status, AtfStatus::None),
            }
        }
        let (mut seq, mut read) = (0, 1);
        while read > 0 {
            // SAFETY: a reader that is open, places for seven events and for one count.
            let status = unsafe {
                atf_index_read(
                    reader,
                    seq,
                    events.as_mut_ptr(),
                    events.len(),
                    &raw mut read,
                )
            };
            assert!(matches!(status, AtfStatus::Ok | AtfStatus::None));
            seq += read as u64;
        }
        assert_eq!(seq, count, "blocks give all events");
    }
    let (mut start, mut end) = (0, 0);
    // SAFETY: numbers, as above.
    let mut checksum = unsafe { std::mem::zeroed() };
    // SAFETY: a reader that is open, or null; places for what is asked.
    unsafe {
        let _ = atf_index_time_range(reader, &raw mut start, &raw mut end);
        let _ = atf_index_checksum(reader, &raw mut checksum);
    }
    // SAFETY: a reader that is open, or null; nobody uses it after.
    let closed = unsafe { atf_index_close(reader) };
    assert_ne!(closed, AtfStatus::Panic);
}

fn detail(data: &[u8]) {
    let mut reader: *mut AtfDetailReader = ptr::null_mut();
    // SAFETY: the bytes are as many as is said; the place is for one handle.
    let status =
        unsafe { atf_detail_open_bytes(data.as_ptr().cast(), data.len(), &raw mut reader) };
    assert_ne!(status, AtfStatus::Panic);
    let expected = DetailReader::from_bytes(data);
    assert_eq!(status == AtfStatus::Ok, expected.is_ok());
    // SAFETY: a reader that is open, or null.
    let count = unsafe { atf_detail_event_count(reader) };
    if let Ok(expected) = &expected {
        assert_eq!(count, expected.event_count());
        for (seq, event) in (0..SOME).zip(expected.events()) {
            let event = event.expect("bytes in memory can be read");
            let wanted = expected.payload_bytes(&event).expect("they are in memory");
            let mut buffer = [0; 32];
            let mut size = 0;
            // SAFETY: a reader that is open, a buffer of 32 bytes, a place for one size.
            let status = unsafe {
                let buffer = buffer.as_mut_ptr().cast();
                atf_detail_payload(reader, seq, 0, buffer, 32, &raw mut size)
            };
            assert!(
                matches!(status, AtfStatus::Ok | AtfStatus::Buffer),
                "{status:?}"
            );
            let fits = wanted.len().min(32);
            assert_eq!(buffer[..fits], wanted[..fits]);
        }
    }
    // SAFETY: numbers, of which every pattern of bits is a value.
    let mut checksum = unsafe { std::mem::zeroed() };
    // SAFETY: a reader that is open, or null, and a place for a checksum.
    let _ = unsafe { atf_detail_checksum(reader, &raw mut checksum) };
    // SAFETY: a reader that is open, or null; nobody uses it after.
    let closed = unsafe { atf_detail_close(reader) };
    assert_ne!(closed, AtfStatus::Panic);
}
