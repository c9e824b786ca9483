//! Checks that the operations are in an order that the format allows.

use std::collections::BTreeMap;

use super::{Detail, Index, Open, Operation};

/// The position of an invalid operation, and a message.
type Fault = (usize, String);

/// The state of a thread while a script is checked.
#[derive(Default)]
struct Thread {
    next_index_seq: u64,
    next_detail_seq: u64,
    timestamp_ns: u64,
    /// How the thread ended, unless it is still open.
    end: Option<&'static str>,
}

const FINALIZED: &str = "finalized";

/// Returns whether a tracer may attempt an operation on a thread that has ended.
fn is_late(operation: &Operation, end: &str) -> bool {
    let is_attempted = match operation {
        Operation::Index(event) => event.detail_seq.is_none(),
        Operation::Finalize(_) => true,
        _ => false,
    };
    is_attempted && end == FINALIZED
}

pub(super) fn check(operations: &[Operation]) -> Result<(), Fault> {
    let mut threads: BTreeMap<u32, Thread> = BTreeMap::new();
    let mut first: Option<&Open> = None;
    // The event whose detail must come next.
    let mut waiting: Option<(&Index, u64)> = None;
    for (position, operation) in operations.iter().enumerate() {
        let fault = |message: String| Err((position, message));
        if let (Some(_), false) = (waiting, matches!(operation, Operation::Detail(_))) {
            return fault("expected the details of the previous event".to_owned());
        }
        let is_last = position + 1 == operations.len();
        match operation {
            Operation::Open(open) => {
                let first = first.get_or_insert(open);
                if (Open {
                    thread_id: open.thread_id,
                    ..**first
                }) != *open
                {
                    return fault(
                        "wire, clock, arch and os must be the same in every open".to_owned(),
                    );
                }
                if threads.insert(open.thread_id, Thread::default()).is_some() {
                    return fault(format!("thread {} is opened twice", open.thread_id));
                }
            }
            Operation::Space => {}
            Operation::Abort | Operation::Kill if is_last && !threads.is_empty() => return Ok(()),
            Operation::Abort | Operation::Kill if is_last => {}
            Operation::Abort | Operation::Kill => {
                return fault(format!("{operation} must be the last operation"));
            }
            Operation::Index(Index { thread_id, .. })
            | Operation::Detail(Detail { thread_id, .. })
            | Operation::Finalize(thread_id)
            | Operation::Flush(thread_id)
            | Operation::Close(thread_id) => {
                let thread = match threads.get_mut(thread_id) {
                    None => return fault(format!("thread {thread_id} is not open")),
                    Some(Thread { end: Some(end), .. }) if !is_late(operation, end) => {
                        return fault(format!("thread {thread_id} is {end}"));
                    }
                    Some(thread) => thread,
                };
                match operation {
                    Operation::Index(event) => thread.index(event, &mut waiting).or_else(fault)?,
                    Operation::Detail(detail) => {
                        thread.detail(detail, &mut waiting).or_else(fault)?;
                    }
                    Operation::Finalize(_) => thread.end = Some(FINALIZED),
                    Operation::Close(_) => thread.end = Some("closed"),
                    _ => {}
                }
            }
        }
    }
    let end = operations.len().saturating_sub(1);
    if waiting.is_some() {
        return Err((end, "the details of this event are missing".to_owned()));
    }
    if threads.is_empty() {
        return Err((end, "no thread is opened".to_owned()));
    }
    match threads.iter().find(|(_, thread)| thread.end.is_none()) {
        Some((id, _)) => Err((
            end,
            format!("expected finalize thread={id}, close thread={id}, abort or kill after this"),
        )),
        None => Ok(()),
    }
}

impl Thread {
    fn index<'a>(
        &mut self,
        event: &'a Index,
        waiting: &mut Option<(&'a Index, u64)>,
    ) -> Result<(), String> {
        if event.timestamp_ns < self.timestamp_ns {
            return Err(format!(
                "ts is {}, less than the previous {}",
                event.timestamp_ns, self.timestamp_ns
            ));
        }
        self.timestamp_ns = event.timestamp_ns;
        if let Some(detail_seq) = event.detail_seq {
            equal("detail", detail_seq, self.next_detail_seq)?;
            *waiting = Some((event, self.next_index_seq));
        }
        self.next_index_seq += 1;
        Ok(())
    }

    fn detail(
        &mut self,
        detail: &Detail,
        waiting: &mut Option<(&Index, u64)>,
    ) -> Result<(), String> {
        let Some((event, index_seq)) = waiting.take() else {
            return Err("the previous event has no details".to_owned());
        };
        equal("thread", detail.thread_id.into(), event.thread_id.into())?;
        equal("index", detail.index_seq, index_seq)?;
        equal("ts", detail.timestamp, event.timestamp_ns)?;
        self.next_detail_seq += 1;
        Ok(())
    }
}

fn equal(key: &str, found: u64, expected: u64) -> Result<(), String> {
    if found == expected {
        Ok(())
    } else {
        Err(format!("{key} is {found}, expected {expected}"))
    }
}
