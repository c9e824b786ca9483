//! Executes a script.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::Command;

use atf::wire::{Arch, Clock, DetailEventType, EventKind, Os, Wire};
use atf::write::{Event, ThreadWriter, WriteOptions};

type Done<T> = Result<T, Box<dyn Error>>;

/// Writes the files of a script. Flushes threads that the script does not finalize.
pub(crate) fn write(script: &Path, out: &Path) -> Done<()> {
    let mut threads = BTreeMap::new();
    for line in fs::read_to_string(script)?.lines() {
        let mut words = line.split_ascii_whitespace();
        let name = words.next().unwrap_or("#");
        if name == "abort" {
            break;
        }
        if name.starts_with('#') {
            continue;
        }
        if name == "kill" {
            // std has no signals.
            Command::new("sh")
                .args(["-c", "kill -KILL $PPID"])
                .status()?;
        }
        let operation = Operation {
            values: words.filter_map(|word| word.split_once('=')).collect(),
        };
        let id: u32 = operation.number("thread")?;
        if name == "open" {
            let folder = out.join(format!("thread_{id}"));
            threads.insert(id, ThreadWriter::create(folder, id, &operation.options()?)?);
            continue;
        }
        let thread = threads
            .get_mut(&id)
            .ok_or(format!("thread {id} is not open"))?;
        match name {
            "index" => operation.index(thread)?,
            "detail" => operation.detail(thread)?,
            "finalize" => {
                thread.finalize()?;
                threads.remove(&id);
            }
            "flush" => thread.flush()?,
            "close" => {
                thread.flush()?;
                threads.remove(&id);
            }
            _ => return Err(format!("no such operation: {name}").into()),
        }
    }
    for thread in threads.values_mut() {
        thread.flush()?;
    }
    Ok(())
}

struct Operation<'a> {
    values: BTreeMap<&'a str, &'a str>,
}

impl Operation<'_> {
    fn text(&self, key: &str) -> Done<&str> {
        Ok(self.values.get(key).ok_or(format!("{key} is missing"))?)
    }

    fn number<T>(&self, key: &str) -> Done<T>
    where
        T: std::str::FromStr<Err = std::num::ParseIntError>,
    {
        let text = self.text(key)?;
        text.parse()
            .map_err(|error| format!("{key}={text}: {error}").into())
    }

    fn options(&self) -> Done<WriteOptions> {
        Ok(WriteOptions::default()
            .wire(Wire::from_version(self.number("wire")?).ok_or("no such wire version")?)
            .arch(Arch(self.number("arch")?))
            .os(Os(self.number("os")?))
            .clock_type(Clock(self.number("clock")?))
            // Write exactly what the script says, without the library's checks.
            .verbatim(true))
    }

    /// Writes an event; the next operation has its detail, if there is one.
    fn index(&self, thread: &mut ThreadWriter) -> Done<()> {
        let event = Event::new(
            self.number("ts")?,
            self.number("fn")?,
            EventKind(self.number("kind")?),
            self.number("depth")?,
        );
        let link = match self.text("detail")? {
            "-" => None,
            _ => Some(self.number("detail")?),
        };
        thread.write_index(&event, link)?;
        Ok(())
    }

    fn detail(&self, thread: &mut ThreadWriter) -> Done<()> {
        let payload = unhex(self.text("payload")?)?;
        let event_type = DetailEventType(self.number("type")?);
        let detail = atf::write::Detail::new(event_type, &payload).flags(self.number("flags")?);
        thread.write_detail(self.number("index")?, self.number("ts")?, &detail)?;
        Ok(())
    }
}

fn unhex(text: &str) -> Done<Vec<u8>> {
    let pair = |at: usize| {
        let digits = text.get(at..at + 2).ok_or("half a byte")?;
        Ok(u8::from_str_radix(digits, 16)?)
    };
    (0..text.len()).step_by(2).map(pair).collect()
}
