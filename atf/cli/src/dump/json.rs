//! Writes JSON lines: one object per event.

use std::io::Write;

use atf::Wire;
use atf::detail::FunctionPayload;
use atf::spans::{Paired, SpanEnd};
use atf::symbols;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use super::calls::Line;
use super::detail::{Detail, PayloadHex};
use super::lines::Lines;
use super::names::Names;
use super::trace::ThreadName;
use super::{Row, Sink};
use crate::json::{self, Named, U64};
use crate::output::Failure;
use crate::text::{Hex, head, length_if_cut};

pub(crate) struct Json<W: Write> {
    out: Lines<W>,
}

#[derive(Serialize)]
struct SpanLine<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    process: Option<u32>,
    thread: u32,
    #[serde(flatten)]
    function: Named<'a>,
    start_seq: Option<U64>,
    start_ns: Option<U64>,
    end_seq: Option<U64>,
    end_ns: Option<U64>,
    duration_ns: Option<U64>,
    depth: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    depth_derived: Option<bool>,
    end: &'static str,
}

fn end(end: SpanEnd) -> &'static str {
    match end {
        SpanEnd::Return => "return",
        SpanEnd::Exception => "exception",
        SpanEnd::NotReturned => "not_returned",
        SpanEnd::Open => "open",
        SpanEnd::Interrupted => "interrupted",
        _ => "given_up",
    }
}

#[derive(Serialize)]
struct DetailObject<'a> {
    seq: U64,
    total_length: u32,
    event_type: u16,
    flags: u16,
    index_seq: U64,
    #[serde(skip_serializing_if = "Option::is_none")]
    thread_id: Option<u32>,
    timestamp: U64,
    #[serde(flatten)]
    payload: Contents<'a>,
}

/// A payload: registers and stack, fields, or bytes.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Contents<'a> {
    Function(Function),
    Fields(Box<RawValue>),
    #[serde(serialize_with = "displayed")]
    Payload(&'a PayloadHex<'a>),
}

#[derive(Serialize)]
struct Function {
    function_id: U64,
    x_regs: [U64; 8],
    lr: U64,
    fp: U64,
    sp: U64,
    stack_size: usize,
    stack: String,
}

fn displayed<S: Serializer>(hex: &PayloadHex<'_>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(hex)
}

impl From<FunctionPayload> for Function {
    fn from(payload: FunctionPayload) -> Self {
        Self {
            function_id: payload.function_id.into(),
            x_regs: payload.x_regs.map(U64),
            lr: payload.lr.into(),
            fp: payload.fp.into(),
            sp: payload.sp.into(),
            stack_size: payload.stack.len(),
            stack: Hex(&payload.stack).to_string(),
        }
    }
}

impl<'a> DetailObject<'a> {
    fn new(wire: Wire, detail: &Detail<'_>, hex: &'a PayloadHex<'a>) -> Result<Self, Failure> {
        let header = &detail.event.header;
        Ok(Self {
            seq: detail.event.seq.into(),
            total_length: header.total_length,
            event_type: header.event_type.0,
            flags: header.flags,
            index_seq: header.index_seq.into(),
            thread_id: wire.records_thread_id().then_some(header.thread_id),
            timestamp: header.timestamp.into(),
            payload: match detail.function()? {
                Some(payload) => Contents::Function(payload.into()),
                None => match detail.fields()? {
                    Some(fields) => Contents::Fields(RawValue::from_string(fields)?),
                    None => Contents::Payload(hex),
                },
            },
        })
    }
}

impl<W: Write> Json<W> {
    pub(crate) fn new(out: W) -> Self {
        let out = Lines::new(out);
        Self { out }
    }
}

/// Fails with the error that truncated a payload, if any.
fn failure_of(hex: &PayloadHex<'_>) -> Result<(), Failure> {
    hex.failure().map_or(Ok(()), |error| Err(error.into()))
}

/// Returns the JSON members for a function's name.
fn name_members(function: symbols::Function<'_>) -> String {
    let Some(name) = function.name else {
        return String::new();
    };
    let members = format!(",\"function\":{}", serde_json::Value::from(head(name)));
    match length_if_cut(name) {
        Some(length) => format!("{members},\"function_length\":{length}"),
        None => members,
    }
}

impl<W: Write> Sink for Json<W> {
    fn start(&mut self, _origin_ns: Option<u64>) -> Result<(), Failure> {
        Ok(())
    }

    #[inline(always)]
    fn event(&mut self, row: &Row<'_>) -> Result<(), Failure> {
        let (event, out) = (&row.event, &mut self.out);
        let mut line = out.line()?;
        line.text("{");
        if let Some(process) = row.thread.process {
            line.text("\"process\":");
            line.decimal::<1>(process.into());
            line.text(",");
        }
        line.text("\"thread\":");
        line.decimal::<1>(row.thread.id.into());
        line.text(",\"seq\":\"");
        line.decimal::<1>(row.seq);
        line.text("\",\"timestamp_ns\":\"");
        line.decimal::<1>(event.timestamp_ns);
        line.text("\",\"function_id\":\"");
        line.decimal::<1>(event.function_id);
        if event.wire().records_thread_id() {
            line.text("\",\"thread_id\":");
            line.decimal::<1>(event.thread_id.into());
            line.text(",\"event_kind\":");
        } else {
            line.text("\",\"event_kind\":");
        }
        line.decimal::<1>(u32::from(event.event_kind).into());
        if let Some(depth) = event.call_depth {
            line.text(",\"call_depth\":");
            line.decimal::<1>(depth.into());
        }
        match event.detail_seq {
            None => line.text(",\"detail_seq\":null"),
            Some(seq) => {
                line.text(",\"detail_seq\":\"");
                line.decimal::<1>(seq);
                line.text("\"");
            }
        }
        line.end();
        row.function.write(out, name_members)?;
        let Some(detail) = row.detail else {
            out.write_all(b"}\n")?;
            return Ok(());
        };
        out.write_all(b",\"detail\":")?;
        let hex = detail.hex();
        serde_json::to_writer(
            &mut *out,
            &DetailObject::new(row.event.wire(), detail, &hex)?,
        )?;
        out.write_all(b"}\n")?;
        failure_of(&hex)
    }

    fn detail(
        &mut self,
        wire: Wire,
        detail: &Detail<'_>,
        _names: &Names<'_>,
    ) -> Result<(), Failure> {
        let hex = detail.hex();
        json::line(&mut self.out, &DetailObject::new(wire, detail, &hex)?)?;
        failure_of(&hex)
    }

    fn call(
        &mut self,
        thread: ThreadName,
        line: &Line,
        function: symbols::Function<'_>,
    ) -> Result<(), Failure> {
        let Line::Whole(paired) = line else {
            let message = "--calls writes only text; --spans writes the same calls as JSON";
            return Err(Failure::Usage(message.to_owned()));
        };
        let ThreadName {
            process,
            id: thread,
        } = thread;
        let line = match paired {
            Paired::Span(span) => SpanLine {
                process,
                thread,
                function: function.into(),
                start_seq: Some(span.start_seq.into()),
                start_ns: Some(span.start_ns.into()),
                end_seq: span.end_seq.map(U64),
                end_ns: span.end_ns.map(U64),
                duration_ns: span.duration_ns().map(U64),
                depth: Some(span.depth.get()),
                depth_derived: Some(span.depth.is_derived()),
                end: end(span.end),
            },
            Paired::Unmatched(unmatched) => SpanLine {
                process,
                thread,
                function: function.into(),
                start_seq: None,
                start_ns: None,
                end_seq: Some(unmatched.seq.into()),
                end_ns: Some(unmatched.timestamp_ns.into()),
                duration_ns: None,
                depth: None,
                depth_derived: None,
                end: "unmatched",
            },
        };
        json::line(&mut self.out, &line)
    }

    fn flush(&mut self) -> Result<(), Failure> {
        self.out.flush()?;
        Ok(())
    }
}
