//! Reads the settings from environment variables.
//!
//! Each of [`atf_record::settings`] has a variable. There are also these:
//!
//! | variable | meaning |
//! |---|---|
//! | `ATF_RECORD=off` | record nothing |
//! | `ATF_OUT=FOLDER` | where sessions are created: `FOLDER/session_<date>_<time>/pid_<pid>`; without it, the working directory |
//! | `ATF_SESSION=FOLDER` | the folder in which `pid_<pid>` is created instead, for one run of several processes. Losses are then only in the manifests, from which `atf record` reports them |
//! | `ATF_DEBUG_DIRS=DIR:DIR:…` | where to search for files with the symbols of stripped modules, before `/usr/lib/debug` |
//!
//! `docs/record.md` explains all of them. The program can also call
//! [`atf_instrument_trigger`](crate::trigger::atf_instrument_trigger).
//!
//! Functions, including `static` ones, are selected by the names in their module's symbol table
//! when the recording starts or, if the module is loaded later, when its first function is called.
//! A function without a known name, or with a mangled one that cannot be demangled and is not
//! excluded, is recorded, because an event that was skipped by mistake cannot be recovered. A
//! function whose name stays mangled is no trigger and, with `ATF_DETAIL_FUNCTIONS`, has no
//! details. Modules without symbols are listed on standard error.

use std::env;
use std::ffi::{OsString, c_int};
use std::path::{Path, PathBuf};
use std::time::Duration;

use atf::write::WriteOptions;
use atf_record::RecordOptions;
use atf_record::settings::{
    CLOCK, DEPTH, DETAIL_FUNCTIONS, FLIGHT, FUNCTIONS, MIN_SIZE, MODULES, Setting, SettingNames,
    TRIGGER_AFTER, TRIGGER_DEPTH, TRIGGER_FUNCTIONS, TRIGGER_SIGNAL,
};
use atf_symbolize::{Filter, Names, Search};

use crate::aside;
use crate::marks::Marks;

/// The maximum number of threads that record at the same time. Without rings, each one uses 256 KiB
/// of buffers.
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

#[derive(Debug)]
pub(crate) enum Place {
    /// In a new session folder below this one.
    Below(PathBuf),
    /// In this session folder.
    In(PathBuf),
}

impl Settings {
    /// Reads the environment variables. Returns `None` if recording is switched off, or if the
    /// program has more privileges than its user, as with setuid: the user must not choose where it
    /// creates files.
    pub(crate) fn read() -> Result<Option<Self>, String> {
        // SAFETY: the call has no preconditions.
        if unsafe { libc::getauxval(libc::AT_SECURE) } != 0 {
            return Ok(None);
        }
        if text("ATF_RECORD")?.is_some_and(|value| value == "off") {
            return Ok(None);
        }
        let given = atf_record::settings::Settings::read(SettingNames::Variables, |setting| {
            text(setting.variable)
        })?;
        let filter = |setting: &Setting| {
            let filter = Filter::parse(given.text(setting).unwrap_or_default());
            filter.map_err(|error| format!("{}: {error}", setting.variable))
        };
        let depth = |setting| Some(u32::try_from(given.number(setting)?).unwrap_or(u32::MAX));
        let triggering = filter(&TRIGGER_FUNCTIONS)?;
        let folders = env::var_os("ATF_DEBUG_DIRS");
        Ok(Some(Self {
            place: match folder("ATF_SESSION") {
                Some(session) => Place::In(session),
                None => Place::Below(folder("ATF_OUT").unwrap_or_else(|| PathBuf::from("."))),
            },
            write: WriteOptions::default().survive_kill(given.ring().is_none()),
            record: given
                .options()
                .max_threads(MOST_THREADS)
                // The library stops it later, after the program's own destructors.
                .stop_at_exit(false),
            depth: depth(&DEPTH).unwrap_or(u32::MAX),
            counts_ticks: given.text(&CLOCK) == Some("tsc"),
            modules: filter(&MODULES)?,
            functions: filter(&FUNCTIONS)?,
            stack_size: given.stack_size(),
            triggers: Triggers {
                signal: given.text(&TRIGGER_SIGNAL).and_then(signal),
                after: given.time(&TRIGGER_AFTER),
                depth: depth(&TRIGGER_DEPTH).or((!triggering.is_empty()).then_some(0)),
                needs_mark: !triggering.is_empty(),
                are_crashes: given.is_set(&FLIGHT),
            },
            detailed: filter(&DETAIL_FUNCTIONS)?,
            triggering,
            min_size: given.number(&MIN_SIZE).unwrap_or(0),
            symbols: Search::new(folders.iter().flat_map(env::split_paths))
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

/// The triggers of windows: a signal, a time, calls or crashes.
#[derive(Debug, Default)]
pub(crate) struct Triggers {
    pub(crate) signal: Option<c_int>,
    pub(crate) after: Option<Duration>,
    /// The minimum depth of calls that are triggers. If the settings name functions, only calls of
    /// these functions are triggers.
    depth: Option<u32>,
    needs_mark: bool,
    pub(crate) are_crashes: bool,
}

impl Triggers {
    /// Returns whether a call is a trigger.
    #[inline]
    pub(crate) fn are_fired_by(&self, marks: Marks, depth: u32) -> bool {
        self.depth.is_some_and(|least| depth >= least)
            && (!self.needs_mark || marks.contains(Marks::TRIGGER))
    }
}

fn folder(variable: &str) -> Option<PathBuf> {
    env::var_os(variable)
        .filter(|value: &OsString| !value.is_empty())
        .map(PathBuf::from)
}

fn text(variable: &str) -> Result<Option<String>, String> {
    let value = env::var_os(variable).filter(|value| !value.is_empty());
    let value = value.map(OsString::into_string).transpose();
    value.map_err(|found| {
        let found = found.to_string_lossy();
        format!("{variable}: expected text in UTF-8, found \"{found}\"")
    })
}

fn signal(name: &str) -> Option<c_int> {
    match name {
        "HUP" => Some(libc::SIGHUP),
        "USR1" => Some(libc::SIGUSR1),
        "USR2" => Some(libc::SIGUSR2),
        "URG" => Some(libc::SIGURG),
        "WINCH" => Some(libc::SIGWINCH),
        _ => None,
    }
}
