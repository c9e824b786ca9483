//! Tests the corpus as a folder: the committed files match the cases, and differences are reported.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;
use atf_conformance::corpus::edition;
use atf_samples::files::hex;
use serde_json::Value;
use tempfile::TempDir;

use crate::{ALL, CASES};

fn committed() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

fn command(arguments: &[&str]) -> Output {
    let mut command = Command::cargo_bin("atf-conformance").unwrap();
    command.arg("corpus").args(arguments).output().unwrap()
}

fn text(output: &Output) -> &str {
    str::from_utf8(&output.stdout).unwrap()
}

#[test]
fn changed_missing_and_unknown_files_are_reported() {
    let folder = TempDir::new().unwrap();
    let some = &CASES[..3];
    edition::generate(folder.path(), some).unwrap();
    assert_eq!(edition::verify(folder.path(), some), []);

    let path = folder.path().join("v1/index.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen('\n', "\n\n", 1)).unwrap();
    fs::remove_file(folder.path().join("v1/session.json")).unwrap();
    fs::write(folder.path().join("v1/notes.txt"), "mine").unwrap();
    let differences = edition::verify(folder.path(), some);
    let texts: Vec<_> = differences.iter().map(ToString::to_string).collect();
    let [other, missing, unknown] = texts.as_slice() else {
        panic!("{texts:?}");
    };
    assert_eq!(other, "v1/index.json:2: differs from the corpus");
    assert!(missing.starts_with("v1/session.json: No such file"));
    assert_eq!(unknown, "v1/notes.txt: not part of the corpus");
}

#[test]
fn generating_removes_an_older_corpus_but_no_other_files() {
    let folder = TempDir::new().unwrap();
    edition::generate(folder.path(), &CASES[..3]).unwrap();
    edition::generate(folder.path(), &CASES[..1]).unwrap();
    assert_eq!(edition::verify(folder.path(), &CASES[..1]), []);
    assert!(!folder.path().join("v1/session.json").exists());

    let folder = TempDir::new().unwrap();
    let mine = folder.path().join("v1/mine.txt");
    fs::create_dir(folder.path().join("v1")).unwrap();
    fs::write(&mine, "mine").unwrap();
    assert!(edition::generate(folder.path(), &CASES[..1]).is_err());
    assert_eq!(fs::read(&mine).unwrap(), b"mine");
}

/// Returns the committed table entries of all cases, by name.
fn entries() -> BTreeMap<String, Value> {
    let read = |path: &str| -> Value {
        serde_json::from_slice(&fs::read(committed().join(path)).unwrap()).unwrap()
    };
    let list = read("corpus.json");
    let tables = list["tables"].as_array().unwrap();
    let tables = tables.iter().map(|path| read(path.as_str().unwrap()));
    let lists = tables.flat_map(|table| [table["cases"].clone(), table["large"].clone()]);
    let cases = lists.flat_map(|list| list.as_array().cloned().unwrap_or_default());
    cases
        .map(|case| (case["name"].as_str().unwrap().to_owned(), case))
        .collect()
}

/// Joins the parts of a file, as docs/conformance/README.md describes.
fn bytes(parts: &Value) -> Vec<u8> {
    let parts = parts.as_array().unwrap().iter();
    let bytes = parts.map(|part| match part {
        Value::String(text) => text.clone().into_bytes(),
        part => {
            let times = part[2].as_u64().unwrap_or(1);
            hex(part[1].as_str().unwrap()).repeat(usize::try_from(times).unwrap())
        }
    });
    bytes.collect::<Vec<_>>().concat()
}

/// Applies a JSON merge patch.
fn patched(document: &Value, patch: &Value) -> Value {
    let Value::Object(patch) = patch else {
        return patch.clone();
    };
    let mut members = document.as_object().cloned().unwrap_or_default();
    for (key, value) in patch {
        let before = members.remove(key).unwrap_or_default();
        if !value.is_null() {
            members.insert(key.clone(), patched(&before, value));
        }
    }
    members.into()
}

#[test]
fn the_tables_contain_every_byte_and_document() {
    let entries = entries();
    assert_eq!(entries.len(), ALL.len());
    let (large, small): (Vec<_>, Vec<_>) = ALL.iter().partition(|case| case.is_large());
    for case in large {
        for (path, bytes) in &case.files {
            assert_eq!(entries[&case.name]["sizes"][path], bytes.len(), "{path}");
        }
    }
    for case in small {
        let entry = &entries[&case.name];
        let files = entry["files"].as_object().into_iter().flatten();
        let files: BTreeMap<_, _> = files.map(|(path, it)| (path.clone(), bytes(it))).collect();
        assert!(files == case.files, "{}", case.name);
        assert_eq!(entry["expected"], case.expected, "{}", case.name);
        let others = entry["alternatives"].as_array().into_iter().flatten();
        let others: Vec<_> = others.map(|patch| patched(&case.expected, patch)).collect();
        assert_eq!(others, case.alternatives, "{}", case.name);
    }
}

#[test]
fn the_command_verifies_the_committed_corpus_and_shows_the_first_difference() {
    let verify = |folder: &Path| {
        let output = command(&["verify", folder.to_str().unwrap()]);
        let text = text(&output).replace(folder.to_str().unwrap(), "FOLDER");
        (output.status.code(), text)
    };
    let good = format!("FOLDER: {} cases, all match\n", ALL.len());
    let advice = "run: cargo run -p atf-conformance -- corpus generate";
    assert_eq!(verify(&committed()), (Some(0), good), "{advice}");
    let folder = TempDir::new().unwrap();
    edition::generate(folder.path(), &ALL).unwrap();
    let path = folder.path().join("v1/index_footer.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.lines().next().unwrap()).unwrap();
    let line = "FOLDER/v1/index_footer.json:1: differs from the corpus\n".to_owned();
    assert_eq!(verify(folder.path()), (Some(1), line.clone()));
    fs::remove_file(folder.path().join("v2/link.json")).unwrap();
    fs::write(folder.path().join("v2/mine"), "").unwrap();
    let more = format!("{line}and 2 more\n");
    assert_eq!(verify(folder.path()), (Some(1), more));
}

#[test]
fn the_command_lists_selected_cases() {
    // The first columns are the name, the class and the verdicts.
    let list = |arguments: &[&str]| {
        let output = command(&[&["list"], arguments].concat());
        assert_eq!(output.status.code(), Some(0));
        let lines = text(&output).lines();
        let columns = lines.map(|line| line.split_whitespace().map(str::to_owned));
        columns
            .map(|it| it.take(3).collect())
            .collect::<Vec<Vec<_>>>()
    };
    let name = "v1/iftr-002-a-billion";
    let in_thread = "v1/iftr-002-a-billion-in-one-thread-of-two";
    assert_eq!(
        list(&["--rule", "ATF-IFTR-002", "--wire", "1", "v1/*billion*"]),
        [
            [name, "malformed", "accept/recover/reject"],
            [in_thread, "malformed", "accept/recover"],
        ]
    );

    let names = |arguments: &[&str]| {
        let cases = list(arguments).into_iter();
        cases.map(|columns| columns[0].clone()).collect::<Vec<_>>()
    };
    let pairs = names(&["--pairs", "--wire", "2", "--rule", "ATF-DPAY-001"]);
    assert!(pairs.len() > 20 && pairs.iter().all(|name| name.starts_with("v2/pair-")));
    assert_eq!(command(&["show", &pairs[0]]).status.code(), Some(0));
    let entries = entries();
    let assert_listed = |arguments: &[&str], is_wanted: fn(&Value) -> bool| {
        let wanted = CASES.iter().filter(|case| is_wanted(&entries[&case.name]));
        let wanted: Vec<_> = wanted.map(|case| case.name.clone()).collect();
        assert_eq!(names(arguments), wanted, "{arguments:?}");
    };
    assert_listed(&["--class", "truncated"], |case| {
        case["class"] == "truncated"
    });
    assert_listed(&["--wire", "2", "*link*"], |case| {
        let name = case["name"].as_str().unwrap();
        name.starts_with("v2/") && name.contains("link")
    });
    assert_listed(&["--flag", "ties"], |case| {
        let mut flags = case["flags"].as_array().into_iter().flatten();
        flags.any(|flag| flag == "ties")
    });
    assert_eq!(command(&["list", "no-such-*"]).status.code(), Some(2));
    let output = command(&["list", "--flag", "no-such"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(str::from_utf8(&output.stderr).unwrap().contains("ties"));
}

#[test]
fn the_command_lists_verdicts_with_their_reasons_and_counts_them() {
    let output = command(&["list", "--verdicts", "--wire", "1", "v1/ihdr-00[34]-*"]);
    assert_eq!(output.status.code(), Some(0));
    let lines: Vec<_> = text(&output).lines().collect();
    let source = "not accept: S2:112: Readers reject a file that is not little-endian.";
    let mut endian = lines.iter().filter(|line| line.starts_with("v1/ihdr-003-"));
    assert_eq!(endian.clone().count(), 2);
    assert!(endian.all(|line| line.contains(source)), "{lines:?}");
    let last: Vec<_> = lines.iter().rev().take(2).map(|line| line.trim()).collect();
    assert_eq!(
        last,
        [
            "4  verdicts excluded only by a harm to data",
            "4  verdicts excluded by a sentence",
        ]
    );
}

#[test]
fn the_command_shows_a_case_with_its_fault_and_its_bytes() {
    let output = command(&["show", "v1/iftr-002-one-too-many"]);
    let text = text(&output);
    let head = "v1/iftr-002-one-too-many: malformed, to accept or recover or reject\n";
    assert!(text.starts_with(head), "{text}");
    for part in [
        "breaks   ATF-IFTR-002 in index.atf, footer.event_count at 264\n",
        "\nabout    ATF-IFTR-002\n",
        "\nsources  S",
        "\n00000108  0700000000000000  footer.event_count  7\n",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let (_, expected) = text.split_once("\nExpected result\n").unwrap();
    let (expected, _) = expected.split_once("\nBytes\n").unwrap();
    let expected: Value = serde_json::from_str(expected).unwrap();
    assert_eq!(expected, entries()["v1/iftr-002-one-too-many"]["expected"]);
    assert_eq!(command(&["show", "v1/none"]).status.code(), Some(2));
}

#[cfg(unix)]
#[test]
fn the_command_copies_cases_with_their_symlinks_and_empty_folders() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().to_str().unwrap();
    let output = command(&["copy", out, "v2/sess-00[23]-*"]);
    assert_eq!(output.status.code(), Some(0));
    let at = |path: &str| folder.path().join("v2").join(path);
    assert!(at("sess-002-an-empty-folder/files/thread_8").is_dir());
    let link = at("sess-003-a-link-to-a-threads-folder/files/thread_8");
    assert_eq!(fs::read_link(link).unwrap(), Path::new("thread_9"));
    assert!(!folder.path().join("v1").exists());
}
