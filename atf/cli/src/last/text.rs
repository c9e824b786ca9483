//! Text output: several lines for each of the most important threads, one line for each of the
//! others.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::io::Write;

use atf::index::IndexEvent;
use atf::manifest::{LossKind, Losses};
use atf::spans::Span as Call;
use atf::{Completeness, EventKind};
use atf_analyze::LastOfThread;

use super::{Section, Sink, died, end_ns, open_ns};
use crate::dump::Shown;
use crate::info::Ending;
use crate::output::{Colours, Failure, write_problems};
use crate::text::{Printable, Since, Span, counted, time_goes_back};
use crate::trace::TimedProcess;

/// The maximum number of threads to show in one line each.
const BRIEF: usize = 20;

pub(super) struct Text<W> {
    out: W,
    colours: Colours,
    /// The number of threads to show in several lines each.
    limit: usize,
    has_written: bool,
}

type Written = Result<(), Failure>;

/// A thread, with everything needed to show its functions and times.
struct Shower<'a> {
    process: &'a TimedProcess,
    origin_ns: Option<u64>,
    end_ns: u64,
}

impl Shower<'_> {
    fn since(&self, time_ns: u64) -> Since {
        let origin_ns = self.origin_ns;
        Since { time_ns, origin_ns }
    }

    /// Returns why the tracer could not record everything.
    fn recording_error(&self) -> Option<Printable<&String>> {
        let manifest = self.process.manifest()?;
        manifest.recording_error.as_ref().map(Printable)
    }
}

impl<W: Write> Text<W> {
    pub(super) const fn new(out: W, colours: Colours, limit: usize) -> Self {
        Self {
            out,
            colours,
            limit,
            has_written: false,
        }
    }

    /// Writes a thread's name, how its file ended and the number of its events.
    fn heading(&mut self, by: &Shower<'_>, thread: &LastOfThread) -> Written {
        let strong = self.colours.strong;
        write!(self.out, "{strong}thread {}{strong:#}", thread.thread)?;
        if let Some(name) = by.process.thread_name(thread.thread) {
            write!(self.out, " \"{}\"", Printable(name))?;
        }
        write!(self.out, ": ")?;
        let count = thread.event_count;
        let has_footer = matches!(thread.completeness, Completeness::DamagedFooter { .. });
        if thread.missing_events > 0 && !has_footer {
            let all = counted(count.saturating_add(thread.missing_events), "event");
            let bad = self.colours.bad;
            write!(self.out, "{bad}truncated{bad:#} after it was finalized")?;
            return Ok(write!(self.out, ", {count} of {all} left")?);
        }
        self.ending(by, thread)?;
        Ok(write!(self.out, ", {}", counted(count, "event"))?)
    }

    /// Writes a thread in one line.
    fn brief(&mut self, by: &Shower<'_>, thread: &LastOfThread) -> Written {
        self.heading(by, thread)?;
        let bad = self.colours.bad;
        let lost = thread.losses.get(LossKind::Events);
        let lost = lost.map_or(0, |loss| loss.count);
        let lost = lost.saturating_add(thread.missing_events);
        if lost > 0 {
            write!(self.out, ", {bad}lost{bad:#} {}", counted(lost, "event"))?;
        }
        if let Some(end_ns) = end_ns(thread) {
            let before = Span(by.end_ns.saturating_sub(end_ns));
            write!(self.out, ", ended {before} before the last event")?;
        }
        if let Some(call) = thread.open.first() {
            let function = Shown(by.process.function(call.function_id));
            write!(self.out, ", in {function}")?;
        }
        Ok(writeln!(self.out)?)
    }

    fn thread(&mut self, by: &Shower<'_>, thread: &LastOfThread) -> Written {
        writeln!(self.out)?;
        self.heading(by, thread)?;
        if let Some(ring) = thread.ring.filter(|ring| ring.index_bytes > 0) {
            let events = ring.index_bytes / IndexEvent::SIZE as u64;
            write!(self.out, ", the last {events} from ring.atf")?;
        }
        writeln!(self.out)?;
        if let Some(end_ns) = end_ns(thread) {
            write!(self.out, "  ended {} s", by.since(end_ns))?;
            match by.end_ns.saturating_sub(end_ns) {
                0 => writeln!(self.out, ", at the last event of all threads")?,
                ns => {
                    let ns = Span(ns);
                    writeln!(self.out, ", {ns} before the last event of all threads")?;
                }
            }
        }
        if let Some(order) = time_goes_back(thread.out_of_order) {
            let bad = self.colours.bad;
            writeln!(
                self.out,
                "  {bad}{order}{bad:#}: the times shown are corrected"
            )?;
        }
        self.lost(by, thread)?;
        self.open(by, thread)?;
        self.events(by, thread)
    }

    /// Writes the signal, the losses and the unwritten events listed in the manifests.
    fn process(&mut self, by: &Shower<'_>, without_files: Losses) -> Written {
        let bad = self.colours.bad;
        let manifest = by.process.manifest();
        if let Some(signal) = manifest.and_then(|manifest| manifest.ended_by.as_ref()) {
            let signal = Printable(signal);
            writeln!(self.out, "  {bad}ended{bad:#} by {signal}")?;
        }
        if let Some(why) = by.recording_error() {
            writeln!(
                self.out,
                "  {bad}stopped{bad:#} recording some events: {why}"
            )?;
        }
        self.losses(by, without_files, " of threads without files")?;
        if let Some(unwritten) = by.process.unwritten() {
            writeln!(self.out, "  {bad}{unwritten}{bad:#}")?;
        }
        Ok(())
    }

    fn ending(&mut self, by: &Shower<'_>, thread: &LastOfThread) -> Written {
        let Colours { good, odd, bad, .. } = self.colours;
        match Ending::from(&thread.completeness) {
            Ending::Finalized => write!(self.out, "{good}finalized{good:#}")?,
            Ending::HeaderNotUpdated => {
                write!(
                    self.out,
                    "{odd}died{odd:#} while it was being finalized; no event is missing"
                )?;
            }
            ending @ Ending::Unfinalized { .. } if thread.lost_footer => {
                write!(self.out, "{bad}footer lost{bad:#}")?;
                ending.write_rest(&mut self.out)?;
            }
            ending @ Ending::Unfinalized { .. } => {
                match by.recording_error() {
                    Some(why) => write!(self.out, "{bad}stopped{bad:#} recording: {why}")?,
                    None => {
                        write!(
                            self.out,
                            "{bad}died{bad:#} or is still running: not finalized"
                        )?;
                    }
                }
                ending.write_rest(&mut self.out)?;
            }
            Ending::DamagedFooter { offset, .. } => {
                write!(self.out, "{bad}damaged footer{bad:#} at {:#x}", offset.0)?;
            }
        }
        Ok(())
    }

    fn lost(&mut self, by: &Shower<'_>, thread: &LastOfThread) -> Written {
        let bad = self.colours.bad;
        if thread.missing_events > 0 {
            let events = counted(thread.missing_events, "event");
            let place = match thread.completeness {
                Completeness::DamagedFooter { .. } => "at the end or in the middle",
                _ => "at the end",
            };
            writeln!(self.out, "  {bad}missing{bad:#} {events} {place}")?;
        }
        self.losses(by, thread.losses, "")?;
        if died(thread) && thread.ring.is_none() {
            let what = "events that the tracer had not yet written are missing";
            writeln!(self.out, "  {what}")?;
        }
        Ok(())
    }

    fn losses(&mut self, by: &Shower<'_>, losses: Losses, whose: &str) -> Written {
        let bad = self.colours.bad;
        for (kind, loss) in losses.iter() {
            let count = counted(loss.count, kind.noun());
            let [first, last] = [loss.first_ns, loss.last_ns].map(|ns| by.since(ns));
            write!(
                self.out,
                "  {bad}lost{bad:#} by the tracer: {count}{whose}, "
            )?;
            writeln!(self.out, "from {first} to {last} s")?;
        }
        Ok(())
    }

    fn open(&mut self, by: &Shower<'_>, thread: &LastOfThread) -> Written {
        let outer = outer_calls(thread);
        let begun = "whose start is not in the trace";
        let calls = counted(thread.open_count, "call");
        let columns = "innermost first: since, for, depth, function";
        match (thread.open_count, outer) {
            (0, 0) if thread.event_count == 0 && thread.missing_events > 0 => return Ok(()),
            (0, 0) => return Ok(writeln!(self.out, "  no call was open")?),
            (0, _) => {
                let calls = counted(outer, "call");
                return Ok(writeln!(self.out, "  {calls} open {begun}")?);
            }
            (_, 0) => writeln!(self.out, "  {calls} open, {columns}")?,
            _ => writeln!(self.out, "  {calls} open, and {outer} {begun}; {columns}")?,
        }
        for call in &thread.open {
            self.call(by, thread, call)?;
        }
        let more = thread.open_count.saturating_sub(thread.given_up);
        let more = more.saturating_sub(thread.open.len() as u64);
        let outermost = thread.outermost.filter(|_| more > 0);
        if more > 1 {
            let between = counted(more - 1, "call");
            writeln!(self.out, "    … {between} between, see --calls")?;
        }
        if let Some(outermost) = outermost {
            self.call(by, thread, &outermost)?;
        }
        if thread.given_up > 0 {
            let calls = counted(thread.given_up, "outer call");
            let why = "too many were open; they may have returned";
            writeln!(self.out, "    {calls} not known: {why}")?;
        }
        Ok(())
    }

    fn call(&mut self, by: &Shower<'_>, thread: &LastOfThread, call: &Call) -> Written {
        let least = if thread.open_until_ns.is_some() {
            "≥"
        } else {
            ""
        };
        let open = format!("{least}{}", Span(open_ns(thread, call)));
        let function = Shown(by.process.function(call.function_id));
        let (since, depth) = (by.since(call.start_ns), call.depth);
        writeln!(self.out, "    {since} {open:>13} {depth:>4}  {function}")?;
        Ok(())
    }

    fn events(&mut self, by: &Shower<'_>, thread: &LastOfThread) -> Written {
        if thread.events.is_empty() {
            return Ok(());
        }
        let events = counted(thread.events.len() as u64, "event");
        writeln!(self.out, "  the last {events}: time, seq, kind, function")?;
        for (seq, event) in &thread.events {
            let since = by.since(event.timestamp_ns);
            let kind = match event.event_kind.name() {
                Some(name) => name.to_owned(),
                None => format!("kind {}", u32::from(event.event_kind)),
            };
            let function = Shown(by.process.function(event.function_id));
            writeln!(self.out, "    {since} {seq:>8}  {kind:9} {function}")?;
        }
        Ok(())
    }
}

/// Returns how many calls outside those in the trace were open according to the recorded depths.
/// They began before the first event, or their start was lost.
fn outer_calls(thread: &LastOfThread) -> u64 {
    let depth = match (thread.outermost, thread.events.last()) {
        _ if thread.given_up > 0 => 0,
        (Some(call), _) if !call.depth.is_derived() => call.depth.get(),
        (None, Some((_, event))) if event.event_kind != EventKind::CALL => {
            event.call_depth.unwrap_or(0)
        }
        _ => 0,
    };
    depth.saturating_sub(1).into()
}

impl<W: Write> Sink for Text<W> {
    fn section(&mut self, section: &Section<'_>) -> Written {
        let Section {
            process,
            last,
            losses_without_files,
            problems,
        } = *section;
        if self.has_written {
            writeln!(self.out)?;
        }
        self.has_written = true;
        let strong = self.colours.strong;
        let unfinalized = last.threads.iter().filter(|thread| died(thread)).count();
        let damaged = last.threads.iter().filter(|thread| thread.is_unfinalized());
        let damaged = damaged.count() - unfinalized;
        let unreadable: BTreeSet<u32> = last
            .problems
            .iter()
            .filter_map(|problem| problem.thread)
            .filter(|id| last.threads.iter().all(|thread| thread.thread != *id))
            .collect();
        let shown = last.threads.len() + unreadable.len();
        let all = process.selected(&[]).len().max(shown);
        let mut threads = counted(all as u64, "thread");
        if shown < all {
            threads = format!("{shown} of {threads}");
        }
        let path = Printable(process.path().display());
        let noun = process.noun();
        write!(self.out, "{strong}{path}{strong:#}: {noun}, {threads}")?;
        let counts = [
            (unfinalized, "not finalized"),
            (damaged, "damaged at the end"),
            (unreadable.len(), "unreadable"),
        ];
        for (count, what) in counts.iter().filter(|(count, _)| *count > 0) {
            write!(self.out, ", {count} {what}")?;
        }
        if !last.threads.is_empty() && counts.iter().all(|(count, _)| *count == 0) {
            write!(self.out, ", finalized")?;
        }
        writeln!(self.out)?;
        let by = Shower {
            process,
            origin_ns: process.origin_ns(),
            end_ns: last
                .threads
                .iter()
                .filter_map(end_ns)
                .chain(process.end_ns())
                .max()
                .unwrap_or(0),
        };
        self.process(&by, losses_without_files)?;
        let mut threads: Vec<&LastOfThread> = last.threads.iter().collect();
        threads.sort_by_key(|thread| (!thread.is_unfinalized(), Reverse(end_ns(thread))));
        let (full, others) = threads.split_at(self.limit.min(threads.len()));
        for thread in full {
            self.thread(&by, thread)?;
        }
        if !others.is_empty() {
            writeln!(self.out)?;
        }
        for thread in others.iter().take(BRIEF) {
            self.brief(&by, thread)?;
        }
        if let Some(more @ 1..) = others.len().checked_sub(BRIEF) {
            let more = counted(more as u64, "more thread");
            writeln!(self.out, "… and {more}, see --limit and --thread")?;
        }
        for id in unreadable {
            let bad = self.colours.bad;
            writeln!(
                self.out,
                "\n{strong}thread {id}{strong:#}: {bad}unreadable{bad:#}"
            )?;
        }
        if !problems.is_empty() {
            writeln!(self.out)?;
        }
        Ok(write_problems(&mut self.out, self.colours, problems)?)
    }
}
