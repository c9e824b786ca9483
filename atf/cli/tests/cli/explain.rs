//! `explain`: shows every byte exactly once, under the name of its field.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::{atf, clean, golden, lines, number, sample_files, texts, written};
use atf_samples::files::{DetailFile, DetailRecord, IndexFile, padded, patched};

/// Returns the bytes shown in text output. Each line must start where the previous one ended.
fn told(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for line in text.lines().filter(|line| line.starts_with("  0x")) {
        let (offset, rest) = line.trim_start().split_once("  ").unwrap();
        let offset = usize::from_str_radix(offset.trim_start_matches("0x"), 16).unwrap();
        assert_eq!(offset, bytes.len(), "{line}");
        let digits: String = rest.chars().take(23).collect();
        for digits in digits.split_whitespace() {
            bytes.push(u8::from_str_radix(digits, 16).unwrap());
        }
    }
    bytes
}

/// Returns the bytes shown in JSON lines.
fn told_json(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for line in lines(text) {
        assert_eq!(number(&line["offset"]), bytes.len() as u64, "{line}");
        let digits = line["bytes"].as_str().unwrap();
        assert_eq!(number(&line["size"]), digits.len() as u64 / 2);
        for digits in digits.as_bytes().chunks(2) {
            let digits = str::from_utf8(digits).unwrap();
            bytes.push(u8::from_str_radix(digits, 16).unwrap());
        }
    }
    bytes
}

fn told_in_both_forms(folder: &Path, path: &Path) -> [Vec<u8>; 2] {
    let path = path.to_str().unwrap();
    let text = atf(folder, &["explain", "--all", path]);
    let json = atf(folder, &["explain", "--all", "--json", path]);
    let (status, text, _) = texts(&text);
    assert!(status < 2, "{path}");
    [told(text), told_json(texts(&json).1)]
}

#[test]
fn every_byte_of_every_sample_file_is_shown_exactly_once() {
    for path in sample_files() {
        let bytes = fs::read(&path).unwrap();
        for told in told_in_both_forms(Path::new("."), &path) {
            assert!(told == bytes, "{}", path.display());
        }
    }
}

/// Returns files that end in every possible way, and files damaged in critical places.
fn odd_files() -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for version in [1, 2] {
        let index = IndexFile::finalized(version, 5);
        let details = [0, 17, 256].map(|stack| DetailRecord::call(stack.into(), 1000, stack));
        let mut details = details.to_vec();
        details[1].payload.truncate(70);
        let detail = DetailFile::of(version, details);
        for (kind, whole, footer) in [
            ("index", index.bytes(), index.without_footer().len()),
            ("detail", detail.bytes(), detail.bytes().len() - 64),
        ] {
            let mut add = |name: &str, bytes: Vec<u8>| {
                files.push((format!("{kind}{version}-{name}"), bytes));
            };
            add("whole", whole.clone());
            add("zero-tail", padded(&whole[..footer], 100));
            add("zero-tail-of-events", padded(&whole[..footer - 9], 160));
            add("trailing", [&whole[..], b"after the footer"].concat());
            add("magic", patched(&whole, 0, b"X"));
            add("version", patched(&whole, 5, &[9]));
            add("reserved", patched(&whole, 18, &[9]));
            add("footer-count", patched(&whole, footer + 8, &[99]));
            add("zeros", patched(&whole, 64, &[0; 64]));
            add("length", patched(&whole, 64, &[3, 0, 0, 0]));
            add("empty", Vec::new());
            for size in 1..whole.len() {
                add(&format!("cut-{size}"), whole[..size].to_vec());
            }
        }
    }
    files
}

#[test]
fn every_byte_of_any_file_is_shown_once() {
    let folder = TempDir::new().unwrap();
    let files = odd_files();
    // Keep one in seven of the truncated files and all other files.
    let files = files
        .iter()
        .enumerate()
        .filter(|(position, (name, _))| !name.contains("cut") || position % 7 == 0);
    for (_, (name, bytes)) in files {
        for file in ["index.atf", "file"] {
            let path = folder.path().join(file);
            fs::write(&path, bytes).unwrap();
            let [text, _] = told_in_both_forms(folder.path(), &path);
            assert!(text == *bytes, "{name} as {file}");
        }
    }
}

/// Writes a file of each kind, small enough for a golden file.
fn small(folder: &Path, version: u8) {
    let index = IndexFile::finalized(version, 2);
    fs::write(folder.join("index.atf"), index.bytes()).unwrap();
    let mut calls = vec![
        DetailRecord::call(0, 1000, 9),
        DetailRecord::call(1, 2000, 0),
    ];
    calls[1].payload = b"opaque\x1b\x00".to_vec();
    let detail = DetailFile::of(version, calls);
    fs::write(folder.join("detail.atf"), detail.bytes()).unwrap();
}

#[test]
fn small_files_match_the_golden_files() {
    for version in [1, 2] {
        let folder = TempDir::new().unwrap();
        small(folder.path(), version);
        for name in ["index", "detail"] {
            let text = clean(folder.path(), &["explain", &format!("{name}.atf")]);
            golden(&format!("explain-{name}-v{version}.txt"), &text);
        }
    }
}

#[test]
fn field_problems_are_shown_and_set_the_exit_status() {
    let folder = TempDir::new().unwrap();
    // Omit the checksum, which would reveal any changed bit.
    let whole = IndexFile {
        checksum: 0,
        ..IndexFile::finalized(1, 2)
    };
    let whole = whole.bytes();
    let say = |offset: usize, bytes: &[u8], expected: &str, status: i32| {
        let path = folder.path().join("index.atf");
        fs::write(&path, patched(&whole, offset, bytes)).unwrap();
        let output = atf(folder.path(), &["explain", "index.atf"]);
        let (found, text, _) = texts(&output);
        assert!(text.contains(expected), "{expected} in\n{text}");
        assert_eq!(found, status, "{expected}");
    };
    say(6, &[9], "arch             9 ! unknown arch", 0);
    say(17, &[1, 0, 2], "! reserved, but not 0", 0);
    say(
        8,
        &[0x81],
        "flags            129 ! has_detail_file, unknown bits 0x80",
        0,
    );
    say(5, &[7], "version          7 ! expected 1", 1);
    say(24, &[31], "event_size       31 ! expected 32", 1);
    say(
        64 + 20,
        &[77],
        "event_kind       77 ! unknown event kind",
        0,
    );
    let damaged = "damaged: index.atf: footer.event_count: 99 events need 3168 bytes";
    say(128 + 8, &[99], damaged, 1);
}

#[test]
fn zeros_before_a_torn_event_are_not_shown_as_one() {
    let folder = TempDir::new().unwrap();
    let file = IndexFile::finalized(1, 2).placeholder().without_footer();
    let bytes = [padded(&file, 64), vec![0xee; 5]].concat();
    fs::write(folder.path().join("index.atf"), bytes).unwrap();
    let output = atf(folder.path(), &["explain", "index.atf"]);
    let (_, text, _) = texts(&output);
    let expected = "trailing bytes at 0x80, 69 bytes: not a whole event";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn events_are_selected_by_position_and_omissions_reported() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("i"), IndexFile::finalized(2, 20).bytes()).unwrap();
    let events = |arguments: &[&str]| {
        let text = clean(folder.path(), &[&["explain", "i"], arguments].concat());
        let seq = |line: &str| {
            let rest = line.strip_prefix("index_event ")?;
            rest.split_once(' ')?.0.parse::<u64>().ok()
        };
        let left_out = |line: &&str| line.starts_with('…');
        let left_out: Vec<_> = text.lines().filter(left_out).map(str::to_owned).collect();
        (text.lines().filter_map(seq).collect::<Vec<_>>(), left_out)
    };
    let (seqs, left_out) = events(&[]);
    assert_eq!(seqs, [0, 1, 2, 3, 4, 5, 6, 7, 18, 19]);
    assert_eq!(left_out, ["… 10 events left out, 0x140 to 0x280"]);
    let (seqs, left_out) = events(&["--events", "3..5"]);
    assert_eq!(seqs, [3, 4]);
    assert_eq!(left_out.len(), 2);
    assert_eq!(events(&["--events", "7"]).0, [7]);
    assert_eq!(events(&["--events", "19.."]).0, [19]);
    assert_eq!(events(&["--all"]).0, (0..20).collect::<Vec<_>>());
    let output = atf(folder.path(), &["explain", "i", "--events", "20.."]);
    let (status, text, messages) = texts(&output);
    let expected = "atf: no event matches; the file has 20 events\n";
    assert_eq!((status, messages), (0, expected));
    assert!(!text.contains("index_event "), "{text}");
}

#[test]
fn all_bytes_of_a_selected_event_are_shown() {
    let folder = TempDir::new().unwrap();
    let details = [0, 1].map(|seq| DetailRecord::call(seq, 1000, 100));
    let bytes = DetailFile::of(1, details.to_vec()).bytes();
    fs::write(folder.path().join("d"), bytes).unwrap();
    let text = clean(folder.path(), &["explain", "d"]);
    assert!(text.contains("… 36 bytes left out"), "{text}");
    let text = clean(folder.path(), &["explain", "d", "--events", "0"]);
    let left_out = text.lines().filter(|line| line.starts_with('…'));
    let left_out: Vec<_> = left_out.collect();
    assert!(
        matches!(left_out[..], [line] if line.contains("1 event left out")),
        "{text}"
    );
    let text = clean(folder.path(), &["explain", "d", "--events", "0", "--json"]);
    let fields = lines(&text);
    let stack = fields.iter().filter(|field| field["field"] == "stack");
    assert_eq!(stack.map(|field| number(&field["size"])).sum::<u64>(), 100);
    let register = fields.iter().find(|field| field["field"] == "x_regs[7]");
    assert_eq!(register.unwrap()["value"], (0x1111 * 7).to_string());
}

/// Writes a session of one thread whose writer was killed, with 20 events, 10 of them with details,
/// all in the ring.
fn killed(folder: &Path) {
    use atf::write::{Detail, Event, ThreadWriter, WriteOptions};
    let options = WriteOptions::default()
        .survive_kill(true)
        .buffer_size(4 << 10);
    let mut writer = ThreadWriter::create(folder.join("thread_5"), 5, &options).unwrap();
    for seq in 0..20_u8 {
        let event = Event::new(1000 * u64::from(seq), 7, atf::EventKind::CALL, 1);
        let payload = [seq; 9];
        let detail = Detail::new(atf::DetailEventType::FUNCTION_CALL, &payload);
        match seq % 2 {
            0 => drop(writer.write_with_detail(&event, &detail).unwrap()),
            _ => drop(writer.write(&event).unwrap()),
        }
    }
    // Like a process that is killed, do not run the destructor.
    std::mem::forget(writer);
}

#[test]
fn a_ring_is_shown_byte_for_byte_and_all_commands_read_its_events() {
    let folder = TempDir::new().unwrap();
    killed(folder.path());
    let ring = folder.path().join("thread_5/ring.atf");
    let whole = fs::read(&ring).unwrap();
    for told in told_in_both_forms(folder.path(), &ring) {
        assert!(told == whole);
    }
    let text = clean(folder.path(), &["explain", "thread_5/ring.atf"]);
    assert!(text.contains("index_event 19 at 0x2e0"), "{text}");
    assert!(text.contains("detail_event_header 9 at"), "{text}");
    // Test wrong numbers and truncated rings.
    for offset in (16..72).step_by(4) {
        fs::write(&ring, patched(&whole, offset, &[0xff; 4])).unwrap();
        let [text, json] = told_in_both_forms(folder.path(), &ring);
        assert_eq!(text, json);
        assert_eq!(text.len(), whole.len(), "{offset}");
    }
    for size in (0..600).step_by(37) {
        fs::write(&ring, &whole[..size]).unwrap();
        let [text, _] = told_in_both_forms(folder.path(), &ring);
        assert_eq!(text, whole[..size]);
    }
    fs::write(&ring, &whole).unwrap();

    for command in ["check", "info", "dump", "report", "last"] {
        let output = atf(folder.path(), &[command, "thread_5/ring.atf"]);
        let (status, text, messages) = texts(&output);
        let expected = "a thread's kill journal: give the thread's folder instead";
        let told = [text, messages].concat();
        assert!(status == 2 && told.contains(expected), "{told}");
    }
    for path in [".", "thread_5"] {
        let events = lines(&written(
            folder.path(),
            &["dump", "--json", "--details", path],
        ));
        assert_eq!(events.len(), 20);
        let details = events.iter().filter(|event| event["detail"].is_object());
        assert_eq!(details.count(), 10);
        let spans = written(folder.path(), &["dump", "--spans", path]);
        assert_eq!(spans.lines().count(), 20);
        let text = written(folder.path(), &["info", path]);
        assert!(text.contains("ring.atf"), "{text}");
    }
    // The ring of another thread is a problem, but it does not prevent reading the events in the
    // files.
    fs::write(&ring, patched(&whole, 8, &[6])).unwrap();
    let output = atf(folder.path(), &["info", "."]);
    let (status, text, _) = texts(&output);
    assert_eq!(status, 1);
    assert!(text.contains("ring.atf: header.thread_id: 6"), "{text}");
}
