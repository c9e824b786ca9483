//! Writing events from C.

#![allow(unsafe_code, reason = "C is called")]

use std::ffi::{CStr, CString, c_char, c_int};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;

use atf::write::{Event, ThreadWriter, WriteOptions};
// The functions that the C code calls are linked only if the crate is used.
use atf_capi as _;

use crate::context::Context;
use crate::harness::{Result, Stopwatch, Time, compare};
use crate::input::Tape;
use crate::table::{Amount, Row};

/// Events of one run, 32 bytes each.
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
    /// The loops in `capi.c`; the strings and the events must live until they return.
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
}

/// Adds the rows for the C API.
pub(crate) fn run(context: &mut Context) -> Result<()> {
    row(
        context,
        ("through the C API", 0.6),
        |session, recorded, lap_ns, count| {
            // SAFETY: the string ends in 0, the length is that of the events, both live until the call
            // returns, and the struct has the same layout as C's.
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
    )
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
