//! Writing a thread.

use std::ffi::{CString, c_char, c_void};
use std::mem::size_of;

use atf::write::{Detail, Event, ThreadSummary, ThreadWriter};
use atf::{DetailEventType, EventKind};

use crate::boundary;
use crate::handle::{self, Handle, Object};
use crate::memory::{self, Plain, argument, put, put_sized, required, reserved_are_0};
use crate::options::{AtfWriteOptions, write_options};
use crate::status::{AtfStatus, Failure, Outcome, Record, c_string};
use crate::warning::{self, Warnings};

/// `AtfThreadWriter`.
pub type AtfThreadWriter = Handle<Writer>;

/// A thread's writer, and what C may ask it later.
#[derive(Debug)]
pub struct Writer {
    writer: ThreadWriter,
    /// The first failure: functions that return nothing leave it here.
    failure: Option<Box<Record>>,
    /// What the program is told next.
    warnings: Vec<(AtfStatus, CString)>,
    /// The statuses of the failures that it was told, a bit each.
    told: u32,
    /// How many it was not told, since it knows of one like it.
    untold: u64,
}

impl Object for Writer {
    const TAG: u64 = u64::from_be_bytes(*b"atfWRITE");
    const NAME: &'static str = "AtfThreadWriter";
}

impl Writer {
    pub(crate) fn give(writer: ThreadWriter) -> *mut AtfThreadWriter {
        Handle::give(Self {
            writer,
            failure: None,
            warnings: Vec::new(),
            told: 0,
            untold: 0,
        })
    }

    /// The position that the next index event gets.
    pub(crate) fn next_index_seq(&self) -> u64 {
        self.writer.next_index_seq()
    }

    pub(crate) fn write_index(&mut self, event: &Event, detail_seq: Option<u64>) -> Outcome<u64> {
        Ok(self.writer.write_index(event, detail_seq)?)
    }

    /// Writes the detail of the event at `index_seq`; what it describes follows from the event's
    /// kind. An exception ends its call as a return does and has no type of its own.
    ///
    /// Details come in the order of their events, so those that are reserved before it were lost.
    pub(crate) fn write_detail_in_order(
        &mut self,
        index_seq: u64,
        timestamp_ns: u64,
        payload: &[u8],
    ) -> Outcome<()> {
        let reserved = self.writer.reserved_detail(index_seq);
        // What disagrees with its event is a mistake, and no reason to give others up.
        let reserved = reserved.filter(|reserved| reserved.timestamp_ns == timestamp_ns);
        if reserved.is_some() {
            let lost = self.writer.drop_details_before(index_seq)?;
            self.lose(lost);
        }
        let detail = Detail {
            event_type: match reserved.map(|reserved| reserved.event_kind) {
                Some(EventKind::CALL) | None => DetailEventType::FUNCTION_CALL,
                Some(_) => DetailEventType::FUNCTION_RETURN,
            },
            flags: 0,
            payload,
        };
        self.writer.write_detail(index_seq, timestamp_ns, &detail)?;
        Ok(())
    }

    pub(crate) fn is_finalized(&self) -> bool {
        self.writer.is_finalized()
    }

    pub(crate) fn finalize(&mut self) -> Outcome<ThreadSummary> {
        let before = self.writer.summary().dropped_details;
        let summary = self.writer.finalize()?;
        self.lose(summary.dropped_details.saturating_sub(before));
        Ok(summary)
    }

    /// Notes that details which were reserved never came.
    fn lose(&mut self, count: u64) {
        if count > 0 {
            let path = self.writer.path().display();
            let message = match count {
                1 => format!("{path}: a reserved detail was not written"),
                _ => format!("{path}: {count} reserved details were not written"),
            };
            let failure = Failure::new(AtfStatus::Lost, message);
            self.warn(&failure);
            self.keep(failure);
        }
    }

    /// Tells a failure, the first of its status.
    #[cold]
    pub(crate) fn warn(&mut self, failure: &Failure) {
        let bit = failure.status().bit();
        if self.told & bit == 0 {
            self.told |= bit;
            let record = Record::of(failure.clone());
            self.warnings.push((record.status, record.message));
        } else {
            self.untold = self.untold.saturating_add(1);
        }
    }

    /// Tells how many failures were not told.
    pub(crate) fn warn_of_untold(&mut self) {
        let untold = std::mem::take(&mut self.untold);
        if let Some(first) = self.failure.as_ref().filter(|_| untold > 0) {
            let path = self.writer.path().display();
            let message = match untold {
                1 => format!("{path}: 1 more warning like those before"),
                _ => format!("{path}: {untold} more warnings like those before"),
            };
            self.warnings
                .push((first.status, c_string(message.as_bytes())));
        }
    }

    pub(crate) fn warnings(&mut self) -> &mut Vec<(AtfStatus, CString)> {
        &mut self.warnings
    }

    #[cold]
    fn keep(&mut self, failure: Failure) -> Failure {
        if self.failure.is_none() && !matches!(failure, Failure::Nothing) {
            self.failure = Some(Box::new(Record::of(failure.clone())));
        }
        failure
    }
}

/// Works with a writer and keeps the first failure.
///
/// # Safety
///
/// As [`handle::with_mut`].
#[inline]
pub(crate) unsafe fn using<R>(
    writer: *mut AtfThreadWriter,
    body: impl FnOnce(&mut Writer) -> Outcome<R>,
) -> Outcome<R> {
    let body = |writer: &mut Writer| body(writer).map_err(|failure| writer.keep(failure));
    // SAFETY: as this function's.
    unsafe { handle::with_mut(writer, body) }
}

/// As [`using`], for a function whose failures are warnings.
///
/// # Safety
///
/// As [`handle::with_mut`].
#[inline]
pub(crate) unsafe fn telling<R>(
    writer: *mut AtfThreadWriter,
    warnings: &mut Warnings,
    body: impl FnOnce(&mut Writer) -> Outcome<R>,
) -> Outcome<R> {
    let body = |writer: &mut Writer| {
        let result = body(writer).map_err(|failure| {
            writer.warn(&failure);
            writer.keep(failure)
        });
        warnings.take(writer);
        result
    };
    // SAFETY: as this function's.
    unsafe { handle::with_mut(writer, body) }
}

/// `AtfDetail`: registers and stack at an event, or whatever else belongs to it.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct AtfDetail {
    /// What it describes: `ATF_DETAIL_EVENT_*`.
    pub event_type: u16,
    /// Flags; no source names one.
    pub flags: u16,
    /// 0.
    pub reserved: u32,
    /// The payload; null where it has no bytes.
    pub payload: *const c_void,
    /// Bytes of the payload.
    pub payload_size: usize,
    /// 0, until a later version asks for more.
    pub reserved2: [u64; 2],
}

impl AtfDetail {
    /// # Safety
    ///
    /// `detail` is null, or valid with a payload of as many bytes as it says.
    unsafe fn read<'a>(detail: *const Self) -> Outcome<Detail<'a>> {
        if detail.is_null() {
            return Err(argument("the detail is null"));
        }
        // SAFETY: it is not null, so by the caller's word valid; that it is aligned does not matter.
        let detail = unsafe { detail.read_unaligned() };
        reserved_are_0(detail.reserved == 0 && detail.reserved2 == [0; 2])?;
        let payload = detail.payload.cast::<u8>();
        // SAFETY: as this function's.
        let payload = unsafe { memory::slice(payload, detail.payload_size) }?;
        Ok(Detail {
            event_type: detail.event_type.into(),
            flags: detail.flags,
            payload,
        })
    }
}

/// `AtfLink`: an index event and the detail event that belong together.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct AtfLink {
    /// The position in `index.atf`.
    pub index_seq: u64,
    /// The position in `detail.atf`.
    pub detail_seq: u64,
    /// 0, until a later version has more to say.
    pub reserved: [u64; 2],
}

/// `AtfThreadSummary`: what a thread's files hold in the end.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct AtfThreadSummary {
    /// Events in `index.atf`.
    pub event_count: u64,
    /// Events in `detail.atf`.
    pub detail_count: u64,
    /// The first event's timestamp in nanoseconds; 0 without events.
    pub time_start_ns: u64,
    /// The last event's timestamp in nanoseconds; 0 without events.
    pub time_end_ns: u64,
    /// The thread.
    pub thread_id: u32,
    /// 0.
    pub reserved: u32,
    /// Details that were reserved and are not in `detail.atf`.
    pub dropped_details: u64,
}

const _: () = assert!(size_of::<AtfThreadSummary>() == 48);

// SAFETY: numbers in C's layout.
unsafe impl Plain for AtfThreadSummary {
    const ZERO: Self = Self {
        event_count: 0,
        detail_count: 0,
        time_start_ns: 0,
        time_end_ns: 0,
        thread_id: 0,
        reserved: 0,
        dropped_details: 0,
    };
}

impl From<ThreadSummary> for AtfThreadSummary {
    fn from(summary: ThreadSummary) -> Self {
        let (time_start_ns, time_end_ns) = summary.time_range.unwrap_or((0, 0));
        Self {
            event_count: summary.event_count,
            detail_count: summary.detail_count,
            time_start_ns,
            time_end_ns,
            thread_id: summary.thread_id,
            reserved: 0,
            dropped_details: summary.dropped_details,
        }
    }
}

/// No detail, in the wide functions.
pub(crate) const NO_DETAIL: u64 = u64::MAX;

/// An event from its parts, as C hands them over.
#[inline]
pub(crate) fn event(
    timestamp_ns: u64,
    function_id: u64,
    event_kind: u32,
    call_depth: u32,
) -> Event {
    Event {
        timestamp_ns,
        function_id,
        event_kind: event_kind.into(),
        call_depth,
    }
}

/// A writer for a thread of a session: `session_dir/thread_<thread_id>/`.
///
/// # Safety
///
/// The strings and structs are null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_writer_open(
    session_dir: *const c_char,
    thread_id: u32,
    options: *const AtfWriteOptions,
    writer: *mut *mut AtfThreadWriter,
) -> AtfStatus {
    boundary::status(|| {
        required(writer, "the place for the writer is null")?;
        // SAFETY: it is not null, so by the caller's word a place for a pointer.
        unsafe { put(writer, std::ptr::null_mut()) };
        // SAFETY: as this function's.
        let session = unsafe { memory::path(session_dir) }?;
        // SAFETY: as this function's.
        let options = unsafe { write_options(options) }?;
        let folder = session.join(format!("thread_{thread_id}"));
        let made = Writer::give(ThreadWriter::create(folder, thread_id, &options)?);
        // SAFETY: as above.
        unsafe { put(writer, made) };
        Ok(())
    })
}

/// Writes an event without details.
///
/// # Safety
///
/// `writer` is null or a handle, used by this thread only; `index_seq` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_writer_write(
    writer: *mut AtfThreadWriter,
    timestamp_ns: u64,
    function_id: u64,
    event_kind: u32,
    call_depth: u32,
    index_seq: *mut u64,
) -> AtfStatus {
    boundary::status(|| {
        let event = event(timestamp_ns, function_id, event_kind, call_depth);
        // SAFETY: as this function's.
        let seq = unsafe { using(writer, |this| Ok(this.writer.write(&event)?)) }?;
        // SAFETY: as this function's.
        unsafe { put(index_seq, seq) };
        Ok(())
    })
}

/// Writes an event with its details, both or neither.
///
/// # Safety
///
/// As [`atf_writer_write`]; `detail` is null or valid with its payload.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_writer_write_with_detail(
    writer: *mut AtfThreadWriter,
    timestamp_ns: u64,
    function_id: u64,
    event_kind: u32,
    call_depth: u32,
    detail: *const AtfDetail,
    link: *mut AtfLink,
) -> AtfStatus {
    boundary::status(|| {
        let event = event(timestamp_ns, function_id, event_kind, call_depth);
        let body = |this: &mut Writer| {
            // SAFETY: as this function's.
            let detail = unsafe { AtfDetail::read(detail) }?;
            Ok(this.writer.write_with_detail(&event, &detail)?)
        };
        // SAFETY: as this function's.
        let made = unsafe { using(writer, body) }?;
        let made = AtfLink {
            index_seq: made.index_seq,
            detail_seq: made.detail_seq,
            reserved: [0; 2],
        };
        // SAFETY: as this function's.
        unsafe { put(link, made) };
        Ok(())
    })
}

/// Writes an event and may reserve its detail: `detail_seq` is `ATF_NO_DETAIL` or that of the next
/// detail.
///
/// # Safety
///
/// As [`atf_writer_write`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_writer_write_index(
    writer: *mut AtfThreadWriter,
    timestamp_ns: u64,
    function_id: u64,
    event_kind: u32,
    call_depth: u32,
    detail_seq: u64,
    index_seq: *mut u64,
) -> AtfStatus {
    boundary::status(|| {
        let event = event(timestamp_ns, function_id, event_kind, call_depth);
        let detail_seq = (detail_seq != NO_DETAIL).then_some(detail_seq);
        // SAFETY: as this function's.
        let seq = unsafe { using(writer, |this| this.write_index(&event, detail_seq)) }?;
        // SAFETY: as this function's.
        unsafe { put(index_seq, seq) };
        Ok(())
    })
}

/// Writes the oldest detail that was reserved.
///
/// # Safety
///
/// As [`atf_writer_write_with_detail`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_writer_write_detail(
    writer: *mut AtfThreadWriter,
    index_seq: u64,
    timestamp_ns: u64,
    detail: *const AtfDetail,
    detail_seq: *mut u64,
) -> AtfStatus {
    boundary::status(|| {
        let body = |this: &mut Writer| {
            // SAFETY: as this function's.
            let detail = unsafe { AtfDetail::read(detail) }?;
            Ok(this.writer.write_detail(index_seq, timestamp_ns, &detail)?)
        };
        // SAFETY: as this function's.
        let seq = unsafe { using(writer, body) }?;
        // SAFETY: as this function's.
        unsafe { put(detail_seq, seq) };
        Ok(())
    })
}

/// Gives up a detail that was reserved, or the number of the next one.
///
/// # Safety
///
/// As [`atf_writer_write`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_writer_drop_detail(
    writer: *mut AtfThreadWriter,
    detail_seq: u64,
) -> AtfStatus {
    let body = |this: &mut Writer| Ok(this.writer.drop_detail(detail_seq)?);
    // SAFETY: as this function's.
    boundary::status(|| unsafe { using(writer, body) })
}

/// The position that the next index event gets; `UINT64_MAX` where this is no writer.
///
/// # Safety
///
/// As [`atf_writer_write`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_writer_next_index_seq(writer: *const AtfThreadWriter) -> u64 {
    // SAFETY: as this function's.
    boundary::value(u64::MAX, || unsafe {
        handle::with(writer, |this| Ok(this.writer.next_index_seq()))
    })
}

/// The number by which the next detail is reserved; `UINT64_MAX` where this is no writer.
///
/// # Safety
///
/// As [`atf_writer_write`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_writer_next_detail_seq(writer: *const AtfThreadWriter) -> u64 {
    // SAFETY: as this function's.
    boundary::value(u64::MAX, || unsafe {
        handle::with(writer, |this| Ok(this.writer.next_detail_seq()))
    })
}

/// Hands all events over to the operating system.
///
/// # Safety
///
/// As [`atf_writer_write`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_writer_flush(writer: *mut AtfThreadWriter) -> AtfStatus {
    // SAFETY: as this function's.
    boundary::status(|| unsafe { using(writer, |this| Ok(this.writer.flush()?)) })
}

/// Finalizes the files and tells what they hold: `atf_writer_finalize` with an answer.
///
/// # Safety
///
/// As [`atf_writer_write`]; `summary` is null or a place for `summary_size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_writer_finish(
    writer: *mut AtfThreadWriter,
    summary: *mut AtfThreadSummary,
    summary_size: usize,
) -> AtfStatus {
    warning::status(|warnings| {
        let body = |this: &mut Writer| {
            let made = this.finalize().map_err(|failure| this.keep(failure));
            warnings.take(this);
            made
        };
        // SAFETY: as this function's.
        let made = unsafe { handle::with_mut(writer, body) }?;
        match summary.is_null() {
            true => Ok(()),
            // SAFETY: as this function's.
            false => unsafe { put_sized(summary, summary_size, &made.into()) },
        }
    })
}

/// 1 where the files are finalized, else 0.
///
/// # Safety
///
/// As [`atf_writer_write`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_writer_is_finalized(writer: *const AtfThreadWriter) -> i32 {
    // SAFETY: as this function's.
    boundary::value(0, || unsafe {
        handle::with(writer, |this| Ok(this.writer.is_finalized().into()))
    })
}

/// The first failure of this writer, `ATF_OK` where there was none.
///
/// # Safety
///
/// As [`atf_writer_write`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_writer_error(writer: *const AtfThreadWriter) -> AtfStatus {
    let mut status = AtfStatus::Ok;
    let found = boundary::status(|| {
        let failure = |this: &Writer| Ok(this.failure.as_ref().map(|record| record.status));
        // SAFETY: as this function's.
        status = unsafe { handle::with(writer, failure) }?.unwrap_or(AtfStatus::Ok);
        Ok(())
    });
    match found {
        AtfStatus::Ok => status,
        failure => failure,
    }
}

/// What the first failure of this writer was, or "". It holds as long as the writer is open.
///
/// # Safety
///
/// As [`atf_writer_write`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_writer_error_message(writer: *const AtfThreadWriter) -> *const c_char {
    let message = |this: &Writer| {
        let failure = this.failure.as_ref();
        Ok(failure.map_or(c"".as_ptr(), |record| record.message.as_ptr()))
    };
    // SAFETY: as this function's.
    boundary::value(c"".as_ptr(), || unsafe { handle::with(writer, message) })
}

/// Frees a writer without finalizing its files: what was written stays, as after a crash.
///
/// # Safety
///
/// `writer` is null or a handle, and nobody else uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_writer_abandon(writer: *mut AtfThreadWriter) -> AtfStatus {
    // SAFETY: as this function's.
    boundary::status(|| unsafe { handle::close(writer) }.map(drop))
}
