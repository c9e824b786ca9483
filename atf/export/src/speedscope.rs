//! speedscope's JSON: an evented profile per thread, with the frames of all profiles at the end.

use std::collections::HashMap;
use std::io::{self, Write};

use atf::symbols::Function;

use crate::json::{Commas, Quoted};
use crate::process::{OTHERS, name_of};
use crate::{End, ProcessInfo, Sink, Start, Thread, ThreadEnd, TraceInfo};

/// The maximum number of functions with separate frames.
const MOST_FRAMES: usize = 1 << 20;

/// A sink that writes profiles. If no event ended a call, the call ends with the thread's last
/// event, because the format does not support open calls. Times are in nanoseconds since the
/// trace's first event; a profile begins with its thread's first event.
#[derive(Debug)]
pub(crate) struct Speedscope<'a, W> {
    out: W,
    info: TraceInfo,
    /// The position of the current process. A function may have a different name in a different
    /// process.
    process: u32,
    process_names: Vec<String>,
    frames: HashMap<(u32, u64), usize>,
    functions: Vec<Function<'a>>,
    profiles: Commas,
    events: Commas,
    /// The times of the current profile's first and last event.
    times_ns: Option<(u64, u64)>,
    notes: Vec<String>,
}

impl<'a, W: Write> Speedscope<'a, W> {
    pub(crate) fn new(out: W) -> Self {
        Self {
            out,
            info: TraceInfo::default(),
            process: 0,
            process_names: Vec::new(),
            frames: HashMap::new(),
            functions: Vec::new(),
            profiles: Commas::default(),
            events: Commas::default(),
            times_ns: None,
            notes: Vec::new(),
        }
    }

    fn frame(&mut self, function: Function<'a>) -> usize {
        let key = (self.process, function.id);
        if let Some(frame) = self.frames.get(&key) {
            return *frame;
        }
        if self.functions.len() >= MOST_FRAMES {
            return MOST_FRAMES;
        }
        let frame = self.functions.len();
        self.functions.push(function);
        self.frames.insert(key, frame);
        frame
    }

    fn event(&mut self, kind: char, function: Function<'a>, time_ns: u64) -> io::Result<()> {
        let frame = self.frame(function);
        let at = self.since_start(time_ns);
        let (first_ns, _) = self.times_ns.unwrap_or((time_ns, time_ns));
        self.times_ns = Some((first_ns, time_ns));
        self.events.next(&mut self.out)?;
        write!(
            self.out,
            "\n{{\"type\":\"{kind}\",\"frame\":{frame},\"at\":{at}}}"
        )
    }

    fn since_start(&self, time_ns: u64) -> i128 {
        i128::from(time_ns).saturating_sub(self.info.start_ns.into())
    }
}

impl<'a, W: Write> Sink<'a> for Speedscope<'a, W> {
    fn start(&mut self, trace: &TraceInfo) -> io::Result<()> {
        self.info = *trace;
        let schema = "https://www.speedscope.app/file-format-schema.json";
        let exporter = concat!("atf ", env!("CARGO_PKG_VERSION"));
        write!(
            self.out,
            r#"{{"$schema":"{schema}","exporter":"{exporter}","profiles":["#
        )
    }

    fn process(&mut self, process: &ProcessInfo) -> io::Result<()> {
        self.process = u32::try_from(self.process_names.len()).unwrap_or(u32::MAX);
        self.process_names.push(process.name.clone());
        Ok(())
    }

    fn thread(&mut self, _: &Thread) -> io::Result<()> {
        self.profiles.next(&mut self.out)?;
        self.events = Commas::default();
        self.times_ns = None;
        let head = r#"{"type":"evented","unit":"nanoseconds","events":["#;
        write!(self.out, "\n{head}")
    }

    fn call_start(&mut self, call: &Start<'a>) -> io::Result<()> {
        self.event('O', call.function, call.start_ns)
    }

    fn call_end(&mut self, call: &End<'a>) -> io::Result<()> {
        self.event('C', call.function, call.end_ns)
    }

    fn thread_end(&mut self, end: &ThreadEnd<'_>) -> io::Result<()> {
        let first_ns = self.info.first_ns();
        let times_ns = self.times_ns.unwrap_or((first_ns, first_ns));
        let (first, last) = (self.since_start(times_ns.0), self.since_start(times_ns.1));
        // speedscope shows all times from `startValue` on, and counts from there.
        let start = (first != 0).then(|| format!("starts at {first} ns"));
        let notes: Vec<_> = start.iter().chain(end.notes).cloned().collect();
        let mut name = end.thread.to_string();
        if !notes.is_empty() {
            name = format!("{name}: {}", notes.join("; "));
        }
        let name = Quoted(&name);
        write!(
            self.out,
            r#"],"startValue":{first},"endValue":{last},"name":{name}}}"#
        )
    }

    fn process_end(&mut self, notes: &[String]) -> io::Result<()> {
        self.notes.extend_from_slice(notes);
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        let start_ns = self.info.start_ns;
        let mut name = self.process_names.join(", ");
        if let Some(range) = self.info.range() {
            name = format!("{name}, {range}");
        }
        name = format!("{name}, time 0 is {start_ns} ns of the trace's clock");
        for note in &self.notes {
            name = format!("{name}; {note}");
        }
        let name = Quoted(&name);
        write!(self.out, "],\n\"name\":{name},\"shared\":{{\"frames\":[")?;
        let mut commas = Commas::default();
        let names = self.functions.iter().map(name_of);
        let others = (self.functions.len() == MOST_FRAMES).then_some(OTHERS.into());
        for name in names.chain(others) {
            commas.next(&mut self.out)?;
            write!(self.out, "\n{{\"name\":{}}}", Quoted(&name))?;
        }
        self.out.write_all(b"]}}\n")?;
        self.out.flush()
    }
}
