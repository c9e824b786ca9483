//! A starter reader and writer for the conformance kit. It needs only the standard library:
//!
//!     rustc --edition 2024 -O starter.rs
//!     atf-conformance run TESTEE.toml
//!
//! Keep the protocol code at the end. Replace `decode` and `Tracer` with your own reader and
//! writer; the examples here support only index files of wire version 1.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, Write};
use std::path::Path;
use std::{env, process};

const UNSUPPORTED: i32 = 77;

// ---- Your reader ----

/// A decoded index file, with fields named as in the protocol.
struct Index {
    header: Vec<(&'static str, String)>,
    events: Vec<Vec<(&'static str, String)>>,
    /// `None` if there is no verified footer.
    footer: Option<Vec<(&'static str, String)>>,
    trailing_bytes: usize,
}

/// Decodes an index file of wire version 1. Returns `None` if the file must be rejected.
fn decode(bytes: &[u8]) -> Option<Index> {
    let u32_at = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let u64_at = |at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
    if bytes.len() < 64 || !bytes.starts_with(b"ATI2\x01\x01") || u32_at(24)? != 32 {
        return None;
    }
    let start = usize::try_from(u64_at(32)?)
        .ok()
        .filter(|start| (64..=bytes.len()).contains(start))?;
    let header = vec![
        ("endian", number(bytes[4])),
        ("version", number(bytes[5])),
        ("arch", number(bytes[6])),
        ("os", number(bytes[7])),
        ("flags", number(u32_at(8)?)),
        ("thread_id", number(u32_at(12)?)),
        ("clock_type", number(bytes[16])),
        ("event_size", number(u32_at(24)?)),
        ("event_count", number(u32_at(28)?)),
        ("events_offset", text(u64_at(32)?)),
        ("footer_offset", text(u64_at(40)?)),
        ("time_start_ns", text(u64_at(48)?)),
        ("time_end_ns", text(u64_at(56)?)),
    ];
    let event = |at: usize| {
        let link = u32_at(at + 28)?;
        Some(vec![
            ("timestamp_ns", text(u64_at(at)?)),
            ("function_id", text(u64_at(at + 8)?)),
            ("thread_id", number(u32_at(at + 16)?)),
            ("event_kind", number(u32_at(at + 20)?)),
            ("call_depth", number(u32_at(at + 24)?)),
            (
                "detail_seq",
                if link == u32::MAX {
                    NULL.to_owned()
                } else {
                    text(link)
                },
            ),
        ])
    };
    // A footer's numbers must match its offset.
    let places = (start..bytes.len().saturating_sub(63)).step_by(32);
    let is_footer = |at: &usize| {
        let length = (at - start) as u64;
        let count = u64_at(at + 8).and_then(|count| count.checked_mul(32));
        bytes[*at..].starts_with(b"2ITA")
            && count == Some(length)
            && u64_at(at + 32) == Some(length)
    };
    let at = places.rev().find(is_footer);
    let stated = usize::try_from(u64_at(40)?).unwrap_or(usize::MAX);
    let stands_there = bytes
        .get(stated..)
        .is_some_and(|rest| rest.starts_with(b"2ITA"));
    if at.is_none() && stands_there {
        // This is a footer, but its numbers are wrong.
        return None;
    }
    if let Some(at) = at {
        let checksum = u32_at(at + 4)?;
        if checksum != 0 && checksum != crc32c(&bytes[start..at]) {
            return None;
        }
    }
    let end = at.unwrap_or(start + (bytes.len() - start) / 32 * 32);
    let footer = at.and_then(|at| {
        Some(vec![
            ("checksum", number(u32_at(at + 4)?)),
            ("event_count", text(u64_at(at + 8)?)),
            ("time_start_ns", text(u64_at(at + 16)?)),
            ("time_end_ns", text(u64_at(at + 24)?)),
            ("bytes_written", text(u64_at(at + 32)?)),
        ])
    });
    Some(Index {
        header,
        events: (start..end).step_by(32).filter_map(event).collect(),
        trailing_bytes: bytes.len() - end - if footer.is_some() { 64 } else { 0 },
        footer,
    })
}

fn crc32c(bytes: &[u8]) -> u32 {
    let step = |crc: u32| crc >> 1 ^ if crc & 1 == 1 { 0x82F6_3B78 } else { 0 };
    let byte = |crc: u32, byte: &u8| (0..8).fold(crc ^ u32::from(*byte), |crc, _| step(crc));
    !bytes.iter().fold(u32::MAX, byte)
}

// ---- Your writer ----

/// A writer for the index file of a thread, in wire version 1.
struct Tracer {
    file: BufWriter<File>,
    fields: [u32; 4],
    events: Vec<u8>,
    times: (u64, u64),
}

impl Tracer {
    fn open(out: &Path, values: &Values) -> io::Result<Self> {
        let fields = ["thread", "clock", "arch", "os"].map(|key| values.number(key) as u32);
        let folder = out.join(format!("thread_{}", fields[0]));
        fs::create_dir(&folder)?;
        let file = BufWriter::new(File::create(folder.join("index.atf"))?);
        let mut this = Self {
            file,
            fields,
            events: Vec::new(),
            times: (0, 0),
        };
        this.header(0, 64)?;
        Ok(this)
    }

    fn header(&mut self, count: u32, footer_offset: u64) -> io::Result<()> {
        let [thread, clock, arch, os] = self.fields;
        let times = if count == 0 { (0, 0) } else { self.times };
        self.file.write_all(b"ATI2\x01\x01")?;
        self.file.write_all(&[arch as u8, os as u8])?;
        for field in [0, thread, clock, 0, 32, count] {
            self.file.write_all(&field.to_le_bytes())?;
        }
        for field in [64, footer_offset, times.0, times.1] {
            self.file.write_all(&field.to_le_bytes())?;
        }
        Ok(())
    }

    fn index(&mut self, values: &Values) -> io::Result<()> {
        let time = values.number("ts");
        self.times = (
            if self.events.is_empty() {
                time
            } else {
                self.times.0
            },
            time,
        );
        let mut event = [time, values.number("fn")].map(u64::to_le_bytes).concat();
        let rest = [
            self.fields[0],
            values.number("kind") as u32,
            values.number("depth") as u32,
            u32::MAX,
        ];
        event.extend(rest.map(u32::to_le_bytes).concat());
        self.events.extend(&event);
        self.file.write_all(&event)
    }

    /// Writes the footer first and the header last, so that readers find the footer even after a
    /// crash between the two.
    fn finalize(&mut self) -> io::Result<()> {
        let size = self.events.len() as u64;
        self.file.write_all(b"2ITA")?;
        self.file.write_all(&crc32c(&self.events).to_le_bytes())?;
        for field in [size / 32, self.times.0, self.times.1, size, 0, 0, 0] {
            self.file.write_all(&field.to_le_bytes())?;
        }
        self.file.flush()?;
        self.file.rewind()?;
        self.header((size / 32) as u32, 64 + size)?;
        self.file.flush()
    }
}

// ---- The protocol ----

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments[..] {
        ["read", path] => read(Path::new(path)),
        ["write", script, out] => write(Path::new(script), Path::new(out)),
        ["serve", role @ ("read" | "write")] => serve(role),
        _ => Err(io::Error::other(
            "usage: starter read PATH | write SCRIPT OUT | serve ROLE",
        )),
    };
    process::exit(done.unwrap_or_else(|error| {
        eprintln!("starter: {error}");
        3
    }));
}

/// Answers one request per line until the end of input: a path, or a script and a folder. An answer
/// is a document or, without one, an exit code.
fn serve(role: &str) -> io::Result<i32> {
    for line in io::stdin().lines() {
        match (role, &strings(&line?)[..]) {
            ("read", [path]) => {
                if read(Path::new(path))? == UNSUPPORTED {
                    println!("{UNSUPPORTED}");
                }
            }
            ("write", [script, out]) => println!("{}", write(Path::new(script), Path::new(out))?),
            _ => return Err(io::Error::other("a request has too few or too many paths")),
        }
    }
    Ok(0)
}

/// Returns the JSON strings in a line. The kit escapes only control characters, quotation marks
/// and backslashes.
fn strings(line: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut is_inside = false;
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        if letter == '"' {
            is_inside = !is_inside;
            if is_inside {
                found.push(String::new());
            }
            continue;
        }
        let letter = match (letter, is_inside) {
            (_, false) => continue,
            ('\\', true) => match letters.next().unwrap_or_default() {
                'b' => '\x08',
                'f' => '\x0c',
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                'u' => {
                    let code: String = letters.by_ref().take(4).collect();
                    u8::from_str_radix(&code, 16).map_or('?', char::from)
                }
                other => other,
            },
            (letter, true) => letter,
        };
        found.last_mut().expect("a string").push(letter);
    }
    found
}

/// Prints the document of a file and returns the exit code, which is 1 if the file is rejected.
fn read(path: &Path) -> io::Result<i32> {
    if path.is_dir() {
        return Ok(UNSUPPORTED);
    }
    let Some(index) = decode(&fs::read(path)?) else {
        println!(
            "{}",
            object(&[("kind", text("index")), ("verdict", text("reject"))])
        );
        return Ok(1);
    };
    let checksum = match &index.footer {
        None => "not_checked",
        Some(footer) if footer[0].1 == "0" => "absent",
        Some(_) => "good",
    };
    let derived = [
        ("event_count", text(index.events.len())),
        (
            "count_source",
            text(if index.footer.is_some() {
                "footer"
            } else {
                "file_size"
            }),
        ),
        ("checksum", text(checksum)),
        ("trailing_bytes", text(index.trailing_bytes)),
    ];
    let events: Vec<_> = index.events.iter().map(|event| object(event)).collect();
    let verdict = if index.footer.is_some() {
        "accept"
    } else {
        "recover"
    };
    let document = [
        ("kind", text("index")),
        ("verdict", text(verdict)),
        ("header", object(&index.header)),
        ("events", format!("[{}]", events.join(","))),
        (
            "footer",
            index.footer.as_deref().map_or(NULL.to_owned(), object),
        ),
        ("derived", object(&derived)),
    ];
    println!("{}", object(&document));
    Ok(0)
}

/// Executes a script, line by line.
fn write(script: &Path, out: &Path) -> io::Result<i32> {
    let mut threads: BTreeMap<u64, Tracer> = BTreeMap::new();
    for line in fs::read_to_string(script)?.lines() {
        let mut words = line.split(' ');
        let name = words.next().unwrap_or_default();
        if name.is_empty() || name.starts_with('#') {
            continue;
        }
        let values = Values(words.filter_map(|word| word.split_once('=')).collect());
        let id = values.number("thread");
        match (name, threads.get_mut(&id)) {
            ("open", _) => drop(threads.insert(id, Tracer::open(out, &values)?)),
            ("index", Some(thread)) if values.0["detail"] == "-" => thread.index(&values)?,
            ("finalize", Some(thread)) => {
                thread.finalize()?;
                threads.remove(&id);
            }
            // Flush open threads, but do not finalize them.
            ("abort", _) => {
                for thread in threads.values_mut() {
                    thread.file.flush()?;
                }
            }
            _ => return Ok(UNSUPPORTED),
        }
    }
    Ok(0)
}

/// An operation's values, by key.
struct Values<'a>(BTreeMap<&'a str, &'a str>);

impl Values<'_> {
    /// Returns a number, or 0 if the value is missing, as in `abort`.
    fn number(&self, key: &str) -> u64 {
        self.0
            .get(key)
            .and_then(|text| text.parse().ok())
            .unwrap_or(0)
    }
}

const NULL: &str = "null";

/// Formats a field of at most 32 bits.
fn number(value: impl Into<u64>) -> String {
    value.into().to_string()
}

/// Formats a 64-bit field, a link or a word. None of these need escapes in JSON.
fn text(value: impl Display) -> String {
    format!("\"{value}\"")
}

fn object(members: &[(&str, String)]) -> String {
    let members: Vec<_> = members
        .iter()
        .map(|(key, value)| format!("\"{key}\":{value}"))
        .collect();
    format!("{{{}}}", members.join(","))
}
