//! No value is made up in silence: each place where the library puts another value in the place of
//! one that is missing, or returns early as if all was done, is listed here with its reason.
//!
//! A new one fails this test. Make it an error (`Error::internal` where it cannot happen), or list it
//! and say why nothing is lost by it and nothing told wrong.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// A size that does not fit into the memory is greater than any slice: the next line takes the
/// lesser of it and what there is, or compares it.
const GREATER_THAN_ALL: &str = "a size greater than any slice, bounded by the next line";
/// The lines around it prove that the value is there.
const PROVEN: &str = "the lines around it prove it";
/// The format, the file system or the caller may leave it out, and this is what that means.
const MEANS: &str = "absent has this meaning";
/// It stands behind the last event.
const BEHIND: &str = "behind the last event there is none";
/// What is not certain yet is given later, or told when the file ends.
const NOT_YET: &str = "not certain yet";
/// Whoever encodes has asked whether it fits, which a debug build asserts.
const FITS: &str = "what does not fit was refused before";
/// How often it looks, not what it gives.
const PACE: &str = "for the pace alone";
/// For people, who see that something is missing.
const WORDS: &str = "words for people";
/// A clock has no way to tell an error, and no platform is known where it fails.
const CLOCK: &str = "a clock that the platform guarantees";

/// File, line, reason.
const KNOWN: &[(&str, &str, &str)] = &[
    (
        "checksum.rs",
        "u32::try_from(checksum & u64::from(u32::MAX)).unwrap_or_default()",
        PROVEN,
    ),
    (
        "clock/platform.rs",
        "let seconds = u64::try_from(time.tv_sec).unwrap_or(0);",
        CLOCK,
    ),
    (
        "clock/platform.rs",
        "let nanoseconds = u64::try_from(time.tv_nsec).unwrap_or(0);",
        CLOCK,
    ),
    (
        "clock/platform.rs",
        "TIMEBASE.get_or_init(|| ask().unwrap_or(Timebase::NANOSECONDS))",
        CLOCK,
    ),
    (
        "clock/platform.rs",
        "u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX)",
        CLOCK,
    ),
    (
        "clock/timebase.rs",
        ".unwrap_or(u128::MAX);",
        "documented: it saturates",
    ),
    (
        "clock/timebase.rs",
        "u64::try_from(quotient).unwrap_or(u64::MAX)",
        "documented: it saturates",
    ),
    (
        "manifest/json.rs",
        "let raw = object.members.get(key).copied().unwrap_or(object.raw);",
        MEANS,
    ),
    (
        "manifest/json.rs",
        "let rest = self.text.get(end..).unwrap_or_default();",
        PROVEN,
    ),
    (
        "manifest/json.rs",
        "Some((end, _)) => format!(\"{}…\", text.get(..end).unwrap_or_default()),",
        WORDS,
    ),
    (
        "manifest/read.rs",
        "text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)",
        MEANS,
    ),
    (
        "manifest/read.rs",
        "let size = usize::try_from(left).unwrap_or(STEP).min(STEP);",
        GREATER_THAN_ALL,
    ),
    (
        "manifest/read.rs",
        "return Manifest::default();",
        "the problem is noted",
    ),
    (
        "manifest/read.rs",
        ".unwrap_or_default(),",
        "the problem is noted",
    ),
    (
        "manifest/read.rs",
        "for (position, raw) in items.unwrap_or_default().into_iter().enumerate() {",
        MEANS,
    ),
    (
        "platform/mod.rs",
        "false => files::special(file_type).unwrap_or(\"special file\"),",
        WORDS,
    ),
    (
        "record/recorder.rs",
        "let size = u32::try_from(detail.payload.len()).unwrap_or(NO_DETAIL);",
        "the next line counts it as lost",
    ),
    (
        "platform/files_unix.rs",
        "return Ok(bytes);",
        "without a limit all may be written",
    ),
    (
        "rewrite/bits.rs",
        "let size = usize::try_from(count.div_ceil(64)).unwrap_or(usize::MAX);",
        PROVEN,
    ),
    (
        "rewrite/bits.rs",
        "usize::try_from(seq / 64).unwrap_or(usize::MAX),",
        GREATER_THAN_ALL,
    ),
    (
        "rewrite/ends.rs",
        "let footer = self.footer_offset.unwrap_or(self.events_end);",
        MEANS,
    ),
    (
        "rewrite/engine/folder.rs",
        "ring: thread.ring().unwrap_or_default(),",
        MEANS,
    ),
    (
        "rewrite/engine/mod.rs",
        "let threads = names(folder).unwrap_or_default().into_iter();",
        "for the progress alone",
    ),
    (
        "rewrite/engine/session.rs",
        "let name = real.file_name().unwrap_or_default().to_string_lossy();",
        MEANS,
    ),
    (
        "rewrite/engine/session.rs",
        "let name = entry.path().file_name().unwrap_or_default();",
        PROVEN,
    ),
    (
        "rewrite/engine/session.rs",
        "let below = path.strip_prefix(root).unwrap_or(&path);",
        WORDS,
    ),
    ("rewrite/guess.rs", "return Ok(None);", MEANS),
    (
        "rewrite/guess.rs",
        "arch: known(arch, arch.name()).unwrap_or(detail.map_or(Arch(0), |detail| detail.arch)),",
        "a guess, and noted as one",
    ),
    (
        "rewrite/guess.rs",
        "os: known(os, os.name()).unwrap_or(detail.map_or(Os(0), |detail| detail.os)),",
        "a guess, and noted as one",
    ),
    (
        "rewrite/guess.rs",
        ".unwrap_or(0),",
        "a guess, and noted as one",
    ),
    (
        "rewrite/guess.rs",
        "clock_type: known(clock, clock.name()).unwrap_or(Clock(0)),",
        "a guess, and noted as one",
    ),
    (
        "rewrite/guess.rs",
        "let known = |name: Option<&'static str>| name.unwrap_or(\"unknown\");",
        WORDS,
    ),
    (
        "rewrite/manifest.rs",
        "let key = problem.field().unwrap_or_default();",
        MEANS,
    ),
    (
        "rewrite/manifest.rs",
        "let mut new = old.cloned().unwrap_or_default();",
        MEANS,
    ),
    (
        "rewrite/manifest.rs",
        "let (start, end) = facts.time_range.unwrap_or_default();",
        "without events the times are 0",
    ),
    (
        "rewrite/manifest.rs",
        "let module = u32::try_from(symbol.function_id >> 32).unwrap_or_default();",
        PROVEN,
    ),
    (
        "rewrite/manifest.rs",
        "let unknown = unknown.unwrap_or_default();",
        "what is no JSON is copied whole",
    ),
    (
        "rewrite/modes.rs",
        "limit(&target, of_all.unwrap_or(source))?;",
        "a folder that had no files: its own mode counts",
    ),
    (
        "rewrite/report/note.rs",
        "field: error.field().unwrap_or_default().to_owned(),",
        MEANS,
    ),
    (
        "rewrite/salvage.rs",
        "_ => detail.footer_offset().unwrap_or(detail.file_size()),",
        MEANS,
    ),
    (
        "rewrite/salvage.rs",
        "let found = self.0.get(first..).unwrap_or_default().iter().map(place);",
        PROVEN,
    ),
    (
        "rewrite/side.rs",
        "let (time_start_ns, time_end_ns) = self.times.unwrap_or_default();",
        "without events the times are 0",
    ),
    (
        "rewrite/side.rs",
        "let (time_start_ns, time_end_ns) = self.times.unwrap_or_default();",
        "without events the times are 0",
    ),
    (
        "rewrite/stage.rs",
        "return Ok(None);",
        "nothing is stored from there on",
    ),
    (
        "rewrite/stage.rs",
        "compare(one, other).unwrap_or(false)",
        "what cannot be compared is told as changed",
    ),
    (
        "rewrite/stage.rs",
        "return false;",
        "what cannot be compared is told as changed",
    ),
    (
        "rewrite/thread/mod.rs",
        "let target = job.wire.unwrap_or(header.wire);",
        MEANS,
    ),
    ("rewrite/thread/mod.rs", "return Ok(None);", MEANS),
    ("rewrite/thread/notes.rs", "return Ok(found);", MEANS),
    ("rewrite/thread/notes.rs", "return;", MEANS),
    ("rewrite/thread/rest.rs", "return Ok(());", MEANS),
    (
        "rewrite/thread/rest.rs",
        "let name = path.file_name().unwrap_or_default();",
        PROVEN,
    ),
    (
        "ring.rs",
        "let mut bytes = vec![0; usize::try_from(size).unwrap_or(usize::MAX)];",
        PROVEN,
    ),
    (
        "ring.rs",
        "let size = usize::try_from(max.saturating_sub(found)).unwrap_or(usize::MAX);",
        GREATER_THAN_ALL,
    ),
    (
        "source/followed.rs",
        "let size = usize::try_from(left).unwrap_or(usize::MAX);",
        GREATER_THAN_ALL,
    ),
    (
        "source/input.rs",
        "return Ok(end);",
        "what is in memory has no holes that are known",
    ),
    (
        "source/input.rs",
        "return Ok(start);",
        "nothing is stored from there on",
    ),
    (
        "source/mod.rs",
        "let start = usize::try_from(offset).unwrap_or(usize::MAX);",
        GREATER_THAN_ALL,
    ),
    (
        "source/mod.rs",
        "let mut rest = self.get(start..).unwrap_or_default();",
        "behind the end there is nothing to read",
    ),
    (
        "sys/clock_windows.rs",
        "u64::try_from(count).unwrap_or(0)",
        CLOCK,
    ),
    (
        "sys/clock_windows.rs",
        "u64::try_from(frequency).unwrap_or(0)",
        CLOCK,
    ),
    (
        "window.rs",
        "let most = usize::try_from(end.saturating_sub(offset)).unwrap_or(usize::MAX);",
        GREATER_THAN_ALL,
    ),
    (
        "window.rs",
        "Ok(view.get(..most).unwrap_or(view))",
        "there is less than that at hand",
    ),
    (
        "window.rs",
        "skip.and_then(|skip| bytes.get(skip..)).unwrap_or_default()",
        "nothing is at hand there",
    ),
    (
        "window.rs",
        "let length = usize::try_from(end.saturating_sub(range.start)).unwrap_or(usize::MAX);",
        PROVEN,
    ),
    (
        "window.rs",
        "self.buffer.truncate(*read.as_ref().unwrap_or(&0));",
        "the error is returned below",
    ),
    (
        "window.rs",
        "buffer.resize(usize::try_from(size).unwrap_or(usize::MAX), 0);",
        PROVEN,
    ),
    (
        "write/memory.rs",
        "let bytes = bytes.get(..most).unwrap_or(bytes);",
        MEANS,
    ),
    (
        "write/section.rs",
        "let left = usize::try_from(end.saturating_sub(at)).unwrap_or(usize::MAX);",
        GREATER_THAN_ALL,
    ),
    (
        "write/section.rs",
        "Err(failure) => bytes.get(..failure.written).unwrap_or(bytes),",
        PROVEN,
    ),
    (
        "write/session.rs",
        "false => Some(shared.time_range().unwrap_or((0, 0))),",
        "without events the times are 0",
    ),
    (
        "write/session.rs",
        "let (date, time) = digits.split_at_checked(8).unwrap_or((&digits, \"\"));",
        PROVEN,
    ),
    (
        "write/thread/ends.rs",
        "time_start_ns: self.first_timestamp.unwrap_or(0),",
        "without events the times are 0",
    ),
    (
        "write/thread/push.rs",
        "let left = usize::try_from(left).unwrap_or(usize::MAX);",
        GREATER_THAN_ALL,
    ),
    (
        "write/thread/whole.rs",
        "let size = usize::try_from(header.total_length).unwrap_or(usize::MAX);",
        GREATER_THAN_ALL,
    ),
    (
        "detail/framing.rs",
        "bytes = rest.unwrap_or_default();",
        "an event that ends behind what is at hand is the last one there",
    ),
    (
        "detail/framing.rs",
        "let count = usize::try_from(header.event_count).unwrap_or(usize::MAX);",
        PROVEN,
    ),
    (
        "detail/framing.rs",
        "let min = u32::try_from(EVENT_HEADER_SIZE).unwrap_or(u32::MAX);",
        WORDS,
    ),
    (
        "detail/framing.rs",
        "return Ok(());",
        "without an event none was torn",
    ),
    (
        "detail/framing.rs",
        "return Ok(None);",
        "no room for a footer, so none was damaged",
    ),
    ("detail/iter.rs", "return Ok(None);", BEHIND),
    (
        "detail/reader.rs",
        ".unwrap_or(&self.framing.end);",
        "the last event ends where all do",
    ),
    (
        "detail/reader.rs",
        ".unwrap_or(usize::MAX)",
        GREATER_THAN_ALL,
    ),
    (
        "detail/reader.rs",
        "let buffer = buffer.get_mut(..size).unwrap_or_default();",
        PROVEN,
    ),
    (
        "detail/reader.rs",
        "let footer = self.footer_offset().unwrap_or_default();",
        WORDS,
    ),
    (
        "detail/reader.rs",
        "let min = u32::try_from(available).unwrap_or(u32::MAX);",
        WORDS,
    ),
    (
        "detail/reader.rs",
        "let size = usize::try_from(found).unwrap_or(limit);",
        PROVEN,
    ),
    (
        "detail/reader.rs",
        "return Ok(Checksum::NotChecked);",
        "without a footer there is no checksum",
    ),
    ("detail/reader.rs", "return Ok(None);", BEHIND),
    (
        "follow/detail.rs",
        ".resize(usize::try_from(AHEAD.min(left)).unwrap_or_default(), 0);",
        PROVEN,
    ),
    (
        "follow/detail.rs",
        ".unwrap_or_default())",
        "the file ends before it, which the caller compares",
    ),
    (
        "follow/detail.rs",
        "let buffer = buffer.get_mut(..size).unwrap_or_default();",
        PROVEN,
    ),
    (
        "follow/detail.rs",
        "let min = u32::try_from(EVENT_HEADER_SIZE).unwrap_or(u32::MAX);",
        WORDS,
    ),
    (
        "follow/detail.rs",
        "let mut payload = vec![0; usize::try_from(size).unwrap_or_default()];",
        PROVEN,
    ),
    (
        "follow/detail.rs",
        "let size = usize::try_from(left).unwrap_or(usize::MAX);",
        GREATER_THAN_ALL,
    ),
    (
        "follow/detail.rs",
        "let size = usize::try_from(size.min(left)).unwrap_or_default();",
        PROVEN,
    ),
    (
        "follow/detail.rs",
        "self.buffer.truncate(*read.as_ref().unwrap_or(&0));",
        "the next line returns the error",
    ),
    (
        "follow/index.rs",
        "_ => !is_written(behind.get(..IndexEvent::SIZE).unwrap_or(behind)),",
        MEANS,
    ),
    (
        "follow/index.rs",
        "let behind = next.get(..IndexEvent::SIZE).unwrap_or(next);",
        MEANS,
    ),
    (
        "follow/index.rs",
        "let mut bytes = vec![0; usize::try_from(size).unwrap_or_default()];",
        PROVEN,
    ),
    (
        "follow/index.rs",
        "let new = bytes.get(again..).unwrap_or_default();",
        PROVEN,
    ),
    (
        "follow/index.rs",
        "let new = self.buffer.get(self.given..).unwrap_or_default();",
        PROVEN,
    ),
    (
        "follow/index.rs",
        "let next = rest.get(IndexEvent::SIZE..).unwrap_or_default();",
        PROVEN,
    ),
    (
        "follow/index.rs",
        "let records = records.get(..count).unwrap_or_default();",
        PROVEN,
    ),
    (
        "follow/index.rs",
        "let rest = self.buffer.get(self.given..).unwrap_or_default();",
        PROVEN,
    ),
    (
        "follow/index.rs",
        "return Ok(true);",
        "with nothing behind it, it may be one: the event waits",
    ),
    (
        "follow/session.rs",
        "self.places = self.manifest.as_ref().map(Places::of).unwrap_or_default();",
        MEANS,
    ),
    (
        "follow/thread.rs",
        "return Ok(Polled::New(self.with(event, None)));",
        MEANS,
    ),
    ("index/blocks.rs", ".unwrap_or_default()", PROVEN),
    (
        "index/event.rs",
        "call_depth: self.call_depth.unwrap_or(0).into(),",
        "wire version 2 has no depth (calls.depth)",
    ),
    (
        "index/event.rs",
        "detail_seq: self.detail_seq.unwrap_or(NONE).into(),",
        MEANS,
    ),
    (
        "index/event.rs",
        "event_kind: u8::try_from(u32::from(self.event_kind)).unwrap_or(u8::MAX),",
        FITS,
    ),
    (
        "index/event.rs",
        "let link = |seq| u32::try_from(seq).unwrap_or(NONE);",
        FITS,
    ),
    ("index/iter.rs", "return Ok(None);", BEHIND),
    (
        "index/iter.rs",
        "self.front.truncate(*read.as_ref().unwrap_or(&0));",
        "the next line returns the error",
    ),
    (
        "index/reader.rs",
        "let footer = self.footer_offset().unwrap_or_default();",
        WORDS,
    ),
    ("index/records.rs", "return Ok(0);", BEHIND),
    (
        "index/scan.rs",
        "let first = first_back(events, before).unwrap_or_default();",
        PROVEN,
    ),
    (
        "index/scan.rs",
        "let first = ranges.next().unwrap_or(0..count);",
        PROVEN,
    ),
    ("index/scan.rs", "return false;", MEANS),
    ("index/scan.rs", "return;", "a block without events"),
    (
        "index/section.rs",
        ".unwrap_or(FOOTER_SIZE)",
        GREATER_THAN_ALL,
    ),
    (
        "index/section.rs",
        "input.read_exact(offset, bytes.get_mut(..size).unwrap_or_default())?;",
        PROVEN,
    ),
    (
        "index/slice.rs",
        "events: events.unwrap_or_default(),",
        PROVEN,
    ),
    (
        "index/sparse.rs",
        "(usize::try_from(first).unwrap_or(usize::MAX)..events.len()).step_by(stride);",
        GREATER_THAN_ALL,
    ),
    (
        "index/sparse.rs",
        "let stride = usize::try_from(self.stride).unwrap_or(usize::MAX);",
        GREATER_THAN_ALL,
    ),
    (
        "index/time.rs",
        "(self.low.unwrap_or(self.high), self.high)",
        MEANS,
    ),
    (
        "index/time.rs",
        "Ok(events.timestamp_ns(position).unwrap_or(u64::MAX))",
        PROVEN,
    ),
    ("index/time.rs", "let high = high.unwrap_or(end);", MEANS),
    (
        "index/time.rs",
        "let position = usize::try_from(seq).unwrap_or(usize::MAX);",
        PROVEN,
    ),
    (
        "index/time.rs",
        "let seqs = seqs.unwrap_or(0..self.event_count());",
        "out of order, all events are looked at",
    ),
    (
        "merge/events.rs",
        "let mut all = problems.get(..*unopened).unwrap_or_default().to_vec();",
        PROVEN,
    ),
    (
        "merge/feed.rs",
        "let rest = records.get(places.clone()).unwrap_or_default();",
        PROVEN,
    ),
    (
        "merge/feed.rs",
        "self.records.truncate(*read.as_ref().unwrap_or(&0));",
        "the next line returns the error",
    ),
    (
        "merge/lanes.rs",
        "let at_hand = self.feed.records().get(at..self.end).unwrap_or_default();",
        PROVEN,
    ),
    (
        "merge/mod.rs",
        "times => Some(times.unwrap_or((u64::MAX, 0))),",
        "a range that holds no time",
    ),
    (
        "merge/pace.rs",
        "let size = u32::try_from(threads).unwrap_or(u32::MAX);",
        PACE,
    ),
    ("merge/pace.rs", "return;", PACE),
    (
        "merge/partition.rs",
        "count => self.cut(&parts, count).unwrap_or_default(),",
        "one partition meets the error where it stands",
    ),
    (
        "merge/partition.rs",
        "let budget = self.budget.checked_div(cut.len()).unwrap_or_default();",
        PROVEN,
    ),
    (
        "merge/partition.rs",
        "let stride = total.checked_div(wanted).unwrap_or_default().max(1);",
        PROVEN,
    ),
    (
        "merge/plan.rs",
        "let size = budget.checked_div(threads.len()).unwrap_or(most);",
        PROVEN,
    ),
    (
        "merge/tree.rs",
        "self.nodes.first().copied().unwrap_or(Key::END)",
        MEANS,
    ),
    (
        "session.rs",
        "return false;",
        "a path without a name is no file of a trace",
    ),
    (
        "session.rs",
        "let places = || self.manifest.as_ref().map(Places::of).unwrap_or_default();",
        MEANS,
    ),
    (
        "spans/mod.rs",
        "None => Self::Derived(u32::try_from(open).unwrap_or(u32::MAX)),",
        "as deep as a depth can be told",
    ),
    (
        "spans/mod.rs",
        "let end = self.end_ns.unwrap_or(u64::MAX).min(range.end);",
        "an open call goes on",
    ),
    ("spans/stack.rs", "return;", MEANS),
    ("thread.rs", "return Ok(Linked::NoLink);", MEANS),
    (
        "thread.rs",
        "return Ok(index);",
        "without a ring the files are all there is",
    ),
    ("follow/detail.rs", "return Ok(None);", NOT_YET),
    ("follow/detail.rs", "return Ok(None);", NOT_YET),
    ("follow/detail.rs", "return Ok(None);", NOT_YET),
    ("follow/detail.rs", "return Ok(None);", NOT_YET),
    ("follow/index.rs", "return Ok(None);", NOT_YET),
    ("follow/detail.rs", "return Ok(Polled::NotYet);", NOT_YET),
    ("follow/index.rs", "return Ok(Polled::NotYet);", NOT_YET),
    ("follow/index.rs", "return Ok(Polled::NotYet);", NOT_YET),
    (
        "index/time.rs",
        "return Ok(None);",
        "not known from the ends: the caller reads all",
    ),
    (
        "index/time.rs",
        "return Ok(None);",
        "not known from the ends: the caller reads all",
    ),
    (
        "index/time.rs",
        "return Ok(None);",
        "not known from the ends: the caller reads all",
    ),
    (
        "index/time.rs",
        "return Ok(Some(0..0));",
        "a range that holds no time",
    ),
    (
        "index/time.rs",
        "return Ok(Some(0..0));",
        "a range that holds no time",
    ),
];

/// What is not looked at: code of tests.
const TESTS: [&str; 2] = ["write/limits.rs", "ring/interleavings.rs"];
/// Whether a line, in a file's text before its tests, puts a value in the place of a missing one.
fn makes_up(line: &str) -> bool {
    line.contains("unwrap_or_default()") || line.contains("unwrap_or(")
}

/// Whether a line returns as if all was done, right after `let … else {`.
fn returns_early(line: &str, before: &str) -> bool {
    let is_else = before == "else {" || (before.starts_with("let ") && before.ends_with("else {"));
    let is_early = [
        "return;",
        "return Ok(",
        "return false",
        "return Map",
        "return Manifest",
    ];
    is_else && is_early.iter().any(|early| line.starts_with(early))
}

/// The lines of a file that must have a reason.
fn silent(text: &str) -> Vec<&str> {
    let text = text.split("#[cfg(test)]\nmod tests").next().unwrap();
    let lines: Vec<_> = text.lines().map(str::trim).collect();
    let code = lines.iter().enumerate();
    let silent = code.filter(|(at, line)| {
        let before = at.checked_sub(1).map_or("", |before| lines[before]);
        !line.starts_with("//") && (makes_up(line) || returns_early(line, before))
    });
    silent.map(|(_, line)| *line).collect()
}

fn files(folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push(path.to_str().unwrap().replace('\\', "/"));
        }
    }
}

#[test]
fn every_value_that_is_put_in_the_place_of_a_missing_one_has_its_reason() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/src/");
    let mut paths = Vec::new();
    files(Path::new(root), &mut paths);
    let mut counts: BTreeMap<(String, String), i64> = BTreeMap::new();
    for (file, line, reason) in KNOWN {
        assert!(!reason.is_empty());
        *counts
            .entry(((*file).to_owned(), (*line).to_owned()))
            .or_default() -= 1;
    }
    let mut looked_at = 0;
    for path in paths {
        let name = path.split("/src/").last().unwrap();
        if TESTS.contains(&name) {
            continue;
        }
        looked_at += 1;
        for line in silent(&fs::read_to_string(&path).unwrap()) {
            *counts
                .entry((name.to_owned(), line.to_owned()))
                .or_default() += 1;
        }
    }
    assert!(looked_at > 50, "{looked_at}");
    let wrong = |wanted: fn(i64) -> bool| {
        let wrong = counts.iter().filter(|(_, count)| wanted(**count));
        let wrong = wrong.map(|((file, line), _)| format!("\n  {file}: {line}"));
        wrong.collect::<String>()
    };
    let (new, gone) = (wrong(|count| count > 0), wrong(|count| count < 0));
    assert!(
        new.is_empty(),
        "lines without a reason: make them errors, or list them:{new}"
    );
    assert!(
        gone.is_empty(),
        "lines that are listed and not there any more:{gone}"
    );
}

#[test]
fn a_line_is_found_by_what_it_does() {
    let text = "\
        let a = b.unwrap_or_default();\n\
        // c.unwrap_or(0)\n\
        let Some(a) = b else {\n    return Ok(());\n};\n\
        let Some(a) = b else {\n    return Err(error);\n};\n\
        if a {\n    b();\n} else {\n    return Ok(());\n}\n\
        #[cfg(test)]\nmod tests {\n    let a = b.unwrap_or(0);\n}\n";
    assert_eq!(
        silent(text),
        ["let a = b.unwrap_or_default();", "return Ok(());"]
    );
}
