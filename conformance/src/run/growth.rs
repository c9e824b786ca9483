//! Compares how long an implementation takes for a large file and for one of four times its size.

use std::time::Duration;

use crate::results::{CaseResult, Note, Outcome};

/// The ends of two cases' names. The second case has four times the events.
const SIZES: [&str; 2] = ["large-details-10000", "large-details-40000"];
/// The least ratio of the two times that is noted: half as much again as for work that is linear.
const LEAST_RATIO: u32 = 6;
/// The least time for the larger file. The ratio of shorter times is mostly noise.
const LEAST_TIME: Duration = Duration::from_millis(500);

/// Adds a note to results that took much longer for the larger file. They still pass.
pub(super) fn note_growth(cases: &mut [CaseResult]) {
    let is_sized = |case: &CaseResult, end: &str| {
        case.case.ends_with(end) && matches!(case.outcome, Outcome::Passed)
    };
    let small: Vec<_> = { cases.iter() }
        .filter(|case| is_sized(case, SIZES[0]))
        .map(|case| (case.testee, case.role, case.elapsed))
        .collect();
    for case in cases.iter_mut().filter(|case| is_sized(case, SIZES[1])) {
        let mut small = small.iter();
        let own = small.find(|it| (it.0, it.1) == (case.testee, case.role));
        let Some((.., less)) = own else { continue };
        if case.elapsed >= LEAST_TIME && case.elapsed >= *less * LEAST_RATIO {
            let [less, more] = [*less, case.elapsed].map(|time| time.as_secs_f64());
            case.notes.push(Note::advice(format!(
                "four times the details take {:.0} times as long: {more:.2} s instead of {less:.2} s",
                more / less
            )));
        }
    }
}
