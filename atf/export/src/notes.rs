//! Notes on missing or damaged data in a thread.

use atf::analyze::ThreadTotals;
use atf::manifest::Loss;
use atf::session::Problem;

/// Returns sentences about missing or damaged data in a thread, for formats that can include them.
pub(crate) fn notes_of(
    totals: Option<&ThreadTotals>,
    lost_details: Option<Loss>,
    unwritten: Option<u64>,
    problems: &[Problem],
) -> Vec<String> {
    let problems = problems.iter().map(|problem| problem.error.to_string());
    let Some(totals) = totals else {
        return problems.collect();
    };
    let counts = [
        (totals.open, "call open at the end", "calls open at the end"),
        (
            totals.unmatched,
            "return without a call",
            "returns without a call",
        ),
        (
            totals.out_of_order,
            "event earlier than the previous one; times stand still until they catch up",
            "events earlier than the previous one; times stand still until they catch up",
        ),
    ];
    let counts = counts.into_iter().filter(|(count, ..)| *count > 0);
    let counts = counts.map(|(count, one, many)| match count {
        1 => format!("1 {one}"),
        count => format!("{count} {many}"),
    });
    let losses = [(totals.lost_events, "event"), (lost_details, "detail")];
    let losses = losses.into_iter().filter_map(|(loss, noun)| {
        let Loss {
            count,
            first_ns,
            last_ns,
            ..
        } = loss.filter(|loss| loss.count > 0)?;
        let plural = if count == 1 { "" } else { "s" };
        Some(format!(
            "the tracer lost {count} {noun}{plural}, from {first_ns} to {last_ns} ns"
        ))
    });
    let unwritten = unwritten.filter(|events| *events > 0).map(|events| {
        format!(
            "up to {events} events may be missing: the tracer did not write them before it ended"
        )
    });
    let known = counts.chain(losses).chain(unwritten);
    known.chain(problems).collect()
}
