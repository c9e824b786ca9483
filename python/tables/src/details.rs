//! The table `details`.

use atf::detail::{DetailEvent, DetailReader, FunctionPayload};
use atf::thread::ThreadReader;

use crate::error::Error;
use crate::queue::Queue;
use crate::rows::{Cell, Rows};
use crate::stream::{Outcome, Source};
use crate::table::Table;

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
                Err(error) => outcome.add_of_thread(entry.id(), error),
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
                    outcome.add_of_thread(*id, error);
                    break;
                }
            };
            *next = event.seq.saturating_add(1);
            if times.contains(&event.header.timestamp) {
                let payload = if wants_payloads {
                    read(detail, &event)
                } else {
                    Ok(Payload::Unread)
                };
                let payload = payload.unwrap_or_else(|error| {
                    outcome.add_of_thread(*id, error);
                    Payload::Unread
                });
                let time_ns = options.time(event.header.timestamp);
                push((*id, time_ns), &event, &payload, rows)?;
            }
        }
        let problems = thread.problems().unwrap_or_else(|error| vec![error]);
        for error in problems {
            outcome.add_of_thread(*id, error);
        }
        current = None;
        Ok(true)
    })
}

enum Payload {
    Function(Box<FunctionPayload>),
    Opaque(Vec<u8>),
    Unread,
}

fn read(detail: &DetailReader, event: &DetailEvent) -> atf::Result<Payload> {
    if let Some(payload) = detail.function_payload(event)? {
        return Ok(Payload::Function(Box::new(payload)));
    }
    detail.payload(event, LONGEST).map(Payload::Opaque)
}

fn push(
    (thread, time_ns): (u32, u64),
    event: &DetailEvent,
    payload: &Payload,
    rows: &mut Rows,
) -> Result<(), Error> {
    let (function, bytes) = match payload {
        Payload::Function(function) => (Some(function), None),
        Payload::Opaque(bytes) => (None, Some(&bytes[..])),
        Payload::Unread => (None, None),
    };
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
        bytes.into(),
    ])
}
