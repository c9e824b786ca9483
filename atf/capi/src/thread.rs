//! Reading a thread's folder: both files, and their links.

use std::ffi::c_char;
use std::sync::Arc;

use atf::thread::{Linked, ThreadReader};

use crate::boundary;
use crate::detail::{AtfDetailReader, Detail};
use crate::event::{AtfDetailEvent, AtfEvent};
use crate::handle::{self, Handle, Object, give};
use crate::index::{AtfIndexReader, Index};
use crate::memory;
use crate::options::open_options;
use crate::status::{AtfStatus, Failure};

/// `AtfThreadReader`.
pub type AtfThreadReader = Handle<Thread>;

/// A thread's files, shared with the readers created from it.
#[derive(Debug)]
pub struct Thread {
    reader: Arc<ThreadReader>,
    /// The id in the folder's name, if opened from a session.
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
/// As for [`atf_index_open`](crate::index::atf_index_open).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_thread_open(
    folder: *const c_char,
    flags: u32,
    reader: *mut *mut AtfThreadReader,
) -> AtfStatus {
    let make = || {
        // SAFETY: guaranteed by this function's caller.
        let folder = unsafe { memory::path(folder) }?;
        // SAFETY: guaranteed by this function's caller.
        let options = unsafe { open_options(flags) }?;
        Ok(Thread::new(ThreadReader::open_with(folder, options)?, None))
    };
    // SAFETY: guaranteed by this function's caller.
    boundary::status(|| unsafe { give(reader, make) })
}

/// Returns a reader for the thread's `index.atf`: a separate handle that may outlive the thread's
/// handle.
///
/// # Safety
///
/// `thread` is null or a handle; `reader` is null or valid for writing a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_thread_index(
    thread: *const AtfThreadReader,
    reader: *mut *mut AtfIndexReader,
) -> AtfStatus {
    let body = |this: &Thread| Ok(Index::of_thread(Arc::clone(&this.reader), this.folder));
    // SAFETY: guaranteed by this function's caller.
    unsafe { handle::derive(thread, reader, body) }
}

/// Returns a reader for the thread's `detail.atf`, like [`atf_thread_index`]. The status is
/// `ATF_NONE` if there is no such file, or an error if it cannot be read.
///
/// # Safety
///
/// As for [`atf_thread_index`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_thread_detail(
    thread: *const AtfThreadReader,
    reader: *mut *mut AtfDetailReader,
) -> AtfStatus {
    let body = |this: &Thread| match (this.reader.detail(), this.reader.detail_error()) {
        (Some(_), _) => Ok(Detail::of_thread(Arc::clone(&this.reader))),
        (None, Some(error)) => Err(error.clone().into()),
        (None, None) => Err(Failure::Nothing),
    };
    // SAFETY: guaranteed by this function's caller.
    unsafe { handle::derive(thread, reader, body) }
}

/// Returns the event that a link leads to.
fn found<T>(linked: Linked<T>, to: &str) -> Result<T, Failure> {
    match linked {
        Linked::To(event) => Ok(event),
        Linked::NoLink => Err(Failure::Nothing),
        Linked::Dangling { seq } => {
            let message = format!("the link is dangling: no matching {to} event at {seq}");
            Err(Failure::new(AtfStatus::Link, message))
        }
    }
}

/// Reads the detail event that index event `index_seq` links to. Returns `ATF_NONE` if there is no
/// such event or it has no link, and `ATF_ERROR_LINK` if the link is dangling.
///
/// # Safety
///
/// `thread` is null or a handle; `detail` is null or valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_thread_detail_of(
    thread: *const AtfThreadReader,
    index_seq: u64,
    detail: *mut AtfDetailEvent,
) -> AtfStatus {
    let body = |this: &Thread| {
        let event = this.reader.index().get(index_seq)?;
        let linked = this.reader.detail_of(&event.ok_or(Failure::Nothing)?)?;
        Ok(found(linked, "detail")?.into())
    };
    // SAFETY: guaranteed by this function's caller.
    unsafe { handle::fill(thread, detail, "event", body) }
}

/// Reads the index event that detail event `detail_seq` links to. Returns `ATF_NONE` if there is no
/// such event, and `ATF_ERROR_LINK` if the link is dangling.
///
/// # Safety
///
/// `thread` is null or a handle; `event` is null or valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_thread_event_of(
    thread: *const AtfThreadReader,
    detail_seq: u64,
    event: *mut AtfEvent,
) -> AtfStatus {
    let body = |this: &Thread| {
        let reader = &this.reader;
        let details = reader.detail().ok_or(Failure::Nothing)?;
        let detail = details.get(detail_seq)?.ok_or(Failure::Nothing)?;
        let found = found(reader.event_of(&detail)?, "index")?;
        let thread = this.folder.unwrap_or(reader.index().header().thread_id);
        Ok(AtfEvent::new(thread, detail.header.index_seq, &found))
    };
    // SAFETY: guaranteed by this function's caller.
    unsafe { handle::fill(thread, event, "event", body) }
}

/// Frees a reader; null is allowed.
///
/// # Safety
///
/// `thread` is null or a handle, and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_thread_close(thread: *mut AtfThreadReader) -> AtfStatus {
    // SAFETY: guaranteed by this function's caller.
    boundary::status(|| unsafe { handle::close(thread) }.map(drop))
}
