//! What a writer leaves on a full disk: no more than it was asked for, and no claim to more than is there.

use std::path::Path;

use atf::index::IndexEvent;
use atf::thread::ThreadReader;

use super::{Graded, Wrong, rules};
use crate::results::{Difference, Failure, Grade, Outcome};
use crate::scripts::{Detail, Index, Scripted, Thread};

/// The rule of a header that is rewritten before there is a footer.
const EARLY: &str = "ATF-WRTR-001";
/// The rule of a full disk.
const FULL: &str = "ATF-WRTR-005";

/// Grades what is in the folder `out`.
pub(super) fn grade(scripted: &Scripted, out: &Path) -> Graded {
    let found = rules::Found::of(out);
    let outcome = match found.broken_must() {
        Some(broken) => Outcome::Failed {
            class: Failure::Rule,
            message: broken.message.clone(),
            differences: vec![broken.difference(out, None)],
        },
        None => {
            let threads = scripted.script.threads().into_iter();
            let wrong = threads.map(|(id, asked)| thread(out, id, &asked));
            match wrong.collect::<Result<(), Wrong>>() {
                Ok(()) => Outcome::Passed,
                Err(wrong) => Outcome::Failed {
                    class: Failure::WrongFile,
                    message: wrong.message,
                    differences: wrong.difference.map(|one| *one).into_iter().collect(),
                },
            }
        }
    };
    // That a file on a full disk has no footer is no fault of its writer.
    Graded {
        outcome,
        notes: Vec::new(),
    }
}

fn thread(out: &Path, id: u32, asked: &Thread<'_>) -> Result<(), Wrong> {
    let folder = format!("thread_{id}");
    let unreadable = |error: atf::Error| {
        let what = format!("cannot be read: {}", error.kind());
        wrong(FULL, &folder, "a thread that can be read", &what)
    };
    let reader = ThreadReader::open(out.join(&folder)).map_err(unreadable)?;
    let index = reader.index();
    let file = format!("{folder}/index.atf");
    let claimed = index.header().event_count;
    if index.footer().is_none() && claimed > index.event_count() {
        let there = format!("no more than {}, which are there", index.event_count());
        let place = format!("{file}: header.event_count");
        return Err(wrong(EARLY, &place, &there, &claimed.to_string()));
    }
    let mut rest = asked.events.iter();
    for (seq, event) in (0_u64..).zip(index.events_in(..)) {
        let event = event.map_err(unreadable)?;
        if !rest.any(|asked| is_event(&event, asked)) {
            let place = format!("{file}: events[{seq}]");
            let what = "an event of the script, in its order";
            return Err(wrong(FULL, &place, what, &format!("{event:?}")));
        }
    }
    let Some(details) = reader.detail() else {
        return Ok(());
    };
    let file = format!("{folder}/detail.atf");
    let claimed = details.header().event_count;
    if details.footer().is_none() && claimed > details.event_count() {
        let there = format!("no more than {}, which are there", details.event_count());
        let place = format!("{file}: header.event_count");
        return Err(wrong(EARLY, &place, &there, &claimed.to_string()));
    }
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
            let what = "a detail of the script, in its order";
            return Err(wrong(FULL, &place, what, &format!("{header:?}")));
        }
    }
    Ok(())
}

fn is_event(event: &IndexEvent, asked: &Index) -> bool {
    (event.timestamp_ns, event.function_id, event.event_kind.0)
        == (
            asked.timestamp_ns,
            asked.function_id,
            asked.event_kind.into(),
        )
}

fn wrong(rule: &'static str, place: &str, expected: &str, got: &str) -> Wrong {
    Wrong {
        message: format!("{place}: {got}, expected {expected}; {rule}"),
        difference: Some(Box::new(Difference {
            grade: Grade::Data,
            place: place.to_owned(),
            expected: expected.to_owned(),
            got: got.to_owned(),
            rule: Some(rule.to_owned()),
            hexdump: None,
        })),
    }
}
