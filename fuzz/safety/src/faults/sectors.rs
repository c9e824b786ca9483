//! Tests `recover` on files with bad sectors.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::ops::Range;
use std::path::Path;

use atf::detail::DetailReader;
use atf::rewrite::{RecoverOptions, Report};
use atf::thread::{Linked, ThreadReader};
use atf_fuzz::scratch;
use atf_samples::files::{DetailFile, DetailRecord, IndexFile, ring_after};
use atf_samples::tree;
use serde_json::json;

use super::recovering::not_found;
use super::{Layer, Recover, Tally};

/// The size of a sector in bytes.
pub const SECTOR: usize = 512;
/// The number of index events. Every third event has a detail.
const EVENTS: u64 = 90;
/// The size of a file header in bytes.
const HEADER: u64 = 64;
/// The size of an index event in bytes.
const EVENT: u64 = 32;
/// The size of a kill journal's header in bytes.
const RING: u64 = 128;
/// The numbers of events and details in the files if the rest are in a kill journal.
const IN_FILES: (usize, usize) = (60, 20);

/// The maximum number of failing reads of a completely unreadable `index.atf`. A disk can take
/// seconds for each failing read. Finding the bad sectors takes one read for each of the six
/// sectors, and two for the pieces that contain them.
const MOST_READS: usize = 12;

/// How a session's writer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Finalized,
    Killed,
    /// The writer was killed, with its last events in `ring.atf`.
    Ring,
}

/// Recovers sample sessions with one or two adjacent unreadable sectors, trying each sector in
/// turn.
///
/// # Errors
///
/// Returns an error if the temporary folders cannot be created.
pub fn sectors(layer: Layer, recovers: Recover<'_>) -> io::Result<Tally> {
    let folder = scratch();
    let mut tally = Tally::default();
    let states = [State::Finalized, State::Killed, State::Ring];
    for (version, state) in [1, 2]
        .into_iter()
        .flat_map(|it| states.map(|state| (it, state)))
    {
        let session = Session::new(version, state);
        let [from, out] = ["in", "out"].map(|name| folder.path().join(name));
        fs::remove_dir_all(&from).or_else(not_found)?;
        let thread = from.join("thread_7");
        fs::create_dir_all(&thread)?;
        for (name, bytes) in [
            ("index.atf", &session.index),
            ("detail.atf", &session.detail),
        ] {
            fs::write(thread.join(name), bytes)?;
        }
        if !session.ring.is_empty() {
            fs::write(thread.join("ring.atf"), &session.ring)?;
        }
        // If a file's header is unreadable, nothing proves that a kill journal belongs to the file.
        let first = usize::from(state == State::Ring) * SECTOR;
        for (name, bytes, first) in [
            ("index.atf", &session.index, first),
            ("detail.atf", &session.detail, first),
            ("ring.atf", &session.ring, 0),
        ] {
            let starts = (first..bytes.len()).step_by(SECTOR);
            for (start, count) in starts.flat_map(|start| [(start, 1), (start, 2)]) {
                let end = (start + count * SECTOR).min(bytes.len());
                let bad = start as u64..end as u64;
                fs::remove_dir_all(&out).or_else(not_found)?;
                layer.break_sector(&format!("/in/thread_7/{name}"), &bad);
                let report = recovers(&from, &out, &RecoverOptions::default());
                let _ = layer.log()?;
                tally.runs += 1;
                let judged = match report {
                    Ok(report) => session.judge(name, &bad, &report, &out),
                    Err(error) => Err(format!("gives up: {error}")),
                };
                if let Err(fault) = judged {
                    let case = format!("wire {version}, {state:?}, {name}, {bad:?}");
                    tally.faults.push(format!("{case}: {fault}"));
                }
            }
        }
        fs::remove_dir_all(&out).or_else(not_found)?;
        layer.break_sector("/in/thread_7/index.atf", &(0..session.index.len() as u64));
        let _ = recovers(&from, &out, &RecoverOptions::default());
        tally.runs += 1;
        let log = layer.log()?;
        let failed = log.iter().filter(|call| *call == "bad sector").count();
        if failed > MOST_READS {
            tally.faults.push(format!(
                "wire {version}, {state:?}: {failed} reads of a lost file"
            ));
        }
        let source = tree(&from)?;
        let ring = Some(&session.ring).filter(|ring| !ring.is_empty());
        if source
            .values()
            .ne([&session.detail, &session.index].into_iter().chain(ring))
        {
            tally.faults.push("changes its input".to_owned());
        }
    }
    Ok(tally)
}

/// A sample session, with the byte range of each detail.
struct Session {
    events: IndexFile,
    index: Vec<u8>,
    details: Vec<(DetailRecord, Range<u64>)>,
    detail: Vec<u8>,
    ring: Vec<u8>,
    /// The areas of the kill journal.
    areas: Vec<Area>,
}

/// An area of a kill journal.
struct Area {
    /// The file that the area continues.
    file: &'static str,
    /// The bytes in the kill journal.
    place: Range<u64>,
    /// The offset in the file.
    start: u64,
}

impl Session {
    fn new(version: u8, state: State) -> Self {
        let events = IndexFile::finalized(version, EVENTS);
        let linked = events.events.iter().zip(0..).step_by(3);
        // Payload sizes vary, so that headers and payloads end at many different distances from a
        // sector's end.
        let record = |(event, seq): (&atf_samples::files::EventRecord, u64)| {
            DetailRecord::call(seq, event.timestamp_ns, u16::try_from(seq * 7).unwrap_or(0))
        };
        let details = DetailFile::new(version, linked.map(record).collect());
        let (mut index, mut detail) = if state == State::Finalized {
            (events.bytes(), details.bytes())
        } else {
            (
                events.clone().placeholder().without_footer(),
                details.clone().placeholder().without_footer(),
            )
        };
        let ends = details.places();
        let places = ends.windows(2).map(|ends| ends[0]..ends[1]);
        let places: Vec<_> = details.events.iter().cloned().zip(places).collect();
        let (mut in_ring, mut areas) = (Vec::new(), Vec::new());
        if state == State::Ring {
            let (events, details) = IN_FILES;
            let starts = [Self::place(events).start, places[details].1.start];
            let starts = starts.map(|start| usize::try_from(start).unwrap_or(0));
            in_ring = ring_after(version, 7, [&index, &detail], starts);
            let mut offset = RING;
            for (file, bytes, start) in [
                ("index.atf", &index, starts[0]),
                ("detail.atf", &detail, starts[1]),
            ] {
                let place = offset..offset + (bytes.len() - start) as u64;
                offset = place.end;
                let start = start as u64;
                areas.push(Area { file, place, start });
            }
            index.truncate(starts[0]);
            detail.truncate(starts[1]);
        }
        Self {
            events,
            index,
            details: places,
            detail,
            ring: in_ring,
            areas,
        }
    }

    /// Returns the lost bytes as ranges of the two files. The bytes of a kill journal are treated
    /// as following the end of the files. If the journal's header is lost, all its bytes are lost.
    fn bad_parts(&self, name: &str, bad: &Range<u64>) -> Vec<(&str, Range<u64>)> {
        let files = ["index.atf", "detail.atf"];
        if let Some(file) = files.into_iter().find(|file| *file == name) {
            return vec![(file, bad.clone())];
        }
        let bad = if bad.start < RING {
            RING..u64::MAX
        } else {
            bad.clone()
        };
        let part = |area: &Area| {
            let (start, end) = (bad.start.max(area.place.start), bad.end.min(area.place.end));
            let place = |offset| offset - area.place.start + area.start;
            (start < end).then(|| (area.file, place(start)..place(end)))
        };
        let mut parts: Vec<_> = self.areas.iter().filter_map(part).collect();
        if let [(_, index), (_, detail)] = &parts[..] {
            // If a detail's length is lost, later details can be found only through the links of
            // their index events.
            let details = self.details.iter().map(|(_, place)| place).zip(0..);
            let mut unfound = details.filter(|(place, seq)| {
                place.start >= detail.end && Self::place(3 * seq).end > index.start
            });
            if let Some((first, _)) = unfound.next() {
                let end = unfound.last().map_or(first.end, |(last, _)| last.end);
                parts.push(("detail.atf", first.start..end));
            }
        }
        parts
    }

    /// Returns the byte range of an index event.
    fn place(seq: usize) -> Range<u64> {
        let start = HEADER + EVENT * seq as u64;
        start..start + EVENT
    }

    /// Checks that the recovered thread has exactly the events outside the bad range.
    fn judge(
        &self,
        name: &str,
        bad: &Range<u64>,
        report: &Report,
        out: &Path,
    ) -> Result<(), String> {
        let parts = self.bad_parts(name, bad);
        let is_lost = |file: &str, place: &Range<u64>| {
            let mut parts = parts.iter();
            parts.any(|(name, bad)| *name == file && place.start < bad.end && bad.start < place.end)
        };
        let mut expected = String::new();
        let mut orphans = String::new();
        for (seq, event) in self.events.events.iter().enumerate() {
            let detail = event.detail_seq.and_then(|link| {
                let (record, place) = self.details.get(usize::try_from(link).ok()?)?;
                (!is_lost("detail.atf", place)).then_some(record)
            });
            let payload = detail.map(|detail| &detail.payload[..]);
            if is_lost("index.atf", &Self::place(seq)) {
                orphans.extend(payload.map(|payload| format!("{payload:?}\n")));
                continue;
            }
            let (time, function, kind) = (event.timestamp_ns, event.function_id, event.kind);
            let _ = writeln!(expected, "{time} {function} {kind} {payload:?}");
        }
        let fail = |error: atf::Error| error.to_string();
        let found = recovered(&out.join("thread_7")).map_err(fail)?;
        if found != expected {
            return Err(differs(&found, &expected));
        }
        let found = set_aside(&out.join("thread_7/orphans.atf")).map_err(fail)?;
        if found != orphans {
            return Err(format!("orphans: {}", differs(&found, &orphans)));
        }
        self.is_stated(name, bad, report)
    }

    /// Checks that the report contains the file and the range of unreadable bytes, rounded to whole
    /// events.
    fn is_stated(&self, name: &str, bad: &Range<u64>, report: &Report) -> Result<(), String> {
        let thread = serde_json::to_value(report).map_err(|error| error.to_string())?;
        let thread = &thread["sessions"][0]["threads"][0];
        let list = |key: &str| thread[key].as_array().into_iter().flatten();
        let is_header = name == "ring.atf" && bad.start < RING;
        let mut notes = list("notes").filter(|note| note["what"] == "ring_not_read");
        if is_header != (notes.next().is_some_and(|note| note["count"] == 1)) {
            return Err("the note on ring.atf is wrong".to_owned());
        }
        let mut expected = Vec::new();
        for (file, bad) in self.bad_parts(name, bad) {
            if is_header {
                break;
            }
            let events: Vec<_> = match file {
                "index.atf" => (0..self.events.events.len()).map(Self::place).collect(),
                _ => self.details.iter().map(|(_, it)| it.clone()).collect(),
            };
            let touched = events
                .iter()
                .filter(|place| place.start < bad.end && bad.start < place.end);
            let (start, end) = touched.fold((bad.start, bad.end), |(start, end), place| {
                (start.min(place.start), end.max(place.end))
            });
            let area = self.areas.iter().find(|area| area.file == file);
            let offset = match area.filter(|_| name == "ring.atf") {
                Some(area) => start - area.start + area.place.start,
                None => start,
            };
            expected.push((name, offset, end - start, 1));
        }
        let lost = list("dropped").filter(|it| it["why"] == "unreadable");
        let stated = expected.iter().map(|(file, offset, size, count)| {
            json!({"file": file, "why": "unreadable", "offset": offset, "size": size, "count": count})
        });
        if !lost.clone().eq(stated.collect::<Vec<_>>().iter()) {
            return Err(format!(
                "states {:?}, not {expected:?}",
                lost.collect::<Vec<_>>()
            ));
        }
        let text = report.to_string();
        let line = |(_, offset, size, _)| format!(": {name}: {size} bytes (at {offset:#x})");
        let mut lines = expected.into_iter().map(line);
        match lines.find(|line| !text.contains(line)) {
            None if report.losses() > 0 => Ok(()),
            missing => Err(format!(
                "{} losses, and the text does not contain {missing:?}",
                report.losses()
            )),
        }
    }
}

/// Formats one line per event, with the payload of its detail.
fn recovered(folder: &Path) -> atf::Result<String> {
    let thread = ThreadReader::open(folder)?;
    let mut text = String::new();
    for event in thread.index().events() {
        let event = event?;
        let payload = match (thread.detail_of(&event)?, thread.detail()) {
            (Linked::To(detail), Some(reader)) => Some(reader.payload(&detail, usize::MAX)?),
            _ => None,
        };
        let (time, function) = (event.timestamp_ns, event.function_id);
        let kind = u32::from(event.event_kind);
        let _ = writeln!(text, "{time} {function} {kind} {payload:?}");
    }
    match thread.problems()?.pop() {
        Some(problem) => Err(problem),
        None => Ok(text),
    }
}

/// Formats one line per detail that was set aside.
fn set_aside(path: &Path) -> atf::Result<String> {
    let mut text = String::new();
    if !path.exists() {
        return Ok(text);
    }
    let reader = DetailReader::open(path)?;
    for detail in reader.events() {
        let payload = reader.payload(&detail?, usize::MAX)?;
        let _ = writeln!(text, "{payload:?}");
    }
    Ok(text)
}

/// Describes the first line that differs.
fn differs(found: &str, expected: &str) -> String {
    let counts = [found, expected].map(|text| text.lines().count());
    let mut lines = found.lines().zip(expected.lines());
    let first = lines.find(|(found, expected)| found != expected);
    format!("{} of {} events, first {first:?}", counts[0], counts[1])
}
