//! Reading a session.

use std::collections::HashMap;
use std::ffi::{CString, c_char};
use std::sync::OnceLock;

use atf::Error;
use atf::session::{Presence, SessionReader, SessionSummary, ThreadEntry};

use crate::boundary;
use crate::handle::{self, Handle, Object};
use crate::index::give;
use crate::memory::{self, put, put_sized, required};
use crate::options::open_options;
use crate::session_writer::{AtfSessionTotals, AtfSymbol};
use crate::status::{AtfStatus, Failure, Outcome, c_string};
use crate::thread::{AtfThreadReader, Thread};

/// `AtfSessionReader`.
pub type AtfSessionReader = Handle<Session>;

/// A session, and its strings for C.
#[derive(Debug)]
pub struct Session {
    pub(crate) reader: SessionReader,
    paths: Vec<CString>,
    /// Created when a name is first requested, since a manifest may have a million.
    names: OnceLock<Names>,
    problems: OnceLock<Vec<CString>>,
}

/// Function names as strings for C.
#[derive(Debug, Default)]
struct Names {
    names: Vec<Option<CString>>,
    /// The position in `names` of each function's first name.
    by_function: HashMap<u64, usize>,
}

impl Object for Session {
    const TAG: u64 = u64::from_be_bytes(*b"atfSESSR");
    const NAME: &'static str = "AtfSessionReader";
}

impl Session {
    fn new(reader: SessionReader) -> Self {
        let path = |entry: &ThreadEntry| c_string(entry.path().as_os_str().as_encoded_bytes());
        Self {
            paths: reader.threads().iter().map(path).collect(),
            reader,
            names: OnceLock::new(),
            problems: OnceLock::new(),
        }
    }

    fn names(&self) -> &Names {
        self.names.get_or_init(|| {
            let mut names = Names::default();
            for symbol in self.reader.manifest().iter().flat_map(|m| &m.symbols) {
                let name = symbol.name.as_ref().map(|name| c_string(name.as_bytes()));
                if name.is_some() {
                    let position = names.names.len();
                    let place = names.by_function.entry(symbol.function_id);
                    place.or_insert(position);
                }
                names.names.push(name);
            }
            names
        })
    }

    fn problems(&self) -> &[CString] {
        self.problems.get_or_init(|| {
            let text = |problem: Error| c_string(problem.to_string().as_bytes());
            self.reader.problems().into_iter().map(text).collect()
        })
    }

    fn thread(&self, position: usize) -> Outcome<&ThreadEntry> {
        self.reader.threads().get(position).ok_or(Failure::Nothing)
    }
}

/// Opens a session's folder, but not its threads.
///
/// # Safety
///
/// As for [`atf_index_open`](crate::index::atf_index_open), for all of the session's files.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_session_open(
    folder: *const c_char,
    flags: u32,
    session: *mut *mut AtfSessionReader,
) -> AtfStatus {
    let make = || {
        // SAFETY: guaranteed by this function's caller.
        let folder = unsafe { memory::path(folder) }?;
        // SAFETY: guaranteed by this function's caller.
        let options = unsafe { open_options(flags) }?;
        Ok(Session::new(SessionReader::open_with(folder, options)?))
    };
    // SAFETY: guaranteed by this function's caller.
    boundary::status(|| unsafe { give(session, make) })
}

/// The number of threads: those that have a folder and those that the manifest lists. 0 where this
/// is no session.
///
/// # Safety
///
/// `session` is null or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_session_thread_count(session: *const AtfSessionReader) -> usize {
    // SAFETY: guaranteed by this function's caller.
    boundary::value(0, || unsafe {
        handle::with(session, |this| Ok(this.reader.threads().len()))
    })
}

/// `AtfThreadInfo`: a thread of a session.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct AtfThreadInfo {
    /// The folder's path; valid until the session is closed.
    pub path: *const c_char,
    /// The id in the folder's name.
    pub id: u32,
    /// An `AtfPresence`: what exists at the path.
    pub presence: u8,
    /// 1 if the manifest lists the thread, else 0.
    pub is_listed: u8,
    /// 0.
    pub reserved: [u8; 2],
}

// SAFETY: `repr(C)`, and all members are numbers or a pointer that Rust never dereferences.
unsafe impl memory::Plain for AtfThreadInfo {
    const ZERO: Self = Self {
        path: std::ptr::null(),
        id: 0,
        presence: 0,
        is_listed: 0,
        reserved: [0; 2],
    };
}

/// Describes the thread at a position, by ascending id; `ATF_NONE` after the last one.
///
/// # Safety
///
/// `session` is null or a handle; `info` is null or valid for writing `info_size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_session_thread_info(
    session: *const AtfSessionReader,
    position: usize,
    info: *mut AtfThreadInfo,
    info_size: usize,
) -> AtfStatus {
    let body = |this: &Session| {
        let thread = this.thread(position)?;
        let path = this.paths.get(position);
        let found = AtfThreadInfo {
            path: path.map_or(c"".as_ptr(), |path| path.as_ptr()),
            id: thread.id(),
            presence: match thread.presence() {
                Presence::Folder => 0,
                Presence::SymbolicLink => 1,
                Presence::NotAFolder => 2,
                Presence::Missing => 3,
            },
            is_listed: thread.is_listed().into(),
            reserved: [0; 2],
        };
        // SAFETY: guaranteed by this function's caller.
        unsafe { put_sized(info, info_size, &found) }
    };
    // SAFETY: guaranteed by this function's caller.
    boundary::status(|| unsafe { handle::with(session, body) })
}

/// Opens the thread at a position. Problems of one thread do not affect the others.
///
/// # Safety
///
/// `session` is null or a handle; `reader` is null or valid for writing a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_session_open_thread(
    session: *const AtfSessionReader,
    position: usize,
    reader: *mut *mut AtfThreadReader,
) -> AtfStatus {
    let body = |this: &Session| {
        let make = || {
            let thread = this.thread(position)?;
            Ok(Thread::new(thread.open()?, Some(thread.id())))
        };
        // SAFETY: guaranteed by this function's caller.
        unsafe { give(reader, make) }
    };
    // SAFETY: guaranteed by this function's caller.
    boundary::status(|| unsafe { handle::with(session, body) })
}

/// Opens the threads one after another and computes their totals.
///
/// # Safety
///
/// `session` is null or a handle; `totals` is null or valid for writing `totals_size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_session_summary(
    session: *const AtfSessionReader,
    totals: *mut AtfSessionTotals,
    totals_size: usize,
) -> AtfStatus {
    let body = |this: &Session| {
        let found = this.reader.summary().into();
        // SAFETY: guaranteed by this function's caller.
        unsafe { put_sized(totals, totals_size, &found) }
    };
    // SAFETY: guaranteed by this function's caller.
    boundary::status(|| unsafe { handle::with(session, body) })
}

impl From<SessionSummary> for AtfSessionTotals {
    fn from(summary: SessionSummary) -> Self {
        let (time_start_ns, time_end_ns) = summary.time_range.unwrap_or((0, 0));
        Self {
            threads: summary.threads,
            finalized_or_unreadable: summary.unreadable,
            event_count: summary.index_events,
            detail_count: summary.detail_events,
            time_start_ns,
            time_end_ns,
        }
    }
}

/// The number of symbols in the manifest; 0 if `session` is invalid.
///
/// # Safety
///
/// `session` is null or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_session_symbol_count(session: *const AtfSessionReader) -> usize {
    // SAFETY: guaranteed by this function's caller.
    boundary::value(0, || unsafe {
        handle::with(session, |this| Ok(this.names().names.len()))
    })
}

/// Reads the symbol at a position; `ATF_NONE` after the last one. Its name is valid until the
/// session is closed, and null if the manifest has none.
///
/// # Safety
///
/// `session` is null or a handle; `symbol` is null or valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_session_symbol(
    session: *const AtfSessionReader,
    position: usize,
    symbol: *mut AtfSymbol,
) -> AtfStatus {
    let body = |this: &Session| {
        required(symbol, "the output pointer for the symbol is null")?;
        let symbols = this.reader.manifest().map(|m| &m.symbols);
        let found = symbols.and_then(|symbols| symbols.get(position));
        let found = found.ok_or(Failure::Nothing)?;
        let name = this.names().names.get(position).and_then(Option::as_ref);
        let found = AtfSymbol {
            function_id: found.function_id,
            name: name.map_or(std::ptr::null(), |name| name.as_ptr()),
            reserved: [0; 2],
        };
        // SAFETY: not null, so the caller guarantees that it can be written.
        unsafe { put(symbol, found) };
        Ok(())
    };
    // SAFETY: guaranteed by this function's caller.
    boundary::status(|| unsafe { handle::with(session, body) })
}

/// The name of a function, or null if the manifest has none. Valid until the session is closed.
///
/// # Safety
///
/// `session` is null or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_session_function_name(
    session: *const AtfSessionReader,
    function_id: u64,
) -> *const c_char {
    let body = |this: &Session| {
        let names = this.names();
        let position = names.by_function.get(&function_id);
        let name = position.and_then(|position| names.names.get(*position)?.as_ref());
        Ok(name.map_or(std::ptr::null(), |name| name.as_ptr()))
    };
    // SAFETY: guaranteed by this function's caller.
    boundary::value(std::ptr::null(), || unsafe { handle::with(session, body) })
}

/// The number of problems with the session itself: its manifest, of which the first 100 problems
/// are listed, and folders not read. 0 if `session` is invalid.
///
/// # Safety
///
/// `session` is null or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_session_problem_count(session: *const AtfSessionReader) -> u64 {
    let body = |this: &Session| {
        let named = this.problems().len() as u64;
        let manifest = this.reader.manifest();
        let unnamed = manifest.map_or(0, |m| {
            m.problem_count.saturating_sub(m.problems.len() as u64)
        });
        Ok(named.saturating_add(unnamed))
    };
    // SAFETY: guaranteed by this function's caller.
    boundary::value(0, || unsafe { handle::with(session, body) })
}

/// A problem as text; null after the last one. Valid until the session is closed.
///
/// # Safety
///
/// `session` is null or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_session_problem(
    session: *const AtfSessionReader,
    position: usize,
) -> *const c_char {
    let body = |this: &Session| {
        let problem = this.problems().get(position);
        Ok(problem.map_or(std::ptr::null(), |problem| problem.as_ptr()))
    };
    // SAFETY: guaranteed by this function's caller.
    boundary::value(std::ptr::null(), || unsafe { handle::with(session, body) })
}

/// Frees a session; null is allowed. Readers of its threads stay usable.
///
/// # Safety
///
/// `session` is null or a handle, and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_session_close(session: *mut AtfSessionReader) -> AtfStatus {
    // SAFETY: guaranteed by this function's caller.
    boundary::status(|| unsafe { handle::close(session) }.map(drop))
}
