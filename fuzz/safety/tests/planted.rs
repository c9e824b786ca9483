//! Checks that each detector finds its planted bugs, but none in the library.

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::thread;

use assert_cmd::Command;
use atf::FileKind;
use atf::rewrite::{ScrubOptions, scrub};
use atf_safety::composed::{self, Document};
use atf_safety::crashes::{self, IndexReading};
use atf_safety::exhaustive::{self, File, LIBRARY, Reading, Scope, Source, Subject, Tally};
use atf_safety::{Shard, races};

/// The clean files of wire version 1, renamed so that only some mutations are recovered.
static CLEAN: LazyLock<Vec<File>> = LazyLock::new(|| {
    let files = exhaustive::files().into_iter();
    let names = ["v1/clean-index/index.atf", "v1/clean-detail/detail.atf"];
    let clean = files.filter(|file| names.contains(&file.name.as_str()));
    let renamed = clean.map(|file| File {
        name: format!("a {}", file.name),
        shared: 0,
        ..file
    });
    renamed.collect()
});

fn attack(subject: &Subject) -> Tally {
    let threads = NonZero::<usize>::MIN;
    exhaustive::run(subject, &CLEAN, Scope::Quick, Shard::WHOLE, threads)
}

/// Returns whether a fault contains this text.
fn has_fault(tally: &Tally, text: &str) -> bool {
    let mut faults = tally.faults.values();
    faults.any(|(_, fault)| fault.contains(text))
}

/// Returns the first fault in each file, joined into one string.
fn words(subject: &Subject) -> String {
    let faults = attack(subject).faults.into_values();
    faults.map(|(_, fault)| fault + "\n").collect()
}

#[test]
fn the_library_has_no_planted_bug() {
    let tally = attack(&LIBRARY);
    assert!(tally.faults.is_empty(), "{:?}", tally.faults);
    assert!(tally.cuts > 700 && tally.flips == 8 * tally.cuts && tally.recovered > 30);
    let key = |kind: &str, field: &str| (kind.to_owned(), 1, field.to_owned());
    let bits = [key("detail", "header.os"), key("index", "header.flags")];
    assert_eq!(tally.unnoticed, bits.map(|bit| (bit, 1)).into());
}

/// Returns a reader with a planted bug.
fn reader(read: fn(FileKind, Source<'_>) -> Option<Reading>) -> Subject {
    Subject { read, ..LIBRARY }
}

fn size(source: Source<'_>) -> usize {
    match source {
        Source::Bytes(bytes) | Source::Positioned(bytes) | Source::Seekable(bytes) => bytes.len(),
        Source::Path(path) => std::fs::metadata(path).map_or(0, |metadata| {
            usize::try_from(metadata.len()).unwrap_or(usize::MAX)
        }),
    }
}

#[test]
fn a_reader_that_counts_by_file_size_reads_a_torn_event() {
    let bug = reader(|kind, source| {
        let mut reading = (LIBRARY.read)(kind, source)?;
        let is_torn = kind == FileKind::Index && !size(source).is_multiple_of(32);
        if let (true, Some(last)) = (is_torn, reading.events.last().copied()) {
            reading.events.push(last);
        }
        Some(reading)
    });
    assert!(words(&bug).contains("complete events, got"));
}

#[test]
fn a_reader_that_loses_the_last_event_of_a_truncated_file() {
    let bug = reader(|kind, source| {
        let mut reading = (LIBRARY.read)(kind, source)?;
        if !reading.is_proven {
            reading.events.pop();
        }
        Some(reading)
    });
    assert!(words(&bug).contains("complete events, got"));
}

#[test]
fn a_reader_that_does_not_verify_checksums() {
    let bug = reader(|kind, source| {
        let mut reading = (LIBRARY.read)(kind, source)?;
        reading.is_proven = true;
        Some(reading)
    });
    assert!(words(&bug).contains("the checksum is reported good"));
}

#[test]
fn a_reader_that_depends_on_the_source() {
    let bug = reader(|kind, source| {
        let mut reading = (LIBRARY.read)(kind, source)?;
        if matches!(source, Source::Path(_)) {
            reading.events.clear();
        }
        Some(reading)
    });
    assert!(words(&bug).contains("bytes return"));
}

#[test]
fn a_reader_that_panics_on_one_event_kind() {
    let bug = reader(|kind, source| {
        let reading = (LIBRARY.read)(kind, source)?;
        let has = |kind| reading.events.iter().any(|event| event.kind.0 == kind);
        assert!(!has(65), "no such kind");
        Some(reading)
    });
    let words = words(&bug);
    assert!(words.contains("panics") && words.contains("no such kind"));
}

#[test]
fn a_reader_that_refuses_readable_files() {
    let bug = reader(|kind, source| (LIBRARY.read)(kind, source).filter(|_| size(source) > 100));
    assert!(words(&bug).contains("is refused"));
}

#[test]
fn a_checker_that_ignores_headers() {
    let bug = Subject {
        notices: |kind, bytes| {
            let is_end = bytes.len().is_multiple_of(32) && kind == FileKind::Index;
            !is_end && (LIBRARY.notices)(kind, bytes)
        },
        ..LIBRARY
    };
    let tally = attack(&bug);
    assert!(has_fault(&tally, "does not notice"));
    // The list has more bits.
    assert!(tally.unnoticed.len() > attack(&LIBRARY).unnoticed.len());
}

#[test]
fn a_c_api_that_differs_from_the_library() {
    let bug = Subject {
        capi: |_, bytes| assert_ne!(bytes.len(), 200, "C has a different count"),
        ..LIBRARY
    };
    assert!(words(&bug).contains("C has a different count"));
}

/// Returns a recovery with a planted bug.
fn recovery(recover: fn(&Path, &Path) -> atf::Result<()>) -> Subject {
    Subject { recover, ..LIBRARY }
}

#[test]
fn a_recovery_that_repairs_nothing() {
    let bug = recovery(|path, out| {
        (LIBRARY.recover)(path, out)?;
        for name in ["index.atf", "detail.atf"] {
            let _ = std::fs::copy(path.join(name), out.join(name));
        }
        Ok(())
    });
    assert!(words(&bug).contains("recovered thread breaks"));
}

#[test]
fn a_recovery_that_loses_payloads() {
    let bug = recovery(|path, out| scrub(path, out, &ScrubOptions::default()).map(drop));
    let faults = attack(&bug).faults;
    assert_eq!(faults.len(), CLEAN.len());
    assert!(faults.values().all(|(_, fault)| fault.contains("became")));
    assert!(has_fault(&manifests(&bug), "recovered were"));
}

/// Checks that a reader with a planted bug breaks guarantees after power loss.
#[track_caller]
fn is_found_after_power_loss(bug: fn(&mut IndexReading)) {
    let reader = |bytes: &[u8]| {
        let mut reading = crashes::read_index(bytes)?;
        bug(&mut reading);
        Some(reading)
    };
    assert!(crashes::run(&reader, 16).fault_count > 0);
}

#[test]
fn after_power_loss_a_reader_that_reads_zeros_as_events() {
    is_found_after_power_loss(|reading| reading.holes.clear());
}

#[test]
fn after_power_loss_a_reader_that_reads_half_a_footer_as_an_event() {
    is_found_after_power_loss(|reading| {
        if let (false, Some(last)) = (reading.is_good, reading.events.last().copied()) {
            let timestamp_ns = 32 * reading.events.len() as u64;
            reading.events.push(last.timestamp_ns(timestamp_ns));
        }
    });
}

#[test]
fn after_power_loss_a_reader_that_loses_synchronized_events() {
    is_found_after_power_loss(|reading| {
        reading.events.pop();
    });
}

#[test]
fn after_power_loss_the_library_keeps_its_guarantees() {
    let tally = crashes::run(&crashes::read_index, 16);
    assert_eq!(tally.faults, [""; 0]);
    assert!(tally.states > 1000, "{}", tally.states);
}

/// Runs the command and returns its exit status and output.
fn attacks(arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::cargo_bin("atf-safety").unwrap();
    let output = command.args(arguments).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    (output.status.code(), text)
}

/// The fault layer is written in C and works only on Linux.
#[test]
#[cfg(target_os = "linux")]
fn bugs_in_recovery_are_found_when_calls_fail() {
    let finds = |bug: &str| {
        let (status, text) = attacks(&["faults", "--plant", bug]);
        assert_eq!(status, Some(1), "{bug}: {text}");
        assert!(text.contains("fault: "), "{bug}: {text}");
    };
    thread::scope(|scope| {
        for bug in ["half-made", "silent", "other", "moves", "short", "zeros"] {
            scope.spawn(move || finds(bug));
        }
    });
}

/// An exceeded limit shows up as a fatal signal, an abort or a broken guarantee.
#[test]
#[cfg(target_os = "linux")]
fn exceeded_limits_are_found() {
    let (status, text) = attacks(&["limits"]);
    assert_eq!(status, Some(0), "{text}");
    let (status, text) = attacks(&["limits", "--plant"]);
    assert_eq!(status, Some(1), "{text}");
    // The guarantees that the planted bugs break.
    for (case, guarantee) in [
        ("files", "events are merged"),
        ("size", "output is left"),
        ("memory", "the error of a manifest with threads is None"),
        ("holes", "bytes are read"),
        ("deep", "0 events are recovered"),
        ("names", "a file of the unreadable thread is changed"),
        ("modes", "has mode 644"),
    ] {
        let name = format!("fault: {case}: ");
        let mut faults = text.lines().filter(|line| line.starts_with(&name));
        let is_found = faults.any(|line| line.contains(guarantee));
        assert!(is_found, "{case}: {text}");
    }
}

#[test]
fn memory_allocated_for_a_stated_count_is_found() {
    let size = "--size=65536";
    assert_eq!(attacks(&["hostile", size]).0, Some(0));
    let planted = attacks(&["hostile", size, "--plant", "memory"]);
    assert_eq!(planted.0, Some(1));
}

#[test]
fn a_reader_that_does_not_expect_a_file_to_change_is_found() {
    let good = races::run(0..16, races::LIBRARY).unwrap();
    assert_eq!(good.faults, [""; 0]);
    let expects = races::Reads {
        event: |event| assert!(event.is_ok(), "cannot fail"),
        ..races::LIBRARY
    };
    let bug = races::run(0..8, expects).unwrap();
    assert!(bug.faults.iter().any(|fault| fault.contains("panics")));
}

#[test]
fn a_reader_that_pads_a_payload_with_zeros_is_found() {
    let pads = races::Reads {
        payload: |mut payload| {
            payload.iter_mut().skip(1).for_each(|byte| *byte = 0);
            payload
        },
        ..races::LIBRARY
    };
    let bug = races::run(0..8, pads).unwrap();
    assert!(bug.faults.iter().any(|fault| fault.contains("detail 0 is")));
}

/// Some sessions of wire version 1.
static SESSIONS: LazyLock<Vec<exhaustive::Session>> =
    LazyLock::new(|| exhaustive::sessions().into_iter().take(2).collect());

fn manifests(subject: &Subject) -> Tally {
    let threads = NonZero::<usize>::MIN;
    exhaustive::run_manifests(subject, &SESSIONS, Scope::Quick, Shard::WHOLE, threads)
}

#[test]
fn no_manifest_hides_events() {
    let tally = manifests(&LIBRARY);
    assert!(tally.faults.is_empty(), "{:?}", tally.faults);
    assert!(tally.cuts > 100 && tally.flips == tally.cuts && tally.recovered > 3);
}

#[test]
fn a_session_reader_that_trusts_the_manifest_is_found() {
    let bug = Subject {
        session: |path| {
            let session = atf::session::SessionReader::open(path).unwrap();
            let is_listed = |id: &u32| {
                let mut threads = session.threads().iter();
                threads.any(|entry| entry.id() == *id && entry.is_listed())
            };
            let (mut events, names) = (LIBRARY.session)(path)?;
            events.retain(|id, _| is_listed(id));
            Ok((events, names))
        },
        ..LIBRARY
    };
    let faults = manifests(&bug).faults;
    let mut all = faults.values();
    assert!(all.all(|(_, fault)| fault.contains("read were")));
    assert_eq!(faults.len(), SESSIONS.len());
}

#[test]
fn a_session_recovery_that_needs_the_manifest_is_found() {
    let bug = recovery(|path, out| {
        let manifest = std::fs::read(path.join("manifest.json")).unwrap_or_default();
        if manifest.trim_ascii_end().ends_with(b"}") {
            (LIBRARY.recover)(path, out)
        } else {
            Ok(())
        }
    });
    assert!(!manifests(&bug).faults.is_empty());
}

#[test]
fn a_session_recovery_that_loses_names_is_found() {
    let bug = recovery(|path, out| {
        (LIBRARY.recover)(path, out)?;
        let manifest = out.join("manifest.json");
        let text = std::fs::read_to_string(&manifest).unwrap();
        std::fs::write(manifest, text.replace("symbols", "unknown")).unwrap();
        Ok(())
    });
    assert!(has_fault(&manifests(&bug), "recovered names"));
}

#[test]
fn a_lookup_that_panics_is_found() {
    let bug = Subject {
        session: |path| {
            let manifest = std::fs::read_to_string(path.join("manifest.json"));
            assert!(manifest.is_ok(), "no text");
            (LIBRARY.session)(path)
        },
        ..LIBRARY
    };
    assert!(has_fault(&manifests(&bug), "panics: "));
}

/// Counts an event wherever 32 bytes are left.
fn count_by_size(mut documents: Vec<Document>) -> Vec<Document> {
    for document in &mut documents {
        let Some(derived) = document.pointer_mut("/threads/0/index/derived") else {
            continue;
        };
        let left = derived["trailing_bytes"].as_str().map(str::len);
        if derived["count_source"] == "file_size" && left > Some(1) {
            derived["event_count"] = "99".into();
        }
    }
    documents
}

#[test]
fn a_reader_that_counts_by_file_size_disagrees_about_composed_faults() {
    let by_size = |sessions: &[PathBuf]| Ok(count_by_size(composed::library(sessions)));
    let readers = [
        composed::Reader::new("library", |sessions| Ok(composed::library(sessions))),
        composed::Reader::new("by size", by_size),
    ];
    let found = composed::run(&readers, 0..100, None);
    let found = found.expect("sessions can be written");
    assert_eq!(found.into_keys().collect::<Vec<_>>(), ["by size"]);
}
