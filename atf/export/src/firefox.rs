//! The Firefox Profiler's processed profile: one sample per change of a thread's stack, weighted by
//! the time until the next change.

use std::collections::HashMap;
use std::env;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Seek, Write};

use atf::symbols::Function;

use crate::json::{Commas, Quoted, Since, Unit};
use crate::process::{OTHERS, name_of};
use crate::{End, Error, ProcessInfo, Sink, Start, Thread, ThreadEnd, TraceInfo};

/// The version of the format; later versions of the Firefox Profiler upgrade it.
const VERSION: u32 = 55;

/// The maximum number of a thread's functions that are listed separately.
const MOST_FUNCTIONS: usize = 1 << 20;

/// A sink that writes a profile. Times are in milliseconds since the trace's first event.
///
/// The format stores its tables column by column. Stacks are written as they are read. Durations go
/// to a temporary file, because they are written twice: as the column of weights and, shifted by
/// one, as the column of times.
#[derive(Debug)]
pub(crate) struct Firefox<'a, W> {
    out: W,
    info: TraceInfo,
    most_stacks: usize,
    threads: Commas,
    process_name: String,
    table: Table<'a>,
    samples: Samples,
    markers: Vec<(u64, String)>,
    extra: Vec<(String, String)>,
    /// Whether the limit was reached, so that several functions or stacks are shown as one.
    pub(crate) is_cut: bool,
}

/// The stacks of a thread.
#[derive(Debug, Default)]
struct Table<'a> {
    /// The functions' positions. Functions that are not listed separately share position 0.
    places: HashMap<u64, usize>,
    functions: Vec<Function<'a>>,
    /// Positions of stacks, by the caller's stack and the innermost function.
    stacks: HashMap<(Option<usize>, usize), usize>,
    prefixes: Vec<Option<usize>>,
    /// The position of each stack's function.
    of_stacks: Vec<usize>,
    /// The stack of each open call, outermost first.
    open: Vec<usize>,
}

/// The samples of a thread.
#[derive(Debug, Default)]
struct Samples {
    count: u64,
    first_ns: u64,
    last_ns: u64,
    durations: Option<BufWriter<File>>,
}

impl<'a> Table<'a> {
    /// Opens a call, and returns whether it has its own stack.
    fn push(&mut self, function: Function<'a>, most: usize) -> bool {
        let next = self.functions.len().saturating_add(1);
        let place = match self.places.get(&function.id) {
            Some(place) => *place,
            None if self.functions.len() >= MOST_FUNCTIONS => 0,
            None => {
                self.functions.push(function);
                self.places.insert(function.id, next);
                next
            }
        };
        let key = (self.open.last().copied(), place);
        let stack = match self.stacks.get(&key) {
            Some(stack) => *stack,
            None if self.prefixes.len() < most => {
                let stack = self.prefixes.len();
                self.prefixes.push(key.0);
                self.of_stacks.push(place);
                self.stacks.insert(key, stack);
                stack
            }
            None => return self.push_others(key.0),
        };
        self.open.push(stack);
        place > 0
    }

    /// Opens a call without a separate stack, which shares its caller's. If the call has no caller,
    /// it shares a stack with all such calls.
    fn push_others(&mut self, caller: Option<usize>) -> bool {
        let stack = caller.unwrap_or_else(|| {
            *self.stacks.entry((None, 0)).or_insert_with(|| {
                self.prefixes.push(None);
                self.of_stacks.push(0);
                self.prefixes.len().saturating_sub(1)
            })
        });
        self.open.push(stack);
        false
    }
}

/// Marks an error as one with a temporary file, and names the file's folder.
fn of_temporary(error: io::Error) -> io::Error {
    let folder = env::temp_dir();
    io::Error::new(error.kind(), Error::TemporaryFile { folder, error })
}

impl Samples {
    /// Ends the last sample and begins a new one.
    fn next(&mut self, time_ns: u64) -> io::Result<()> {
        match self.count {
            0 => self.first_ns = time_ns,
            _ => self.end(time_ns)?,
        }
        self.last_ns = time_ns;
        self.count = self.count.saturating_add(1);
        Ok(())
    }

    /// Writes the duration of the last sample.
    fn end(&mut self, time_ns: u64) -> io::Result<()> {
        let comma = if self.count > 1 { "," } else { "" };
        let duration = Since {
            time_ns,
            start_ns: self.last_ns,
            unit: Unit::Millis,
        };
        let durations = match &mut self.durations {
            Some(durations) => durations,
            none => none.insert(BufWriter::new(tempfile::tempfile().map_err(of_temporary)?)),
        };
        write!(durations, "{comma}{duration}").map_err(of_temporary)
    }

    /// Copies the durations from the temporary file.
    fn copy(&mut self, out: &mut impl Write) -> io::Result<()> {
        if let Some(durations) = &mut self.durations {
            durations.flush().map_err(of_temporary)?;
            let file = durations.get_mut();
            file.rewind().map_err(of_temporary)?;
            let mut reader = BufReader::new(file);
            loop {
                let bytes = reader.fill_buf().map_err(of_temporary)?;
                let count = bytes.len();
                if count == 0 {
                    break;
                }
                out.write_all(bytes)?;
                reader.consume(count);
            }
        }
        Ok(())
    }
}

impl<W: Write> Firefox<'_, W> {
    pub(crate) fn new(out: W, most_stacks: usize) -> Self {
        Self {
            out,
            info: TraceInfo::default(),
            most_stacks,
            threads: Commas::default(),
            process_name: String::new(),
            table: Table::default(),
            samples: Samples::default(),
            markers: Vec::new(),
            extra: Vec::new(),
            is_cut: false,
        }
    }

    /// Begins a sample with the current stack.
    fn sample(&mut self, time_ns: u64) -> io::Result<()> {
        if self.samples.count > 0 {
            self.out.write_all(b",")?;
        }
        self.samples.next(time_ns)?;
        match self.table.open.last() {
            Some(stack) => write!(self.out, "{stack}"),
            None => self.out.write_all(b"null"),
        }
    }

    fn millis(&self, time_ns: u64) -> Since {
        Since {
            time_ns,
            start_ns: self.info.start_ns,
            unit: Unit::Millis,
        }
    }

    fn column<T: std::fmt::Display>(
        &mut self,
        name: &str,
        values: impl IntoIterator<Item = T>,
    ) -> io::Result<()> {
        write!(self.out, ",\"{name}\":[")?;
        let mut commas = Commas::default();
        for value in values {
            commas.next(&mut self.out)?;
            write!(self.out, "{value}")?;
        }
        self.out.write_all(b"]")
    }

    /// Writes the last columns of the samples: times and weights.
    fn durations(&mut self) -> io::Result<()> {
        let length = self.samples.count;
        let first = self.millis(self.samples.first_ns);
        write!(
            self.out,
            r#"],"length":{length},"weightType":"tracing-ms","timeDeltas":["#
        )?;
        if length > 0 {
            // The last sample has no duration, because nothing follows it.
            write!(self.out, "{first}")?;
            if length > 1 {
                self.out.write_all(b",")?;
            }
            self.samples.copy(&mut self.out)?;
        }
        self.out.write_all(br#"],"weight":["#)?;
        if length > 0 {
            self.samples.copy(&mut self.out)?;
            self.out.write_all(if length > 1 { b",0" } else { b"0" })?;
        }
        self.out.write_all(b"]}")
    }

    fn tables(&mut self) -> io::Result<()> {
        let table = std::mem::take(&mut self.table);
        let stacks = table.prefixes.len();
        let functions = table.functions.len().saturating_add(1);
        write!(self.out, ",\n\"stackTable\":{{\"length\":{stacks}")?;
        let null = || "null".to_owned();
        let prefixes = table.prefixes.iter();
        let prefixes = prefixes.map(|it| it.map_or_else(null, |it| it.to_string()));
        self.column("prefix", prefixes)?;
        self.column("frame", &table.of_stacks)?;
        write!(self.out, "}},\n\"frameTable\":{{\"length\":{functions}")?;
        let all = |value| std::iter::repeat_n(value, functions);
        self.column("address", all("-1"))?;
        for name in ["inlineDepth", "category", "subcategory", "innerWindowID"] {
            self.column(name, all("0"))?;
        }
        self.column("func", 0..functions)?;
        for name in ["nativeSymbol", "line", "column"] {
            self.column(name, all("null"))?;
        }
        write!(self.out, "}},\n\"funcTable\":{{\"length\":{functions}")?;
        self.column("name", 0..functions)?;
        for name in ["isJS", "relevantForJS"] {
            self.column(name, all("false"))?;
        }
        self.column("resource", all("-1"))?;
        for name in ["fileName", "lineNumber", "columnNumber"] {
            self.column(name, all("null"))?;
        }
        self.out.write_all(b"}")?;
        let names = [OTHERS.into()].into_iter();
        let names = names.chain(table.functions.iter().map(name_of));
        let names = names.chain(["atf".into()]);
        let names = names.map(|name| Quoted(&name).to_string());
        self.column("stringArray", names)?;
        self.notes(functions)
    }

    /// Writes the thread's notes as markers. `name` is the position of the markers' name, which
    /// follows the functions' names.
    fn notes(&mut self, name: usize) -> io::Result<()> {
        let markers = std::mem::take(&mut self.markers);
        let length = markers.len();
        write!(self.out, ",\n\"markers\":{{\"length\":{length}")?;
        let all = |value: usize| std::iter::repeat_n(value, length);
        self.column("category", all(0))?;
        self.column("name", all(name))?;
        self.column("phase", all(0))?;
        let start_ns = self.info.start_ns;
        let times = markers.iter().map(|(time_ns, _)| Since {
            time_ns: *time_ns,
            start_ns,
            unit: Unit::Millis,
        });
        self.column("startTime", times)?;
        self.column("endTime", std::iter::repeat_n("null", length))?;
        let data = markers.iter();
        let data = data.map(|(_, note)| format!(r#"{{"type":"Text","name":{}}}"#, Quoted(note)));
        self.column("data", data)?;
        self.out.write_all(b"}")
    }
}

/// The Text marker's fields, copied from the Firefox Profiler's own declaration.
const MARKER_SCHEMA: &str = r#"[{"name":"Text","display":["marker-chart","marker-table","timeline-overview"],"chartLabel":"{marker.data.name}","tableLabel":"{marker.data.name}","fields":[{"key":"name","label":"Details","format":"string","searchable":true}]}]"#;

impl<'a, W: Write> Sink<'a> for Firefox<'a, W> {
    fn start(&mut self, trace: &TraceInfo) -> io::Result<()> {
        self.info = *trace;
        self.out.write_all(b"{\"threads\":[")
    }

    fn process(&mut self, process: &ProcessInfo) -> io::Result<()> {
        self.process_name.clone_from(&process.name);
        self.extra.extend_from_slice(&process.facts);
        Ok(())
    }

    fn thread(&mut self, thread: &Thread) -> io::Result<()> {
        self.table = Table::default();
        self.samples = Samples::default();
        self.threads.next(&mut self.out)?;
        let (name, process) = (thread.to_string(), &self.process_name);
        let (name, process) = (Quoted(&name), Quoted(process));
        let (pid, tid) = (thread.pid, thread.number);
        write!(
            self.out,
            "\n{{\"name\":{name},\"processName\":{process},\"processType\":\"default\",\"pid\":\"{pid}\",\
             \"tid\":{tid},\"isMainThread\":false,\"registerTime\":0,\"unregisterTime\":null,\
             \"processStartupTime\":0,\"processShutdownTime\":null,\"pausedRanges\":[],\
             \"showMarkersInTimeline\":true,\"samples\":{{\"stack\":["
        )
    }

    fn call_start(&mut self, call: &Start<'a>) -> io::Result<()> {
        self.is_cut |= !self.table.push(call.function, self.most_stacks);
        self.sample(call.start_ns)
    }

    fn call_end(&mut self, call: &End<'a>) -> io::Result<()> {
        self.table.open.pop();
        self.sample(call.end_ns)
    }

    fn thread_end(&mut self, end: &ThreadEnd<'_>) -> io::Result<()> {
        let notes = end.notes.iter().map(|note| (end.end_ns, note.clone()));
        self.markers.extend(notes);
        self.durations()?;
        self.tables()?;
        let resources = r#"{"length":0,"lib":[],"name":[],"host":[],"type":[]}"#;
        let symbols = r#"{"length":0,"address":[],"functionSize":[],"libIndex":[],"name":[]}"#;
        write!(
            self.out,
            ",\n\"resourceTable\":{resources},\"nativeSymbols\":{symbols}}}"
        )
    }

    fn process_end(&mut self, notes: &[String]) -> io::Result<()> {
        let notes = notes
            .iter()
            .map(|note| ("problem".to_owned(), note.clone()));
        self.extra.extend(notes);
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        let product = Quoted(&self.process_name);
        write!(
            self.out,
            "],\n\"libs\":[],\"pages\":[],\"profilerOverhead\":[],\"meta\":{{\"version\":24,\
             \"preprocessedProfileVersion\":{VERSION},\"interval\":0.000001,\"startTime\":0,\
             \"processType\":0,\"product\":{product},\"stackwalk\":0,\"debug\":false,\
             \"symbolicated\":true,\"pausedRanges\":[],\"usesOnlyOneStackType\":true,\
             \"sourceCodeIsNotOnSearchfox\":true,\
             \"extensions\":{{\"length\":0,\"baseURL\":[],\"id\":[],\"name\":[]}},\
             \"sampleUnits\":{{\"time\":\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":\"µs\"}},\
             \"categories\":[{{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]}}],\
             \"markerSchema\":{MARKER_SCHEMA},\"extra\":[{{\"label\":\"ATF\",\"entries\":["
        )?;
        let start_ns = format!("{} ns of the trace's clock", self.info.start_ns);
        let mut extra = vec![("time 0".to_owned(), start_ns)];
        let range = self.info.range();
        extra.extend(range.map(|range| ("time range".to_owned(), range)));
        if self.is_cut {
            let note = "functions or stacks beyond the limit are not distinguished";
            extra.push(("limit".to_owned(), note.to_owned()));
        }
        extra.append(&mut self.extra);
        let mut commas = Commas::default();
        for (label, value) in &extra {
            commas.next(&mut self.out)?;
            let (label, value) = (Quoted(label), Quoted(value));
            let entry = format!(r#"{{"label":{label},"format":"string","value":{value}}}"#);
            self.out.write_all(entry.as_bytes())?;
        }
        self.out.write_all(b"]}]}}\n")?;
        self.out.flush()
    }
}
