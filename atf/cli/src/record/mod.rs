//! Runs a program with the recording library, and finishes the recorded sessions.

mod alive;
mod finish;
mod folder;
mod patterns;
mod proc;
mod program;
mod ring;
mod signals;
mod summary;

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{self, Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use atf_record::CounterClock;
use atf_record::settings::{
    ALL, CLOCK, DEPTH, FLIGHT, FUNCTIONS, Kind, MIN_SIZE, MODULES, Setting, SettingNames, Settings,
};
use atf_symbolize::Filter;
use clap::builder::PossibleValuesParser;
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, FromArgMatches};

use self::folder::RunFolder;
use self::program::Obstacle;
use self::summary::Unwritten;
use crate::output::{Failure, complain};
use crate::text::counted;

/// The library's file name.
const LIBRARY: &str = "libatf_instrument.so";

/// The status, as from `wait`, of a program whose status is unknown: an exit with status 2.
const UNKNOWN: i32 = 2 << 8;

const AFTER_HELP: &str = "\
The program must have been compiled with -finstrument-functions (GCC) or
-finstrument-functions-after-inlining (Clang). It is run with libatf_instrument.so preloaded, and
records into DIR/session_<date>_<time>/pid_<pid>; so do its children. Once its hook has returned, an
event is not lost, whatever ends the program, except with options that use rings: --ring, --details
trigger, --flight, --segment. docs/record.md explains all options, signals and limits.

Exit status: the program's, or 128 plus the number of the signal that ended it; 2 usage, a program
that cannot be run, or nothing was recorded although the program exited with 0.

Examples:
  $ atf record -- ./program arguments
  $ atf record --out traces --depth 5 --module 'libz*' -- ./program
  $ atf record --function 'parse*' --function '!parse_char' --min-size 64 -- ./program
  $ atf record --details trigger --pre-roll 100 --post-roll 50 --trigger-signal USR2 -- ./program
  $ atf record --flight 10 -- ./program";

/// The options of `record`.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Options {
    /// The folder to write the session to
    #[arg(long, value_name = "DIR", default_value = ".")]
    out: PathBuf,
    #[command(flatten)]
    recorder: Recorder,
    /// Also search here for files with symbols
    #[arg(long, value_name = "DIR")]
    debug_dir: Vec<PathBuf>,
    /// The library to preload [default: `libatf_instrument.so` here or in ../lib]
    #[arg(long, value_name = "FILE")]
    library: Option<PathBuf>,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

/// The recorder's settings, as options.
struct Recorder(Settings);

impl clap::Args for Recorder {
    fn augment_args(command: clap::Command) -> clap::Command {
        command.args(ALL.iter().map(|setting| argument(setting)))
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

/// Returns the option of a setting.
fn argument(setting: &'static Setting) -> Arg {
    let option = Arg::new(setting.flag).long(setting.flag);
    let option = option.value_name(setting.value_name).help(setting.help);
    match setting.kind {
        Kind::OneOf(words) => option.value_parser(PossibleValuesParser::new(words)),
        Kind::Globs => option
            .action(ArgAction::Append)
            .value_parser(Filter::escape),
        _ => option.value_parser(|text: &str| setting.check(text).map(|()| text.to_owned())),
    }
}

impl FromArgMatches for Recorder {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = |setting: &Setting| {
            let values = matches.get_many::<String>(setting.flag);
            let values = values.map(|values| values.map(String::as_str).collect::<Vec<_>>());
            Ok(values.map(|values| values.join(",")))
        };
        let settings = Settings::read(SettingNames::Flags, given);
        let error = |why| clap::Error::raw(ErrorKind::ArgumentConflict, format!("{why}\n"));
        settings.map(Self).map_err(error)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Options {
    /// Describes what was lost with a process that died.
    fn loss_by_death(&self, unwritten: Unwritten) -> String {
        if self.recorder.0.is_set(&FLIGHT) {
            return "events in its rings that were not yet written are lost".to_owned();
        }
        let is_one = unwritten.events == 1 && !unwritten.drops;
        let are = if is_one { "is" } else { "are" };
        let events = counted(unwritten.events, "event");
        let drops = ", plus those dropped after the last update of the manifest,";
        let dropped = if unwritten.drops { drops } else { "" };
        format!("up to {events} of each thread{dropped} {are} missing")
    }

    /// Returns whether any filter may exclude calls.
    fn has_filters(&self) -> bool {
        let filters = [&FUNCTIONS, &MODULES, &MIN_SIZE, &DEPTH];
        filters.iter().any(|filter| self.recorder.0.is_set(filter))
    }
}

/// How a program ended.
struct Ended {
    /// The process id.
    process: u32,
    status: ExitStatus,
    /// How long the program ran.
    elapsed: Duration,
    /// When this command started.
    started: Instant,
    /// Why the library could not be preloaded into the program, if known.
    obstacle: Option<Obstacle>,
}

impl Ended {
    /// Returns the name of the signal that ended the program.
    fn signal(&self) -> Option<&'static str> {
        signal_hook::low_level::signal_name(self.status.signal()?)
    }
}

/// Runs the program and returns this command's exit status.
pub(crate) fn run(options: &Options) -> Result<u8, Failure> {
    if options.recorder.0.text(&CLOCK) == Some("tsc") && !CounterClock::is_available() {
        let why = "this processor has no constant-rate counter";
        return Err(Failure::Usage(format!("--clock tsc: {why}")));
    }
    let started = Instant::now();
    let library = library(options.library.as_deref())?;
    let folder = RunFolder::create(&options.out)?;
    let ended = run_program(options, &library, folder.name(), started);
    let ended = ended.inspect_err(|_| folder.remove())?;
    let finished = finish::sessions(&folder, options, &ended);
    // Exit with the program's status, even if the trace cannot be finished.
    let why_nothing = finished.unwrap_or_else(|failure| {
        folder.complain(failure);
        None
    });
    if let Some(number) = ended.status.signal() {
        match ended.signal() {
            Some(name) => complain(format_args!("the program was ended by {name}")),
            None => complain(format_args!("the program was ended by signal {number}")),
        }
    }
    let Some(why) = why_nothing else {
        return Ok(exit_status(ended.status));
    };
    complain(format_args!("nothing was recorded: {why}"));
    Ok(match exit_status(ended.status) {
        0 => 2,
        status => status,
    })
}

fn exit_status(status: ExitStatus) -> u8 {
    let code = status
        .code()
        .or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok())
        .unwrap_or(u8::MAX)
}

/// Finds the library: at the user's path, next to this executable, or in its installed location.
fn library(chosen: Option<&Path>) -> Result<PathBuf, Failure> {
    let installed = || {
        let program = env::current_exe().ok()?;
        let folder = program.parent()?;
        let places = ["", "../lib", "../lib/adatrace"].into_iter();
        let mut paths = places.map(|place| folder.join(place).join(LIBRARY));
        paths.find(|path| path.is_file())
    };
    let found = chosen.map(Path::to_owned).or_else(installed);
    let found = found.ok_or_else(|| {
        Failure::Usage(format!(
            "{LIBRARY} is neither next to atf nor in ../lib or ../lib/adatrace: pass it with --library, or build it with `cargo build --release -p atf-instrument`"
        ))
    })?;
    // The loader searches the system's libraries for a name without a slash, and treats spaces and
    // colons as separators.
    let path = fs::canonicalize(&found).map_err(|error| Failure::at(&found, error))?;
    let mut bytes = path.as_os_str().as_bytes().iter();
    if bytes.any(|byte| b" :".contains(byte)) {
        let message = "cannot be preloaded: its path contains a space or a colon";
        return Err(Failure::at(&found, message));
    }
    Ok(path)
}

fn run_program(
    options: &Options,
    library: &Path,
    folder: &Path,
    started: Instant,
) -> Result<Ended, Failure> {
    let [program, arguments @ ..] = &options.program[..] else {
        return Err(Failure::Usage("no program".to_owned()));
    };
    let program = Path::new(program);
    let failed = |error: io::Error| Failure::at(program, format_args!("cannot be run: {error}"));
    let signals = signals::listen().map_err(failed)?;
    let mut command = Command::new(program);
    command.args(arguments).env("ATF_SESSION", folder);
    let obstacle = Obstacle::find(program.as_os_str(), library);
    if !matches!(obstacle, Some(Obstacle::Musl(_))) {
        // Libraries that the user preloads may need to come first.
        command.env("LD_PRELOAD", appended("LD_PRELOAD", library.as_os_str()));
        // The shared runtime of AddressSanitizer refuses to start after another library. This one
        // defines no function that the runtime replaces, so the order does not matter.
        let order = OsStr::new("verify_asan_link_order=0");
        command.env("ASAN_OPTIONS", appended("ASAN_OPTIONS", order));
    }
    // Ignore these variables: if this command itself runs in a recorded program, they are set for that
    // program.
    command
        .env_remove("ATF_RECORD")
        .env_remove("ATF_OUT")
        .env_remove("ATF_DEBUG_DIRS");
    for (name, value) in options.recorder.0.variables() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    if !options.debug_dir.is_empty() {
        command.env("ATF_DEBUG_DIRS", absolute(&options.debug_dir)?);
    }
    let run = Instant::now();
    let mut child = command.spawn().map_err(failed)?;
    signals::pass_to(&child, signals);
    let status = child.wait().unwrap_or_else(|error| {
        let unknown = format_args!("its exit status is unknown: {error}");
        complain(Failure::at(program, unknown));
        ExitStatus::from_raw(UNKNOWN)
    });
    Ok(Ended {
        process: child.id(),
        status,
        elapsed: run.elapsed(),
        started,
        obstacle,
    })
}

/// Returns the value of an environment variable that is a list, with an entry appended.
fn appended(variable: &str, entry: &OsStr) -> OsString {
    let mut list = env::var_os(variable).unwrap_or_default();
    if !list.is_empty() {
        list.push(":");
    }
    list.push(entry);
    list
}

/// Joins folders into absolute paths, because the program may change its working directory.
fn absolute(folders: &[PathBuf]) -> Result<OsString, Failure> {
    let folders: io::Result<Vec<_>> = folders.iter().map(path::absolute).collect();
    let joined = folders.map_err(|error| error.to_string());
    let joined = joined.and_then(|all| env::join_paths(all).map_err(|error| error.to_string()));
    joined.map_err(|error| Failure::Usage(format!("--debug-dir: {error}")))
}
