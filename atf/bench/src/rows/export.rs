//! The exports, run as separate processes and compared with `cat` of the same files. Their output
//! is discarded.

use std::process::Command;

use atf_synth::Synth;

use crate::context::Context;
use crate::harness::{Result, Stopwatch, Time, compare};
use crate::input;
use crate::rows::commands::{build, files, time};
use crate::table::{Amount, Row};

/// The number of events in a session of four threads. Every seventh event has a detail; the session
/// is about 270 MB.
const EVENTS: u64 = 4_000_000;
const THREADS: u32 = 4;

/// The formats, each with its goal. Folded stacks are omitted: their call tree would be truncated,
/// because synthetic stacks differ too much.
const FORMS: [(&str, f64); 5] = [
    ("perfetto", 0.03),
    ("chrome", 0.03),
    ("speedscope", 0.03),
    ("firefox", 0.03),
    ("csv", 0.03),
];

/// Adds the rows for exports.
pub(crate) fn run(context: &mut Context) -> Result<()> {
    let atf = build("cli", "atf")?;
    let synth = Synth {
        threads: THREADS,
        events_per_thread: context.events(EVENTS / u64::from(THREADS)),
        detail_per_mille: 150,
        ..Synth::default()
    };
    let session = input::session(context, "export", &synth)?;
    let files = files(&session, THREADS);
    let events = synth.events_per_thread * u64::from(THREADS);
    for (form, goal) in FORMS {
        let ours = |watch: &mut Stopwatch| {
            let mut command = Command::new(&atf);
            command.args(["export", "--format", form, "--out", "-"]);
            // Synthetic traces have open calls, which the command reports.
            command.arg(&session).stderr(std::process::Stdio::null());
            time(watch, &mut command)
        };
        let cat = |watch: &mut Stopwatch| time(watch, Command::new("cat").args(&files));
        let comparison = compare(context.pairs, Time::Wall, ours, cat)?;
        context.report.add(Row {
            work: format!(
                "atf export --format {form} of a session of {THREADS} threads with details"
            ),
            baseline: "cat of the same files",
            goal: Some(goal),
            comparison,
            amount: Amount::Each(events, "event"),
        });
    }
    std::fs::remove_dir_all(session)?;
    Ok(())
}
