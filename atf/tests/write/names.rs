//! Tests names: of functions, during and after a run, and of session folders.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use atf::manifest::{Manifest, Symbol};
use atf::write::{
    Event, Memory, SessionWriter, WriteOptions, add_symbols, session_name, set_ended_by,
};
use atf::{Error, ErrorKind, EventKind, Result};

const OLD: &str = r#"{
  "format_version": "2.0",
  "threads": [{"id": 0, "own": 1e999}],
  "vendor": {"a":   [1.50]},
  "modules": [],
  "symbols": [{"function_id": "0x1", "name": "one"}, {"more": 2, "function_id": "0x2"},
    {"function_id": "0x2", "name": "late"}, 7]
}"#;

#[test]
fn names_are_added_and_nothing_else_changes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("manifest.json");
    fs::write(&path, OLD).unwrap();
    #[cfg(unix)]
    fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o640)).unwrap();
    // Create a file like those that a killed process leaves.
    fs::write(folder.path().join("manifest.json.part"), "{").unwrap();
    let symbols = [1, 2, 3].map(|id| Symbol::new(id, format!("n{id}")));
    add_symbols(folder.path(), &symbols).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    let manifest = Manifest::parse(text.as_bytes());
    let named = manifest.symbols.iter();
    let named: Vec<_> = named
        .map(|s| (s.function_id, s.name.as_deref().unwrap()))
        .collect();
    assert_eq!(named, [(1, "one"), (2, "n2"), (2, "late"), (3, "n3")]);
    assert_eq!(manifest.format_version.as_deref(), Some("2.1"));
    for kept in [
        r#"{"id": 0, "own": 1e999}"#,
        r#"{"a":   [1.50]}"#,
        r#""more": 2"#,
        "    7",
    ] {
        assert!(text.contains(kept), "{kept}: {text}");
    }
    add_symbols(folder.path(), &symbols).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    #[cfg(unix)]
    {
        let mode = std::os::unix::fs::MetadataExt::mode(&fs::metadata(&path).unwrap());
        assert_eq!(mode & 0o777, 0o640);
    }
    fs::write(&path, r#"{"threads": []}"#).unwrap();
    add_symbols(folder.path(), &symbols).unwrap();
    assert_eq!(Manifest::open(&path).unwrap().symbols.len(), 3);
}

#[test]
fn the_signal_that_ended_the_process_is_set_and_nothing_else_changes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("manifest.json");
    fs::write(&path, OLD).unwrap();
    for signal in ["SIGTERM", "SIGSEGV"] {
        set_ended_by(folder.path(), signal).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text.matches("ended_by").count(), 1);
        let manifest = Manifest::parse(text.as_bytes());
        assert_eq!(manifest.ended_by.as_deref(), Some(signal));
        assert_eq!(manifest.format_version.as_deref(), Some("2.0"));
        assert!(text.contains(r#"{"id": 0, "own": 1e999}"#), "{text}");
    }
}

#[test]
fn an_unreadable_manifest_is_left_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("manifest.json");
    let missing = add_symbols(folder.path(), &[]).unwrap_err();
    assert_eq!(*missing.kind(), ErrorKind::Io(std::io::ErrorKind::NotFound));
    for (text, problem) in [
        (&b"\xff"[..], "is not UTF-8"),
        (
            b"[]",
            "is not JSON: invalid type: sequence, expected an object",
        ),
        (b"{} {}", "is not JSON: trailing characters"),
        (
            br#"{"symbols": 1}"#,
            "symbols: is not JSON: invalid type: integer `1`, expected a list",
        ),
    ] {
        fs::write(&path, text).unwrap();
        let error = add_symbols(folder.path(), &[]).unwrap_err().to_string();
        assert!(error.contains("manifest.json"), "{error}");
        assert!(error.contains(problem), "{error}");
        assert_eq!(fs::read(&path).unwrap(), text);
    }
}

#[test]
fn oversized_symbols_do_not_lose_a_thread() -> Result<()> {
    let memory = Memory::new();
    let options = WriteOptions::default();
    let mut session = SessionWriter::create_on(Arc::new(memory.clone()), "s", &options)?;
    session.manifest_limit = 1000;
    let manifest = || Manifest::parse(&memory.bytes("s/manifest.json").unwrap_or_default());
    let is_too_large = |result: Result<()>| {
        let is_of_manifest = |error: &Error| {
            error.path() == Some(&*Path::new("s").join("manifest.json"))
                && matches!(error.kind(), ErrorKind::ManifestTooLarge { .. })
        };
        result.err().as_ref().is_some_and(is_of_manifest)
    };

    session.write_manifest()?;
    session.add_symbol(Symbol::new(7, "f".repeat(1000)));
    assert!(is_too_large(session.write_manifest()));
    let mut thread = session.thread(3)?;
    thread.write(&Event::new(100, 7, EventKind::CALL, 1))?;
    thread.finalize()?;
    assert!(is_too_large(session.finalize().map(drop)));
    let found = manifest();
    let threads: Vec<_> = found.threads.iter().map(|thread| thread.id).collect();
    assert_eq!((threads, found.time_start_ns), (vec![3], Some(100)));
    assert_eq!(found.symbols.len(), 0);

    session.set_symbols(vec![Symbol::new(7, "f")]);
    session.finalize()?;
    assert_eq!(manifest().symbols.len(), 1);
    Ok(())
}

#[test]
fn a_session_is_named_after_its_start_in_utc() {
    let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    // As printed by `date -u -d "2024-02-29 23:59:59" +%s`, and so on.
    for (seconds, name) in [
        (951_782_400, "session_20000229_000000"),
        (1_709_251_199, "session_20240229_235959"),
        (1_709_251_200, "session_20240301_000000"),
        (1_735_689_599, "session_20241231_235959"),
        (1_735_689_600, "session_20250101_000000"),
        (1_767_608_100, "session_20260105_101500"),
        (4_107_542_399, "session_21000228_235959"),
        (4_107_542_400, "session_21000301_000000"),
        (253_402_300_799, "session_99991231_235959"),
        // A clock that is out of range for a name is clamped, here and below.
        (253_402_300_800, "session_99991231_235959"),
    ] {
        assert_eq!(session_name(at(seconds)), name);
        let later = at(seconds) + Duration::from_millis(999);
        assert_eq!(session_name(later), name);
    }
    let before = SystemTime::UNIX_EPOCH - Duration::from_secs(1);
    assert_eq!(session_name(before), "session_19700101_000000");
}
