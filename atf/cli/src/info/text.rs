//! Writes text: a line for each file or session, its content below the line, problems at the end.

use std::fmt;
use std::io::Write;

use super::aside::{Recovered, SetAside};
use super::file::{Ending, Facts, FieldInfo, Fields, FileInfo};
use super::session::{ManifestInfo, SessionInfo};
use super::thread::{Links, ThreadInfo};
use super::verify::Contents;
use super::{Info, Problem, Times};
use atf::manifest::Losses;
use atf::{DetailEventType, EventKind};

use crate::json::U64;
use crate::output::{Colours, Failure};
use crate::text::{Printable, Seconds, Span, counted, or_dash, time_goes_back};

/// The maximum number of problems to write per session; JSON contains all of them.
const PROBLEMS: usize = 50;

/// The text output for an `Info`.
pub(super) struct Text<W> {
    pub(super) out: W,
    pub(super) colours: Colours,
}

type Written = Result<(), Failure>;

impl<W: Write> Text<W> {
    pub(super) fn info(&mut self, info: &Info) -> Written {
        match info {
            Info::File(file) => {
                self.file(file)?;
                self.problems(file.problems.iter())
            }
            Info::Thread(thread) => self.thread(thread),
            Info::Session(session) => self.session(session),
            Info::Sessions { sessions } => {
                for (position, session) in sessions.iter().enumerate() {
                    if position > 0 {
                        writeln!(self.out)?;
                    }
                    self.session(session)?;
                }
                Ok(())
            }
        }
    }

    fn label(&mut self, label: &str) -> Written {
        let dim = self.colours.dim;
        Ok(write!(self.out, "  {dim}{label:9}{dim:#} ")?)
    }

    /// Writes a line. Those after the first one below a label have an empty label.
    fn line(&mut self, label: &str, text: impl fmt::Display) -> Written {
        self.label(label)?;
        Ok(writeln!(self.out, "{text}")?)
    }

    fn file(&mut self, file: &FileInfo) -> Written {
        let strong = self.colours.strong;
        let path = Printable(&file.path);
        write!(self.out, "{strong}{path}{strong:#}: {} file", file.kind)?;
        let Some(facts) = &file.facts else {
            let bad = self.colours.bad;
            return Ok(writeln!(self.out, ", {bad}unreadable{bad:#}")?);
        };
        let (wire, size) = (facts.wire, counted(facts.file_size.0, "byte"));
        write!(self.out, ", wire version {wire}, {size}, ")?;
        self.state(facts)?;
        writeln!(self.out)?;
        self.facts(facts, file.kind)
    }

    /// Writes the state of a file's end or, if events are missing, their number.
    fn state(&mut self, facts: &Facts) -> Written {
        let (bad, there) = (self.colours.bad, facts.event_count.0);
        let missing = facts.missing_events.map_or(0, |missing| missing.0);
        let all = counted(there.saturating_add(missing), "event");
        match (&facts.completeness, missing) {
            (Ending::Unfinalized { .. }, 1..) => {
                return Ok(write!(self.out, "{bad}truncated: {there} of {all}{bad:#}")?);
            }
            (_, 1..) => write!(self.out, "{bad}{missing} of {all} missing{bad:#}, ")?,
            (ending, 0) if facts.lost_footer => {
                write!(self.out, "{bad}footer lost{bad:#}")?;
                return Ok(ending.write_rest(&mut self.out)?);
            }
            (_, 0) => {}
        }
        self.ending(&facts.completeness)
    }

    fn ending(&mut self, ending: &Ending) -> Written {
        let (style, word) = match ending {
            Ending::Finalized => (self.colours.good, "finalized"),
            Ending::HeaderNotUpdated => (self.colours.odd, "valid footer, placeholder header"),
            Ending::Unfinalized { .. } => (self.colours.odd, "not finalized"),
            Ending::DamagedFooter { .. } => (self.colours.bad, "damaged footer"),
        };
        write!(self.out, "{style}{word}{style:#}")?;
        match ending {
            Ending::Finalized | Ending::HeaderNotUpdated => {}
            Ending::Unfinalized { .. } => ending.write_rest(&mut self.out)?,
            Ending::DamagedFooter {
                offset,
                trailing_bytes,
            } => {
                write!(self.out, " at {:#x}", offset.0)?;
                if trailing_bytes.0 > 0 {
                    let bytes = counted(trailing_bytes.0, "byte");
                    write!(self.out, ", {bytes} before it")?;
                }
            }
        }
        Ok(())
    }

    fn facts(&mut self, facts: &Facts, kind: &str) -> Written {
        self.line("header", fields(&facts.header))?;
        if let (Some(footer), Some(offset)) = (&facts.footer, facts.footer_offset) {
            let footer = fields(footer);
            self.line("footer", format_args!("at {:#x}: {footer}", offset.0))?;
        }
        let (count, offset) = (facts.event_count.0, facts.events_offset.0);
        let source = match facts.count_source {
            "footer" => "from the footer",
            "footer_position" => "from the footer's position",
            "file_size" => "from the file size",
            _ => "counted",
        };
        let events = format_args!("{count} ({source}), starting at {offset:#x}");
        self.line("events", events)?;
        self.times(facts.time)?;
        self.label("checksum")?;
        self.checksum(facts)?;
        match &facts.contents {
            Some(contents) => self.contents(contents, kind),
            None => Ok(()),
        }
    }

    fn times(&mut self, times: Option<Times>) -> Written {
        let Some(times) = times else {
            return self.line("time", "no events");
        };
        let [start, end] = [times.start_ns, times.end_ns].map(|ns| Seconds(ns.0));
        let span = Span(times.duration_ns.0);
        self.line("time", format_args!("{start} s to {end} s, {span}"))
    }

    fn checksum(&mut self, facts: &Facts) -> Written {
        let checksum = &facts.checksum;
        let is_damaged = matches!(facts.completeness, Ending::DamagedFooter { .. });
        let stored = checksum.stored.unwrap_or(0);
        match checksum.state {
            "none" if is_damaged => writeln!(self.out, "none: the footer is damaged")?,
            "none" => writeln!(self.out, "none: there is no footer")?,
            "not_computed" => writeln!(self.out, "none: the writer did not compute it")?,
            "good" => writeln!(self.out, "{stored:#010x}, good")?,
            "bad" => writeln!(self.out, "{stored:#010x}, bad")?,
            "ieee" => writeln!(self.out, "{stored:#010x}, IEEE CRC-32 instead of CRC-32C")?,
            _ => writeln!(
                self.out,
                "{stored:#010x}, not verified (--verify reads all events)"
            )?,
        }
        Ok(())
    }

    fn contents(&mut self, contents: &Contents, kind: &str) -> Written {
        let name_of = |number: u32| match kind {
            "index" => EventKind(number).name(),
            _ => DetailEventType(u16::try_from(number).ok()?).name(),
        };
        self.label("kinds")?;
        for (position, (kind, count)) in contents.kinds.iter().enumerate() {
            let comma = if position > 0 { ", " } else { "" };
            match name_of(*kind) {
                Some(name) => write!(self.out, "{comma}{name} {}", count.0)?,
                None => write!(self.out, "{comma}unknown kind {kind} {}", count.0)?,
            }
        }
        if contents.other_kinds.0 > 0 {
            write!(self.out, ", others {}", contents.other_kinds.0)?;
        }
        writeln!(self.out)?;
        let order = time_goes_back(contents.out_of_order.0);
        self.line("order", order.as_deref().unwrap_or("time never goes back"))
    }

    fn links(&mut self, links: &Links) -> Written {
        self.label("links")?;
        write!(self.out, "{} good", links.good.0)?;
        for (count, what, _) in links.wrong().rev() {
            write!(self.out, ", {count} {what}")?;
        }
        if links.orphans.0 > 0 {
            let orphans = counted(links.orphans.0, "detail event");
            write!(self.out, "; {orphans} without a link")?;
        }
        Ok(writeln!(self.out)?)
    }

    fn thread(&mut self, thread: &ThreadInfo) -> Written {
        if thread.index.is_none() {
            let bad = self.colours.bad;
            let path = Printable(&thread.path);
            writeln!(self.out, "{path}: {bad}unreadable{bad:#}")?;
        }
        for file in [&thread.index, &thread.detail].into_iter().flatten() {
            self.file(file)?;
        }
        if let Some(ring) = &thread.ring {
            self.label("ring")?;
            let (index, detail) = (ring.index_bytes.0, ring.detail_bytes.0);
            write!(self.out, "{} of the events", counted(index, "byte"))?;
            let detail = counted(detail, "byte");
            writeln!(self.out, " and {detail} of the details come from ring.atf")?;
        }
        if let Some(links) = &thread.links {
            self.links(links)?;
        }
        if let Some(name) = &thread.name {
            self.line("name", Printable(name))?;
        }
        self.lost(&thread.lost.0)?;
        if let Some(cut) = &thread.cut {
            let [from, to] = [cut.from_ns, cut.to_ns].map(|ns| Seconds(ns.0));
            self.line("cut", format_args!("from {from} s to {to} s, {cut}"))?;
        }
        self.recovered(thread.recovered.as_ref())?;
        self.set_aside(thread)?;
        self.problems(thread.all_problems())
    }

    fn session(&mut self, session: &SessionInfo) -> Written {
        let strong = self.colours.strong;
        writeln!(
            self.out,
            "{strong}{}{strong:#}: session, {}, {}, {}",
            Printable(&session.path),
            counted(session.threads.len() as u64, "thread"),
            counted(session.index_events.0, "event"),
            counted(session.detail_events.0, "detail"),
        )?;
        self.times(session.time)?;
        self.label("manifest")?;
        match &session.manifest {
            Some(manifest) => self.manifest(manifest)?,
            None => writeln!(self.out, "none (for names: --symbols MANIFEST)")?,
        }
        self.table(session)?;
        self.lost(&session.lost.0)?;
        if let Some(contents) = session.contents() {
            self.contents(&contents, "index")?;
        }
        if let Some(links) = session.links() {
            self.links(&links)?;
        }
        self.recovered(session.recovered.as_ref())?;
        for thread in &session.threads {
            self.set_aside(thread)?;
        }
        let manifest = session.manifest.iter().flat_map(|m| &m.problems);
        let threads = session.threads.iter().flat_map(ThreadInfo::all_problems);
        self.problems(session.problems.iter().chain(manifest).chain(threads))
    }

    /// Writes the tracer's losses, if any.
    fn lost(&mut self, lost: &Losses) -> Written {
        let Some((first, last)) = lost.time_range() else {
            return Ok(());
        };
        self.label("lost")?;
        let (odd, first, last) = (self.colours.odd, Seconds(first), Seconds(last));
        write!(self.out, "{odd}{lost}{odd:#} by the tracer, ")?;
        Ok(writeln!(self.out, "from {first} s to {last} s")?)
    }

    fn recovered(&mut self, recovered: Option<&Recovered>) -> Written {
        let Some(recovered) = recovered else {
            return Ok(());
        };
        let dim = self.colours.dim;
        write!(self.out, "  {dim}recovered{dim:#}")?;
        match recovered.losses {
            Some(U64(0)) => write!(self.out, " without losses")?,
            Some(U64(1)) => write!(self.out, "; 1 thing was lost or changed")?,
            Some(U64(losses)) => write!(self.out, "; {losses} things were lost or changed")?,
            None => {}
        }
        write!(self.out, ": see {}", recovered.reports.join(", "))?;
        if recovered.has_unreadable {
            write!(self.out, "; originals are in unreadable/")?;
        }
        Ok(writeln!(self.out)?)
    }

    fn set_aside(&mut self, thread: &ThreadInfo) -> Written {
        let file = |file: &SetAside| match file.event_count {
            Some(count) => format!("{} {}", file.file, counted(count.0, file.what)),
            None => format!("{} (unreadable)", file.file),
        };
        let files: Vec<_> = thread.set_aside.iter().map(file).collect();
        if files.is_empty() {
            return Ok(());
        }
        let thread = thread.id.map(|id| format!("thread {id}: "));
        let thread = thread.unwrap_or_default();
        self.line("set aside", format_args!("{thread}{}", files.join(", ")))
    }

    fn manifest(&mut self, manifest: &ManifestInfo) -> Written {
        if manifest.is_unreadable {
            return Ok(writeln!(self.out, "unreadable")?);
        }
        if let Some(version) = &manifest.format_version {
            write!(self.out, "format_version {}, ", Printable(version))?;
        }
        if let Some(clock) = manifest.clock_type {
            let name = manifest.clock.unwrap_or("unknown clock");
            write!(self.out, "clock_type {clock} ({name}), ")?;
        }
        writeln!(
            self.out,
            "{}, {}, {}",
            counted(manifest.threads as u64, "thread"),
            counted(manifest.modules.len() as u64, "module"),
            counted(manifest.symbols as u64, "symbol"),
        )?;
        let odd = self.colours.odd;
        for module in &manifest.modules {
            let path = Printable(module.path.as_deref().unwrap_or("(path unknown)"));
            let offsets = match module.function_offsets {
                Some(true) => ", functions by offset",
                _ => "",
            };
            let id = module.module_id;
            self.line("", format_args!("module {id:#010x} {path}{offsets}"))?;
        }
        for anchor in &manifest.timing_anchors {
            let (time, parts) = (Seconds(anchor.host_time_ns.0), &anchor.media_time);
            let place = format_args!("{parts}/{} s", anchor.media_timescale);
            self.line("", format_args!("at {time} s a recording is at {place}"))?;
        }
        if let Some(error) = manifest.clock_error_ns {
            let differ = "times are not from this clock but differ from it by at most";
            self.line("", format_args!("{differ} {}", Span(error.0)))?;
        }
        if manifest.detail_fields == Some(true) {
            self.line("", "details contain the fields of calls")?;
        }
        if let Some(signal) = manifest.ended_by.as_ref().map(Printable) {
            let ended = format_args!("{odd}ended by {signal}{odd:#}");
            self.line("", format_args!("the process was {ended}"))?;
        }
        if let Some(why) = manifest.recording_error.as_ref().map(Printable) {
            let stopped = format_args!("{odd}stopped recording{odd:#} some events");
            self.line("", format_args!("the tracer {stopped}: {why}"))?;
        }
        if let Some(unwritten) = &manifest.unwritten {
            self.line("", format_args!("{odd}{unwritten}{odd:#}"))?;
        }
        for change in &manifest.recovered {
            self.line("", Printable(change))?;
        }
        for problem in &manifest.ignored {
            self.line("", format_args!("ignored: {}", Printable(problem)))?;
        }
        for wrong in &manifest.wrong_has_detail {
            let (says, is) = if wrong.has_detail {
                ("details", "none")
            } else {
                ("no details", "some")
            };
            let id = wrong.thread;
            let text = format_args!("says that thread {id} has {says}, but it has {is}");
            self.line("", text)?;
        }
        Ok(())
    }

    fn table(&mut self, session: &SessionInfo) -> Written {
        if session.threads.is_empty() {
            return Ok(());
        }
        let (dim, bad) = (self.colours.dim, self.colours.bad);
        let (thread, events, details, duration) = ("thread", "events", "details", "duration");
        write!(self.out, "  {dim}{thread:>9} {events:>12} {details:>9}")?;
        writeln!(self.out, " {duration:>13}  state{dim:#}")?;
        for thread in &session.threads {
            let id = thread.id.unwrap_or_default();
            let facts = thread.index_facts();
            match facts {
                Some(facts) => write!(self.out, "  {id:>9} {:>12}", facts.event_count.0)?,
                None => write!(self.out, "  {id:>9} {bad}{:>12}{bad:#}", "?")?,
            }
            let detail = thread.detail.as_ref().map(|detail| &detail.facts);
            match detail {
                Some(Some(detail)) => write!(self.out, " {:>9}", detail.event_count.0)?,
                Some(None) => write!(self.out, " {bad}{:>9}{bad:#}", "?")?,
                None => write!(self.out, " {:>9}", "-")?,
            }
            let times = facts.and_then(|facts| facts.time);
            let duration = or_dash(times.map(|times| Span(times.duration_ns.0)));
            write!(self.out, " {duration:>13}  ")?;
            match facts {
                Some(facts) => self.state(facts)?,
                None => self.unreadable(thread)?,
            }
            if let Some(facts) = facts.filter(|facts| facts.contents.is_some()) {
                let state = facts.checksum.state.replace('_', " ");
                write!(self.out, ", checksum {state}")?;
            }
            let ring = thread.ring.as_ref();
            if ring.is_some_and(|ring| ring.index_bytes.0 > 0) {
                write!(self.out, ", tail in ring.atf")?;
            }
            if let Some(Some(detail)) = detail
                && matches!(detail.checksum.state, "bad" | "ieee")
            {
                write!(self.out, "; details: checksum {}", detail.checksum.state)?;
            }
            if let Some(Some(detail)) = detail
                && !matches!(detail.completeness, Ending::Finalized)
            {
                write!(self.out, "; details ")?;
                self.state(detail)?;
            }
            let lost = thread.lost.0;
            if !lost.is_empty() {
                write!(self.out, "; the tracer lost {lost}")?;
            }
            if let Some(cut) = &thread.cut {
                write!(self.out, "; {cut}")?;
            }
            if let Some(name) = &thread.name {
                write!(self.out, "  ({})", Printable(name))?;
            }
            if thread.has_problems() {
                write!(self.out, "  {bad}!{bad:#}")?;
            }
            writeln!(self.out)?;
        }
        let mut facts = session.threads.iter().filter_map(ThreadInfo::index_facts);
        if facts.any(|facts| facts.contents.is_none() && facts.event_count.0 > 0) {
            self.label("unread")?;
            writeln!(
                self.out,
                "most events: their checksums, order, kinds, gaps and links are not checked \
                 (--verify reads all)"
            )?;
        }
        Ok(())
    }

    /// Writes why a thread's index cannot be read.
    fn unreadable(&mut self, thread: &ThreadInfo) -> Written {
        let bad = self.colours.bad;
        write!(self.out, "{bad}unreadable{bad:#}")?;
        let index = thread.index.as_ref();
        let problems = index.map_or(&thread.problems, |index| &index.problems);
        // The last problem is the error that ended the reading.
        if let Some(problem) = problems.last() {
            write!(self.out, ": {}", Printable(problem.inside(&thread.path)))?;
        }
        Ok(())
    }

    fn problems<'a>(&mut self, problems: impl Iterator<Item = &'a Problem>) -> Written {
        let bad = self.colours.bad;
        for (position, problem) in problems.enumerate() {
            if position == 0 {
                writeln!(self.out, "{bad}problems{bad:#}")?;
            }
            if position == PROBLEMS {
                return Ok(writeln!(self.out, "  … (--json has all)")?);
            }
            writeln!(self.out, "  {}", Printable(problem))?;
        }
        Ok(())
    }
}

/// Returns the names and values of fields.
fn fields(fields: &Fields) -> String {
    let shown = fields.decode().into_iter().filter(|field| {
        // These fields are the same in every file or already in the first line.
        !matches!(field.name, "magic" | "endian" | "version" | "event_size")
    });
    let field = |field: FieldInfo| {
        let (name, text) = (field.name, field.text);
        let is_named = !name.starts_with("time_") && !name.ends_with("_offset");
        match field.meaning.filter(|_| is_named) {
            Some(meaning) => format!("{name} {text} ({meaning})"),
            None => format!("{name} {text}"),
        }
    };
    shown.map(field).collect::<Vec<_>>().join(", ")
}
