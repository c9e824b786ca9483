//! Tests function names.

use std::fs;

use atf::session::SessionReader;
use atf::{Error, ErrorKind};
use tempfile::TempDir;

/// Creates a session with this manifest.
fn session(manifest: &str) -> (TempDir, SessionReader) {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("manifest.json"), manifest).unwrap();
    let session = SessionReader::open(folder.path()).unwrap();
    (folder, session)
}

#[test]
fn a_function_is_displayed_by_name_or_module_and_symbol_or_id() {
    let (_folder, session) = session(
        r#"{
            "modules": [
                {"module_id": 1, "path": "/usr/lib/libone.so"},
                {"module_id": 2},
                {"module_id": 3, "path": "C:\\two.dll"}
            ],
            "symbols": [
                {"function_id": "0x100000005", "name": "main"},
                {"function_id": "0x700000001", "name": "no module"},
                {"function_id": "0x100000007", "name": ""},
                {"function_id": "0x100000008"}
            ]
        }"#,
    );
    let symbols = session.symbols();
    let shown = |id: u64| symbols.function(id).to_string();
    assert_eq!(shown(0x1_0000_0005), "main");
    assert_eq!(shown(0x7_0000_0001), "no module");
    assert_eq!(shown(0x1_0000_0006), "libone.so#6");
    assert_eq!(shown(0x1_0000_0007), "libone.so#7");
    assert_eq!(shown(0x1_0000_0008), "libone.so#8");
    assert_eq!(symbols.function(0x1_0000_0007).name, None);
    let problems = &session.manifest().unwrap().problems;
    let places: Vec<_> = problems.iter().map(Error::field).collect();
    assert_eq!(places, [Some("threads"), Some("symbols[2].name")]);
    assert_eq!(problems[1].kind(), &ErrorKind::EmptyName);
    assert_eq!(shown(0x3_0000_0000), "two.dll#0");
    assert_eq!(shown(0x2_0000_0006), "0x200000006");
    assert_eq!(shown(0x9_0000_000a), "0x90000000a");
    let main = symbols.function(0x1_0000_0005);
    assert_eq!((main.id, main.name), (0x1_0000_0005, Some("main")));
    assert_eq!(main.module.unwrap().module_id, 1);
    assert_eq!(symbols.function(0x7_0000_0001).module, None);
    assert!(symbols.repeated().is_empty());
}

#[test]
fn the_first_of_several_names_is_used_and_duplicates_are_listed() {
    let (_folder, session) = session(
        r#"{
            "modules": [{"module_id": 0, "path": "a"}, {"module_id": 0, "path": "b"}],
            "symbols": [
                {"function_id": "0x9", "name": "first of nine"},
                {"function_id": "0x2", "name": "first of two"},
                {"function_id": "0x9", "name": "second"},
                {"function_id": "0x2", "name": "second"},
                {"function_id": "0x9", "name": "third"}
            ]
        }"#,
    );
    let symbols = session.symbols();
    assert_eq!(symbols.function(9).name, Some("first of nine"));
    assert_eq!(symbols.function(2).name, Some("first of two"));
    assert_eq!(symbols.function(1).to_string(), "a#1");
    assert_eq!(symbols.repeated(), [2, 9]);
}

#[test]
fn without_a_manifest_functions_are_displayed_by_id() {
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("thread_0")).unwrap();
    let session = SessionReader::open(folder.path()).unwrap();
    let function = session.symbols().function(u64::MAX);
    assert_eq!(function.to_string(), "0xffffffffffffffff");
    assert_eq!((function.name, function.module), (None, None));
}
