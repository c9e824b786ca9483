//! The table `details`.

use atf::detail::{DetailEvent, DetailReader, FunctionPayload};
use atf::thread::ThreadReader;

use crate::error::Error;
use crate::stream::{Cell, Outcome, Rows, Source};
use crate::table::Table;
use crate::thread::Queue;

/// The maximum size in bytes of a payload in the table.
const LONGEST: usize = 16 << 20;

/// Returns the columns that are read from the payload.
fn of_payload() -> impl Iterator<Item = &'static str> {
    let names = Table::Details.columns().iter().map(|column| column.name);
    names.skip_while(|name| *name != "payload_size").skip(1)
}

/// Reads details, with payloads if `rows` need them.
pub(crate) fn details(mut queue: Queue, rows: &Rows) -> Source {
    // The thread's id, its files, and the `seq` of the next detail.
    let mut current: Option<(u32, ThreadReader, u64)> = None;
    let wants_payloads = of_payload().any(|name| rows.wants(name));
    Box::new(move |rows: &mut Rows, outcome: &mut Outcome| {
        let Some((id, thread, next)) = &mut current else {
            let Some(entry) = queue.next() else {
                return Ok(false);
            };
            match entry.open() {
                Ok(thread) => current = Some((entry.id(), thread, 0)),
                Err(error) => outcome.add(Some(entry.id()), error),
            }
            return Ok(true);
        };
        let options = queue.options();
        let times = options.timestamps();
        let detail = thread.detail();
        let events = detail.map(|detail| (detail, detail.events_in(*next..)));
        for (detail, event) in events
            .into_iter()
            .flat_map(|(detail, events)| events.map(move |it| (detail, it)))
        {
            if rows.is_full() {
                return Ok(true);
            }
            // After a read error, there are no more events.
            let event = match event {
                Ok(event) => event,
                Err(error) => {
                    outcome.add(Some(*id), error);
                    break;
                }
            };
            *next = event.seq.saturating_add(1);
            if times.contains(&event.header.timestamp) {
                let payload = if wants_payloads {
                    read(detail, &event)
                } else {
                    Ok(Payload::default())
                };
                let payload = payload.unwrap_or_else(|error| {
                    outcome.add(Some(*id), error);
                    Payload::default()
                });
                let time_ns = options.time(event.header.timestamp);
                push((*id, time_ns), &event, &payload, rows)?;
            }
        }
        let problems = thread.problems().unwrap_or_else(|error| vec![error]);
        for error in problems {
            outcome.add(Some(*id), error);
        }
        current = None;
        Ok(true)
    })
}

/// A payload; empty if it was not read.
#[derive(Default)]
struct Payload {
    function: Option<FunctionPayload>,
    /// The bytes of any other payload.
    opaque: Option<Vec<u8>>,
}

fn read(detail: &DetailReader, event: &DetailEvent) -> atf::Result<Payload> {
    let function = detail.function_payload(event)?;
    let opaque = match function {
        Some(_) => None,
        None => Some(detail.payload(event, LONGEST)?),
    };
    Ok(Payload { function, opaque })
}

fn push(
    (thread, time_ns): (u32, u64),
    event: &DetailEvent,
    payload: &Payload,
    rows: &mut Rows,
) -> Result<(), Error> {
    let function = payload.function.as_ref();
    let [x0, x1, x2, x3, x4, x5, x6, x7] = match function {
        Some(function) => function.x_regs.map(Cell::from),
        None => [Cell::Null; 8],
    };
    rows.push(&[
        thread.into(),
        event.seq.into(),
        event.header.index_seq.into(),
        time_ns.into(),
        event.header.event_type.name().into(),
        event.payload_size().into(),
        function.map(|it| it.function_id).into(),
        x0,
        x1,
        x2,
        x3,
        x4,
        x5,
        x6,
        x7,
        function.map(|it| it.lr).into(),
        function.map(|it| it.fp).into(),
        function.map(|it| it.sp).into(),
        function.map(|it| &it.stack[..]).into(),
        payload.opaque.as_deref().into(),
    ])
}
