//! What a testee's exit code and output say.

use std::fmt::Display;

use serde_json::Value;

use super::exit;
use crate::Verdict;
use crate::results::Failure;

/// What an answer may have in bytes: this, and [`FACTOR`] times the expected document. So there is
/// room for white space, keys of its own and surplus events, and none to fill the kit's memory.
const MARGIN: u64 = 1 << 20;
const FACTOR: u64 = 8;

/// A reader's or validator's answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// Its document, with the verdict.
    Document(Verdict, Value),
    /// It does not support the case.
    Unsupported,
}

/// An answer that satisfies no expectation: how it fails, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// The class.
    pub class: Failure,
    /// In words.
    pub message: String,
}

impl Broken {
    /// Output that is no such document.
    fn garbage(message: impl Into<String>) -> Self {
        Self {
            class: Failure::Garbage,
            message: message.into(),
        }
    }

    /// The same, with what was printed in the end.
    fn printed(message: impl Display, text: &str) -> Self {
        Self::garbage(format!("{message}: {text}"))
    }
}

impl Answer {
    /// How many bytes an answer may have for which this document is expected, in whole MiB.
    #[must_use]
    pub fn limit(expected: &Value) -> u64 {
        let size = FACTOR * expected.to_string().len() as u64;
        size.next_multiple_of(1 << 20) + MARGIN
    }

    /// Of a process that ended by itself with this exit code.
    ///
    /// # Errors
    ///
    /// [`Failure::Crash`] for exit codes without a meaning, and for the one of a reject without
    /// any output: uncaught exceptions end so. [`Failure::Garbage`] for output that is no document,
    /// and for one whose verdict is not the exit code's.
    pub fn of(code: i32, output: &[u8]) -> Result<Self, Broken> {
        let code = match u8::try_from(code) {
            Ok(exit::UNSUPPORTED) => return Ok(Self::Unsupported),
            Ok(code @ (exit::DONE | exit::REJECTED)) => code,
            _ => {
                return Err(Broken {
                    class: Failure::Crash,
                    message: format!("exit code {code}, which has no meaning"),
                });
            }
        };
        if code == exit::REJECTED && output.trim_ascii().is_empty() {
            return Err(Broken {
                class: Failure::Crash,
                message: "exit code 1 without a document".to_owned(),
            });
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

/// One JSON object with a verdict.
fn parse(output: &[u8]) -> Result<(Verdict, Value), Broken> {
    if output.trim_ascii().is_empty() {
        return Err(Broken::garbage("nothing on standard output"));
    }
    let document: Value = serde_json::from_slice(output).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        let message = format!("standard output is no JSON document: {error}");
        Broken::printed(message, &excerpt(output, line, column))
    })?;
    let Some(members) = document.as_object() else {
        let message = "the document is no JSON object";
        return Err(Broken::printed(message, &excerpt(output, 1, 1)));
    };
    let verdict = match members.get("verdict").and_then(Value::as_str) {
        Some("accept") => Verdict::Accept,
        Some("recover") => Verdict::Recover,
        Some("reject") => Verdict::Reject,
        Some(other) => {
            return Err(Broken::garbage(format!("{other:?} is no verdict")));
        }
        None => {
            let message = "the document has no verdict";
            return Err(Broken::printed(message, &excerpt(output, 1, 1)));
        }
    };
    Ok((verdict, document))
}

/// Bytes of an output that a message shows.
const EXCERPT: usize = 80;

/// A line of an output, cut off around a column; both count from 1, as the JSON parser does. What
/// is not printable is escaped.
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
