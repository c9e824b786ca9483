//! Reading a thread's folder: both files, and their links.

use std::ffi::c_char;
use std::sync::Arc;

use atf::thread::{Linked, ThreadReader};

use crate::boundary;
use crate::detail::{AtfDetailReader, Detail};
use crate::event::{AtfDetailEvent, AtfEvent};
use crate::handle::{self, Handle, Object};
use crate::index::{AtfIndexReader, Index, give};
use crate::memory::{self, put, required};
use crate::options::open_options;
use crate::status::{AtfStatus, Failure};

/// `AtfThreadReader`.
pub type AtfThreadReader = Handle<Thread>;

/// A thread's files, shared with the readers that were made of it.
#[derive(Debug)]
pub struct Thread {
    reader: Arc<ThreadReader>,
    /// The id in the folder's name, where a session told it.
    folder: Option<u32>,
}

impl Object for Thread {
    const TAG: u64 = u64::from_be_bytes(*b"atfTHREA");
    const NAME: &'static str = "AtfThreadReader";
}

impl Thread {
    pub(crate) fn new(reader: ThreadReader, folder: Option<u32>) -> Self {
        Self {
            reader: Arc::new(reader),
            folder,
        }
    }
}

/// Opens a thread's folder.
///
/// # Safety
///
/// As [`atf_index_open`](crate::index::atf_index_open).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_thread_open(
    folder: *const c_char,
    flags: u32,
    reader: *mut *mut AtfThreadReader,
) -> AtfStatus {
    let make = || {
        // SAFETY: as this function's.
        let folder = unsafe { memory::path(folder) }?;
        // SAFETY: as this function's.
        let options = unsafe { open_options(flags) }?;
        Ok(Thread::new(ThreadReader::open_with(folder, options)?, None))
    };
    // SAFETY: as this function's.
    boundary::status(|| unsafe { give(reader, make) })
}

/// The reader of the thread's `index.atf`: a handle of its own, which may outlive the thread's.
///
/// # Safety
///
/// `thread` is null or a handle; `reader` is null or a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_thread_index(
    thread: *const AtfThreadReader,
    reader: *mut *mut AtfIndexReader,
) -> AtfStatus {
    let body = |this: &Thread| {
        let make = || Ok(Index::of_thread(Arc::clone(&this.reader), this.folder));
        // SAFETY: as this function's.
        unsafe { give(reader, make) }
    };
    // SAFETY: as this function's.
    boundary::status(|| unsafe { handle::with(thread, body) })
}

/// The reader of the thread's `detail.atf`, as [`atf_thread_index`]: `ATF_NONE` where there is no
/// such file, an error where it cannot be read.
///
/// # Safety
///
/// As [`atf_thread_index`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_thread_detail(
    thread: *const AtfThreadReader,
    reader: *mut *mut AtfDetailReader,
) -> AtfStatus {
    let body = |this: &Thread| {
        let make = || match (this.reader.detail(), this.reader.detail_error()) {
            (Some(_), _) => Ok(Detail::of_thread(Arc::clone(&this.reader))),
            (None, Some(error)) => Err(error.clone().into()),
            (None, None) => Err(Failure::Nothing),
        };
        // SAFETY: as this function's.
        unsafe { give(reader, make) }
    };
    // SAFETY: as this function's.
    boundary::status(|| unsafe { handle::with(thread, body) })
}

/// The event that a link leads to.
fn found<T>(linked: Linked<T>, to: &str) -> Result<T, Failure> {
    match linked {
        Linked::To(event) => Ok(event),
        Linked::NoLink => Err(Failure::Nothing),
        Linked::Dangling { seq } => {
            let message =
                format!("no {to} event at {seq} belongs to this one: the link is dangling");
            Err(Failure::new(AtfStatus::Link, message))
        }
    }
}

/// The detail event that the index event at a position links to: `ATF_NONE` where there is no such
/// event or it links to none, `ATF_ERROR_LINK` where the link is dangling.
///
/// # Safety
///
/// `thread` is null or a handle; `detail` is null or a place for one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_thread_forward(
    thread: *const AtfThreadReader,
    index_seq: u64,
    detail: *mut AtfDetailEvent,
) -> AtfStatus {
    let body = |this: &Thread| {
        required(detail, "the place for the event is null")?;
        let event = this
            .reader
            .index()
            .get(index_seq)?
            .ok_or(Failure::Nothing)?;
        let found = found(this.reader.forward(&event)?, "detail")?;
        // SAFETY: it is not null, so by the caller's word a place for one.
        unsafe { put(detail, found.into()) };
        Ok(())
    };
    // SAFETY: as this function's.
    boundary::status(|| unsafe { handle::with(thread, body) })
}

/// The index event that the detail event at a position links to: `ATF_NONE` where there is no such
/// event, `ATF_ERROR_LINK` where the link is dangling.
///
/// # Safety
///
/// `thread` is null or a handle; `event` is null or a place for one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_thread_backward(
    thread: *const AtfThreadReader,
    detail_seq: u64,
    event: *mut AtfEvent,
) -> AtfStatus {
    let body = |this: &Thread| {
        required(event, "the place for the event is null")?;
        let reader = &this.reader;
        let details = reader.detail().ok_or(Failure::Nothing)?;
        let detail = details.get(detail_seq)?.ok_or(Failure::Nothing)?;
        let found = found(reader.backward(&detail)?, "index")?;
        let thread = this.folder.unwrap_or(reader.index().header().thread_id);
        let found = AtfEvent::new(thread, detail.header.index_seq, &found);
        // SAFETY: it is not null, so by the caller's word a place for one.
        unsafe { put(event, found) };
        Ok(())
    };
    // SAFETY: as this function's.
    boundary::status(|| unsafe { handle::with(thread, body) })
}

/// Frees a reader; null is nothing to close.
///
/// # Safety
///
/// `thread` is null or a handle, and nobody else uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_thread_close(thread: *mut AtfThreadReader) -> AtfStatus {
    // SAFETY: as this function's.
    boundary::status(|| unsafe { handle::close(thread) }.map(drop))
}
