//! Reading a session.

use std::collections::HashMap;
use std::ffi::{CString, c_char};
use std::sync::{LazyLock, OnceLock};

use atf::manifest::{Cut, Manifest, ManifestThread};
use atf::session::{Presence, SessionReader, SessionSummary, ThreadEntry};

use crate::boundary;
use crate::clock::AtfTimingAnchor;
use crate::handle::{self, Handle, Object, give};
use crate::memory::{self, put_sized};
use crate::options::open_options;
use crate::reader::Problems;
use crate::session_writer::{AtfLoss, AtfModule, AtfSessionTotals, AtfSymbol};
use crate::status::{AtfStatus, Failure, Outcome, c_string};
use crate::thread::{AtfThreadReader, Thread};

/// `AtfSessionReader`.
pub type AtfSessionReader = Handle<Session>;

/// Stands in for a session's missing manifest.
static NO_MANIFEST: LazyLock<Manifest> = LazyLock::new(Manifest::default);

/// A session, and its strings for C.
#[derive(Debug)]
pub struct Session {
    pub(crate) reader: SessionReader,
    /// Each thread's path and manifest entry.
    threads: Vec<(CString, Listed)>,
    /// The path and the build id of each module.
    modules: Vec<[Option<CString>; 2]>,
    /// The signal that ended the process.
    ended_by: Option<CString>,
    /// Created when a name is first requested, because a manifest may contain a million names.
    names: OnceLock<Names>,
    problems: Problems,
}

/// A thread in the manifest, for C.
#[derive(Debug, Default)]
struct Listed {
    name: Option<CString>,
    lost_events: AtfLoss,
    lost_details: AtfLoss,
    cut: Option<AtfCut>,
}

impl From<&ManifestThread> for Listed {
    fn from(thread: &ManifestThread) -> Self {
        Self {
            name: text(thread.name.as_ref()),
            lost_events: thread.lost_events.map(Into::into).unwrap_or_default(),
            lost_details: thread.lost_details.map(Into::into).unwrap_or_default(),
            cut: thread.cut.map(Into::into),
        }
    }
}

/// Returns a string's address, or null. The address is valid as long as the string.
fn or_null(text: Option<&CString>) -> *const c_char {
    text.map_or(std::ptr::null(), |text| text.as_ptr())
}

fn text(text: Option<&String>) -> Option<CString> {
    text.map(|text| c_string(text.as_bytes()))
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
    pub(crate) fn new(reader: SessionReader) -> Self {
        let manifest = reader.manifest().unwrap_or(&NO_MANIFEST);
        let listed = manifest.threads.iter().map(|it| (it.id, it));
        let listed: HashMap<u32, &ManifestThread> = listed.collect();
        let thread = |entry: &ThreadEntry| {
            let path = c_string(entry.path().as_os_str().as_encoded_bytes());
            let listed = listed.get(&entry.id()).copied();
            (path, listed.map(Listed::from).unwrap_or_default())
        };
        let modules = manifest.modules.iter();
        Self {
            threads: reader.threads().iter().map(thread).collect(),
            modules: modules
                .map(|module| [&module.path, &module.uuid].map(|it| text(it.as_ref())))
                .collect(),
            ended_by: text(manifest.ended_by.as_ref()),
            reader,
            names: OnceLock::new(),
            problems: Problems::default(),
        }
    }

    /// Returns the manifest, or an empty one if the session has no valid manifest.
    pub(crate) fn manifest(&self) -> &Manifest {
        self.reader.manifest().unwrap_or(&NO_MANIFEST)
    }

    fn names(&self) -> &Names {
        self.names.get_or_init(|| {
            let mut names = Names::default();
            for symbol in &self.manifest().symbols {
                let name = text(symbol.name.as_ref());
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

    pub(crate) fn ended_by(&self) -> *const c_char {
        or_null(self.ended_by.as_ref())
    }

    fn thread(&self, position: usize) -> Outcome<&ThreadEntry> {
        self.reader.threads().get(position).ok_or(Failure::Nothing)
    }
}

/// Opens a session's folder, but not its threads.
///
/// # Safety
///
/// The same as for [`atf_index_open`](crate::index::atf_index_open), for all files of the session.
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

/// Returns the number of threads with a folder or a manifest entry, or 0 if `session` is invalid.
///
/// # Safety
///
/// `session` is null or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_session_thread_count(session: *const AtfSessionReader) -> usize {
    // SAFETY: guaranteed by this function's caller.
    unsafe { handle::value(session, 0, |this| Ok(this.reader.threads().len())) }
}

/// `AtfCut`: the part of a longer trace that a thread was cut to.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AtfCut {
    /// The start of the part in nanoseconds.
    pub from_ns: u64,
    /// The end of the part in nanoseconds, inclusive.
    pub to_ns: u64,
    /// How many of the first events repeat calls that were open at the start.
    pub calls: u64,
    /// How many of the last events are returns that were added for calls that were open at the end.
    pub returns: u64,
}

impl From<Cut> for AtfCut {
    fn from(cut: Cut) -> Self {
        Self {
            from_ns: cut.from_ns,
            to_ns: cut.to_ns,
            calls: cut.calls,
            returns: cut.returns,
        }
    }
}

/// `AtfThreadInfo`: a thread of a session.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct AtfThreadInfo {
    /// The folder's path; valid until the session is closed.
    pub path: *const c_char,
    /// The id in the folder's name.
    pub id: u32,
    /// The kind of file at the path: `AtfPresence`.
    pub presence: u8,
    /// 1 if the manifest lists the thread, else 0.
    pub is_listed: u8,
    /// 0.
    pub reserved: [u8; 2],
    /// The thread's name in the manifest, or null; valid until the session is closed.
    pub name: *const c_char,
    /// The events that the tracer lost in the thread.
    pub lost_events: AtfLoss,
    /// The details that the tracer lost in the thread.
    pub lost_details: AtfLoss,
    /// The part of a longer trace that the thread was cut to; zeros if it was not cut.
    pub cut: AtfCut,
    /// 1 if the thread was cut, else 0.
    pub is_cut: u8,
    /// 0.
    pub reserved2: [u8; 7],
}

// SAFETY: `repr(C)`, and all members are numbers or pointers that Rust never dereferences.
unsafe impl memory::Plain for AtfThreadInfo {}

/// Describes the thread at `position`, in ascending order of id; returns `ATF_NONE` after the last
/// one.
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
        let (path, listed) = this.threads.get(position).ok_or(Failure::Nothing)?;
        let found = AtfThreadInfo {
            path: path.as_ptr(),
            id: thread.id(),
            presence: match thread.presence() {
                Presence::Folder => 0,
                Presence::SymbolicLink => 1,
                Presence::Missing => 3,
                _ => 2,
            },
            is_listed: thread.is_listed().into(),
            reserved: [0; 2],
            name: or_null(listed.name.as_ref()),
            lost_events: listed.lost_events,
            lost_details: listed.lost_details,
            cut: listed.cut.unwrap_or_default(),
            is_cut: listed.cut.is_some().into(),
            reserved2: [0; 7],
        };
        // SAFETY: guaranteed by this function's caller.
        unsafe { put_sized(info, info_size, &found) }
    };
    // SAFETY: guaranteed by this function's caller.
    boundary::status(|| unsafe { handle::with(session, body) })
}

/// Opens the thread at `position`. Problems in one thread do not affect the others.
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
        let thread = this.thread(position)?;
        Ok(Thread::new(thread.open()?, Some(thread.id())))
    };
    // SAFETY: guaranteed by this function's caller.
    unsafe { handle::derive(session, reader, body) }
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

/// Returns the number of modules in the manifest, or 0 if `session` is invalid.
///
/// # Safety
///
/// `session` is null or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_session_module_count(session: *const AtfSessionReader) -> usize {
    // SAFETY: guaranteed by this function's caller.
    unsafe { handle::value(session, 0, |this| Ok(this.modules.len())) }
}

/// Reads the module at `position`; returns `ATF_NONE` after the last one. Its strings are valid
/// until the session is closed, and null if the manifest has none.
///
/// # Safety
///
/// `session` is null or a handle; `module` is null or valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_session_module(
    session: *const AtfSessionReader,
    position: usize,
    module: *mut AtfModule,
) -> AtfStatus {
    let body = |this: &Session| {
        let found = this.manifest().modules.get(position);
        let found = found.ok_or(Failure::Nothing)?;
        let [path, uuid] = this.modules.get(position).ok_or(Failure::Nothing)?;
        Ok(AtfModule {
            module_id: found.module_id,
            function_offsets: (found.function_offsets == Some(true)).into(),
            base_address: found.base_address.unwrap_or(0),
            size: found.size.unwrap_or(0),
            path: or_null(path.as_ref()),
            uuid: or_null(uuid.as_ref()),
            reserved2: [0; 2],
        })
    };
    // SAFETY: guaranteed by this function's caller.
    unsafe { handle::fill(session, module, "module", body) }
}

/// Returns the number of timing anchors in the manifest, or 0 if `session` is invalid.
///
/// # Safety
///
/// `session` is null or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_session_timing_anchor_count(
    session: *const AtfSessionReader,
) -> usize {
    let count = |this: &Session| Ok(this.manifest().timing_anchors.len());
    // SAFETY: guaranteed by this function's caller.
    unsafe { handle::value(session, 0, count) }
}

/// Reads the timing anchor at `position`; returns `ATF_NONE` after the last one.
///
/// # Safety
///
/// `session` is null or a handle; `anchor` is null or valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_session_timing_anchor(
    session: *const AtfSessionReader,
    position: usize,
    anchor: *mut AtfTimingAnchor,
) -> AtfStatus {
    let body = |this: &Session| {
        let found = this.manifest().timing_anchors.get(position);
        Ok((*found.ok_or(Failure::Nothing)?).into())
    };
    // SAFETY: guaranteed by this function's caller.
    unsafe { handle::fill(session, anchor, "anchor", body) }
}

/// Returns the number of symbols in the manifest, or 0 if `session` is invalid.
///
/// # Safety
///
/// `session` is null or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_session_symbol_count(session: *const AtfSessionReader) -> usize {
    // SAFETY: guaranteed by this function's caller.
    unsafe { handle::value(session, 0, |this| Ok(this.names().names.len())) }
}

/// Reads the symbol at `position`; returns `ATF_NONE` after the last one. Its name is valid until
/// the session is closed, and null if the manifest has none.
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
        let found = this.manifest().symbols.get(position);
        let found = found.ok_or(Failure::Nothing)?;
        let name = this.names().names.get(position).and_then(Option::as_ref);
        Ok(AtfSymbol {
            function_id: found.function_id,
            name: or_null(name),
            reserved: [0; 2],
        })
    };
    // SAFETY: guaranteed by this function's caller.
    unsafe { handle::fill(session, symbol, "symbol", body) }
}

/// Returns the name of a function, or null if the manifest has none. The name is valid until the
/// session is closed.
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
        Ok(or_null(name))
    };
    // SAFETY: guaranteed by this function's caller.
    unsafe { handle::value(session, std::ptr::null(), body) }
}

/// Returns the number of problems with the session itself: its manifest, and folders that were not
/// read. All problems of the manifest are counted, although only the first 100 are available as
/// text. Returns 0 if `session` is invalid.
///
/// # Safety
///
/// `session` is null or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_session_problem_count(session: *const AtfSessionReader) -> u64 {
    let body = |this: &Session| {
        let named = this.problems.get(|| this.reader.problems()).len() as u64;
        let manifest = this.manifest();
        let unnamed = manifest.problem_count;
        let unnamed = unnamed.saturating_sub(manifest.problems.len() as u64);
        Ok(named.saturating_add(unnamed))
    };
    // SAFETY: guaranteed by this function's caller.
    unsafe { handle::value(session, 0, body) }
}

/// Returns a problem as text, or null after the last one. The text is valid until the session is
/// closed.
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
        let problems = &this.problems;
        Ok(problems.text(position, || this.reader.problems()))
    };
    // SAFETY: guaranteed by this function's caller.
    unsafe { handle::value(session, std::ptr::null(), body) }
}

/// Frees a session; null is allowed. Readers of its threads remain usable.
///
/// # Safety
///
/// `session` is null or a handle, and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atf_session_close(session: *mut AtfSessionReader) -> AtfStatus {
    // SAFETY: guaranteed by this function's caller.
    boundary::status(|| unsafe { handle::close(session) }.map(drop))
}
