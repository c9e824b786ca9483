//! Calls the C functions from Rust so that Miri, which cannot run C, can check their use of
//! pointers (`.ci/sanitize miri`).

use std::ffi::{CStr, CString, c_char};
use std::mem::MaybeUninit;
use std::path::Path;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use atf::detail::FunctionPayload;
use atf_capi::clock::{AtfMediaTime, AtfTimingAnchor};
use atf_capi::detail::*;
use atf_capi::event::{AtfDetailEvent, AtfEvent};
use atf_capi::index::*;
use atf_capi::last_error::atf_last_error_message;
use atf_capi::options::AtfWriteOptions;
use atf_capi::reader::{AtfChecksum, AtfFileInfo};
use atf_capi::record_options::*;
use atf_capi::recording::*;
use atf_capi::recover::*;
use atf_capi::s3::*;
use atf_capi::session::*;
use atf_capi::session_writer::*;
use atf_capi::status::AtfStatus;
use atf_capi::thread::*;
use atf_capi::thread_writer::AtfThreadWriter;
use atf_capi::trace::*;
use atf_capi::writer::*;
use tempfile::TempDir;

/// Calls a function. The tests pass only valid arguments: NUL-terminated strings, valid output
/// pointers, and handles of this library that are open, recently closed or null.
macro_rules! call {
    ($call:expr) => {{
        // SAFETY: as above.
        unsafe { $call }
    }};
}

/// Calls a function that must succeed.
macro_rules! ok {
    ($call:expr) => {
        assert_eq!(
            call!($call),
            AtfStatus::Ok,
            "{}",
            text(atf_last_error_message())
        )
    };
}

/// Calls a function that writes its result to its last argument, and returns the result.
macro_rules! get {
    ($function:ident($($argument:expr),*)) => {{
        let mut place = MaybeUninit::uninit();
        ok!($function($($argument,)* place.as_mut_ptr()));
        // SAFETY: the function succeeded, so it has written the result.
        unsafe { place.assume_init() }
    }};
}

/// Like `get`, for a struct that may grow: its size is passed too.
macro_rules! get_sized {
    ($function:ident($($argument:expr),*) -> $type:ty) => {{
        let mut place = MaybeUninit::<$type>::uninit();
        ok!($function($($argument,)* place.as_mut_ptr(), size_of::<$type>()));
        // SAFETY: as above.
        unsafe { place.assume_init() }
    }};
}

// Comes after the macros, because it uses them.
mod damage;

fn text(string: *const c_char) -> String {
    // SAFETY: the library's strings are NUL-terminated and valid until the next call.
    let string = unsafe { CStr::from_ptr(string) };
    string.to_str().unwrap().to_owned()
}

fn path(folder: &Path, name: &str) -> CString {
    CString::new(folder.join(name).into_os_string().into_encoded_bytes()).unwrap()
}

fn options(wire: u8) -> AtfWriteOptions {
    // SAFETY: all members are numbers.
    let defaults: AtfWriteOptions = unsafe { std::mem::zeroed() };
    AtfWriteOptions {
        struct_size: u32::try_from(size_of::<AtfWriteOptions>()).unwrap(),
        wire,
        buffer_size: 4096,
        ..defaults
    }
}

const CALL: u32 = 1;
const RETURN: u32 = 2;

/// A function's registers, followed by bytes of the stack.
#[repr(C)]
struct Payload {
    registers: DetailFunctionPayload,
    stack: [u8; 5],
}

fn payload(function_id: u64) -> Payload {
    let registers = FunctionPayload::default().function_id(function_id);
    Payload {
        registers: registers.encode_fixed(5).unwrap(),
        stack: *b"stack",
    }
}

fn detail(event_type: u16, payload: *const Payload, payload_size: usize) -> AtfDetail {
    AtfDetail {
        event_type,
        flags: 0,
        reserved: 0,
        payload: payload.cast(),
        payload_size,
        reserved2: [0; 2],
    }
}

fn symbol(function_id: u64, name: *const c_char) -> AtfSymbol {
    AtfSymbol {
        function_id,
        name,
        reserved: [0; 2],
    }
}

/// Reads a merge's next events, at most five.
fn next(merge: *mut AtfMerge) -> (AtfStatus, Vec<AtfEvent>) {
    let mut events = [MaybeUninit::<AtfEvent>::uninit(); 5];
    let (place, size, mut count) = (events.as_mut_ptr().cast(), events.len(), 0);
    let status = call!(atf_merge_next(merge, place, size, &raw mut count));
    let events = events[..count].iter().map(|event| {
        // SAFETY: `count` events were written.
        unsafe { event.assume_init() }
    });
    (status, events.collect())
}

/// Writes six events, using all three ways to write; two have details.
fn write(writer: *mut AtfThreadWriter, first_ns: u64) {
    let payload = payload(7);
    let full = detail(3, &raw const payload, size_of_val(&payload));
    let full = &raw const full;
    let link: AtfLink = get!(atf_writer_write_with_detail(
        writer, first_ns, 7, CALL, 1, full
    ));
    assert_eq!((link.index_seq, link.detail_seq), (0, 0));
    let none = ptr::null_mut();
    for (time, kind) in [(10, CALL), (20, RETURN), (30, CALL)] {
        ok!(atf_writer_write(writer, first_ns + time, 8, kind, 2, none));
    }
    let next = call!(atf_writer_next_detail_seq(writer));
    let time = first_ns + 40;
    let seq: u64 = get!(atf_writer_write_index(writer, time, 8, RETURN, 2, next));
    let empty = detail(4, ptr::null(), 0);
    let detail_seq: u64 = get!(atf_writer_write_detail(writer, seq, time, &raw const empty));
    assert_eq!((seq, detail_seq), (4, 1));
    ok!(atf_writer_flush(writer));
    ok!(atf_writer_write(writer, first_ns + 50, 7, RETURN, 1, none));
    let summary = get_sized!(atf_writer_finish(writer) -> AtfThreadSummary);
    assert_eq!((summary.event_count, summary.detail_count), (6, 2));
    call!(atf_writer_close(writer));
}

static LOSS: AtfLoss = AtfLoss {
    count: 3,
    first_ns: 4,
    last_ns: 5,
};

static ANCHOR: AtfTimingAnchor = AtfTimingAnchor {
    host_time_ns: 6,
    media_time: AtfMediaTime {
        value: -7,
        timescale: 600,
        reserved: 0,
    },
};

/// Writes a session with two threads, each from a separate thread.
fn session(folder: &CStr, wire: u8) {
    let (at, options) = (folder.as_ptr(), options(wire));
    let session: *mut AtfSessionWriter = get!(atf_session_writer_create(at, &raw const options));
    let symbols = [symbol(7, c"seven".as_ptr()), symbol(8, ptr::null())];
    let (at, count) = (symbols.as_ptr(), symbols.len());
    ok!(atf_session_writer_set_symbols(session, at, count));
    let module = AtfModule {
        module_id: 0,
        function_offsets: 1,
        base_address: 0x40_0000,
        size: 0x1000,
        path: c"/bin/traced".as_ptr(),
        uuid: ptr::null(),
        reserved2: [0; 2],
    };
    let module = &raw const module;
    ok!(atf_session_writer_set_modules(session, module, 1));
    let name = c"render".as_ptr();
    ok!(atf_session_writer_set_thread_name(session, 2, name));
    let (none, loss, anchor) = (ptr::null(), &raw const LOSS, &raw const ANCHOR);
    ok!(atf_session_writer_set_losses(session, 2, none, loss));
    ok!(atf_session_writer_add_timing_anchor(session, anchor));
    ok!(atf_session_writer_write_manifest(session));
    let late = symbol(10, c"ten".as_ptr());
    ok!(atf_session_writer_add_symbol(session, &raw const late));
    // A handle that other threads may use.
    let shared = AtomicPtr::new(session);
    std::thread::scope(|scope| {
        for id in [1, 2] {
            let shared = &shared;
            scope.spawn(move || {
                let session = shared.load(Ordering::Relaxed);
                write(get!(atf_session_writer_thread(session, id)), u64::from(id));
            });
        }
    });
    let totals = get_sized!(atf_session_writer_finish(session) -> AtfSessionTotals);
    let found = (totals.threads, totals.event_count, totals.detail_count);
    assert_eq!(found, (2, 12, 4));
    let found = text(call!(atf_session_writer_path(session)));
    assert_eq!(found, folder.to_str().unwrap());
    ok!(atf_session_writer_close(session));
}

/// Reads back the output of [`write`].
fn read_thread(session: *const AtfSessionReader) {
    let thread: *mut AtfThreadReader = get!(atf_session_open_thread(session, 0));
    let index: *mut AtfIndexReader = get!(atf_thread_index(thread));
    let detail: *mut AtfDetailReader = get!(atf_thread_detail(thread));

    let forward: AtfDetailEvent = get!(atf_thread_detail_of(thread, 4));
    assert_eq!((forward.detail_seq, forward.payload_size), (1, 0));
    let backward: AtfEvent = get!(atf_thread_event_of(thread, 1));
    assert_eq!((backward.index_seq, backward.timestamp_ns), (4, 41));
    let mut none = forward;
    let status = call!(atf_thread_detail_of(thread, 1, &raw mut none));
    assert_eq!((status, none), (AtfStatus::None, forward));
    ok!(atf_thread_close(thread));

    // The readers of a thread's files outlive the thread's reader.
    let info = get_sized!(atf_index_info(index) -> AtfFileInfo);
    let count = call!(atf_index_event_count(index));
    assert_eq!((info.event_count, count), (6, 6));
    let mut events = [MaybeUninit::<AtfEvent>::uninit(); 4];
    let (place, size) = (events.as_mut_ptr().cast(), events.len());
    let count: usize = get!(atf_index_read(index, 3, place, size));
    assert_eq!(count, 3);
    // SAFETY: `count` events were written.
    let last = unsafe { events[2].assume_init() };
    let found = (last.index_seq, last.timestamp_ns, last.event_kind);
    assert_eq!(found, (5, 51, RETURN));
    let (mut start, mut end) = (0, 0);
    ok!(atf_index_time_range(index, &raw mut start, &raw mut end));
    assert_eq!((start, end), (1, 51));
    let checksum: AtfChecksum = get!(atf_index_checksum(index));
    assert_eq!(checksum, AtfChecksum::Good);
    ok!(atf_index_close(index));

    let mut registers = MaybeUninit::<DetailFunctionPayload>::uninit();
    let mut stack = [0; 8];
    let (place, part, size) = (registers.as_mut_ptr(), stack.as_mut_ptr(), stack.len());
    ok!(atf_detail_function_payload(detail, 0, place, part, size));
    // SAFETY: it was written.
    let registers = unsafe { registers.assume_init() };
    assert_eq!((registers[0], &stack), (7, b"stack\0\0\0"));
    let mut size = 0;
    let part = stack.as_mut_ptr().cast();
    let status = call!(atf_detail_payload(detail, 0, 100, part, 3, &raw mut size));
    let found = (status, size, &stack[..3]);
    assert_eq!(found, (AtfStatus::Ok, 3, b"sta".as_slice()));
    let info = get_sized!(atf_detail_info(detail) -> AtfFileInfo);
    let count = call!(atf_detail_event_count(detail));
    assert_eq!((info.event_count, count), (2, 2));
    ok!(atf_detail_close(detail));
}

fn read_session(folder: &CStr) {
    let session: *mut AtfSessionReader = get!(atf_session_open(folder.as_ptr(), 0));
    assert_eq!(call!(atf_session_thread_count(session)), 2);
    assert_eq!(call!(atf_session_problem_count(session)), 0);
    let info = get_sized!(atf_session_thread_info(session, 1) -> AtfThreadInfo);
    assert_eq!((info.id, info.is_listed), (2, 1));
    assert!(text(info.path).ends_with("thread_2"));
    assert_eq!(text(info.name), "render");
    assert_eq!((info.lost_events.count, info.lost_details), (0, LOSS));
    let info = get_sized!(atf_session_thread_info(session, 0) -> AtfThreadInfo);
    assert!(info.name.is_null() && info.lost_details.count == 0);
    assert_eq!(call!(atf_session_module_count(session)), 1);
    let module: AtfModule = get!(atf_session_module(session, 0));
    assert_eq!((module.function_offsets, module.size), (1, 0x1000));
    assert_eq!(text(module.path), "/bin/traced");
    assert!(module.uuid.is_null());
    assert_eq!(call!(atf_session_timing_anchor_count(session)), 1);
    let anchor: AtfTimingAnchor = get!(atf_session_timing_anchor(session, 0));
    let media = anchor.media_time;
    let found = (anchor.host_time_ns, media.value, media.timescale);
    assert_eq!(found, (6, -7, 600));
    let totals = get_sized!(atf_session_summary(session) -> AtfSessionTotals);
    assert_eq!((totals.event_count, totals.detail_count), (12, 4));
    let name = |id| call!(atf_session_function_name(session, id));
    assert_eq!(text(name(7)), "seven");
    assert_eq!(text(name(10)), "ten");
    assert!(name(9).is_null());
    let symbol: AtfSymbol = get!(atf_session_symbol(session, 0));
    let found = (symbol.function_id, text(symbol.name));
    assert_eq!(found, (7, "seven".to_owned()));
    read_thread(session);

    let merge: *mut AtfMerge = get!(atf_merge_open(session, 0, u64::MAX));
    // The thread's reader also outlives the session.
    ok!(atf_session_close(session));
    let mut times = Vec::new();
    loop {
        match next(merge) {
            (AtfStatus::Ok, events) => times.extend(events.iter().map(|it| it.timestamp_ns)),
            (status, _) => break assert_eq!(status, AtfStatus::None),
        }
    }
    assert_eq!(times, [1, 2, 11, 12, 21, 22, 31, 32, 41, 42, 51, 52]);
    assert_eq!(call!(atf_merge_problem_count(merge)), 0);
    ok!(atf_merge_close(merge));
}

#[test]
fn a_trace_contains_all_sessions_below_a_folder() {
    let folder = TempDir::new().unwrap();
    for (process, wire) in [("pid_1", 1), ("pid_2", 2)] {
        session(&path(folder.path(), process), wire);
    }
    let trace: *mut AtfTrace = get!(atf_trace_open(path(folder.path(), "").as_ptr()));
    assert_eq!(call!(atf_trace_session_count(trace)), 2);
    let second: *mut AtfSessionReader = get!(atf_trace_session(trace, 1));
    let merge: *mut AtfMerge = get!(atf_trace_merge(trace, 0, 2));
    let mut none = ptr::null_mut();
    let status = call!(atf_trace_session(trace, 2, &raw mut none));
    assert_eq!(status, AtfStatus::None);
    ok!(atf_trace_close(trace));
    assert!(call!(atf_session_thread_count(second)) > 0);
    ok!(atf_session_close(second));
    let (status, events) = next(merge);
    assert_eq!(status, AtfStatus::Ok);
    let places = events
        .iter()
        .map(|event| (event.timestamp_ns, event.session));
    assert_eq!(places.collect::<Vec<_>>(), [(1, 0), (1, 1), (2, 0), (2, 1)]);
    ok!(atf_merge_close(merge));
}

#[test]
fn both_wire_versions_are_written_read_merged_and_recovered() {
    for wire in [1, 2] {
        let folder = TempDir::new().unwrap();
        let written = path(folder.path(), "written");
        session(&written, wire);
        read_session(&written);

        let recovered = path(folder.path(), "recovered");
        let (from, to) = (written.as_ptr(), recovered.as_ptr());
        let report = get!(atf_recover(from, to, ptr::null()));
        assert!(text(report).starts_with('{'));
        call!(atf_string_free(report));
        read_session(&recovered);
    }
}

#[test]
fn two_threads_record_with_and_without_rings() {
    // Miri cannot map files.
    let modes = if cfg!(miri) { 0..1 } else { 0..2 };
    for survive_kill in modes {
        let folder = TempDir::new().unwrap();
        let root = path(folder.path(), "recorded");
        let write = AtfWriteOptions {
            survive_kill,
            ..options(1)
        };
        let session: *mut AtfSessionWriter =
            get!(atf_session_writer_create(root.as_ptr(), &raw const write));
        // SAFETY: all members are numbers.
        let defaults: AtfRecordOptions = unsafe { std::mem::zeroed() };
        let record = AtfRecordOptions {
            struct_size: u32::try_from(size_of::<AtfRecordOptions>()).unwrap(),
            overflow: 2,
            ring_events: 4,
            ring_payload_size: 256,
            ..defaults
        };
        let recording: *mut AtfRecording = get!(atf_recording_start(session, &raw const record));
        let recorder: *mut AtfRecorder = get!(atf_recording_thread(recording, c"own".as_ptr()));
        let shared = (AtomicPtr::new(recording), AtomicPtr::new(recorder));
        let payload = payload(7);
        let payload = AtomicPtr::new((&raw const payload).cast_mut());
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let recorder = shared.1.load(Ordering::Relaxed);
                let payload = payload.load(Ordering::Relaxed);
                let detail = detail(3, payload, size_of::<Payload>());
                for n in 0..5 {
                    let detail = &raw const detail;
                    let link: AtfLink = get!(atf_recorder_record_with_detail(
                        recorder, n, 7, CALL, 1, detail
                    ));
                    assert_eq!((link.index_seq, link.detail_seq), (n, n));
                }
                ok!(atf_recorder_lose_event(recorder, 5));
            });
            scope.spawn(|| {
                let recording = shared.0.load(Ordering::Relaxed);
                for n in 0..10 {
                    let seq: u64 = get!(atf_recording_record(recording, n, 7, CALL, 1));
                    assert_eq!(seq, n);
                }
            });
        });
        let summary = get_sized!(atf_recording_stop(recording) -> AtfRecordSummary);
        assert_eq!((summary.event_count, summary.detail_count), (15, 5));
        assert_eq!((summary.lost_events, summary.finalized), (1, 2));
        ok!(atf_recording_close(recording));
        let none = ptr::null_mut();
        let status = call!(atf_recorder_record(recorder, 6, 7, CALL, 1, none));
        assert_eq!(status, AtfStatus::LostEvent);
        ok!(atf_recorder_close(recorder));
        ok!(atf_session_writer_close(session));
    }
}

#[test]
fn the_functions_of_s3_take_a_stack_after_the_registers() {
    let folder = TempDir::new().unwrap();
    let root = path(folder.path(), "session");
    let writer = call!(atf_writer_create(root.as_ptr(), 3, 3));
    let none = u32::MAX;
    assert_eq!(call!(atf_write_index_event(writer, 10, 7, CALL, 1, 0)), 0);
    let payload = payload(7);
    let payload = ptr::from_ref(&payload).cast();
    call!(atf_write_detail_event(writer, 0, 10, payload));
    let write = |time| call!(atf_write_index_event(writer, time, 7, RETURN, 1, none));
    assert_eq!((write(20), write(19)), (1, none));
    assert_eq!(call!(atf_writer_error(writer)), AtfStatus::Refused);
    assert!(text(call!(atf_writer_error_message(writer))).contains("timestamp_ns"));
    call!(atf_writer_finalize(writer));
    assert_eq!(call!(atf_writer_is_finalized(writer)), 1);
    call!(atf_writer_close(writer));

    let file = path(folder.path(), "session/thread_3/detail.atf");
    let detail: *mut AtfDetailReader = get!(atf_detail_open(file.as_ptr(), 0));
    let event: AtfDetailEvent = get!(atf_detail_get(detail, 0));
    assert_eq!((event.payload_size, event.event_type), (105, 3));
    ok!(atf_detail_close(detail));
}
