//! Standard output, and how a subcommand ends.

use std::fmt;
use std::io::{self, BufWriter, StdoutLock, Write};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};

use crate::text::Printable;

/// What a subcommand ran into.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Standard output failed. A reader that has seen enough, as in `| head`, is no error.
    Output(io::Error),
    /// The command line asks for something that is not there or does not fit.
    Usage(String),
    /// The command line must name one of these.
    Choice(String, Vec<String>),
    /// A path could not be read.
    Input(atf::Error),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Output(error) => write!(f, "standard output: {error}"),
            Self::Usage(message) | Self::Choice(message, _) => f.write_str(message),
            Self::Input(error) => error.fmt(f),
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

/// How a subcommand ended.
pub(crate) type Outcome = Result<State, Failure>;

/// What a subcommand found, as the exit status tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// All is well: exit status 0.
    Fine,
    /// Something in the input is damaged or unreadable: exit status 1.
    Damaged,
}

impl State {
    /// Damaged where anything is.
    pub(crate) fn of(is_damaged: bool) -> Self {
        match is_damaged {
            true => Self::Damaged,
            false => Self::Fine,
        }
    }
}

/// Writes a message to stderr. Nothing can be done where that is gone too.
pub(crate) fn complain(message: impl fmt::Display) {
    let _ = writeln!(io::stderr(), "atf: {}", Printable(message));
}

/// Writes what there is to choose from, below a message.
pub(crate) fn offer(names: &[String]) {
    for name in names {
        let _ = writeln!(io::stderr(), "  {}", Printable(name));
    }
}

/// Buffered standard output.
pub(crate) type Out = BufWriter<StdoutLock<'static>>;

/// Standard output, buffered.
pub(crate) fn stdout() -> Out {
    BufWriter::with_capacity(64 << 10, io::stdout().lock())
}

/// The colours of text: those of a terminal, or none.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Colours {
    /// Names and headings.
    pub(crate) strong: Style,
    /// What is there for reference.
    pub(crate) dim: Style,
    /// What is well.
    pub(crate) good: Style,
    /// What deserves a look.
    pub(crate) odd: Style,
    /// What is wrong.
    pub(crate) bad: Style,
}

impl Colours {
    /// Those that standard output shows: none where it is no terminal, or `NO_COLOR` is set.
    pub(crate) fn of_stdout() -> Self {
        match AutoStream::choice(&io::stdout()) {
            ColorChoice::Always | ColorChoice::AlwaysAnsi => Self::terminal(),
            ColorChoice::Auto | ColorChoice::Never => Self::none(),
        }
    }

    const fn none() -> Self {
        let plain = Style::new();
        Self {
            strong: plain,
            dim: plain,
            good: plain,
            odd: plain,
            bad: plain,
        }
    }

    fn terminal() -> Self {
        let colour = |colour: AnsiColor| Style::new().fg_color(Some(colour.into()));
        Self {
            strong: Style::new().bold(),
            dim: Style::new().dimmed(),
            good: colour(AnsiColor::Green),
            odd: colour(AnsiColor::Yellow),
            bad: colour(AnsiColor::Red).bold(),
        }
    }
}
