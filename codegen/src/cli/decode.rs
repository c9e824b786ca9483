//! `decode`: decodes a file by interpreting the spec.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use atf_interpreter::{File, View, grammar_of};
use atf_spec::grammar::Grammar;
use atf_spec::layout::{Field, Layout, Scalar, Value, Wire};

use super::{Context, at, invalid};

/// Options of `decode`.
#[derive(clap::Args)]
#[command(
    after_help = "Example:\n  $ atf-codegen decode samples/sample-small/session_20260105_101500/pid_4242/thread_0/index.atf"
)]
pub(super) struct Options {
    /// An index file or a detail file
    file: PathBuf,
    /// Decode only a record of this name, and ignore the rest of the file
    #[arg(long, value_name = "RECORD", requires = "at")]
    record: Option<String>,
    /// The offset of the record
    #[arg(long, value_name = "N", requires = "record")]
    at: Option<u64>,
    /// The wire version of the record [default: the header's, or else the first]
    #[arg(long, value_name = "N", requires = "record")]
    wire: Option<Wire>,
}

pub(super) fn run(options: &Options, context: &Context<'_>) -> io::Result<ExitCode> {
    let layout = &context.layout;
    let bytes = std::fs::read(&options.file).map_err(|error| at(&options.file, error))?;
    let mut out = io::BufWriter::new(io::stdout().lock());
    let done = match (&options.record, options.at) {
        (Some(record), Some(at)) => one(&mut out, options, layout, &bytes, record, at),
        _ => whole(&mut out, &options.file, layout, &bytes),
    };
    match done.and_then(|code| out.flush().map(|()| code)) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
        done => done,
    }
}

/// Prints one record.
fn one(
    out: &mut impl io::Write,
    options: &Options,
    layout: &Layout,
    bytes: &[u8],
    name: &str,
    at: u64,
) -> io::Result<ExitCode> {
    let Some(record) = layout.record(name) else {
        let known: Vec<_> = layout.records.iter().map(|own| own.name.as_str()).collect();
        let why = format!("there is no record `{name}`, only {}", known.join(", "));
        return Err(invalid(why));
    };
    let stated = grammar_of(layout, bytes)
        .and_then(|grammar| Some(File::open(layout, grammar, bytes).ok()?.wire()));
    let wire = options.wire.or(stated).or(layout.wires.first().copied());
    let Some(fields) = wire.and_then(|wire| record.layout(wire)) else {
        let known: Vec<_> = layout.wires.iter().map(Wire::to_string).collect();
        let known = known.join(" and ");
        let why = format!("`{name}` has only the wire versions {known}");
        return Err(invalid(why));
    };
    let size = bytes.len() as u64;
    let end = at.checked_add(record.size.into());
    if end.is_none_or(|end| end > size) {
        let (file, needed) = (options.file.display(), record.size);
        let why = format!("{file}: `{name}` takes {needed} bytes, but the file ends at {size}");
        return Err(invalid(why));
    }
    let bytes = usize::try_from(at).ok().and_then(|at| bytes.get(at..));
    let view = View {
        layout: fields,
        bytes: bytes.unwrap_or_default(),
    };
    self::view(out, layout, name, at, &view)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints all records of a file, in order.
fn whole(
    out: &mut impl io::Write,
    path: &Path,
    layout: &Layout,
    bytes: &[u8],
) -> io::Result<ExitCode> {
    let path = path.display();
    let Some(grammar) = grammar_of(layout, bytes) else {
        let known: Vec<_> = layout.grammars.iter().map(|it| it.file.as_str()).collect();
        let known = known.join(" or ");
        let why = format!("{path}: byte 0: not the magic of {known}");
        return Err(invalid(why));
    };
    let file = match File::open(layout, grammar, bytes) {
        Ok(file) => file,
        Err(refusal) => {
            let header = record(grammar, "header");
            out.flush()?;
            eprintln!("{path}: {refusal}; a record of it: --record {header} --at 0");
            return Ok(ExitCode::FAILURE);
        }
    };
    let mut print = |role: &str, at: u64| {
        self::view(out, layout, record(grammar, role), at, &file.view(role, at))
    };
    print("header", 0)?;
    for at in file.events() {
        print("event", at)?;
        if file.call("has_function", &[at]) != 0 {
            print("payload", at.saturating_add(file.size("event")))?;
        }
    }
    let footer_at = file.value("footer_at");
    if footer_at < bytes.len() as u64 {
        print("footer", footer_at)?;
    }
    let end = file.value("end");
    let rest = (bytes.len() as u64).saturating_sub(end);
    if rest > 0 {
        writeln!(out, "{end:>10}  {rest} more bytes")?;
    }
    Ok(ExitCode::SUCCESS)
}

fn record<'a>(grammar: &'a Grammar, role: &str) -> &'a str {
    let mut records = grammar.records.iter();
    let role = records.find(|known| known.role == role);
    role.map_or("", |role| &role.record)
}

/// Prints a record: its offset and name, then a line for each field.
fn view(
    out: &mut impl io::Write,
    layout: &Layout,
    name: &str,
    at: u64,
    view: &View<'_>,
) -> io::Result<()> {
    writeln!(out, "{at:>10}  {name}")?;
    for field in &view.layout.fields {
        let offset = at.saturating_add(field.offset.into());
        let (ty, value) = (field.ty.to_string(), value(layout, view, field));
        writeln!(out, "{offset:>10}    {:<16} {ty:<7} {value}", field.name)?;
    }
    Ok(())
}

/// Returns a field's value with its meaning: the name of an enumeration's member, or "none".
fn value(layout: &Layout, view: &View<'_>, field: &Field) -> String {
    if field.ty.count.is_some() {
        let bytes = view.bytes.iter().skip(field.offset as usize);
        let bytes: Vec<u8> = bytes.take(field.ty.size() as usize).copied().collect();
        let text = std::str::from_utf8(&bytes).ok();
        let is_text = matches!(field.value, Some(Value::Text(_)))
            && bytes.iter().all(u8::is_ascii_graphic)
            && field.ty.scalar == Scalar::U8;
        return match text.filter(|_| is_text) {
            Some(text) => format!("\"{text}\""),
            None => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
        };
    }
    let number = view.number_of(field);
    if field.none == Some(number) {
        return format!("{number:#x} (none)");
    }
    let of = field.enumeration.as_deref();
    let members = of.and_then(|of| layout.enumeration(of));
    let names: Vec<&str> = members.map_or_else(Vec::new, |of| {
        let is_set = |value| {
            if of.flags {
                number & value != 0
            } else {
                number == value
            }
        };
        let members = of.members.iter().filter(|member| is_set(member.value));
        members.map(|member| member.name.as_str()).collect()
    });
    match names.as_slice() {
        [] => number.to_string(),
        names => format!("{number} ({})", names.join(", ")),
    }
}
