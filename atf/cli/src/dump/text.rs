//! Writes a line of text per event, with its details below.

use std::fmt;
use std::io::Write;

use atf::detail::FunctionPayload;
use atf::spans::{Depth, Paired, SpanEnd};
use atf::symbols::Function;
use atf::{DetailEventType, Wire};

use super::calls::Line;
use super::detail::Detail;
use super::lines::Lines;
use super::names::Names;
use super::trace::ThreadName;
use super::{Row, Sink};
use crate::output::Failure;
use crate::text::{Printable, Since, Span, letters, on_line, or_dash};

/// How many bytes to show of a payload without known fields.
const OPAQUE: usize = 64;
/// The depth beyond which calls are not indented further.
const DEEPEST: u32 = 60;

/// A sink that writes events as text.
pub(crate) struct Text<W: Write> {
    out: Lines<W>,
    origin_ns: Option<u64>,
}

impl<W: Write> Text<W> {
    pub(crate) fn new(out: W) -> Self {
        Self {
            out: Lines::new(out),
            origin_ns: None,
        }
    }

    fn time(&self, time_ns: u64) -> String {
        let origin_ns = self.origin_ns;
        Since { time_ns, origin_ns }.to_string()
    }

    fn details(&mut self, detail: &Detail<'_>) -> Result<(), Failure> {
        let header = &detail.event.header;
        write!(self.out, "    detail {}: ", detail.event.seq)?;
        match header.event_type.name() {
            Some(name) => write!(self.out, "{name}")?,
            None => write!(self.out, "type {}", header.event_type.0)?,
        }
        if header.flags != 0 {
            write!(self.out, ", flags {:#x}", header.flags)?;
        }
        writeln!(self.out, ", index_seq {}", header.index_seq)?;
        match detail.function()? {
            Some(payload) => self.function(&detail.register_names(), &payload),
            None => match detail.fields()? {
                Some(fields) => Ok(writeln!(self.out, "    {fields}")?),
                None => self.opaque(detail),
            },
        }
    }

    fn function(&mut self, names: &[&str], payload: &FunctionPayload) -> Result<(), Failure> {
        let others = [payload.lr, payload.fp, payload.sp];
        let registers: Vec<_> = payload.x_regs.into_iter().chain(others).collect();
        for (names, registers) in names.chunks(4).zip(registers.chunks(4)) {
            write!(self.out, "   ")?;
            for (name, register) in names.iter().zip(registers) {
                write!(self.out, " {name} {register:#018x}")?;
            }
            writeln!(self.out)?;
        }
        self.hexdump(payload.sp, &payload.stack)
    }

    fn opaque(&mut self, detail: &Detail<'_>) -> Result<(), Failure> {
        let size = detail.event.payload_size();
        let head = detail.head(OPAQUE)?;
        self.hexdump(0, &head)?;
        let more = size.saturating_sub(head.len() as u64);
        if more > 0 {
            writeln!(self.out, "    … {more} more bytes")?;
        }
        Ok(())
    }

    /// Writes a call without inner calls, or a return without a call.
    fn span(
        &mut self,
        thread: ThreadName,
        paired: &Paired,
        function: Function<'_>,
    ) -> Result<(), Failure> {
        let (time_ns, seq, duration_ns) = match paired {
            Paired::Span(span) => (span.start_ns, span.start_seq, span.duration_ns()),
            Paired::Unmatched(end) => (end.timestamp_ns, end.seq, None),
        };
        let (indent, how) = match paired {
            Paired::Span(span) => (indent(span.depth), how(span.end)),
            Paired::Unmatched(_) => (0, "  (a return without a call)"),
        };
        let (since, duration) = (self.time(time_ns), or_dash(duration_ns.map(Span)));
        write!(self.out, "{since} {duration:>13} {thread:>4} {seq:>8}  ")?;
        writeln!(self.out, "{:indent$}{}{how}", "", Shown(function))?;
        Ok(())
    }

    /// Writes sixteen bytes per line, each preceded by the address of its first byte.
    fn hexdump(&mut self, address: u64, bytes: &[u8]) -> Result<(), Failure> {
        for (line, chunk) in bytes.chunks(16).enumerate() {
            let place = address.wrapping_add((line * 16) as u64);
            write!(self.out, "    {place:#018x} ")?;
            for byte in chunk {
                write!(self.out, " {byte:02x}")?;
            }
            let (missing, letters) = (3 * (16 - chunk.len()), letters(chunk));
            writeln!(self.out, "{:missing$}  |{letters}|", "")?;
        }
        Ok(())
    }
}

/// A function, displayed as its name. A function without a name is shown as its module's file name
/// and its number in the module or, without a module, as its id.
pub(crate) struct Shown<'a>(pub(crate) Function<'a>);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let function = self.0;
        match (function.name, function.module) {
            (None, None) => write!(f, "{:#018x}", function.id),
            (Some(name), _) => f.write_str(&on_line(name)),
            (None, Some(_)) => write!(f, "{}", Printable(&function.to_string())),
        }
    }
}

/// Returns the width of a call's indent.
fn indent(depth: Depth) -> usize {
    2 * depth.get().saturating_sub(1).min(DEEPEST) as usize
}

/// Returns a remark on how a call ended, unless it returned.
const fn how(end: SpanEnd) -> &'static str {
    match end {
        SpanEnd::Return => "",
        SpanEnd::Exception => "  (by an exception)",
        SpanEnd::NotReturned => "  (never returned: an outer call ended)",
        SpanEnd::Open => "  (open at the end)",
        SpanEnd::Interrupted => "  (interrupted: the events that follow are missing)",
        _ => "  (given up: too many open calls)",
    }
}

impl<W: Write> Sink for Text<W> {
    fn start(&mut self, origin_ns: Option<u64>) -> Result<(), Failure> {
        self.origin_ns = origin_ns;
        Ok(())
    }

    #[inline(always)]
    fn event(&mut self, row: &Row<'_>) -> Result<(), Failure> {
        let (event, out) = (&row.event, &mut self.out);
        let mut line = out.line()?;
        if row.is_zero {
            line.text("           -");
        } else {
            line.since(event.timestamp_ns, self.origin_ns);
        }
        line.text(" ");
        match row.thread.process {
            None => line.decimal::<4>(row.thread.id.into()),
            Some(_) => {
                line.end();
                write!(out, "{:>4}", row.thread)?;
                line = out.line()?;
            }
        }
        line.text(" ");
        line.decimal::<8>(row.seq);
        line.text(" ");
        match event.event_kind.name() {
            Some(name) => line.padded::<9>(name),
            None => line.padded::<9>(&format!("kind {}", u32::from(event.event_kind))),
        }
        match event.call_depth {
            Some(depth) => {
                line.text(" ");
                line.decimal::<3>(depth.into());
            }
            None => line.text("   -"),
        }
        line.text("  ");
        line.end();
        row.function
            .write(out, |function| Shown(function).to_string())?;
        let mut line = out.line()?;
        if let Some(detail_seq) = event.detail_seq {
            line.text("  detail ");
            line.decimal::<1>(detail_seq);
        }
        line.text("\n");
        line.end();
        match row.detail {
            Some(detail) => self.details(detail),
            None => Ok(()),
        }
    }

    fn detail(
        &mut self,
        _wire: Wire,
        detail: &Detail<'_>,
        names: &Names<'_>,
    ) -> Result<(), Failure> {
        let header = &detail.event.header;
        let (thread, seq) = (header.thread_id, header.index_seq);
        let since = self.time(header.timestamp);
        let kind = match header.event_type {
            DetailEventType::FUNCTION_CALL => "call",
            DetailEventType::FUNCTION_RETURN => "return",
            _ => "-",
        };
        write!(self.out, "{since} {thread:>4} {seq:>8} {kind:9}   -  ")?;
        match detail.function()? {
            Some(payload) => {
                let function = names.get((0, payload.function_id));
                writeln!(self.out, "{}", Shown(function))?;
            }
            None => writeln!(self.out, "-")?,
        }
        self.details(detail)
    }

    fn call(
        &mut self,
        thread: ThreadName,
        line: &Line,
        function: Function<'_>,
    ) -> Result<(), Failure> {
        let (time_ns, seq, duration_ns, depth) = match line {
            Line::Whole(paired) => return self.span(thread, paired, function),
            Line::Begin(call) => (Some(call.start_ns), Some(call.start_seq), None, call.depth),
            Line::End(span) => (span.end_ns, span.end_seq, span.duration_ns(), span.depth),
        };
        let since = or_dash(time_ns.map(|time_ns| self.time(time_ns)));
        let (duration, seq) = (or_dash(duration_ns.map(Span)), or_dash(seq));
        let (indent, function) = (indent(depth), Shown(function));
        write!(
            self.out,
            "{since:>12} {duration:>13} {thread:>4} {seq:>8}  {:indent$}",
            ""
        )?;
        match line {
            Line::End(span) => writeln!(self.out, "}} {function}{}", how(span.end))?,
            _ => writeln!(self.out, "{function} {{")?,
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Failure> {
        self.out.flush()?;
        Ok(())
    }
}
