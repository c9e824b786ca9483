//! CSV: one row per call, in the order in which the calls of each thread ended. Notes on missing
//! events follow in separate rows. The format follows RFC 4180, except that lines end with a line
//! feed.

use std::borrow::Cow;
use std::io::{self, Write};

use atf::spans::SpanEnd;

use crate::process::name_of;
use crate::{End, ProcessInfo, Sink, Start, Thread, ThreadEnd, TraceInfo};

/// A sink that writes one row per call, and one row without a call for each note on missing events.
#[derive(Debug)]
pub(crate) struct Csv<W> {
    out: W,
    formulas: Formulas,
    pid: u32,
    thread: u32,
}

impl<W: Write> Csv<W> {
    pub(crate) fn new(out: W, formulas: Formulas) -> Self {
        Self {
            out,
            formulas,
            pid: 0,
            thread: 0,
        }
    }

    fn notes(&mut self, thread: &str, notes: &[String]) -> io::Result<()> {
        let formulas = self.formulas;
        let mut notes = notes.iter().map(|note| formulas.text(note));
        notes.try_for_each(|note| writeln!(self.out, "{},{thread},,,,,,,,,{note}", self.pid))
    }
}

/// How to write text that a spreadsheet would run as a formula.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Formulas {
    /// Unchanged, for programs.
    #[default]
    Keep,
    /// With a `'` before it, so that a spreadsheet shows it as text.
    Escape,
}

impl Formulas {
    /// Returns a cell with this text, in quotes if necessary. A number needs neither quotes nor `'`.
    #[must_use]
    pub fn text(self, text: &str) -> Cow<'_, str> {
        let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
        let text = match self {
            Self::Escape if is_formula => format!("'{text}").into(),
            Self::Escape | Self::Keep => Cow::Borrowed(text),
        };
        if text.contains([',', '"', '\n', '\r']) || text.trim() != text {
            format!("\"{}\"", text.replace('"', "\"\"")).into()
        } else {
            text
        }
    }
}

impl<'a, W: Write> Sink<'a> for Csv<W> {
    fn start(&mut self, _: &TraceInfo) -> io::Result<()> {
        let columns = "process,thread,function_id,function,start_ns,duration_ns,self_ns,depth,end";
        writeln!(self.out, "{columns},at_least_ns,note")
    }

    fn process(&mut self, process: &ProcessInfo) -> io::Result<()> {
        self.pid = process.pid;
        Ok(())
    }

    fn thread(&mut self, thread: &Thread) -> io::Result<()> {
        self.thread = thread.id;
        Ok(())
    }

    fn call_start(&mut self, _: &Start<'a>) -> io::Result<()> {
        Ok(())
    }

    fn call_end(&mut self, call: &End<'a>) -> io::Result<()> {
        let end = match call.end {
            SpanEnd::Return => "return",
            SpanEnd::Exception => "exception",
            SpanEnd::NotReturned => "not_returned",
            SpanEnd::Open => "open",
            SpanEnd::GivenUp => "given_up",
            SpanEnd::Interrupted => "interrupted",
            _ => "unknown",
        };
        let id = call.function.id;
        let name = name_of(&call.function);
        let (pid, thread, name) = (self.pid, self.thread, self.formulas.text(&name));
        write!(
            self.out,
            "{pid},{thread},{id:#018x},{name},{},",
            call.start_ns
        )?;
        let ns = call.end_ns.saturating_sub(call.start_ns);
        if call.is_known() {
            write!(self.out, "{ns}")?;
        }
        write!(self.out, ",{},{},{end},", call.self_ns, call.depth)?;
        if call.is_minimum {
            write!(self.out, "{ns}")?;
        }
        writeln!(self.out, ",")
    }

    fn thread_end(&mut self, end: &ThreadEnd<'_>) -> io::Result<()> {
        self.notes(&self.thread.to_string(), end.notes)
    }

    fn process_end(&mut self, notes: &[String]) -> io::Result<()> {
        self.notes("", notes)
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::Formulas;

    #[test]
    fn text_is_quoted_where_it_must_be_and_escaped_on_request() {
        for (text, raw, escaped) in [
            ("plain", "plain", "plain"),
            ("operator,(int)", "\"operator,(int)\"", "\"operator,(int)\""),
            (
                "operator\"\"_s",
                "\"operator\"\"\"\"_s\"",
                "\"operator\"\"\"\"_s\"",
            ),
            (" a", "\" a\"", "\" a\""),
            ("a\nb", "\"a\nb\"", "\"a\nb\""),
            ("=1+1", "=1+1", "'=1+1"),
            ("+A1", "+A1", "'+A1"),
            ("-[Row init]", "-[Row init]", "'-[Row init]"),
            ("@SUM(1,2)", "\"@SUM(1,2)\"", "\"'@SUM(1,2)\""),
            ("\t=1", "\"\t=1\"", "'\t=1"),
            ("a=1", "a=1", "a=1"),
            ("", "", ""),
        ] {
            assert_eq!(Formulas::Keep.text(text), raw);
            assert_eq!(Formulas::Escape.text(text), escaped);
        }
    }
}
