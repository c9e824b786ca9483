//! Writing and recording events from C.

#![allow(unsafe_code, reason = "C is called")]

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::ptr;
use std::time::Duration;

use atf::record::{Capacity, RecordOptions, Recording};
use atf::write::{Event, SessionWriter, ThreadWriter, WriteOptions};
use atf_capi::record_options::AtfRecordOptions;
use atf_capi::recording::*;
use atf_capi::session_writer::{
    AtfSessionWriter, atf_session_writer_close, atf_session_writer_create,
};
use atf_capi::status::AtfStatus;

use crate::context::Context;
use crate::harness::{Result, Stopwatch, Time, compare};
use crate::input::Tape;
use crate::rows::record::{CAPACITY, EVENTS as RECORDED, play};
use crate::table::{Amount, Row};

/// The number of events in one run, 32 bytes each.
const EVENTS: u64 = 4_000_000;

/// An event to replay; `capi.c` declares the same struct.
#[repr(C)]
struct Recorded {
    timestamp_ns: u64,
    function_id: u64,
    event_kind: u32,
    call_depth: u32,
}

unsafe extern "C" {
    /// Runs one of the loops in `capi.c`. The strings and the events must live until the loop
    /// returns.
    fn bench_write_loop(
        session_dir: *const c_char,
        recorded: *const Recorded,
        recorded_count: usize,
        lap_ns: u64,
        count: u64,
    ) -> c_int;
    fn bench_s3_loop(
        session_dir: *const c_char,
        recorded: *const Recorded,
        recorded_count: usize,
        lap_ns: u64,
        count: u64,
        clock_type: u8,
    ) -> c_int;
    fn bench_record_loop(
        recording: *const c_void,
        recorder: *const c_void,
        first: u64,
        count: u64,
    ) -> c_int;
}

/// Adds the rows for the C API.
pub(crate) fn run(context: &mut Context) -> Result<()> {
    row(
        context,
        ("through the C API", 0.6),
        |session, recorded, lap_ns, count| {
            // SAFETY: the string ends in 0, the length is the number of events, both live until the
            // call returns, and the struct has the same layout in C.
            unsafe {
                bench_write_loop(
                    session.as_ptr(),
                    recorded.as_ptr(),
                    recorded.len(),
                    lap_ns,
                    count,
                )
            }
        },
    )?;
    let clock = WriteOptions::default().clock_type.0;
    row(
        context,
        ("through S3's functions", 0.9),
        |session, recorded, lap_ns, count| {
            // SAFETY: as above.
            unsafe {
                bench_s3_loop(
                    session.as_ptr(),
                    recorded.as_ptr(),
                    recorded.len(),
                    lap_ns,
                    count,
                    clock,
                )
            }
        },
    )?;
    record(context, ("its thread's recorder", 0.4), false)?;
    record(context, ("the recording", 0.4), true)
}

/// Adds a row for one of the loops.
fn row(
    context: &mut Context,
    (how, goal): (&str, f64),
    write: impl Fn(&CStr, &[Recorded], u64, u64) -> c_int,
) -> Result<()> {
    let tape = Tape::new();
    let count = context.events(EVENTS);
    let (from_c, from_rust) = (context.path("capi_c"), context.path("capi_rust"));
    let session = CString::new(from_c.as_os_str().as_bytes())?;
    let record = |event: &Event| Recorded {
        timestamp_ns: event.timestamp_ns,
        function_id: event.function_id,
        event_kind: event.event_kind.0,
        call_depth: event.call_depth,
    };
    let recorded: Vec<Recorded> = tape.events().iter().map(record).collect();

    let ours = |watch: &mut Stopwatch| {
        if from_c.exists() {
            fs::remove_dir_all(&from_c)?;
        }
        fs::create_dir(&from_c)?;
        let failed = watch.time(|| write(&session, &recorded, tape.lap_ns(), count));
        match failed {
            0 => Ok(()),
            _ => Err("the C API refused an event".into()),
        }
    };
    let baseline = |watch: &mut Stopwatch| {
        if from_rust.exists() {
            fs::remove_dir_all(&from_rust)?;
        }
        watch.time(|| {
            let mut writer =
                ThreadWriter::create(from_rust.join("thread_0"), 0, &WriteOptions::default())?;
            tape.play(count, |event| writer.write(event).map(drop))?;
            writer.finalize()?;
            Ok(())
        })
    };
    let comparison = compare(context.pairs, Time::Cpu, ours, baseline)?;
    let written = |folder: &std::path::Path| fs::read(folder.join("thread_0/index.atf"));
    if written(&from_c)? != written(&from_rust)? {
        return Err("C and Rust wrote different files".into());
    }
    context.report.add(Row {
        work: format!("write index events {how}; fresh pages, CPU time"),
        baseline: "the same in Rust",
        goal: Some(goal),
        comparison,
        amount: Amount::Each(count, "event"),
    });
    fs::remove_dir_all(from_c)?;
    fs::remove_dir_all(from_rust)?;
    Ok(())
}

/// How long drains sleep. Each run wakes them outside the timed part.
const ASLEEP: Duration = Duration::from_secs(60);

/// Adds a row for recording, either with a recorder or implicitly.
fn record(context: &mut Context, (how, goal): (&str, f64), is_implicit: bool) -> Result<()> {
    let rounds = context.events(RECORDED).div_ceil(CAPACITY);
    let (from_c, from_rust) = (context.path("record_c"), context.path("record_rust"));
    let comparison = compare(
        context.pairs,
        Time::Wall,
        |watch| {
            let recorded = RecordedInC::start(&from_c)?;
            let recorder = if is_implicit {
                ptr::null()
            } else {
                recorded.recorder.cast_const().cast()
            };
            for round in 0..rounds {
                let first = round * CAPACITY;
                // SAFETY: the handles are open, and this thread is the only one that records.
                let failed = watch.time(|| unsafe {
                    bench_record_loop(recorded.recording.cast(), recorder, first, CAPACITY)
                });
                if failed != 0 {
                    return Err("the C API lost an event".into());
                }
                recorded.drain()?;
            }
            Ok(())
        },
        |watch| {
            let recording = Recording::start(
                SessionWriter::create(emptied(&from_rust)?, &WriteOptions::default())?,
                &RecordOptions::default()
                    .capacity(
                        Capacity::default()
                            .events(CAPACITY as usize)
                            .payload_size(0),
                    )
                    .interval(ASLEEP),
            )?;
            let mut recorder = recording.thread(None)?;
            for round in 0..rounds {
                watch.time(|| {
                    if is_implicit {
                        play(round, |event| recording.record(event).map(drop))
                    } else {
                        play(round, |event| recorder.record(event).map(drop))
                    }
                })?;
                // The second flush finds nothing, so the drain goes to sleep.
                for _ in 0..2 {
                    recording.flush(ASLEEP)?;
                }
            }
            Ok(())
        },
    )?;
    context.report.add(Row {
        work: format!("record an event through the C API, with {how}, without the clock"),
        baseline: "the same in Rust",
        goal: Some(goal),
        comparison,
        amount: Amount::Each(rounds * CAPACITY, "event"),
    });
    fs::remove_dir_all(from_c)?;
    fs::remove_dir_all(from_rust)?;
    Ok(())
}

/// Removes a folder left by an earlier run.
fn emptied(folder: &Path) -> Result<&Path> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    Ok(folder)
}

/// The C handles of a recording.
struct RecordedInC {
    session: *mut AtfSessionWriter,
    recording: *mut AtfRecording,
    recorder: *mut AtfRecorder,
}

impl RecordedInC {
    fn start(folder: &Path) -> Result<Self> {
        let folder = CString::new(emptied(folder)?.as_os_str().as_bytes())?;
        let options = AtfRecordOptions {
            struct_size: size_of::<AtfRecordOptions>() as u32,
            ring_events: CAPACITY,
            ring_payload_size: u64::MAX,
            interval_ns: ASLEEP.as_nanos() as u64,
            // SAFETY: all members are numbers.
            ..unsafe { std::mem::zeroed() }
        };
        let mut made = Self {
            session: ptr::null_mut(),
            recording: ptr::null_mut(),
            recorder: ptr::null_mut(),
        };
        // SAFETY: the string ends in 0, and a pointer can be written.
        done(unsafe {
            atf_session_writer_create(folder.as_ptr(), ptr::null(), &raw mut made.session)
        })?;
        // SAFETY: the session is open, the options have their size, and a pointer can be written.
        done(unsafe {
            atf_recording_start(made.session, &raw const options, &raw mut made.recording)
        })?;
        // SAFETY: the recording is open, and a pointer can be written.
        done(unsafe { atf_recording_thread(made.recording, ptr::null(), &raw mut made.recorder) })?;
        Ok(made)
    }

    fn drain(&self) -> Result<()> {
        // The second flush finds nothing, so the drain goes to sleep.
        for _ in 0..2 {
            // SAFETY: the recording is open.
            done(unsafe { atf_recording_flush(self.recording, ASLEEP.as_nanos() as u64) })?;
        }
        Ok(())
    }
}

impl Drop for RecordedInC {
    fn drop(&mut self) {
        // SAFETY: null or open, and used by this thread only.
        unsafe { atf_recorder_close(self.recorder) };
        // SAFETY: as above.
        unsafe { atf_recording_close(self.recording) };
        // SAFETY: as above.
        unsafe { atf_session_writer_close(self.session) };
    }
}

fn done(status: AtfStatus) -> Result<()> {
    match status {
        AtfStatus::Ok => Ok(()),
        status => Err(format!("{status:?}").into()),
    }
}
