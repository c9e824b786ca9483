//! The result of an export, and notes on missing or damaged data.

use atf::manifest::{Losses, Missing};
use atf::trace::Process;
use atf_analyze::{Options, Problem, ThreadTotals, Totals};

use crate::sink::LATEST_NS;

/// The result of an export.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Summary {
    /// Each process's totals over its threads. Without a selection of threads, they include the
    /// events that the tracer lost in threads without files.
    pub totals: Vec<Totals>,
    /// The problems: events that are missing or changed, and threads that were not read.
    pub problems: Vec<Problem>,
    /// How many events link to details of other events. The output omits these details, and reports
    /// how many there are.
    pub foreign_details: u64,
    /// How many events are later than 2⁶³ − 1 ns. The output omits them, and reports how many there
    /// are.
    pub late_events: u64,
    /// Whether a limit cut off parts of the trace. The output reports this too.
    pub is_cut: bool,
}

impl Summary {
    /// Returns whether nothing is damaged and nothing was omitted. Calls may still be open, and the
    /// tracer may have lost events: see [`totals`](Self::totals).
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.problems.is_empty()
            && self.foreign_details == 0
            && self.late_events == 0
            && !self.is_cut
    }

    pub(crate) fn add(
        &mut self,
        process: &Process,
        options: &Options,
        threads: &[ThreadTotals],
        problems: impl IntoIterator<Item = Problem>,
    ) {
        let mut totals = Totals::sum(threads);
        totals.losses = totals.losses.plus(losses_without_files(process, options));
        self.totals.push(totals);
        let late = late_events(threads, options);
        self.late_events = self.late_events.saturating_add(late);
        self.problems.extend(problems);
    }
}

/// Returns what the tracer lost in threads without readable files, unless threads are selected.
pub(crate) fn losses_without_files(process: &Process, options: &Options) -> Losses {
    if options.threads.is_empty() {
        process.losses_without_files()
    } else {
        Losses::default()
    }
}

/// Returns sentences about missing or damaged data in a thread, for formats that can include them.
pub(crate) fn notes_of(
    totals: Option<&ThreadTotals>,
    options: &Options,
    unwritten: Option<Missing>,
    problems: &[Problem],
) -> Vec<String> {
    let Some(totals) = totals else {
        return messages(problems).collect();
    };
    let losses = totals.losses.missing().chain(unwritten);
    let threads = std::slice::from_ref(totals);
    counted(&Totals::sum(threads))
        .chain(late(late_events(threads, options)))
        .chain(losses.map(|missing| missing.to_string()))
        .chain(messages(problems))
        .collect()
}

/// Returns sentences about missing or damaged data in a process. `totals` are those of its threads.
pub(crate) fn notes_of_process(
    process: &Process,
    options: &Options,
    threads: &[ThreadTotals],
    problems: &[Problem],
) -> Vec<String> {
    let totals = Totals::sum(threads);
    let losses = totals.losses.plus(losses_without_files(process, options));
    let losses = losses.missing().chain(process.unwritten());
    counted(&totals)
        .chain(late(late_events(threads, options)))
        .chain(losses.map(|missing| missing.to_string()))
        .chain(process.changes().map(ToString::to_string))
        .chain(messages(problems))
        .collect()
}

fn counted(totals: &Totals) -> impl Iterator<Item = String> + use<> {
    let counts = [
        (totals.open, "call open at the end", "calls open at the end"),
        (
            totals.at_least,
            "of these calls lasts at least until the process's last event (≥)",
            "of these calls last at least until the process's last event (≥)",
        ),
        (
            totals.unmatched,
            "return without a call",
            "returns without a call",
        ),
        (
            totals.out_of_order,
            "event earlier than the previous one; times are held until later events catch up",
            "events earlier than the previous one; times are held until later events catch up",
        ),
    ];
    let counts = counts.into_iter().filter(|(count, ..)| *count > 0);
    counts.map(|(count, one, many)| match count {
        1 => format!("1 {one}"),
        count => format!("{count} {many}"),
    })
}

/// Returns how many events are omitted because they are later than any export can show.
fn late_events(threads: &[ThreadTotals], options: &Options) -> u64 {
    if options.to_ns <= LATEST_NS {
        // The range ends before those events, so nothing is missing from it.
        return 0;
    }
    let events = threads.iter().map(|thread| thread.later_events);
    events.fold(0, u64::saturating_add)
}

fn late(count: u64) -> Option<String> {
    let events = if count == 1 { "event" } else { "events" };
    (count > 0).then(|| {
        format!("{count} {events} after {LATEST_NS} ns, the latest time that an export can contain")
    })
}

/// Returns a sentence about events whose details were omitted.
pub(crate) fn foreign_details(count: u64) -> String {
    match count {
        1 => "1 event with a link to a detail of another event".to_owned(),
        count => format!("{count} events with links to details of other events"),
    }
}

fn messages(problems: &[Problem]) -> impl Iterator<Item = String> {
    problems.iter().map(|problem| problem.error.to_string())
}
