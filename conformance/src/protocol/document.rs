//! Interprets the exit code and output of an implementation under test.

use serde_json::Value;

use super::{exit, json};
use crate::results::{Failure, shortened};
use crate::{Verdict, verdict_in};

/// The number of bytes that an answer may have in addition to [`FACTOR`] times the size of the
/// expected document. This is enough for white space, extra keys and surplus events, but too little
/// to fill the kit's memory.
const MARGIN: u64 = 1 << 20;
const FACTOR: u64 = 8;

/// A reader's or validator's answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// A document with its verdict.
    Document(Verdict, Value),
    /// The implementation reported that it does not support the case.
    Unsupported,
}

/// An answer that does not follow the protocol, as a failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// The class of failure.
    pub class: Failure,
    /// The reason.
    pub message: String,
}

impl Broken {
    /// Creates a failure for output that is not a document.
    pub(crate) fn garbage(message: impl Into<String>) -> Self {
        Self {
            class: Failure::Garbage,
            message: message.into(),
        }
    }

    /// Creates a failure for an exit code that means a crash.
    pub(crate) fn crash(message: impl Into<String>) -> Self {
        Self {
            class: Failure::Crash,
            message: message.into(),
        }
    }
}

impl Answer {
    /// Returns the maximum size in bytes of an answer for which this document is expected. The size
    /// is a multiple of 1 MiB.
    #[must_use]
    pub fn limit(expected: &Value) -> u64 {
        let size = FACTOR * expected.to_string().len() as u64;
        size.next_multiple_of(1 << 20) + MARGIN
    }

    /// Interprets the output of a process that exited with this code.
    ///
    /// # Errors
    ///
    /// Returns [`Failure::Crash`] if the exit code is undefined, or if it means reject but there is
    /// no output, as is typical of uncaught exceptions. Returns [`Failure::Garbage`] if the output
    /// is not a document or its verdict contradicts the exit code.
    pub fn parse(code: i32, output: &[u8]) -> Result<Self, Broken> {
        let code = match u8::try_from(code) {
            Ok(exit::UNSUPPORTED) => return Ok(Self::Unsupported),
            Ok(code @ (exit::DONE | exit::REJECTED)) => code,
            _ => {
                let message = format!("exit code {code}, which the protocol does not define");
                return Err(Broken::crash(message));
            }
        };
        if code == exit::REJECTED && output.trim_ascii().is_empty() {
            return Err(Broken::crash("exit code 1 without a document"));
        }
        let (verdict, document) = parse(output)?;
        if (code == exit::REJECTED) != (verdict == Verdict::Reject) {
            let name = verdict.name();
            return Err(Broken::garbage(format!(
                "exit code {code} with the verdict {name}"
            )));
        }
        Ok(Self::Document(verdict, document))
    }
}

/// Parses a JSON object that contains a verdict.
fn parse(output: &[u8]) -> Result<(Verdict, Value), Broken> {
    if output.trim_ascii().is_empty() {
        return Err(Broken::garbage("nothing on standard output"));
    }
    let document = json::parse(output).map_err(|error| {
        let excerpt = excerpt(output, error.line(), error.column());
        let message = format!("standard output is not a JSON document: {error}: {excerpt}");
        Broken::garbage(message)
    })?;
    let Some(members) = document.as_object() else {
        let excerpt = excerpt(output, 1, 1);
        let message = format!("the document is not a JSON object: {excerpt}");
        return Err(Broken::garbage(message));
    };
    let Some(verdict) = verdict_in(&document) else {
        return Err(match members.get("verdict").and_then(Value::as_str) {
            Some(other) => Broken::garbage(format!("unknown verdict {:?}", shortened(other))),
            None => {
                let excerpt = excerpt(output, 1, 1);
                Broken::garbage(format!("the document has no verdict: {excerpt}"))
            }
        });
    };
    Ok((verdict, document))
}

/// The number of bytes of output to show in a message.
const EXCERPT: usize = 80;

/// Returns an excerpt of an output line around a column, with unprintable characters escaped. Lines
/// and columns start at 1, as in the JSON parser.
fn excerpt(output: &[u8], line: usize, column: usize) -> String {
    let line = output.split(|byte| *byte == b'\n').nth(line.max(1) - 1);
    let line = line.unwrap_or_default().trim_ascii_end();
    let from = column.saturating_sub(EXCERPT / 2).min(line.len());
    let to = line.len().min(from + EXCERPT);
    let text = String::from_utf8_lossy(line.get(from..to).unwrap_or_default());
    let before = if from > 0 { "…" } else { "" };
    let after = if to < line.len() { "…" } else { "" };
    format!("{before}{text:?}{after}")
}
