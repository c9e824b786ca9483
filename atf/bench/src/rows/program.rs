//! Recording a C program's calls, compared with uftrace.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use atf_record::CounterClock;

use crate::context::Context;
use crate::harness::{Result, Stopwatch};
use crate::rows::commands::{build, time};
use crate::table::skip;

/// A program that only makes the number of calls given by its argument.
const SOURCE: &str = "
#include <stdlib.h>
static __attribute__((noinline)) void leaf(void) { __asm__ volatile(\"\"); }
static __attribute__((noinline)) void node(int calls) { while (--calls > 0) leaf(); }
int main(int argc, char **argv) {
    for (long left = argc > 1 ? atol(argv[1]) : 0; left > 0; left -= 8) node(8);
}
";

/// The number of calls that the program makes. Each produces two events.
const CALLS: u64 = 5_000_000;

/// A setting of the recording library.
type Setting = (&'static str, &'static str);
/// Records through rings with this capacity in events.
const RINGS: Setting = ("ATF_RING", "65536");
/// Takes times from the processor's counter.
const COUNTER: Setting = ("ATF_CLOCK", "tsc");

pub(crate) fn run(context: &mut Context) -> Result<()> {
    let library = build("instrument", "libatf_instrument.so")?;
    let folder = context.path("program");
    let Some(program) = compile(&folder)? else {
        skip("record a C program", "gcc is not installed");
        return Ok(());
    };
    let calls = context.events(2 * CALLS) / 2;
    let command = || {
        let mut command = Command::new(&program);
        command.arg(calls.to_string());
        command
    };
    let (traces, other) = (context.path("traces"), context.path("uftrace"));
    let recorded = |watch: &mut Stopwatch, settings: &[Setting]| {
        let mut command = command();
        command.env("LD_PRELOAD", &library).env("ATF_OUT", &traces);
        command.envs(settings.iter().copied());
        time(watch, &mut command)?;
        Ok(fs::remove_dir_all(&traces)?)
    };
    let row = context.row("record it through rings", "record it without rings", 1.0);
    row.each(2 * calls, "event").compare(
        |watch| recorded(watch, &[RINGS]),
        |watch| recorded(watch, &[]),
    )?;
    if !is_installed("uftrace") {
        skip("the same under uftrace", "uftrace is not installed");
        return Ok(());
    }
    let uftrace = |watch: &mut Stopwatch| {
        let mut command = Command::new("uftrace");
        command
            .args(["record", "--no-libcall", "--no-event", "--data"])
            .arg(&other);
        time(watch, command.arg(&program).arg(calls.to_string()))?;
        Ok(fs::remove_dir_all(&other)?)
    };
    // uftrace stores the events in a second process, which runs on another core if one is idle.
    let mut settings = vec![
        ("record it without rings", &[][..]),
        ("record it through rings", &[RINGS]),
    ];
    if CounterClock::is_available() {
        settings.push((
            "record it through rings, times from the processor's counter",
            &[COUNTER, RINGS],
        ));
    }
    for (work, setting) in settings {
        let baseline = "uftrace record --no-libcall --no-event of the same program";
        let row = context.row(work, baseline, 2.0);
        row.each(2 * calls, "event")
            .compare(|watch| recorded(watch, setting), uftrace)?;
    }
    let row = context.row(
        "record it without rings, CPU time",
        "uftrace record --no-libcall --no-event of the same program",
        2.0,
    );
    row.cpu()
        .each(2 * calls, "event")
        .compare(|watch| recorded(watch, &[]), uftrace)
}

/// Compiles the program, or returns `None` if there is no compiler.
fn compile(folder: &Path) -> Result<Option<PathBuf>> {
    if !is_installed("gcc") {
        return Ok(None);
    }
    fs::create_dir_all(folder)?;
    let (source, program) = (folder.join("program.c"), folder.join("program"));
    fs::write(&source, SOURCE)?;
    let status = Command::new("gcc")
        .args(["-O2", "-finstrument-functions", "-o"])
        .args([&program, &source])
        .status()?;
    if status.success() {
        Ok(Some(program))
    } else {
        Err("the program failed to compile".into())
    }
}

pub(crate) fn is_installed(tool: &str) -> bool {
    let mut command = Command::new(tool);
    let command = command.arg("--version").stdout(Stdio::null());
    command.stderr(Stdio::null()).status().is_ok()
}
