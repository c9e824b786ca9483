//! Details of an event: registers, stack, or a payload that only its tracer understands.

use std::cell::RefCell;
use std::fmt;

use atf::Error;
use atf::detail::{DetailEvent, DetailReader, FunctionPayload};

use super::merged::{Event, Threads};
use crate::text::Hex;

/// A detail event and the file that has its payload.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Detail<'a> {
    /// The event.
    pub(crate) event: DetailEvent,
    reader: &'a DetailReader,
}

impl<'a> Detail<'a> {
    pub(crate) fn new(reader: &'a DetailReader, event: DetailEvent) -> Self {
        Self { event, reader }
    }

    /// Registers and stack, where the payload has their shape.
    pub(crate) fn function(&self) -> Result<Option<FunctionPayload>, Error> {
        self.reader.function_payload(&self.event)
    }

    /// The first bytes of the payload, `size` at most.
    pub(crate) fn head(&self, size: usize) -> Result<Vec<u8>, Error> {
        let mut bytes = vec![0; size];
        let read = self.reader.read_payload(&self.event, 0, &mut bytes)?;
        bytes.truncate(read);
        Ok(bytes)
    }

    /// The payload in hexadecimal.
    pub(crate) fn hex(&self) -> PayloadHex<'_> {
        PayloadHex {
            detail: self,
            failure: RefCell::new(None),
        }
    }
}

/// A payload in hexadecimal, read while it is written: it can be as large as its file.
pub(crate) struct PayloadHex<'a> {
    detail: &'a Detail<'a>,
    failure: RefCell<Option<Error>>,
}

impl PayloadHex<'_> {
    /// Why it ended early, where it did.
    pub(crate) fn failure(&self) -> Option<Error> {
        self.failure.borrow_mut().take()
    }
}

impl fmt::Display for PayloadHex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Detail { event, reader } = self.detail;
        let left = usize::try_from(event.payload_size()).unwrap_or(usize::MAX);
        let mut buffer = vec![0; left.min(64 << 10)];
        let mut start = 0;
        loop {
            match reader.read_payload(event, start, &mut buffer) {
                Ok(0) => return Ok(()),
                Ok(read) => {
                    write!(f, "{}", Hex(&buffer[..read]))?;
                    start += read as u64;
                }
                Err(error) => {
                    *self.failure.borrow_mut() = Some(error);
                    return Ok(());
                }
            }
        }
    }
}

/// Looks up the details of events.
pub(crate) struct Details<'a> {
    threads: Option<&'a Threads>,
}

impl<'a> Details<'a> {
    /// Of these threads, or none where they are not asked for.
    pub(crate) fn new(is_asked: bool, threads: &'a Threads) -> Self {
        Self {
            threads: is_asked.then_some(threads),
        }
    }

    /// The details of an event, where there are any.
    pub(crate) fn of(&mut self, event: &Event) -> Result<Option<Detail<'a>>, Error> {
        let reader = self
            .threads
            .and_then(|threads| threads.detail(event.position));
        let Some((reader, seq)) = reader.zip(event.event.detail_seq) else {
            return Ok(None);
        };
        let found = reader.get(seq)?;
        Ok(found.map(|found| Detail::new(reader, found)))
    }
}
