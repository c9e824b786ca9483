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
        "let json = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);",
        MEANS,
    ),
    (
        "manifest/read.rs",
        "start.saturating_add(usize::try_from(left).unwrap_or(STEP).min(STEP)),",
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
        "let items = items.unwrap_or_default().into_iter().enumerate();",
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
        "rewrite/bits.rs",
        "let words = usize::try_from(count.div_ceil(64)).unwrap_or(usize::MAX);",
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
        "return Map::new();",
        "what is no JSON is copied whole",
    ),
    (
        "rewrite/manifest.rs",
        "serde_json::from_str(text.strip_prefix('\\u{feff}').unwrap_or(text)).ok()",
        MEANS,
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
];

/// What is not looked at: code of tests.
const TESTS: [&str; 2] = ["write/limits.rs", "ring/interleavings.rs"];
/// What is looked at another time: the readers.
const LATER: [&str; 9] = [
    "index/",
    "detail/",
    "merge/",
    "spans/",
    "follow/",
    "session/",
    "session.rs",
    "thread.rs",
    "verify",
];

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
        let is_later = LATER.iter().any(|later| name.starts_with(later));
        if TESTS.contains(&name) || is_later {
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
