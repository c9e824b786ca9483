//! Writing events from C.

#![allow(unsafe_code, reason = "C is called")]

use std::ffi::{CString, c_char, c_int};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;

// Links the C API.
use atf_capi as _;

use atf::write::{Event, WriteOptions};

use crate::context::Context;
use crate::harness::{Result, Stopwatch};
use crate::input::{Tape, remove};

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

/// A loop in `capi.c`: session folder, events to replay and their number, time between laps,
/// number of events to write.
type Loop = unsafe extern "C" fn(*const c_char, *const Recorded, usize, u64, u64) -> c_int;

unsafe extern "C" {
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
    ) -> c_int;
}

pub(crate) fn run(context: &mut Context) -> Result<()> {
    row(
        context,
        "write index events through the C API; fresh pages, CPU time",
        0.6,
        bench_write_loop,
    )?;
    row(
        context,
        "write index events through S3's functions; fresh pages, CPU time",
        0.9,
        bench_s3_loop,
    )
}

fn row(context: &mut Context, work: &str, goal: f64, write: Loop) -> Result<()> {
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
        remove(&from_c)?;
        fs::create_dir(&from_c)?;
        // SAFETY: the string ends in 0, the length is the number of events, both live until the
        // call returns, and the struct has the same layout in C.
        let failed = watch.time(|| unsafe {
            write(
                session.as_ptr(),
                recorded.as_ptr(),
                recorded.len(),
                tape.lap_ns(),
                count,
            )
        });
        match failed {
            0 => Ok(()),
            _ => Err("the C API rejected an event".into()),
        }
    };
    let baseline = |watch: &mut Stopwatch| {
        let thread = from_rust.join("thread_0");
        tape.write(watch, &thread, &WriteOptions::default(), count)
    };
    let row = context.row(work, "the same in Rust", goal).cpu();
    row.each(count, "event").compare(ours, baseline)?;
    let index = "thread_0/index.atf";
    if fs::read(from_c.join(index))? == fs::read(from_rust.join(index))? {
        Ok(())
    } else {
        Err("C and Rust wrote different files".into())
    }
}
