//! Reads the settings from environment variables.
//!
//! | variable | meaning |
//! |---|---|
//! | `ATF_RECORD=off` | record nothing |
//! | `ATF_OUT=FOLDER` | where sessions are created: `FOLDER/session_<date>_<time>/pid_<pid>`; without it, the working directory |
//! | `ATF_SESSION=FOLDER` | the folder in which `pid_<pid>` is created instead, for one run of several processes. Losses are then only in the manifests, from which `atf record` reports them |
//! | `ATF_RING=EVENTS` | record through rings of this many events, which a thread drains: less work for the program, but SIGKILL loses the rings' contents |
//! | `ATF_OVERFLOW=block`, `drop` or `drop-detail` | what happens when a ring is full: the program waits (the default), or events are dropped. With `drop-detail`, only details are dropped at first, once the ring is three quarters full |
//! | `ATF_RING_MEMORY=SIZE` | how much memory the rings of all live threads may take together, such as `64M`; `2G` by default. Full-sized rings take up to half of it; the rings of further threads are smaller, but hold at least 256 events. If the system does not have enough memory for a ring, that ring is also smaller. Threads whose rings do not fit are not recorded, and their events count as lost. A message on standard error names the first thread with a smaller ring, and the first that is not recorded |
//! | `ATF_DEPTH=N` | do not record deeper calls |
//! | `ATF_MODULES=GLOB,!GLOB,…` | record only functions of these modules, or with `!` none of these; the last pattern that matches the path or the file name decides |
//! | `ATF_FUNCTIONS=GLOB,!GLOB,…` | the same for functions, by their name in the source (in C++ with or without return type and parameters) or in the symbol table; see [`Filter`] for commas in names |
//! | `ATF_MIN_SIZE=BYTES` | skip functions with less code than this |
//! | `ATF_CLOCK=tsc` | take times from the processor's time-stamp counter, which is faster to read than the system clock; the manifest contains the largest difference between the two |
//! | `ATF_DEBUG_DIRS=DIR:DIR:…` | where to search for files with the symbols of stripped modules, before `/usr/lib/debug` |
//! | `ATF_DETAILS=off`, `all` or `trigger` | whether calls and returns are recorded with registers and stack: never (the default), always, or in windows around triggers |
//! | `ATF_STACK=BYTES` | how many bytes of the stack a detail includes: 128 by default, at most 256 |
//! | `ATF_DETAIL_FUNCTIONS=GLOB,!GLOB,…` | which functions have details |
//! | `ATF_FLIGHT=SECONDS`, such as `10` or `0.5`, or a size such as `64M` | keep the last seconds, or bytes of events and details per thread, in rings of twice that size, and write them only at a trigger, when the program exits, and when it is killed by SIGSEGV, SIGBUS, SIGABRT, SIGFPE or SIGILL. A handler that the program set before its first call is called after the events are written. The program waits for this for at most two seconds in total, plus a hundredth of its run time. Events are also written when SIGINT, SIGTERM, SIGHUP or SIGQUIT ends a program that neither handles nor ignores it. After a stack overflow, they are written only if that handler has its own stack (`SA_ONSTACK`), or if there is no handler |
//! | `ATF_PRE_ROLL=MS`, `ATF_POST_ROLL=MS` | how long windows last before and after their trigger: 0 by default |
//! | `ATF_TRIGGER_SIGNAL=USR2` | a signal that is a trigger: HUP, USR1, USR2, URG or WINCH. A handler that the program set before its first call is called too; a handler that it sets later replaces the trigger. Even if the program ignores the signal (`SIG_IGN`), programs that it starts by `exec` do not, because `exec` replaces the trigger's handler with the default action |
//! | `ATF_TRIGGER_AFTER=MS` | a trigger this long after the first call |
//! | `ATF_TRIGGER_FUNCTIONS=GLOB,!GLOB,…` | functions whose calls are triggers |
//! | `ATF_TRIGGER_DEPTH=N` | only calls of at least this depth are triggers; without `ATF_TRIGGER_FUNCTIONS`, all of them are |
//! | `ATF_SEGMENT=SECONDS` or a size such as `64M` | start a new session, `pid_<pid>_segment_000002` and so on, when the current one reaches this age or this size |
//! | `ATF_KEEP=N` | keep only the last segments |
//!
//! Windows and segments need rings. The default `ATF_RING` is 65536, with windows 131072, and with
//! `ATF_FLIGHT=SECONDS` but no details 1048576. A window holds at most half of a ring's capacity.
//! In a ring, each event takes 32 bytes, and all details together take at most 64 MiB. With
//! windows, rings have room for every event's details, up to 1 GiB, but take memory only for the
//! parts written so far. The events kept after their threads have ended take at most 512 MiB: see
//! [`Window`](atf::record::Window). The program can also call
//! [`atf_instrument_trigger`](crate::trigger::atf_instrument_trigger).
//!
//! Functions, including `static` ones, are selected by the names in their module's symbol table
//! when the recording starts or, if the module is loaded later, when its first function is called.
//! A function without a known name, or with a mangled one that cannot be demangled and is not
//! excluded, is recorded, because an event that was skipped by mistake cannot be recovered. A
//! function whose name stays mangled is no trigger and, with `ATF_DETAIL_FUNCTIONS`, has no details.
//! Modules without symbols are listed on standard error.

use std::env;
use std::path::{Path, PathBuf};

use atf::record::{Capacity, Overflow, RecordOptions};
use atf::write::WriteOptions;
use atf_symbolize::{Filter, Names, Search};

use crate::aside;
use crate::details::{self, Details, Triggers};
use crate::environment::{filter, folder, number, size, text, wrong};
use crate::marks::Marks;

/// The maximum number of threads that record at the same time. Without rings, each one takes 256
/// KiB of buffers.
const MOST_THREADS: usize = 4096;

#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) place: Place,
    pub(crate) write: WriteOptions,
    pub(crate) record: RecordOptions,
    /// The maximum depth of recorded calls.
    pub(crate) depth: u32,
    /// How many bytes of the stack a detail includes; `None` to record no details.
    pub(crate) stack_size: Option<usize>,
    pub(crate) triggers: Triggers,
    modules: Filter,
    functions: Filter,
    /// Which functions have details, and which are triggers.
    detailed: Filter,
    triggering: Filter,
    /// The minimum code size of recorded functions, in bytes.
    min_size: u64,
    /// Where to search for files with symbols.
    pub(crate) symbols: Search,
    /// Whether timestamps come from the processor's time-stamp counter.
    pub(crate) counts_ticks: bool,
}

/// Where to create the session.
#[derive(Debug)]
pub(crate) enum Place {
    /// In a new session folder below this one.
    Below(PathBuf),
    /// In this session folder.
    In(PathBuf),
}

impl Settings {
    /// Reads the environment variables. Returns `None` if recording is switched off, or if the
    /// program has more rights than its user, as with setuid: the user must not choose where it
    /// creates files.
    pub(crate) fn read() -> Result<Option<Self>, String> {
        // SAFETY: the call has no preconditions.
        if unsafe { libc::getauxval(libc::AT_SECURE) } != 0 {
            return Ok(None);
        }
        if text("ATF_RECORD")?.is_some_and(|value| value == "off") {
            return Ok(None);
        }
        let detailed = filter("ATF_DETAIL_FUNCTIONS")?;
        let triggering = filter("ATF_TRIGGER_FUNCTIONS")?;
        let details = Details::read(!detailed.is_empty(), !triggering.is_empty())?;
        let ring: Option<usize> = number("ATF_RING")?;
        let segment = details::segment()?;
        let default = segment.map(|_| Capacity::default().events);
        let ring = ring.or(details.ring).or(default);
        let events = ring.unwrap_or(Capacity::default().events);
        let capacity = Capacity::default().events(events);
        let overflow = match text("ATF_OVERFLOW")?.as_deref() {
            None | Some("block") => Overflow::Block,
            Some("drop") => Overflow::DropNewest,
            Some("drop-detail") => Overflow::DropDetail,
            Some(found) => {
                return Err(wrong("ATF_OVERFLOW", "block, drop or drop-detail", found));
            }
        };
        let memory = size("ATF_RING_MEMORY")?;
        if memory.is_some() && ring.is_none() {
            return Err(
                "ATF_RING_MEMORY needs ATF_RING, ATF_FLIGHT, ATF_SEGMENT or ATF_DETAILS=trigger"
                    .to_owned(),
            );
        }
        let record = RecordOptions::default();
        let memory = memory.unwrap_or(record.ring_memory);
        Ok(Some(Self {
            place: match folder("ATF_SESSION") {
                Some(session) => Place::In(session),
                None => Place::Below(folder("ATF_OUT").unwrap_or_else(|| PathBuf::from("."))),
            },
            write: WriteOptions::default().survive_kill(ring.is_none()),
            record: record
                .ring_memory(memory)
                .max_threads(MOST_THREADS)
                .capacity(capacity.payload_size(details.payload_size(events)))
                .overflow(overflow)
                .window(details.window)
                .segment(segment)
                // The library stops it later, after the program's own destructors.
                .stop_at_exit(false),
            depth: number("ATF_DEPTH")?.unwrap_or(u32::MAX),
            counts_ticks: match text("ATF_CLOCK")?.as_deref() {
                None | Some("system") => false,
                Some("tsc") => true,
                Some(found) => return Err(wrong("ATF_CLOCK", "system or tsc", found)),
            },
            modules: filter("ATF_MODULES")?,
            functions: filter("ATF_FUNCTIONS")?,
            stack_size: details.stack_size,
            triggers: details.triggers,
            detailed,
            triggering,
            min_size: number("ATF_MIN_SIZE")?.unwrap_or(0),
            symbols: Search::new(
                env::var_os("ATF_DEBUG_DIRS")
                    .iter()
                    .flat_map(env::split_paths),
            )
            .spawn_with(aside::demangle),
        }))
    }

    /// Returns whether a module's functions are recorded.
    pub(crate) fn records(&self, module: &Path) -> bool {
        let name = module.file_name().map_or(module, Path::new);
        self.modules.selects(&[module, name])
    }

    /// Returns whether any function can have marks.
    pub(crate) fn marks_functions(&self) -> bool {
        self.leaves_out() || !self.detailed.is_empty() || !self.triggering.is_empty()
    }

    /// Returns whether functions can be skipped by name or size.
    pub(crate) fn leaves_out(&self) -> bool {
        !self.functions.is_empty() || self.min_size > 0
    }

    /// Returns the marks of a function with these names and this size. A function that may have
    /// been chosen is recorded, but a trigger or a detail needs certainty.
    pub(crate) fn marks(&self, names: &Names, size: u64) -> Marks {
        let selects = |filter: &Filter, in_doubt| {
            filter.is_empty() || filter.selects_function(names, in_doubt)
        };
        let is_chosen = selects(&self.functions, true) && size >= self.min_size;
        Marks::NONE
            .with(Marks::LEFT_OUT, !is_chosen)
            .with(Marks::BARE, !selects(&self.detailed, false))
            .with(
                Marks::TRIGGER,
                !self.triggering.is_empty() && selects(&self.triggering, false),
            )
    }
}
