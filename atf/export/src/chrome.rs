//! Chrome's trace events: a JSON array with one event per line.

use std::io::{self, Write};

use atf::symbols::Function;

use crate::json::{Commas, Quoted, Since, Unit};
use crate::process::name_of;
use crate::{End, ProcessInfo, Sink, Start, Thread, ThreadEnd, TraceInfo};

/// A sink that writes trace events: `B` and `E` for calls, `i` for notes, `M` for names.
///
/// A call that is still open at the end has no `E`. Times are in microseconds since the trace's
/// first event.
#[derive(Debug)]
pub(crate) struct Chrome<W> {
    out: W,
    commas: Commas,
    info: TraceInfo,
    /// ` "pid": …, "tid": …` of the current thread.
    place: String,
    pid: u32,
}

impl<W: Write> Chrome<W> {
    pub(crate) fn new(out: W) -> Self {
        Self {
            out,
            commas: Commas::default(),
            info: TraceInfo::default(),
            place: String::new(),
            pid: 0,
        }
    }

    /// Begins an event of the current thread.
    fn event(&mut self, phase: char, time_ns: u64) -> io::Result<()> {
        let time = self.micros(time_ns);
        self.next()?;
        let place = &self.place;
        write!(self.out, r#"{{"ph":"{phase}",{place},"ts":{time}"#)
    }

    fn metadata(&mut self, place: &str, name: &str, key: &str, value: &str) -> io::Result<()> {
        self.next()?;
        let (key, value) = (Quoted(key), Quoted(value));
        write!(
            self.out,
            r#"{{"ph":"M",{place},"name":"{name}","args":{{{key}:{value}}}}}"#
        )
    }

    fn note(&mut self, time_ns: u64, scope: char, note: &str) -> io::Result<()> {
        self.event('i', time_ns)?;
        let name = Quoted(note);
        write!(self.out, r#","s":"{scope}","cat":"atf","name":{name}}}"#)
    }

    fn next(&mut self) -> io::Result<()> {
        self.commas.next(&mut self.out)?;
        self.out.write_all(b"\n")
    }

    fn micros(&self, time_ns: u64) -> Since {
        Since {
            time_ns,
            start_ns: self.info.start_ns,
            unit: Unit::Micros,
        }
    }
}

impl<'a, W: Write> Sink<'a> for Chrome<W> {
    fn start(&mut self, trace: &TraceInfo) -> io::Result<()> {
        self.info = *trace;
        self.out.write_all(b"[")
    }

    fn process(&mut self, process: &ProcessInfo) -> io::Result<()> {
        self.pid = process.pid;
        let place = format!(r#""pid":{}"#, process.pid);
        self.metadata(&place, "process_name", "name", &process.name)?;
        let (key, start_ns) = ("time 0 in ns of the trace's clock", self.info.start_ns);
        self.metadata(&place, "atf", key, &start_ns.to_string())?;
        if let Some(range) = self.info.range() {
            self.metadata(&place, "atf", "time range", &range)?;
        }
        for (key, value) in &process.facts {
            self.metadata(&place, "atf", key, value)?;
        }
        Ok(())
    }

    fn thread(&mut self, thread: &Thread) -> io::Result<()> {
        let place = format!(r#""pid":{},"tid":{}"#, thread.pid, thread.number);
        self.metadata(&place, "thread_name", "name", &thread.to_string())?;
        self.place = place;
        Ok(())
    }

    fn call_start(&mut self, call: &Start<'a>) -> io::Result<()> {
        self.event('B', call.start_ns)?;
        let name = name_of(&call.function);
        write!(self.out, r#","name":{}}}"#, Quoted(&name))
    }

    fn call_end(&mut self, call: &End<'a>) -> io::Result<()> {
        if call.stays_open() {
            return Ok(());
        }
        self.event('E', call.end_ns)?;
        // speedscope finds the call by its name.
        let name = name_of(&call.function);
        write!(self.out, r#","name":{}"#, Quoted(&name))?;
        match call.remark() {
            Some(remark) => write!(self.out, r#","args":{{"end":{}}}}}"#, Quoted(remark)),
            None => self.out.write_all(b"}"),
        }
    }

    fn unmatched(&mut self, function: Function<'a>, time_ns: u64) -> io::Result<()> {
        let note = format!("return without a call: {}", name_of(&function));
        self.note(time_ns, 't', &note)
    }

    fn thread_end(&mut self, end: &ThreadEnd<'_>) -> io::Result<()> {
        let mut notes = end.notes.iter();
        notes.try_for_each(|note| self.note(end.end_ns, 't', note))
    }

    fn process_end(&mut self, notes: &[String]) -> io::Result<()> {
        self.place = format!(r#""pid":{}"#, self.pid);
        let first_ns = self.info.first_ns();
        let mut notes = notes.iter();
        notes.try_for_each(|note| self.note(first_ns, 'p', note))
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.write_all(b"\n]\n")?;
        self.out.flush()
    }
}
