//! Writing a session: its threads and its manifest.

use std::ffi::{CString, c_char};
use std::path::Path;
use std::sync::Arc;

use atf::manifest::{Loss, LossKind, Losses, Module, Symbol};
use atf::write::{SessionTotals, SessionWriter, WriteOptions};

use crate::boundary;
use crate::clock::{self, AtfTimingAnchor};
use crate::handle::{self, Handle, Object, give};
use crate::memory::{self, Plain, argument, check_offer, offer_sized, reserved_are_0};
use crate::options::{AtfWriteOptions, write_options};
use crate::status::{AtfStatus, Outcome, c_string};
use crate::thread_writer::{AtfThreadWriter, Writer};

/// `AtfSessionWriter`.
pub type AtfSessionWriter = Handle<Session>;

/// A session's writer, and its path as a string for C.
#[derive(Debug)]
pub struct Session {
    pub(crate) writer: Arc<SessionWriter>,
    path: CString,
}

impl Object for Session {
    const TAG: u64 = u64::from_be_bytes(*b"atfSESSW");
    const NAME: &'static str = "AtfSessionWriter";
}

/// `AtfModule`: an executable or a library, for the manifest.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct AtfModule {
    /// The upper 32 bits of the function ids in the module.
    pub module_id: u32,
    /// 1 if the lower 32 bits of its functions' ids are offsets from `base_address`, else 0.
    pub function_offsets: u32,
    /// The address at which the module was loaded.
    pub base_address: u64,
    /// The module's size in memory in bytes.
    pub size: u64,
    /// The path from which the module was loaded; may be null.
    pub path: *const c_char,
    /// The module's build id; may be null.
    pub uuid: *const c_char,
    /// 0; for later versions.
    pub reserved2: [u64; 2],
}

/// `AtfSymbol`: the name of a function.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct AtfSymbol {
    /// The function's id, as in the events.
    pub function_id: u64,
    /// The function's name; may be null.
    pub name: *const c_char,
    /// 0; for later versions.
    pub reserved: [u64; 2],
}

/// `AtfLoss`: events or details that the tracer lost in a thread.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AtfLoss {
    /// The number of lost events or details; 0 for none.
    pub count: u64,
    /// The first one's timestamp in nanoseconds.
    pub first_ns: u64,
    /// The last one's timestamp in nanoseconds.
    pub last_ns: u64,
}

impl From<AtfLoss> for Loss {
    fn from(loss: AtfLoss) -> Self {
        Self::new(loss.count, loss.first_ns, loss.last_ns)
    }
}

impl From<Loss> for AtfLoss {
    fn from(loss: Loss) -> Self {
        Self {
            count: loss.count,
            first_ns: loss.first_ns,
            last_ns: loss.last_ns,
        }
    }
}

/// `AtfSessionTotals`: totals over a session's threads.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct AtfSessionTotals {
    /// From a writer: threads written. From a reader: threads that could be opened.
    pub threads: u64,
    /// From a writer: threads finalized. From a reader: threads that could not be opened.
    pub finalized_or_unreadable: u64,
    /// Events in the threads' `index.atf`.
    pub event_count: u64,
    /// Events in the threads' `detail.atf`.
    pub detail_count: u64,
    /// The earliest first timestamp in nanoseconds, or 0 if there are no events.
    pub time_start_ns: u64,
    /// The latest last timestamp in nanoseconds, or 0 if there are no events.
    pub time_end_ns: u64,
}

// SAFETY: `repr(C)`, and all members are numbers.
unsafe impl Plain for AtfSessionTotals {}

impl From<SessionTotals> for AtfSessionTotals {
    fn from(totals: SessionTotals) -> Self {
        let (time_start_ns, time_end_ns) = totals.time_range.unwrap_or((0, 0));
        Self {
            threads: totals.threads,
            finalized_or_unreadable: totals.finalized,
            event_count: totals.event_count,
            detail_count: totals.detail_count,
            time_start_ns,
            time_end_ns,
        }
    }
}

/// # Safety
///
/// The strings and structs are null or valid.
unsafe fn create(
    folder: *const c_char,
    options: *const AtfWriteOptions,
    session: *mut *mut AtfSessionWriter,
    make: impl FnOnce(&Path, &WriteOptions) -> atf::Result<SessionWriter>,
) -> AtfStatus {
    let make = || {
        // SAFETY: guaranteed by this function's caller.
        let folder = unsafe { memory::path(folder) }?;
        // SAFETY: guaranteed by this function's caller.
        let options = unsafe { write_options(options) }?;
        let writer = make(folder, &options)?;
        Ok(Session {
            path: c_string(writer.path().as_os_str().as_encoded_bytes()),
            writer: Arc::new(writer),
        })
    };
    // SAFETY: guaranteed by this function's caller.
    boundary::status(|| unsafe { give(session, make) })
}

/// Creates a session in `folder`, which is created if missing.
///
/// # Safety
///
/// The strings and structs are null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_session_writer_create(
    folder: *const c_char,
    options: *const AtfWriteOptions,
    session: *mut *mut AtfSessionWriter,
) -> AtfStatus {
    let make = |path: &Path, options: &WriteOptions| SessionWriter::create(path, options);
    // SAFETY: guaranteed by this function's caller.
    unsafe { create(folder, options, session, make) }
}

/// Creates a session in `root/session_YYYYMMDD_HHMMSS/pid_N`, named after the current time (UTC)
/// and this process's id.
///
/// # Safety
///
/// The strings and structs are null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_session_writer_create_in(
    root: *const c_char,
    options: *const AtfWriteOptions,
    session: *mut *mut AtfSessionWriter,
) -> AtfStatus {
    let make = |path: &Path, options: &WriteOptions| SessionWriter::create_in(path, options);
    // SAFETY: guaranteed by this function's caller.
    unsafe { create(root, options, session, make) }
}

/// Returns the session's folder, or "" if `session` is invalid. The string is valid until the
/// session is closed.
///
/// # Safety
///
/// `session` is null or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_session_writer_path(
    session: *const AtfSessionWriter,
) -> *const c_char {
    // SAFETY: guaranteed by this function's caller.
    unsafe { handle::value(session, c"".as_ptr(), |this| Ok(this.path.as_ptr())) }
}

/// Creates a writer for a thread, independent of the session's writer and of the other threads.
///
/// # Safety
///
/// `session` is null or a handle; `writer` is null or valid for writing a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_session_writer_thread(
    session: *const AtfSessionWriter,
    thread_id: u32,
    writer: *mut *mut AtfThreadWriter,
) -> AtfStatus {
    let body = |this: &Session| Ok(Writer::new(this.writer.thread(thread_id)?));
    // SAFETY: guaranteed by this function's caller.
    unsafe { handle::derive(session, writer, body) }
}

/// Sets the manifest's executables and libraries, replacing earlier ones.
///
/// # Safety
///
/// `session` is null or a handle; `modules` is null or points to `count` modules with valid
/// strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_session_writer_set_modules(
    session: *const AtfSessionWriter,
    modules: *const AtfModule,
    count: usize,
) -> AtfStatus {
    boundary::status(|| {
        // SAFETY: guaranteed by this function's caller.
        let given = unsafe { memory::slice(modules, count) }?;
        let mut modules = Vec::with_capacity(given.len());
        for module in given {
            reserved_are_0(module.reserved2 == [0; 2])?;
            let mut known = Module::new(module.module_id)
                .base_address(module.base_address)
                .size(module.size);
            known.function_offsets = match module.function_offsets {
                0 => None,
                1 => Some(true),
                _ => return Err(argument("a module's function_offsets is neither 0 nor 1")),
            };
            // SAFETY: null or valid; guaranteed by this function's caller.
            known.path = unsafe { memory::text(module.path) };
            // SAFETY: null or valid; guaranteed by this function's caller.
            known.uuid = unsafe { memory::text(module.uuid) };
            modules.push(known);
        }
        // SAFETY: guaranteed by this function's caller.
        unsafe { handle::act(session, |this| this.writer.set_modules(modules)) }
    })
}

/// Sets the manifest's function names, replacing earlier ones.
///
/// # Safety
///
/// `session` is null or a handle; `symbols` is null or points to `count` symbols with valid
/// strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_session_writer_set_symbols(
    session: *const AtfSessionWriter,
    symbols: *const AtfSymbol,
    count: usize,
) -> AtfStatus {
    boundary::status(|| {
        // SAFETY: guaranteed by this function's caller.
        let symbols = unsafe { known(symbols, count) }?;
        // SAFETY: guaranteed by this function's caller.
        unsafe { handle::act(session, |this| this.writer.set_symbols(symbols)) }
    })
}

/// Adds a function's name to the manifest, keeping earlier ones.
///
/// # Safety
///
/// `session` is null or a handle; `symbol` is null or points to a symbol with a valid string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_session_writer_add_symbol(
    session: *const AtfSessionWriter,
    symbol: *const AtfSymbol,
) -> AtfStatus {
    boundary::status(|| {
        // SAFETY: guaranteed by this function's caller.
        let added = unsafe { known(symbol, 1) }?;
        let add = |this: &Session| {
            for symbol in added {
                this.writer.add_symbol(symbol);
            }
        };
        // SAFETY: guaranteed by this function's caller.
        unsafe { handle::act(session, add) }
    })
}

/// Converts symbols from C.
///
/// # Safety
///
/// `symbols` is null or points to `count` symbols with valid strings.
unsafe fn known(symbols: *const AtfSymbol, count: usize) -> Outcome<Vec<Symbol>> {
    // SAFETY: guaranteed by this function's caller.
    let given = unsafe { memory::slice(symbols, count) }?;
    let convert = |symbol: &AtfSymbol| {
        reserved_are_0(symbol.reserved == [0; 2])?;
        let mut known = Symbol::new(symbol.function_id, "");
        // SAFETY: null or valid; guaranteed by this function's caller.
        known.name = unsafe { memory::text(symbol.name) };
        Ok(known)
    };
    given.iter().map(convert).collect()
}

/// Sets a thread's name in the manifest; null means no name.
///
/// # Safety
///
/// `session` is null or a handle; `name` is null or a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_session_writer_set_thread_name(
    session: *const AtfSessionWriter,
    thread_id: u32,
    name: *const c_char,
) -> AtfStatus {
    boundary::status(|| {
        // SAFETY: null or valid; guaranteed by this function's caller.
        let name = unsafe { memory::text(name) }.unwrap_or_default();
        // SAFETY: guaranteed by this function's caller.
        unsafe { handle::act(session, |this| this.writer.set_thread_name(thread_id, name)) }
    })
}

/// Records in the manifest that details contain fields.
///
/// # Safety
///
/// `session` is null or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_session_writer_set_detail_fields(
    session: *const AtfSessionWriter,
) -> AtfStatus {
    let body = |this: &Session| this.writer.set_detail_fields();
    // SAFETY: guaranteed by this function's caller.
    boundary::status(|| unsafe { handle::act(session, body) })
}

/// Sets the tracer's losses for a thread; null means no losses.
///
/// # Safety
///
/// `session` is null or a handle; `events` and `details` are null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_session_writer_set_losses(
    session: *const AtfSessionWriter,
    thread_id: u32,
    events: *const AtfLoss,
    details: *const AtfLoss,
) -> AtfStatus {
    boundary::status(|| {
        // SAFETY: guaranteed by this function's caller.
        let [events, details] = [events, details].map(|loss| unsafe { read(loss) });
        let losses = Losses::default().with(LossKind::Events, events);
        let losses = losses.with(LossKind::Details, details);
        let body = |this: &Session| this.writer.set_losses(thread_id, losses);
        // SAFETY: guaranteed by this function's caller.
        unsafe { handle::act(session, body) }
    })
}

/// # Safety
///
/// `loss` is null or valid.
unsafe fn read(loss: *const AtfLoss) -> Option<Loss> {
    // SAFETY: not null, so the caller guarantees that it can be read; it may be unaligned.
    (!loss.is_null()).then(|| unsafe { loss.read_unaligned() }.into())
}

/// Adds a timing anchor to the manifest: the same moment on the trace's clock and a recording's
/// clock.
///
/// # Safety
///
/// `session` is null or a handle; `anchor` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_session_writer_add_timing_anchor(
    session: *const AtfSessionWriter,
    anchor: *const AtfTimingAnchor,
) -> AtfStatus {
    boundary::status(|| {
        // SAFETY: guaranteed by this function's caller.
        let anchor = unsafe { clock::read(anchor) }?;
        let add = |this: &Session| Ok(this.writer.add_timing_anchor(anchor)?);
        // SAFETY: guaranteed by this function's caller.
        unsafe { handle::with(session, add) }
    })
}

/// Writes the current manifest, so that threads and symbols survive a crash.
///
/// # Safety
///
/// `session` is null or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_session_writer_write_manifest(
    session: *const AtfSessionWriter,
) -> AtfStatus {
    // SAFETY: guaranteed by this function's caller.
    boundary::status(|| unsafe { handle::with(session, |this| Ok(this.writer.write_manifest()?)) })
}

/// Writes the final manifest and returns the threads' totals.
///
/// # Safety
///
/// `session` is null or a handle; `totals` is null or valid for writing `totals_size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_session_writer_finish(
    session: *const AtfSessionWriter,
    totals: *mut AtfSessionTotals,
    totals_size: usize,
) -> AtfStatus {
    boundary::status(|| {
        check_offer(totals, totals_size)?;
        // SAFETY: guaranteed by this function's caller.
        let made = unsafe { handle::with(session, |this| Ok(this.writer.finalize()?)) }?;
        // SAFETY: guaranteed by this function's caller.
        unsafe { offer_sized(totals, totals_size, &made.into()) }
    })
}

/// Frees a session's writer; names not yet in the manifest are lost. Its threads' writers remain
/// usable.
///
/// # Safety
///
/// `session` is null or a handle, and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_session_writer_close(session: *mut AtfSessionWriter) -> AtfStatus {
    // SAFETY: guaranteed by this function's caller.
    boundary::status(|| unsafe { handle::close(session) }.map(drop))
}
