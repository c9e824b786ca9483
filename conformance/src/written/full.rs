//! Grades files written to a full disk. The files must contain only events of the script, and no
//! count may include events that are missing.

use std::path::Path;

use atf::Completeness;
use atf::index::IndexEvent;
use atf::thread::ThreadReader;

use super::{Graded, Wrong, rules};
use crate::results::{Failure, Outcome};
use crate::scripts::{Detail, Index, Scripted, Thread};

/// The rule that a header must not be rewritten before the footer is written.
const EARLY: &str = "ATF-WRTR-001";
/// The rule about full disks.
const FULL: &str = "ATF-WRTR-005";

/// Grades the files in the folder `out`.
pub(super) fn grade(scripted: &Scripted, out: &Path) -> Graded {
    let found = rules::Found::check(out);
    let threads = scripted.script.threads().into_iter();
    let wrong = threads.map(|(id, asked)| thread(out, id, &asked));
    let wrong = wrong.collect::<Result<(), Wrong>>();
    // On a full disk, a missing footer is not the writer's fault, so there are no notes.
    match (found.broken_must(None), wrong) {
        // A header that was rewritten too early also breaks the rule on its count.
        (Some((broken, message)), wrong)
            if broken.is_of_footer() || !wrong.as_ref().is_err_and(is_early) =>
        {
            Outcome::Failed {
                class: Failure::Rule,
                message,
                differences: vec![broken.difference(out, None)],
            }
        }
        (_, Err(wrong)) => wrong.failed(&found),
        (_, Ok(())) => Outcome::Passed,
    }
    .into()
}

fn is_early(wrong: &Wrong) -> bool {
    let difference = wrong.difference.as_ref();
    difference.is_some_and(|one| one.rule.as_deref() == Some(EARLY))
}

fn thread(out: &Path, id: u32, asked: &Thread<'_>) -> Result<(), Wrong> {
    let folder = format!("thread_{id}");
    let unreadable = |error: atf::Error| {
        let what = format!("unreadable: {}", error.kind());
        Wrong::at(&folder, "a readable thread", &what, FULL)
    };
    let reader = ThreadReader::open(out.join(&folder)).map_err(unreadable)?;
    let index = reader.index();
    let file = format!("{folder}/index.atf");
    counts_nothing(&file, index.completeness(), index.header().event_count)?;
    let mut rest = asked.events.iter();
    for (seq, event) in (0_u64..).zip(index.events_in(..)) {
        let event = event.map_err(unreadable)?;
        if !rest.any(|asked| is_event(&event, asked)) {
            let place = format!("{file}: events[{seq}]");
            let what = "the script's events in order";
            return Err(Wrong::at(&place, what, &format!("{event:?}"), FULL));
        }
    }
    let Some(details) = reader.detail() else {
        return Ok(());
    };
    let file = format!("{folder}/detail.atf");
    counts_nothing(&file, details.completeness(), details.header().event_count)?;
    let mut rest = asked.details.iter();
    for event in details.events_in(..) {
        let event = event.map_err(unreadable)?;
        let payload = details.payload(&event, usize::MAX).map_err(unreadable)?;
        let header = &event.header;
        let is_asked = |asked: &Detail| {
            header.event_type.0 == asked.event_type
                && header.timestamp == asked.timestamp
                && payload == asked.payload
        };
        if !rest.any(|asked| is_asked(asked)) {
            let place = format!("{file}: events[{}]", event.seq);
            let what = "the script's details in order";
            return Err(Wrong::at(&place, what, &format!("{header:?}"), FULL));
        }
    }
    Ok(())
}

/// Checks that a header counts no events if no footer follows them. Other rules cover damaged
/// footers.
fn counts_nothing(file: &str, completeness: &Completeness, claimed: u64) -> Result<(), Wrong> {
    if claimed == 0 || !matches!(completeness, Completeness::Unfinalized { .. }) {
        return Ok(());
    }
    let place = format!("{file}: header.event_count");
    let what = "0, as in a placeholder: there is no footer";
    Err(Wrong::at(&place, what, &claimed.to_string(), EARLY))
}

fn is_event(event: &IndexEvent, asked: &Index) -> bool {
    (event.timestamp_ns, event.function_id, event.event_kind.0)
        == (
            asked.timestamp_ns,
            asked.function_id,
            asked.event_kind.into(),
        )
}
