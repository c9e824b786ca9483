//! Tests adding names to a session after the run.

use std::fs;

use atf::ErrorKind;
use atf::manifest::{Manifest, Symbol};
use atf::write::{add_symbols, set_ended_by};

const OLD: &str = r#"{
  "format_version": "2.0",
  "threads": [{"id": 0, "own": 1e999}],
  "vendor": {"a":   [1.50]},
  "modules": [],
  "symbols": [{"function_id": "0x1", "name": "one"}, {"more": 2, "function_id": "0x2"},
    {"function_id": "0x2", "name": "late"}, 7]
}"#;

#[test]
fn names_are_added_and_all_else_stays() {
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
fn the_signal_that_ended_the_process_is_set_and_all_else_stays() {
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
fn a_manifest_that_cannot_be_read_stays() {
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
        assert!(
            error.contains("manifest.json") && error.contains(problem),
            "{error}"
        );
        assert_eq!(fs::read(&path).unwrap(), text);
    }
}
