//! Recording a C program's calls, compared with running it without a recorder and under uftrace.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use atf::clock::CounterClock;

use crate::context::Context;
use crate::harness::{Result, Stopwatch, Time, compare};
use crate::rows::commands::{build, time};
use crate::table::{Amount, Report, Row};

/// A program that makes the number of calls given by its argument, and does nothing else.
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
/// Record through rings of this number of events.
const RINGS: Setting = ("ATF_RING", "65536");
/// Take times from the processor's counter.
const COUNTER: Setting = ("ATF_CLOCK", "tsc");

/// Adds the rows for a recorded program.
pub(crate) fn run(context: &mut Context) -> Result<()> {
    let library = build("instrument", "libatf_instrument.so")?;
    let folder = context.path("program");
    let (Some(program), Some(without_hooks)) = (
        compile(&folder, "program", &["-finstrument-functions"])?,
        compile(&folder, "without_hooks", &[])?,
    ) else {
        context
            .report
            .skip("record a C program", "gcc is not installed");
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
    let amount = Amount::Each(2 * calls, "event");
    let pairs = context.pairs;
    let report = &mut context.report;
    let add = |report: &mut Report, work: &str, baseline, goal, comparison| {
        report.add(Row {
            work: work.to_owned(),
            baseline,
            goal,
            comparison,
            amount,
        });
    };
    for (work, program) in [
        (
            "run a C program that only makes calls, compiled without hooks",
            &without_hooks,
        ),
        ("run it with hooks that do nothing", &program),
    ] {
        let run = |watch: &mut Stopwatch| time(watch, Command::new(program).arg(calls.to_string()));
        let plain = compare(pairs, Time::Wall, run, |watch| recorded(watch, &[]))?;
        add(report, work, "the same program, recorded", None, plain);
    }
    let rings = compare(
        pairs,
        Time::Wall,
        |watch| recorded(watch, &[RINGS]),
        |watch| recorded(watch, &[]),
    )?;
    add(
        report,
        "record it through rings",
        "record it without rings",
        Some(1.0),
        rings,
    );
    if !is_installed("uftrace") {
        report.skip("the same under uftrace", "uftrace is not installed");
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
        ("record it without rings", Time::Wall, &[][..]),
        ("record it without rings, CPU time", Time::Cpu, &[]),
        ("record it through rings", Time::Wall, &[RINGS]),
    ];
    if CounterClock::is_available() {
        settings.extend([
            (
                "record it without rings, times from the processor's counter",
                Time::Wall,
                &[COUNTER][..],
            ),
            (
                "record it through rings, times from the processor's counter",
                Time::Wall,
                &[COUNTER, RINGS],
            ),
        ]);
    }
    for (work, kind, setting) in settings {
        let record = |watch: &mut Stopwatch| recorded(watch, setting);
        let compared = compare(pairs, kind, record, uftrace)?;
        add(
            report,
            work,
            "uftrace record --no-libcall --no-event of the same program",
            Some(2.0),
            compared,
        );
    }
    Ok(())
}

/// Compiles the program, or returns `None` if there is no compiler.
fn compile(folder: &Path, name: &str, options: &[&str]) -> Result<Option<PathBuf>> {
    if !is_installed("gcc") {
        return Ok(None);
    }
    fs::create_dir_all(folder)?;
    let (source, program) = (folder.join("program.c"), folder.join(name));
    fs::write(&source, SOURCE)?;
    let status = Command::new("gcc")
        .arg("-O2")
        .args(options)
        .arg("-o")
        .args([&program, &source])
        .status()?;
    if status.success() {
        Ok(Some(program))
    } else {
        Err("the program was not compiled".into())
    }
}

pub(crate) fn is_installed(tool: &str) -> bool {
    let mut command = Command::new(tool);
    let command = command.arg("--version").stdout(Stdio::null());
    command.stderr(Stdio::null()).status().is_ok()
}
