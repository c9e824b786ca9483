//! `cut`: writes a time range of a session as a new session.

use std::collections::BTreeSet;
use std::slice;

use atf::rewrite::{CutOptions, cut};
use atf::{Error, ErrorKind};

use super::rewrite::Common;
use crate::output::{Failure, Outcome, State, complain};
use crate::time::{Time, TimeRange};
use crate::trace::{
    ClockOption, ThreadOption, TimedProcess, check_threads, open_processes, report_outside,
};

const AFTER_HELP: &str = "\
--from and --to are inclusive; TIME is as for `atf dump`. Events keep their details, and the
manifest its names, modules, anchors and losses. A thread begins with the calls that are open at the
start of the range, and ends with the returns of those that are open at its end. `cut` of each
thread in manifest.json counts these events.

An unfinalized trace is recovered on the way. Details that no event refers to, damaged data, and
files that an earlier recovery set aside are dropped. docs/commands.md explains how segments are
cut, and the limits.

Exit status: 0; 1 events that were written are missing or changed, as for recover; 2 usage, or a
path that could not be read or written.

Example:
  $ atf cut --from +50us --to +60us samples/sample-small --out part";

/// Options of `cut`.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Options {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    range: TimeRange,
    #[command(flatten)]
    clock: ClockOption,
    #[command(flatten)]
    threads: ThreadOption,
}

pub(super) fn run(options: &Options) -> Outcome {
    let path = &options.common.path;
    let processes = open_processes(slice::from_ref(path), &None, options.clock.clock);
    // As in other rewrites, an unreadable thread counts as a path that could not be read.
    let processes = processes.map_err(|failure| match failure {
        Failure::Damaged(error) => Failure::Input(error),
        failure => failure,
    })?;
    let [times, (from_ns, to_ns)] = range(options, &processes)?;
    let problems = processes.iter().flat_map(|it| it.problems());
    let is_gap = |error: &Error| matches!(error.kind(), ErrorKind::SegmentsMissing { .. });
    let gaps: Vec<Error> = problems.filter(is_gap).collect();
    gaps.iter().for_each(complain);
    let state = options.common.run(false, |path, out, progress| {
        let options = CutOptions::default()
            .from_ns(from_ns)
            .to_ns(to_ns)
            .threads(options.threads.iter().copied().collect())
            .durability(options.common.durability())
            .progress(Some(progress));
        let report = cut(path, out, &options)?;
        if report.events() == 0 {
            report_outside(&processes, times);
        }
        Ok(report)
    })?;
    Ok(if gaps.is_empty() {
        state
    } else {
        State::Damaged
    })
}

/// Returns the range in nanoseconds, as given and on the traces' clock.
fn range(options: &Options, processes: &[TimedProcess]) -> Result<[(u64, u64); 2], Failure> {
    let path = &options.common.path;
    check_threads(processes, &options.threads)?;
    let (starts, ends): (BTreeSet<u64>, BTreeSet<u64>) =
        processes.iter().filter_map(TimedProcess::times).unzip();
    for time in [options.range.from, options.range.to].into_iter().flatten() {
        let (when, sign) = match time {
            Time::FromStart(_) if starts.len() > 1 => ("start", '+'),
            Time::BeforeEnd(_) if ends.len() > 1 => ("end", '-'),
            _ => continue,
        };
        let message = format!(
            "the sessions {when} at different times: cut them one by one, or without {sign}"
        );
        return Err(Failure::at(path, message));
    }
    let times = starts.first().copied().zip(ends.last().copied());
    let range = options.range.resolve(times)?;
    let timestamps = |process: &TimedProcess| {
        let found = process.timestamps(range.0..=range.1)?;
        Some((*found.start(), *found.end()))
    };
    let found: BTreeSet<_> = processes.iter().map(timestamps).collect();
    match (found.first(), found.len()) {
        (None, _) => Ok([range; 2]),
        (Some(Some(timestamps)), 1) => Ok([range, *timestamps]),
        (Some(None), 1) => {
            let message = "--clock media: no timestamp is in the range";
            Err(Failure::at(path, message))
        }
        _ => {
            let message = "--clock media: the range has different timestamps in each session: cut them one by one";
            Err(Failure::at(path, message))
        }
    }
}
