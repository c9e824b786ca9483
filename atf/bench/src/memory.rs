//! Measures how much memory writing and reading take.

use std::path::{Path, PathBuf};
use std::process::Command;

use atf::session::SessionReader;
use atf_synth::Synth;
use clap::ValueEnum;

use crate::context::Context;
use crate::harness::Result;
use crate::machine;
use crate::table::{Fact, three_digits};

/// The total number of events in all threads, 32 bytes each.
const EVENTS: u64 = 20_000_000;
/// With `--large`: about 3.4 GB of index events and 2.3 GB of details.
const LARGE: u64 = 105_000_000;
const THREADS: u32 = 16;
const DETAIL_PER_MILLE: u32 = 86;

/// A job that runs in a separate process, so that its peak memory excludes earlier work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Job {
    /// Adds up a session, as `atf info` does.
    Info,
    /// Reads all index and detail events, one thread after another.
    Read,
    /// Merges the middle hundredth of the time.
    Range,
    /// Merges all events and counts them.
    Merge,
}

impl Job {
    fn name(self) -> &'static str {
        match self {
            Self::Info => "open all threads and add them up",
            Self::Read => "read all index and detail events",
            Self::Range => "merge a hundredth of the time",
            Self::Merge => "merge all events",
        }
    }

    /// Does the job and returns the number of events it read.
    fn work(self, session: &SessionReader) -> Result<u64> {
        let count = |mut events: atf::merge::Merged<'_>| {
            events.try_fold(0, |count, event| event.map(|_| count + 1))
        };
        match self {
            Self::Info => {
                let summary = session.summary();
                Ok(summary.index_events + summary.detail_events)
            }
            Self::Read => read(session),
            Self::Range => {
                let range = session.summary().time_range;
                let (first, last) = range.ok_or("the session has no events")?;
                let from = first + (last - first) / 2;
                let merge = session
                    .merge()
                    .time_range(from..from + (last - first) / 100);
                Ok(count(merge.events())?)
            }
            Self::Merge => Ok(count(session.merge().events())?),
        }
    }
}

fn read(session: &SessionReader) -> Result<u64> {
    let mut count = 0;
    for entry in session.threads() {
        let thread = entry.open()?;
        for event in thread.index().events() {
            event?;
            count += 1;
        }
        let Some(detail) = thread.detail() else {
            continue;
        };
        for event in detail.events() {
            event?;
            count += 1;
        }
    }
    Ok(count)
}

/// Does a job, and prints this process's peak memory in bytes and the number of events it read.
pub(crate) fn child(job: Job, session: &Path) -> Result<()> {
    let count = job.work(&SessionReader::open(session)?)?;
    let peak = machine::peak_memory().ok_or("this system does not report memory use")?;
    println!("{peak} {count}");
    Ok(())
}

/// Measures the peak memory use of processes that do one job each.
pub(crate) fn run(context: &mut Context) -> Result<()> {
    let events = if context.large { LARGE } else { EVENTS };
    let synth = Synth {
        threads: THREADS,
        events_per_thread: context.events(events) / u64::from(THREADS),
        detail_per_mille: DETAIL_PER_MILLE,
        ..Synth::default()
    };
    let session = context.path("memory");
    let written = synth.write(&session)?;
    let size = three_digits(size_of(&session)? as f64 / 1e9);
    for job in Job::value_variants() {
        let (peak, count) = start(*job, &session)?;
        let expected = match job {
            Job::Range => 1..written.index_events / 10,
            Job::Merge => written.index_events..written.index_events + 1,
            Job::Info | Job::Read => {
                let all = written.index_events + written.detail_events;
                all..all + 1
            }
        };
        if !expected.contains(&count) {
            return Err(format!("{}: {count} events, not {expected:?}", job.name()).into());
        }
        context.report.state_memory(Fact {
            what: format!(
                "{}; a session of {size} GB, {THREADS} threads, {} detail events",
                job.name(),
                written.detail_events
            ),
            figure: format!("{} MB", three_digits(peak as f64 / 1e6)),
        });
    }
    std::fs::remove_dir_all(session)?;
    Ok(())
}

fn start(job: Job, session: &Path) -> Result<(u64, u64)> {
    let name = job.to_possible_value().ok_or("the job has no name")?;
    let output = Command::new(std::env::current_exe()?)
        .args(["--job", name.get_name(), "--session"])
        .arg(session)
        .output()?;
    let text = String::from_utf8(output.stdout)?;
    let numbers = text.trim().split_once(' ');
    match numbers.filter(|_| output.status.success()) {
        Some((peak, count)) => Ok((peak.parse()?, count.parse()?)),
        None => Err(String::from_utf8_lossy(&output.stderr).into()),
    }
}

fn size_of(folder: &Path) -> Result<u64> {
    let mut size = 0;
    let mut folders = vec![PathBuf::from(folder)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            } else {
                size += entry.metadata()?.len();
            }
        }
    }
    Ok(size)
}
