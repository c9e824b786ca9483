//! Tests that each fault planted in written files is caught, except in fields whose values a writer
//! may choose.

use std::fs;
use std::path::Path;

use atf_conformance::results::{Failure, Outcome};
use atf_conformance::scripts::Scripted;
use atf_conformance::written::{Documents, Graded};

use super::{failure, graded, scripted, with_files, written};

const FINALIZED: &str = "\
open thread=7 wire=WIRE clock=3 arch=2 os=4
index thread=7 ts=1000 fn=4294967297 kind=1 depth=1 detail=0
detail thread=7 index=0 ts=1000 type=3 flags=0 payload=00ff
index thread=7 ts=2000 fn=4294967297 kind=2 depth=1 detail=-
finalize thread=7
";

const INDEX: &str = "thread_7/index.atf";
const DETAIL: &str = "thread_7/detail.atf";

fn script(text: &str, wire: u8) -> Scripted {
    let text = text.replace("WIRE", &wire.to_string());
    Scripted {
        wire,
        ..scripted(&text)
    }
}

fn aborted(wire: u8) -> Scripted {
    script(&FINALIZED.replace("finalize thread=7", "abort"), wire)
}

/// Changes a file and grades the folder.
fn graded_with(
    scripted: &Scripted,
    out: &Path,
    file: &str,
    change: impl FnOnce(&mut Vec<u8>),
) -> Graded {
    let path = out.join(file);
    let bytes = fs::read(&path).unwrap();
    let mut changed = bytes.clone();
    change(&mut changed);
    fs::write(&path, changed).unwrap();
    let graded = graded(scripted, out);
    fs::write(&path, bytes).unwrap();
    graded
}

/// The bits to flip: the lowest one, and the one that turns a placeholder's 0 into 64.
const BITS: &[u8] = &[0, 6];

/// Flips bits of each byte of a file, and returns the flips that the kit accepts. If a flip breaks
/// no rule, the difference must be reported at the flipped byte.
fn free(scripted: &Scripted, out: &Path, file: &str, bits: &[u8]) -> Vec<(usize, u8)> {
    let mut free = Vec::new();
    for offset in 0..fs::read(out.join(file)).unwrap().len() {
        for &bit in bits {
            let graded = graded_with(scripted, out, file, |bytes| bytes[offset] ^= 1 << bit);
            match graded.outcome {
                Outcome::Passed => free.push((offset, bit)),
                Outcome::Failed {
                    class: Failure::WrongFile,
                    message,
                    differences,
                } => {
                    let dump = differences[0].hexdump.as_ref().unwrap();
                    let field = dump.field_offset..dump.field_offset + dump.field_size;
                    assert_eq!(dump.file, file, "{message}");
                    assert!(field.contains(&(offset as u64)), "{offset:#x}: {message}");
                }
                Outcome::Failed {
                    class: Failure::Rule,
                    message,
                    ..
                } => assert!(message.starts_with("ATF-"), "{message}"),
                other => panic!("{other:?}"),
            }
        }
    }
    free
}

/// Returns flips of `bits` in `arch` and `os`, bytes 6 and 7 of both headers.
fn platform(bits: &[u8]) -> Vec<(usize, u8)> {
    [6, 7]
        .into_iter()
        .flat_map(|offset| bits.iter().map(move |bit| (offset, *bit)))
        .collect()
}

#[test]
fn in_a_finalized_session_only_arch_and_os_are_free() {
    for wire in [1, 2] {
        let (scripted, out) = with_files(script(FINALIZED, wire));
        for file in [INDEX, DETAIL] {
            let free = free(&scripted, out.path(), file, BITS);
            assert_eq!(free, platform(BITS), "v{wire} {file}");
        }
    }
}

#[test]
fn in_an_aborted_session_the_flag_and_footer_offset_are_also_free() {
    // The header's flag `has_detail_file` may be set, and its `footer_offset` may be 64.
    let of_index = [&platform(BITS)[..], &[(8, 0), (40, 6)]].concat();
    for wire in [1, 2] {
        let (scripted, out) = with_files(aborted(wire));
        let free = |file| free(&scripted, out.path(), file, BITS);
        assert_eq!(free(INDEX), of_index, "v{wire}");
        assert_eq!(free(DETAIL), platform(BITS), "v{wire}");
    }
}

#[test]
fn nothing_is_free_if_the_platform_is_exact() {
    let scripted = Scripted {
        is_platform_exact: true,
        ..script(FINALIZED, 1)
    };
    let out = written(&scripted.script);
    assert_eq!(free(&scripted, out.path(), INDEX, &[0]), []);
    assert_eq!(free(&scripted, out.path(), DETAIL, &[0]), []);
}

#[test]
fn a_checksum_of_0_is_only_noted_and_hides_no_other_fault() {
    for wire in [1, 2] {
        let (scripted, out) = with_files(script(FINALIZED, wire));
        for (file, footer, rule) in [(INDEX, 128, "ATF-IFTR-006"), (DETAIL, 90, "ATF-DFTR-006")] {
            let path = out.path().join(file);
            let mut bytes = fs::read(&path).unwrap();
            bytes[footer + 4..footer + 8].fill(0);
            fs::write(&path, bytes).unwrap();
            let graded = graded(&scripted, out.path());
            assert_eq!(graded.outcome, Outcome::Passed);
            let mut notes = graded.notes.iter();
            let is_noted = notes.any(|note| note.rule.as_deref() == Some(rule));
            assert!(is_noted, "{graded:?}");
            let free = free(&scripted, out.path(), file, &[3]);
            assert_eq!(free, platform(&[3]), "v{wire} {file}");
        }
    }
}

#[test]
fn a_file_truncated_at_any_byte_is_caught() {
    for scripted in [script(FINALIZED, 1), aborted(2)] {
        let out = written(&scripted.script);
        for file in [INDEX, DETAIL] {
            for size in 0..fs::read(out.path().join(file)).unwrap().len() {
                let graded = graded_with(&scripted, out.path(), file, |bytes| {
                    bytes.truncate(size);
                });
                assert_ne!(graded.outcome, Outcome::Passed, "{file} {size}");
            }
        }
    }
}

#[test]
fn bytes_after_a_footer_are_only_noted() {
    let (scripted, out) = with_files(script(FINALIZED, 1));
    for (file, rule) in [(INDEX, "ATF-IFTR-009"), (DETAIL, "ATF-DFTR-009")] {
        let graded = graded_with(&scripted, out.path(), file, |bytes| bytes.extend([0; 100]));
        assert_eq!(graded.outcome, Outcome::Passed, "{file}");
        assert_eq!(graded.notes[0].rule.as_deref(), Some(rule));
    }
}

#[test]
fn after_an_abort_only_zeros_may_follow_the_events() {
    let (scripted, out) = with_files(aborted(1));
    for file in [INDEX, DETAIL] {
        let zeros = graded_with(&scripted, out.path(), file, |bytes| bytes.extend([0; 4096]));
        assert_eq!(zeros.outcome, Outcome::Passed, "{file}");
        // Append an extra event, half an event or a byte.
        for size in [32, 16, 1] {
            let graded = graded_with(&scripted, out.path(), file, |bytes| {
                bytes.extend(vec![1; size]);
            });
            let (_, message, _) = failure(graded);
            assert!(message.contains(file), "{message}");
        }
    }
}

#[test]
fn a_footer_after_an_abort_is_caught() {
    for wire in [1, 2] {
        let finalized = script(FINALIZED, wire);
        let out = written(&finalized.script);
        let (class, message, _) = failure(graded(&aborted(wire), out.path()));
        assert_eq!(class, Failure::WrongFile);
        assert!(
            message.starts_with("thread_7/index.atf: header.event_count: 2, expected 0"),
            "{message}"
        );
        // The same is true if the header is a placeholder.
        let aborted = aborted(wire);
        let files = [INDEX, DETAIL].map(|file| fs::read(out.path().join(file)).unwrap());
        let out = written(&aborted.script);
        let graded = graded_with(&aborted, out.path(), INDEX, |bytes| {
            bytes.extend(&files[0][128..]);
        });
        let (_, message, _) = failure(graded);
        assert!(message.contains("64 unexpected bytes"), "{message}");
    }
}

#[test]
fn events_may_begin_after_64_if_the_footer_proves_it() {
    let (scripted, out) = with_files(script(FINALIZED, 1));
    for more in [32, 2 << 20] {
        // The offsets of `events_offset` and, in the index, `footer_offset`.
        for (file, fields) in [(INDEX, &[32, 40][..]), (DETAIL, &[20])] {
            let path = out.path().join(file);
            let mut bytes = fs::read(&path).unwrap();
            for at in fields {
                let field = bytes[*at..].first_chunk_mut().unwrap();
                *field = (u64::from_le_bytes(*field) + more as u64).to_le_bytes();
            }
            bytes.splice(64..64, vec![0xaa; more]);
            fs::write(&path, bytes).unwrap();
        }
        assert_eq!(graded(&scripted, out.path()).outcome, Outcome::Passed);
        let documents = Documents::read(&scripted.script, out.path()).unwrap();
        for (_, document) in &documents.files {
            assert_eq!(document["derived"]["trailing_bytes"], "0");
        }
    }
}

#[test]
fn a_difference_names_its_field_and_its_rule() {
    let (scripted, out) = with_files(script(FINALIZED, 1));
    // Change a reserved byte after `clock_type`, and one of the footer's, which begin at byte 40.
    // This only breaks advice rules, but the file no longer matches the script.
    let message_at = |offset: usize, rule: &str| {
        let graded = graded_with(&scripted, out.path(), INDEX, |bytes| bytes[offset] = 9);
        let (class, message, difference) = failure(graded);
        assert_eq!(class, Failure::WrongFile);
        assert_eq!(difference.unwrap().rule.as_deref(), Some(rule));
        message
    };
    let expected = "thread_7/index.atf: header._reserved1: 090000, expected 000000 (at 0x11); \
                    ATF-IHDR-012: Reserved bytes are 0.";
    assert_eq!(message_at(17, "ATF-IHDR-012"), expected);
    message_at(128 + 56, "ATF-IFTR-008");
}

#[test]
fn an_unfinalized_thread_is_reported_as_a_missing_footer() {
    for wire in [1, 2] {
        let out = written(&aborted(wire).script);
        let (class, message, difference) = failure(graded(&script(FINALIZED, wire), out.path()));
        assert_eq!(class, Failure::WrongFile);
        let start = "thread_7/index.atf: footer.magic: end of file at ";
        let end = "; ATF-IFTR-001: A finalized file ends with a footer.";
        let is_described = message.starts_with(start) && message.ends_with(end);
        assert!(is_described, "{message}");
        assert_eq!(difference.unwrap().rule.as_deref(), Some("ATF-IFTR-001"));
    }
}

#[test]
fn the_detail_flag_is_free_only_until_a_thread_is_finalized() {
    let text = "open thread=7 wire=WIRE clock=3 arch=2 os=4\n\
                index thread=7 ts=1000 fn=1 kind=1 depth=1 detail=-\n";
    for wire in [1, 2] {
        for (end, also) in [
            ("finalize thread=7", &[][..]),
            ("abort", &[(8, 0), (40, 6)]),
        ] {
            let (scripted, out) = with_files(script(&format!("{text}{end}\n"), wire));
            let expected = [&platform(BITS), also].concat();
            let free = free(&scripted, out.path(), INDEX, BITS);
            assert_eq!(free, expected, "v{wire} {end}");
        }
    }
}

#[test]
fn a_finalized_file_must_have_the_correct_footer_offset() {
    for wire in [1, 2] {
        let (scripted, out) = with_files(script(FINALIZED, wire));
        for offset in [0, 64] {
            let graded = graded_with(&scripted, out.path(), INDEX, |bytes| bytes[40] = offset);
            assert_ne!(graded.outcome, Outcome::Passed, "v{wire} {offset}");
        }
    }
}

#[test]
fn detail_flags_must_match_the_script() {
    let flagged = script(&FINALIZED.replace("flags=0", "flags=5"), 1);
    let out = written(&flagged.script);
    let graded_by = |scripted: &Scripted| graded(scripted, out.path()).outcome;
    assert_eq!(graded_by(&flagged), Outcome::Passed);
    assert_ne!(graded_by(&script(FINALIZED, 1)), Outcome::Passed);
}

#[test]
fn a_long_payload_is_shown_from_the_first_difference() {
    let payload: String = (0..40).map(|byte| format!("{byte:02x}")).collect();
    let text = FINALIZED.replace("00ff", &payload);
    let (scripted, out) = with_files(script(&text.replace("finalize thread=7", "abort"), 1));
    // The payload begins at 88, after the header and the event's 24 bytes.
    for (wrong, shown) in [(0, 16), (10, 16), (24, 16), (25, 15), (39, 1)] {
        let graded = graded_with(&scripted, out.path(), DETAIL, |bytes| {
            bytes[88 + wrong] ^= 0xff;
        });
        let (_, message, difference) = failure(graded);
        let place = match wrong {
            0 => "events[0].payload".to_owned(),
            _ => format!("events[0].payload[{wrong}]"),
        };
        let difference = difference.unwrap();
        assert_eq!(difference.place, format!("{DETAIL}: {place}"));
        let offset = 88 + wrong as u64;
        assert!(message.contains(&format!(" (at {offset:#x})")), "{message}");
        let dump = difference.hexdump.unwrap();
        assert_eq!((dump.field_offset, dump.field_size), (offset, shown));
        let expected = (wrong..40).take(16).map(|byte| format!("{byte:02x}"));
        assert_eq!(difference.expected, expected.collect::<String>());
    }
}

#[test]
fn bytes_after_zeros_are_reported_at_their_offset() {
    let (scripted, out) = with_files(aborted(1));
    let size = fs::read(out.path().join(INDEX)).unwrap().len();
    for zeros in [7, 2 << 20] {
        let graded = graded_with(&scripted, out.path(), INDEX, |bytes| {
            bytes.extend(vec![0; zeros]);
            bytes.push(1);
        });
        let (_, message, _) = failure(graded);
        let told = format!(
            "{INDEX}: after the last event: {} unexpected bytes, expected nothing, or zeros (at {:#x})",
            zeros + 1,
            size + zeros
        );
        assert!(message.starts_with(&told), "{message}");
    }
}

#[test]
fn missing_details_are_reported_after_an_abort() {
    let (scripted, out) = with_files(aborted(1));
    fs::remove_file(out.path().join(DETAIL)).unwrap();
    let (_, message, _) = failure(graded(&scripted, out.path()));
    assert_eq!(message, "thread_7/detail.atf is missing");
}

#[test]
fn a_broken_rule_is_shown_at_its_own_place_despite_an_earlier_difference() {
    let (scripted, out) = with_files(script(FINALIZED, 1));
    // Change the checksum, which breaks a MUST, and a reserved byte of the header, which breaks an
    // advice rule.
    for reserved in [0, 9] {
        let graded = graded_with(&scripted, out.path(), INDEX, |bytes| {
            bytes[17] = reserved;
            bytes[128 + 4] ^= 1;
        });
        let (class, message, difference) = failure(graded);
        assert_eq!(class, Failure::Rule);
        assert!(message.starts_with("ATF-IFTR-004: "), "{message}");
        let difference = difference.unwrap();
        assert_eq!(difference.place, "thread_7/index.atf: footer.checksum");
        assert_eq!(difference.rule.as_deref(), Some("ATF-IFTR-004"));
        let dump = difference.hexdump.unwrap();
        assert_eq!((dump.field_offset, dump.bytes.len()), (132, 48));
        if reserved == 0 {
            assert_eq!((dump.offset, dump.field_size), (112, 4));
        }
    }
}

#[test]
fn a_number_is_shown_completely() {
    let (scripted, out) = with_files(aborted(1));
    // Change byte 3 of the first event's `function_id`.
    let graded = graded_with(&scripted, out.path(), INDEX, |bytes| bytes[64 + 8 + 3] ^= 1);
    let (_, _, difference) = failure(graded);
    let difference = difference.unwrap();
    let place = "thread_7/index.atf: events[0].function_id";
    assert_eq!(difference.place, place);
    assert_eq!(difference.expected, "4294967297");
    let dump = difference.hexdump.unwrap();
    assert_eq!((dump.field_offset, dump.field_size), (72, 8));
}

#[test]
fn a_field_is_shown_with_a_line_before_and_one_after() {
    let (scripted, out) = with_files(aborted(1));
    for (file, changed, shown) in [
        (INDEX, 0, 0..32),
        (INDEX, 72, 48..96),
        (INDEX, 72 + 7, 48..96),
        (INDEX, 88, 64..112),
        // A field on two lines.
        (DETAIL, 44, 16..80),
    ] {
        let graded = graded_with(&scripted, out.path(), file, |bytes| bytes[changed] ^= 2);
        let dump = failure(graded).2.unwrap().hexdump.unwrap();
        let end = dump.offset + dump.bytes.len() as u64;
        assert_eq!(dump.offset..end, shown, "{file}, {changed}");
    }
}

#[test]
fn a_long_value_in_a_manifest_does_not_make_a_long_result() {
    let (scripted, out) = with_files(script(FINALIZED, 1));
    let long = "2".repeat(1_000_000);
    let graded = graded_with(&scripted, out.path(), "manifest.json", |bytes| {
        let mut manifest: serde_json::Value = serde_json::from_slice(bytes).unwrap();
        manifest["format_version"] = long.into();
        *bytes = manifest.to_string().into_bytes();
    });
    let text = format!("{graded:?}");
    assert!(text.len() < 10_000, "{}", text.len());
    assert!(text.contains("ATF-MANI-012"), "{text}");
}
