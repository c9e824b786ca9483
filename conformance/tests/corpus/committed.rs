//! Tests the corpus as a folder: the committed files match the cases, and differences are reported.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;
use atf_conformance::corpus::edition::{self, Difference};
use tempfile::TempDir;

use crate::CASES;

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
fn the_committed_corpus_matches_the_cases() {
    let differences = edition::verify(&committed(), &CASES);
    let first = differences.first().map(ToString::to_string);
    assert_eq!(
        first, None,
        "run: cargo run -p atf-conformance -- corpus generate"
    );
}

#[test]
fn changed_missing_and_unknown_files_are_reported() {
    let folder = TempDir::new().unwrap();
    let some = &CASES[..3];
    edition::generate(folder.path(), some).unwrap();
    assert_eq!(edition::verify(folder.path(), some), []);

    let path = "v1/clean-index/files/index.atf";
    let mut bytes = fs::read(folder.path().join(path)).unwrap();
    let before = edition::sha256(&bytes);
    bytes[41] ^= 1;
    fs::write(folder.path().join(path), &bytes).unwrap();
    fs::remove_file(folder.path().join("v1/clean-session/dump.txt")).unwrap();
    fs::write(folder.path().join("v1/clean-session/notes.txt"), "mine").unwrap();
    let differences = edition::verify(folder.path(), some);
    let [other, missing, unknown] = differences.as_slice() else {
        panic!("{differences:?}");
    };
    let sums = [before, edition::sha256(&bytes)];
    assert_eq!(
        *other,
        Difference::Other {
            path: path.to_owned(),
            offset: 41,
            sums
        }
    );
    assert!(
        matches!(missing, Difference::Missing { path, .. } if path == "v1/clean-session/dump.txt")
    );
    assert!(
        matches!(unknown, Difference::Unknown { path } if path == "v1/clean-session/notes.txt")
    );
    let text = missing.to_string();
    assert!(
        text.starts_with("v1/clean-session/dump.txt: No such file"),
        "{text}"
    );
    assert_eq!(
        unknown.to_string(),
        "v1/clean-session/notes.txt: not part of the corpus"
    );
}

#[test]
fn generating_removes_an_older_corpus_but_no_other_files() {
    let folder = TempDir::new().unwrap();
    edition::generate(folder.path(), &CASES[..3]).unwrap();
    edition::generate(folder.path(), &CASES[..1]).unwrap();
    assert_eq!(edition::verify(folder.path(), &CASES[..1]), []);
    assert!(!folder.path().join("v1/clean-session").exists());

    let folder = TempDir::new().unwrap();
    let mine = folder.path().join("v1/mine.txt");
    fs::create_dir(folder.path().join("v1")).unwrap();
    fs::write(&mine, "mine").unwrap();
    assert!(edition::generate(folder.path(), &CASES[..1]).is_err());
    assert_eq!(fs::read(&mine).unwrap(), b"mine");
}

/// The checksums of "abc" and of the empty string are published test vectors of FIPS 180-4.
#[test]
fn the_sums_are_sha_256() {
    assert_eq!(
        edition::sha256(b"abc"),
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    );
    assert_eq!(
        edition::sha256(b""),
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    );
}

#[test]
fn the_command_verifies_a_folder_and_shows_the_first_difference() {
    let verify = |folder: &Path| {
        let output = command(&["verify", folder.to_str().unwrap()]);
        let text = text(&output).replace(folder.to_str().unwrap(), "FOLDER");
        (output.status.code(), text)
    };
    let count = CASES.len();
    let good = format!("FOLDER: {count} cases, all match\n");
    assert_eq!(verify(&committed()), (Some(0), good));
    let folder = TempDir::new().unwrap();
    edition::generate(folder.path(), &CASES).unwrap();
    let path = folder.path().join("v1/clean-index/files/index.atf");
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..41]).unwrap();
    let line = format!(
        "FOLDER/v1/clean-index/files/index.atf: differs from byte 41 on; SHA-256 {}, expected {}\n",
        edition::sha256(&bytes[..41]),
        edition::sha256(&bytes),
    );
    assert_eq!(verify(folder.path()), (Some(1), line.clone()));
    fs::remove_file(folder.path().join("v2/SHA256SUMS")).unwrap();
    fs::write(folder.path().join("v2/mine"), "").unwrap();
    let more = format!("{line}and 2 more\n");
    assert_eq!(verify(folder.path()), (Some(1), more));
}

#[test]
fn the_command_lists_selected_cases() {
    let output = command(&[
        "list",
        "--rule",
        "ATF-IFTR-002",
        "--wire",
        "1",
        "v1/*billion*",
    ]);
    let lines: Vec<_> = text(&output).lines().collect();
    assert_eq!(output.status.code(), Some(0));
    let names = lines.iter().map(|line| line.split(' ').next().unwrap());
    assert_eq!(
        names.collect::<Vec<_>>(),
        [
            "v1/iftr-002-a-billion",
            "v1/iftr-002-a-billion-in-one-thread-of-two"
        ]
    );
    assert!(lines.iter().all(|line| line.contains("  malformed  ")));
    let verdicts = lines
        .iter()
        .map(|line| line.split_whitespace().nth(2).unwrap());
    assert_eq!(
        verdicts.collect::<Vec<_>>(),
        ["recover/reject", "recover"],
        "{lines:?}"
    );

    let names = |arguments: &[&str]| {
        let output = command(&[&["list"], arguments].concat());
        assert_eq!(output.status.code(), Some(0));
        let names = text(&output)
            .lines()
            .map(|line| line.split(' ').next().unwrap().to_owned());
        names.collect::<Vec<_>>()
    };
    // Compare with the committed case.json files.
    let about = |is_wanted: &dyn Fn(&serde_json::Value) -> bool| {
        let cases = CASES.iter().filter(|case| {
            let path = committed().join(&case.name).join("case.json");
            is_wanted(&serde_json::from_slice(&fs::read(path).unwrap()).unwrap())
        });
        cases.map(|case| case.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(
        names(&["--class", "truncated"]),
        about(&|case| case["class"] == "truncated")
    );
    assert_eq!(
        names(&["--wire", "2", "*link*"]),
        about(&|case| { case["wire"] == 2 && case["name"].as_str().unwrap().contains("link") })
    );
    assert_eq!(
        names(&["--flag", "ties"]),
        about(&|case| {
            case["flags"]
                .as_array()
                .unwrap()
                .iter()
                .any(|flag| flag == "ties")
        })
    );
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
    let source = "S2: \"ATF v2 only supports little-endian";
    let endian = lines.iter().filter(|line| line.starts_with("v1/ihdr-003-"));
    assert_eq!(endian.clone().count(), 2);
    assert!(
        endian.clone().all(|line| line.contains(source)),
        "{lines:?}"
    );
    assert_eq!(lines.last().unwrap().trim(), "4  reject");
}

#[test]
fn the_command_shows_a_case_with_its_fault_and_its_bytes() {
    let output = command(&["show", "v1/iftr-002-one-too-many"]);
    let text = text(&output);
    assert!(text.contains("breaks   ATF-IFTR-002 in index.atf, footer.event_count at 264\n"));
    assert!(
        text.starts_with("v1/iftr-002-one-too-many: malformed, to recover or reject\n"),
        "{text}"
    );
    assert!(text.contains("\nabout    ATF-IFTR-002\n"));
    assert!(text.contains("\nsources  S"));
    assert!(text.contains("\n00000108  0700000000000000  footer.event_count  7\n"));
    let expected =
        fs::read_to_string(committed().join("v1/iftr-002-one-too-many/expected.json")).unwrap();
    assert!(
        text.contains(&format!("\nExpected result\n{expected}")),
        "{text}"
    );
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
