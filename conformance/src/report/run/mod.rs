//! The forms of a run's report, all from one model, [`Results`].

mod badge;
mod html;
mod json;
mod junit;
mod tally;
mod tap;
mod terminal;
mod verdict;
mod words;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use anstream::{AutoStream, StripStream};

use super::target::{Form, Target};
use crate::results::Results;

pub use tally::Tally;

/// Writes a run's report in one form. Text has colours, for `out` to keep or to drop.
///
/// # Errors
///
/// Where `out` fails.
pub fn write(results: &Results, form: Form, out: &mut dyn Write) -> io::Result<()> {
    match form {
        Form::Text => terminal::write(results, out),
        Form::Tap => tap::write(results, out),
        Form::Junit => junit::write(results, out),
        Form::Json => json::write(results, out),
        Form::Badge => badge::write(results, out),
        Form::Html => html::write(results, out),
    }
}

/// Writes all reports that were asked for, and text to standard output if nothing else goes there.
///
/// A report that cannot be written does not keep the others from being.
///
/// # Errors
///
/// Which file could not be written, and why: the first one. A reader of standard output that has
/// seen enough is none.
pub fn write_all(results: &Results, targets: &[Target]) -> io::Result<()> {
    let text = Target {
        form: Form::Text,
        file: None,
    };
    let is_silent = targets.iter().all(|target| target.file.is_some());
    let targets = targets.iter().chain(is_silent.then_some(&text));
    let mut failure = None;
    for target in targets {
        let written = match &target.file {
            Some(path) => to_file(results, target.form, path).map_err(|error| {
                let path = super::Printable(path.display());
                io::Error::new(error.kind(), format!("{path}: {error}"))
            }),
            None => to_stdout(results, target.form),
        };
        failure = failure.or(written.err());
    }
    failure.map_or(Ok(()), Err)
}

fn to_file(results: &Results, form: Form, path: &Path) -> io::Result<()> {
    let file = File::create(path)?;
    match form {
        Form::Text => finished(results, form, StripStream::new(file)),
        _ => finished(results, form, file),
    }
}

fn to_stdout(results: &Results, form: Form) -> io::Result<()> {
    let out = io::stdout().lock();
    let written = match form {
        Form::Text => finished(results, form, AutoStream::auto(out)),
        _ => finished(results, form, out),
    };
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

fn finished(results: &Results, form: Form, out: impl Write) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    write(results, form, &mut out)?;
    out.flush()
}
