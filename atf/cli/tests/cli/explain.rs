//! `explain`: shows every byte exactly once, under the name of its field.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::{atf, lines, number, texts};
use atf_samples::files::{DetailFile, DetailRecord, IndexFile, padded, patched};

/// Returns the bytes shown in text output. Each line must start where the previous one ended.
fn shown(text: &str) -> Vec<u8> {
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
fn shown_json(text: &str) -> Vec<u8> {
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

fn shown_in_both_forms(folder: &Path, path: &Path) -> [Vec<u8>; 2] {
    let path = path.to_str().unwrap();
    let text = atf(folder, &["explain", "--all", path]);
    let json = atf(folder, &["explain", "--all", "--json", path]);
    let (status, text, _) = texts(&text);
    assert!(status < 2, "{path}");
    [shown(text), shown_json(texts(&json).1)]
}

/// Returns files that end in every possible way, and files damaged in critical places.
fn odd_files() -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for version in [1, 2] {
        let index = IndexFile::finalized(version, 5);
        let details = [0, 17, 256].map(|stack| DetailRecord::call(stack.into(), 1000, stack));
        let mut details = details.to_vec();
        details[1].payload.truncate(70);
        let detail = DetailFile::new(version, details);
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
    // Keep one in 13 of the truncated files and all other files.
    let files = files
        .iter()
        .enumerate()
        .filter(|(position, (name, _))| !name.contains("cut") || position % 13 == 0);
    for (_, (name, bytes)) in files {
        for file in ["index.atf", "file"] {
            let path = folder.path().join(file);
            fs::write(&path, bytes).unwrap();
            let [text, _] = shown_in_both_forms(folder.path(), &path);
            assert!(text == *bytes, "{name} as {file}");
        }
    }
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
    // Skip the destructor, as if the process were killed.
    std::mem::forget(writer);
}

#[test]
fn every_byte_of_a_kill_journal_is_shown_once() {
    let folder = TempDir::new().unwrap();
    killed(folder.path());
    let ring = folder.path().join("thread_5/ring.atf");
    let whole = fs::read(&ring).unwrap();
    for version in [1, 2] {
        let whole = patched(&whole, 5, &[version]);
        fs::write(&ring, &whole).unwrap();
        for shown in shown_in_both_forms(folder.path(), &ring) {
            assert!(shown == whole, "{version}");
        }
    }
    // Test invalid numbers and truncated rings.
    for offset in (16..72).step_by(4) {
        fs::write(&ring, patched(&whole, offset, &[0xff; 4])).unwrap();
        let [text, json] = shown_in_both_forms(folder.path(), &ring);
        assert_eq!(text, json);
        assert_eq!(text.len(), whole.len(), "{offset}");
    }
    for size in (0..600).step_by(37) {
        fs::write(&ring, &whole[..size]).unwrap();
        let [text, _] = shown_in_both_forms(folder.path(), &ring);
        assert_eq!(text, whole[..size]);
    }
}
