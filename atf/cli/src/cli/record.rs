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
    /// Record only functions of modules whose path or file name matches; with `!`, none of these. Of
    /// several patterns, the last match decides
    #[arg(long, value_name = "GLOB", value_parser = Filter::escape)]
    module: Vec<String>,
    /// Record only functions whose name matches, and functions without a name; patterns as with
    /// --module
    #[arg(long, value_name = "GLOB", value_parser = Filter::escape)]
    function: Vec<String>,
    /// Leave out functions whose code has fewer bytes than this
    #[arg(long, value_name = "BYTES")]
    min_size: Option<u64>,
    /// The clock; tsc, the processor's time-stamp counter, takes less time to read
    #[arg(long, value_name = "CLOCK", value_parser = ["system", "tsc"])]
    clock: Option<String>,
    /// Record through a ring of this many events for each thread
    #[arg(long, value_name = "EVENTS", value_parser = clap::value_parser!(u32).range(1..=1 << 25))]
    ring: Option<u32>,
    /// What a thread with a full ring does: wait, or drop its events
    #[arg(long, value_name = "HOW", value_parser = ["block", "drop", "drop-detail"])]
    overflow: Option<String>,
    /// How much memory all rings may take together, as in 64M [default: 2G]
    #[arg(long, value_name = "BYTES", value_parser = values::size)]
    ring_memory: Option<String>,
    /// When to record registers and stack
    #[arg(long, value_name = "WHEN", value_parser = ["off", "all", "trigger"])]
    details: Option<String>,
    /// How many bytes of the stack a detail contains [default: 128]
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(..=256))]
    stack: Option<u32>,
    /// Record details only of these functions; patterns as with --function
    #[arg(long, value_name = "GLOB", value_parser = Filter::escape)]
    detail_function: Vec<String>,
    /// Keep only the last seconds (10, 0.5, 500ms), or bytes per thread (64M), and write them at a
    /// trigger, a crash, or the end
    #[arg(long, value_name = "SECONDS|BYTES", value_parser = values::flight)]
    flight: Option<String>,
    /// Milliseconds before a trigger (250, 0.5, 2s) to keep [default: 0]
    #[arg(long, value_name = "MS", conflicts_with = "flight", value_parser = values::milliseconds)]
    pre_roll: Option<String>,
    /// Milliseconds after a trigger to keep [default: 0]
    #[arg(long, value_name = "MS", value_parser = values::milliseconds)]
    post_roll: Option<String>,
    /// A signal that is a trigger: HUP, USR1, USR2, URG or WINCH
    #[arg(long, value_name = "SIGNAL", value_parser = values::signal)]
    trigger_signal: Option<String>,
    /// Fire a trigger this long after the program's first call
    #[arg(long, value_name = "MS", value_parser = values::milliseconds)]
    trigger_after: Option<String>,
    /// Calls of functions whose name matches are triggers
    #[arg(long, value_name = "GLOB", value_parser = Filter::escape)]
    trigger_function: Vec<String>,
    /// Only calls from this depth on are triggers
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    trigger_depth: Option<u32>,
    /// Start a new session when this one has this age (10, 500ms) or size (64M)
    #[arg(long, value_name = "SECONDS|BYTES", value_parser = values::segment)]
    segment: Option<String>,
    /// Keep only the last segments, and delete the others
    #[arg(long, requires = "segment", value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    keep: Option<u32>,
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
