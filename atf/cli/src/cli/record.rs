//! `record`: runs a program and records its calls.

use std::ffi::OsString;
use std::path::PathBuf;

use atf_record::CounterClock;
use atf_record::settings::{ALL, CLOCK, Kind, Setting, SettingNames, Settings};
use atf_symbolize::Filter;
use clap::builder::PossibleValuesParser;
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Command, FromArgMatches};

use crate::output::Failure;
use crate::record;

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

/// The recorder's own settings, as options.
struct Recorder(Settings);

impl clap::Args for Recorder {
    fn augment_args(command: Command) -> Command {
        command.args(ALL.iter().map(|setting| argument(setting)))
    }

    fn augment_args_for_update(command: Command) -> Command {
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

pub(super) fn run(options: &Options) -> Result<u8, Failure> {
    let recorder = &options.recorder.0;
    if recorder.text(&CLOCK) == Some("tsc") && !CounterClock::is_available() {
        let why = "this processor has no counter that runs at a constant rate";
        return Err(Failure::Usage(format!("--clock tsc: {why}")));
    }
    record::run(&record::Settings {
        out: &options.out,
        recorder: recorder.clone(),
        debug_dirs: &options.debug_dir,
        library: options.library.as_deref(),
        program: &options.program,
    })
}
