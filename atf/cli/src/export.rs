//! Writes a trace in another tool's format, to standard output or to a file that appears once it is
//! complete.

use std::borrow::Cow;
use std::env;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use atf::session::{is_file_of, is_part_of_trace};
use atf::trace::Process;
use atf_analyze::Options;
use atf_export::{Error, Form, Summary, export};
use tempfile::NamedTempFile;

use crate::dump::Reported;
use crate::output::{Failure, State, complain, stdout};
use crate::recordings::or_newest;
use crate::report::Summed;
use crate::text::counted;
use crate::time::TimeRange;
use crate::trace::{
    Clock, ClockOption, ThreadOption, TimedProcess, check_threads, open_processes, other_names,
    report_outside, report_unnamed, report_unwritten, several, union,
};

/// The trace, and the options that select a part of it.
#[derive(Debug, clap::Args)]
pub(crate) struct Selection {
    /// A file, a thread's folder, a session, or the processes or segments of one run; with --clock
    /// media, also several sessions
    /// [default: the newest recording in or below the current folder]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    threads: ThreadOption,
    #[command(flatten)]
    range: TimeRange,
    #[command(flatten)]
    clock: ClockOption,
    /// Take function names from this manifest
    #[arg(long, value_name = "MANIFEST")]
    symbols: Option<PathBuf>,
}

impl Selection {
    pub(crate) fn paths(&self) -> Result<Cow<'_, [PathBuf]>, Failure> {
        or_newest(&self.paths)
    }

    /// Returns the paths that are read.
    pub(crate) fn inputs(&self, paths: &[PathBuf]) -> Vec<PathBuf> {
        paths.iter().chain(&self.symbols).cloned().collect()
    }
}

/// An open trace and the selected part of it.
pub(crate) struct Opened {
    processes: Vec<TimedProcess>,
    pub(crate) options: Options,
}

/// Writes a trace in a format to a temporary file.
pub(crate) fn to_temporary_file(
    form: Form,
    paths: &[PathBuf],
    selection: &Selection,
) -> Result<(File, State), Failure> {
    let at = |error: Error| {
        let error = match error {
            Error::Output(error) => Error::TemporaryFile {
                folder: env::temp_dir(),
                error,
            },
            error => error,
        };
        Failure::Usage(error.to_string())
    };
    let opened = Opened::new(paths, selection)?;
    let file = tempfile::tempfile().map_err(|error| at(error.into()))?;
    let out = BufWriter::with_capacity(BUFFER, &file);
    let summary = export(&opened.processes(), &opened.options, form, out).map_err(at)?;
    let state = opened.report(&summary, &mut Reported::default());
    Ok((file, state))
}

impl Opened {
    pub(crate) fn new(paths: &[PathBuf], selection: &Selection) -> Result<Self, Failure> {
        let names = other_names(selection.symbols.as_deref())?;
        let clock = selection.clock.clock;
        let processes = open_processes(paths, &names, clock)?;
        let found = processes.iter().map(|process| process.path().to_path_buf());
        let mut pairs = processes.iter().zip(processes.iter().skip(1));
        let is_one = pairs.all(|(one, next)| one.is_of_run_of(next));
        if clock == Clock::Trace && !is_one {
            return Err(several(paths, &found.collect::<Vec<_>>()));
        }
        check_threads(&processes, &selection.threads)?;
        report_unwritten(&processes);
        report_unnamed(&processes);
        let times = processes
            .iter()
            .filter_map(TimedProcess::times)
            .reduce(union);
        let (from_ns, to_ns) = selection.range.resolve(times)?;
        let threads = selection.threads.iter().copied().collect();
        let options = Options {
            threads,
            from_ns,
            to_ns,
            ..Options::default()
        };
        Ok(Self { processes, options })
    }

    pub(crate) fn processes(&self) -> Vec<Process> {
        self.processes.iter().map(Process::from).collect()
    }

    /// Reports what is missing or damaged.
    pub(crate) fn report(&self, summary: &Summary, reported: &mut Reported) -> State {
        for (process, totals) in self.processes.iter().zip(&summary.totals) {
            let sums = Summed {
                totals,
                origin_ns: process.origin_ns(),
                range_ns: process.range_ns(&self.options),
                unwritten: process.unwritten(),
                knows_losses: process.knows_losses(totals, self.options.threads.len()),
            };
            if sums.has_more_than_calls() {
                complain(format_args!("{}: {sums}", process.path().display()));
            }
        }
        let mut totals = summary.totals.iter();
        if totals.all(|totals| totals.events == 0 && totals.calls == 0) {
            report_outside(&self.processes, (self.options.from_ns, self.options.to_ns));
        }
        if summary.is_cut {
            complain(
                "some calls cannot be told apart: the trace has more stacks than the format allows",
            );
        }
        reported.report_all(summary.problems.iter().map(|problem| &problem.error));
        if summary.late_events > 0 {
            let events = counted(summary.late_events, "event");
            reported.report_text(format!(
                "{events} after {} ns, the latest time that an export can contain, are omitted",
                i64::MAX
            ));
        }
        if summary.foreign_details > 0 {
            let events = counted(summary.foreign_details, "event");
            reported.report_text(format!(
                "{events} with links to details of other events, which are not in the output"
            ));
        }
        match reported.state() {
            State::Fine => State::damaged_if(summary.is_cut),
            State::Damaged => State::Damaged,
        }
    }
}

/// Writes to standard output if the path is `-`, or to a file that is not one of the inputs. A new
/// file gets its final name only when it is complete, so a failed command leaves no file.
pub(crate) fn write_to<T>(
    path: &Path,
    inputs: &[PathBuf],
    write: impl FnOnce(&mut dyn Write) -> Result<T, Error>,
) -> Result<T, Failure> {
    if path.as_os_str() == "-" {
        return write(&mut stdout()).map_err(|error| match error {
            Error::Output(error) => Failure::Output(error),
            Error::Trace(error) => Failure::Input(error),
            other => Failure::Usage(other.to_string()),
        });
    }
    if is_part_of_trace(path) {
        let message = "the name of a trace's own file; choose another one";
        return Err(Failure::at(path, message));
    }
    let at = |error: Error| match error {
        Error::TemporaryFile { .. } => Failure::Usage(error.to_string()),
        error => Failure::at(path, error),
    };
    let io = |error: io::Error| at(error.into());
    if is_file_of(inputs, path).map_err(io)? {
        let message = "one of the files to read; choose another one";
        return Err(Failure::at(path, message));
    }
    // Never replace a device or a pipe with a file.
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        let file = File::create(path).map_err(io)?;
        return write(&mut BufWriter::with_capacity(BUFFER, file)).map_err(at);
    }
    let part = part_file(path).map_err(io)?;
    // A replaced file keeps its mode.
    if let Ok(replaced) = fs::metadata(path) {
        let set = part.as_file().set_permissions(replaced.permissions());
        set.map_err(io)?;
    }
    let mut out = BufWriter::with_capacity(BUFFER, part.as_file());
    let result = write(&mut out).map_err(at)?;
    out.flush().map_err(io)?;
    drop(out);
    part.persist(path).map_err(|error| io(error.error))?;
    Ok(result)
}

const BUFFER: usize = 256 << 10;

/// Creates a file next to the final one. The file is removed when the value is dropped.
fn part_file(path: &Path) -> io::Result<NamedTempFile> {
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
    let mut code = None;
    let create = |path: &Path| {
        let file = File::options().write(true).create_new(true).open(path);
        file.inspect_err(|error| code = error.raw_os_error())
    };
    let mut builder = tempfile::Builder::new();
    let part = builder.prefix(".atf-export-");
    let part = part.make_in(folder.unwrap_or(Path::new(".")), create);
    // An error from `tempfile` contains the temporary file's path, which is meaningless to users.
    part.map_err(|error| code.map_or(error, io::Error::from_raw_os_error))
}
