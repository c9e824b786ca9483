//! `record`: runs a program and records its calls.

use std::ffi::OsString;
use std::path::PathBuf;

use atf::clock::CounterClock;
use atf_symbolize::Filter;

use crate::output::Failure;
use crate::record::{self, Settings, values};

const AFTER_HELP: &str = "\
The program must have been compiled with -finstrument-functions (GCC) or
-finstrument-functions-after-inlining (Clang). It is run with libatf_instrument.so preloaded, and
records into DIR/session_<date>_<time>/pid_<pid>; children that it forks, and programs that it
starts with exec (pid_<pid>_2), record into folders of their own. Nothing can be preloaded into
statically linked programs, which must be linked with libatf_instrument.a, or into programs that
ignore the environment, such as setuid programs.

Events go straight to the files, in buffers that outlive the program: once its hook has returned, an
event is not lost, whatever ends the program. With --ring, another thread of the program writes the
events. That costs the program's threads less, but a signal, _exit or exec loses the events in the
rings.

With --details trigger, calls have registers and stack only around triggers: --trigger-signal,
--trigger-after, --trigger-function and --trigger-depth, or the program calls
atf_instrument_trigger(). With --flight, nothing else is recorded at all: SIGSEGV, SIGBUS, SIGABRT,
SIGFPE, SIGILL and the program's exit are triggers too, and so are SIGINT, SIGTERM, SIGHUP and
SIGQUIT, unless the program handles or ignores them. A window holds at most half of a ring: if that
is less than --flight or --pre-roll requests, the summary suggests a --ring that is large enough.
With --segment, a long run is split into several sessions: pid_<pid>, pid_<pid>_segment_000002 and
so on. A session may exceed the requested size by the contents of all rings: 2 MiB per thread, or
less with a smaller --ring, plus details. All three use rings.

After the run, the sessions of processes that died are finalized, functions get their names from the
symbol tables of the program and its libraries, and a summary is written to standard error. It shows
the functions with the most self time if that takes at most a tenth of the program's time. SIGTERM,
SIGHUP, SIGUSR1, SIGUSR2, SIGURG and SIGCONT are passed to the program. So are SIGINT, SIGQUIT,
SIGWINCH and SIGTSTP, unless this command is in the foreground of a terminal and the program is in
its process group: there, the terminal sends them to both.

Exit status: the program's, or 128 plus the number of the signal that ended it; 2 usage, a program
that cannot be run, or nothing was recorded although the program exited with 0.

Examples:
  $ atf record -- ./program arguments
  $ atf record --out traces --depth 5 --module 'libz*' -- ./program
  $ atf record --function 'parse*' --function '!parse_char' --min-size 64 -- ./program
  $ atf record --details trigger --pre-roll 100 --post-roll 50 --trigger-signal USR2 -- ./program
  $ atf record --flight 10 -- ./program";

/// Options of `record`.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Options {
    /// The folder that gets the session
    #[arg(long, value_name = "DIR", default_value = ".")]
    out: PathBuf,
    /// Leave out calls that are deeper than this
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    depth: Option<u32>,
    /// Record only functions of modules whose path or file name matches; with `!`, none of these; may
    /// be repeated, and the last match decides
    #[arg(long, value_name = "GLOB", value_parser = Filter::escape)]
    module: Vec<String>,
    /// Record only functions whose name matches, as in the source or as in the symbol table; a C++ name
    /// matches with or without its return type and parameters; with `!`, none of these; may be repeated,
    /// and the last match decides. Functions without a name are recorded
    #[arg(long, value_name = "GLOB", value_parser = Filter::escape)]
    function: Vec<String>,
    /// Leave out functions whose code has fewer bytes than this
    #[arg(long, value_name = "BYTES")]
    min_size: Option<u64>,
    /// Take times from the system's clock, or from the processor's time-stamp counter, which takes less
    /// time to read
    #[arg(long, value_name = "CLOCK", value_parser = ["system", "tsc"])]
    clock: Option<String>,
    /// Record through a ring of this many events for each thread
    #[arg(long, value_name = "EVENTS", value_parser = clap::value_parser!(u32).range(1..=1 << 25))]
    ring: Option<u32>,
    /// Make a thread with a full ring wait, or drop its events, or drop first only their details
    #[arg(long, value_name = "HOW", value_parser = ["block", "drop", "drop-detail"])]
    overflow: Option<String>,
    /// How much memory the rings of all live threads may take together, as in 64M; 2G by default.
    /// Beyond that, rings are smaller
    #[arg(long, value_name = "BYTES", value_parser = values::size)]
    ring_memory: Option<String>,
    /// Record calls and returns with registers and stack: always, or around triggers
    #[arg(long, value_name = "WHEN", value_parser = ["off", "all", "trigger"])]
    details: Option<String>,
    /// How many bytes of the stack a detail contains; 128 by default
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(..=256))]
    stack: Option<u32>,
    /// Record details only of functions whose name matches, as with --function; with `!`, of none of
    /// these; may be repeated
    #[arg(long, value_name = "GLOB", value_parser = Filter::escape)]
    detail_function: Vec<String>,
    /// Keep only the last seconds (as in 10, 0.5 or 500ms), or bytes of events per thread (as in 64M), and
    /// write them when there is a trigger, a crash, or at the end; seconds may need a larger --ring
    #[arg(long, value_name = "SECONDS|BYTES", value_parser = values::flight)]
    flight: Option<String>,
    /// How many milliseconds to keep from the time before a trigger (as in 250, 0.5 or 2s); 0 by default
    #[arg(long, value_name = "MS", conflicts_with = "flight", value_parser = values::milliseconds)]
    pre_roll: Option<String>,
    /// How many milliseconds to keep from the time after a trigger; 0 by default
    #[arg(long, value_name = "MS", value_parser = values::milliseconds)]
    post_roll: Option<String>,
    /// A signal that is a trigger: HUP, USR1, USR2, URG or WINCH
    #[arg(long, value_name = "SIGNAL", value_parser = values::signal)]
    trigger_signal: Option<String>,
    /// Fire a trigger this many milliseconds after the program's first call
    #[arg(long, value_name = "MS", value_parser = values::milliseconds)]
    trigger_after: Option<String>,
    /// Calls of functions whose name matches, as with --function, are triggers; may be repeated
    #[arg(long, value_name = "GLOB", value_parser = Filter::escape)]
    trigger_function: Vec<String>,
    /// Only calls from this depth on are triggers; without --trigger-function, all of them
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    trigger_depth: Option<u32>,
    /// Start a new session when the current one reaches this age in seconds (as in 10, 0.5 or 500ms) or
    /// this size (as in 64M)
    #[arg(long, value_name = "SECONDS|BYTES", value_parser = values::segment)]
    segment: Option<String>,
    /// Keep only the last segments, and delete the others
    #[arg(long, requires = "segment", value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    keep: Option<u32>,
    /// Also search here for files with symbols; may be repeated
    #[arg(long, value_name = "DIR")]
    debug_dir: Vec<PathBuf>,
    /// The library to preload; by default `libatf_instrument.so` next to this program or in ../lib
    #[arg(long, value_name = "FILE")]
    library: Option<PathBuf>,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

pub(super) fn run(options: &Options) -> Result<u8, Failure> {
    options.check()?;
    if options.clock.as_deref() == Some("tsc") && !CounterClock::is_available() {
        let why = "this processor has no counter that runs at one rate";
        return Err(Failure::Usage(format!("--clock tsc: {why}")));
    }
    let globs = |globs: &[String]| (!globs.is_empty()).then(|| globs.join(","));
    let number = |number: Option<u64>| number.map(|number| number.to_string());
    let variables = vec![
        ("ATF_DEPTH", number(options.depth.map(u64::from))),
        ("ATF_MODULES", globs(&options.module)),
        ("ATF_FUNCTIONS", globs(&options.function)),
        ("ATF_DETAIL_FUNCTIONS", globs(&options.detail_function)),
        ("ATF_TRIGGER_FUNCTIONS", globs(&options.trigger_function)),
        ("ATF_MIN_SIZE", number(options.min_size)),
        ("ATF_CLOCK", options.clock.clone()),
        ("ATF_RING", options.ring.map(|ring| ring.to_string())),
        ("ATF_STACK", number(options.stack.map(u64::from))),
        ("ATF_PRE_ROLL", options.pre_roll.clone()),
        ("ATF_POST_ROLL", options.post_roll.clone()),
        ("ATF_KEEP", number(options.keep.map(u64::from))),
        ("ATF_TRIGGER_AFTER", options.trigger_after.clone()),
        (
            "ATF_TRIGGER_DEPTH",
            number(options.trigger_depth.map(u64::from)),
        ),
        ("ATF_OVERFLOW", options.overflow.clone()),
        ("ATF_RING_MEMORY", options.ring_memory.clone()),
        ("ATF_DETAILS", options.details.clone()),
        ("ATF_FLIGHT", options.flight.clone()),
        ("ATF_SEGMENT", options.segment.clone()),
        ("ATF_TRIGGER_SIGNAL", options.trigger_signal.clone()),
    ];
    record::run(&Settings {
        out: &options.out,
        variables,
        debug_dirs: &options.debug_dir,
        library: options.library.as_deref(),
        program: &options.program,
    })
}

impl Options {
    /// Rejects meaningless combinations of options.
    fn check(&self) -> Result<(), Failure> {
        let details = self.details.as_deref();
        let is_windowed = details == Some("trigger");
        let refused = |message: String| Err(Failure::Usage(message));
        if is_windowed && self.flight.is_some() {
            return refused("--details trigger: with --flight, use all or off".to_owned());
        }
        let of_windows = [
            ("--pre-roll", self.pre_roll.is_some()),
            ("--post-roll", self.post_roll.is_some()),
            ("--trigger-signal", self.trigger_signal.is_some()),
            ("--trigger-after", self.trigger_after.is_some()),
            ("--trigger-function", !self.trigger_function.is_empty()),
            ("--trigger-depth", self.trigger_depth.is_some()),
        ];
        let of_rings = [
            ("--overflow", self.overflow.is_some()),
            ("--ring-memory", self.ring_memory.is_some()),
        ];
        let drops_details = self.overflow.as_deref() == Some("drop-detail");
        let of_details = [
            ("--overflow drop-detail", drops_details),
            ("--stack", self.stack.is_some()),
            ("--detail-function", !self.detail_function.is_empty()),
        ];
        let first = |options: &[(&'static str, bool)]| {
            let set = options.iter().find(|(_, is_set)| *is_set);
            set.map(|(option, _)| *option)
        };
        let has_windows = is_windowed || self.flight.is_some();
        let has_rings = has_windows || self.ring.is_some() || self.segment.is_some();
        if let Some(option) = first(&of_rings).filter(|_| !has_rings) {
            return refused(format!(
                "{option} needs --ring, --flight, --segment or --details trigger"
            ));
        }
        if let Some(option) = first(&of_windows).filter(|_| !has_windows) {
            return refused(format!("{option} needs --details trigger or --flight"));
        }
        if let Some(option) = first(&of_details).filter(|_| matches!(details, None | Some("off"))) {
            return refused(format!("{option} needs --details all or trigger"));
        }
        Ok(())
    }
}
