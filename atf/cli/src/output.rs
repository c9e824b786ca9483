//! Standard output, standard error and the outcome of a subcommand.

use std::fmt;
use std::io::{self, BufWriter, StdoutLock, Write};
use std::path::Path;

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use atf::Error;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::text::{Printable, counted};

/// Why a subcommand failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Standard output failed. A closed pipe, as in `| head`, is not an error.
    Output(io::Error),
    /// The command line refers to something missing or invalid.
    Usage(String),
    /// The command line must select one of several choices.
    Choice(String, Vec<String>),
    /// A path could not be read.
    Input(Error),
    /// A thread or a file is so damaged that it could not be read. Unlike other failures, this one
    /// has the exit status of damage.
    Damaged(Error),
}

impl Failure {
    /// Creates a command-line failure that concerns a path.
    pub(crate) fn at(path: &Path, why: impl fmt::Display) -> Self {
        Self::Usage(format!("{}: {why}", path.display()))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Output(error) => write!(f, "standard output: {error}"),
            Self::Usage(message) | Self::Choice(message, _) => f.write_str(message),
            Self::Input(error) | Self::Damaged(error) => f.write_str(&error.text_with_rule()),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Self::Output(error.into())
    }
}

impl From<atf::Error> for Failure {
    fn from(error: atf::Error) -> Self {
        Self::Input(error)
    }
}

/// The outcome of a subcommand.
pub(crate) type Outcome = Result<State, Failure>;

/// Whether a subcommand found problems. This determines the exit status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// No problem: exit status 0.
    Fine,
    /// Something in the input is damaged or unreadable: exit status 1.
    Damaged,
}

impl State {
    /// Returns `Damaged` if `is_damaged`, otherwise `Fine`.
    pub(crate) fn damaged_if(is_damaged: bool) -> Self {
        if is_damaged {
            Self::Damaged
        } else {
            Self::Fine
        }
    }
}

/// Writes a message to stderr. Ignores errors of stderr itself.
pub(crate) fn complain(message: impl fmt::Display) {
    let _ = writeln!(io::stderr(), "atf: {}", Printable(message));
}

/// The maximum number of problems to list in text output.
const LISTED: usize = 20;

/// Lists the problems of a trace in text output.
pub(crate) fn write_problems(
    out: &mut impl Write,
    colours: Colours,
    problems: &[String],
) -> io::Result<()> {
    let Colours { bad, dim, .. } = colours;
    if !problems.is_empty() {
        let count = counted(problems.len() as u64, "problem");
        writeln!(out, "{bad}{count}{bad:#}: events may be missing or wrong")?;
    }
    for problem in problems.iter().take(LISTED) {
        writeln!(out, "  {}", Printable(problem))?;
    }
    match problems.len().saturating_sub(LISTED) {
        0 => Ok(()),
        more => writeln!(out, "{dim}  … {more} not shown; --json shows all{dim:#}"),
    }
}

/// Lists the available choices below a message.
pub(crate) fn offer(names: &[String]) {
    for name in names {
        let _ = writeln!(io::stderr(), "  {}", Printable(name));
    }
}

/// Buffered standard output.
pub(crate) type Out = BufWriter<StdoutLock<'static>>;

/// Returns buffered standard output.
pub(crate) fn stdout() -> Out {
    BufWriter::with_capacity(64 << 10, io::stdout().lock())
}

/// Returns a progress bar on standard error, which shows it only if it is a terminal.
pub(crate) fn progress_bar(total: Option<u64>, template: &str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template(template);
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// The colours of text; plain if stdout is not a terminal.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Colours {
    /// Names and headings.
    pub(crate) strong: Style,
    /// Secondary text.
    pub(crate) dim: Style,
    /// Good results.
    pub(crate) good: Style,
    /// Unusual values.
    pub(crate) odd: Style,
    /// Problems.
    pub(crate) bad: Style,
}

impl Colours {
    /// Returns the colours for standard output: none if it is not a terminal or `NO_COLOR` is set.
    pub(crate) fn of_stdout() -> Self {
        let colour = |colour: AnsiColor| Style::new().fg_color(Some(colour.into()));
        match AutoStream::choice(&io::stdout()) {
            ColorChoice::Always | ColorChoice::AlwaysAnsi => Self {
                strong: Style::new().bold(),
                dim: Style::new().dimmed(),
                good: colour(AnsiColor::Green),
                odd: colour(AnsiColor::Yellow),
                bad: colour(AnsiColor::Red).bold(),
            },
            ColorChoice::Auto | ColorChoice::Never => Self::default(),
        }
    }
}
