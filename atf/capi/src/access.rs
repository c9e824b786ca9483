//! Access to a writer by its handle, and the handling of failures.

use atf::write::Event;

use crate::boundary;
use crate::handle;
use crate::status::Outcome;
use crate::warning::Warnings;
use crate::writer::{AtfThreadWriter, Writer};

/// Accesses a writer and keeps its first failure.
///
/// # Safety
///
/// As for [`handle::with_mut`].
#[inline]
pub(crate) unsafe fn using<R>(
    writer: *mut AtfThreadWriter,
    body: impl FnOnce(&mut Writer) -> Outcome<R>,
) -> Outcome<R> {
    let body = |writer: &mut Writer| match body(writer) {
        Ok(done) => Ok(done),
        Err(failure) => Err(writer.keep(failure)),
    };
    // SAFETY: guaranteed by this function's caller.
    unsafe { handle::with_mut(writer, body) }
}

/// Like [`using`], but also reports a failure as a warning.
///
/// # Safety
///
/// As for [`handle::with_mut`].
#[inline]
pub(crate) unsafe fn telling<R>(
    writer: *mut AtfThreadWriter,
    warnings: &mut Warnings,
    body: impl FnOnce(&mut Writer) -> Outcome<R>,
) -> Outcome<R> {
    let body = |writer: &mut Writer| {
        let result = match body(writer) {
            Ok(done) => Ok(done),
            Err(failure) => Err(writer.tell(failure)),
        };
        warnings.take(writer);
        result
    };
    // SAFETY: guaranteed by this function's caller.
    unsafe { handle::with_mut(writer, body) }
}

/// Writes an event without a detail if its position is below `end`. Returns `None` if it is not, or
/// if the handle is not open. Leaves it to the caller to report a failure.
///
/// # Safety
///
/// As for [`handle::with_mut`].
#[inline]
pub(crate) unsafe fn write_quickly(
    writer: *mut AtfThreadWriter,
    event: &Event,
    end: u64,
) -> Option<atf::Result<u64>> {
    let body = |this: &mut Writer| {
        let is_below = this.next_index_seq() < end;
        Ok(is_below.then(|| this.write(event)))
    };
    // SAFETY: guaranteed by this function's caller.
    let written = boundary::run(|| unsafe { handle::with_mut(writer, body) });
    written.ok().flatten()
}
