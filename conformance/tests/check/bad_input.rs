//! Tests invalid arguments and paths, on every platform.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::support::{INDEX, MANIFEST, Trace};
use crate::{check, command, texts};

/// Makes a folder with a good session in `good` and a broken one in `broken`.
fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    Trace::clean(1).write(&folder.path().join("good")).unwrap();
    let mut broken = Trace::clean(1);
    broken.patch(INDEX, 0, b"none");
    broken.write(&folder.path().join("broken")).unwrap();
    folder
}

/// Asserts that the path is reported as unreadable for this reason, and that the good session is
/// still checked.
pub(crate) fn assert_unreadable(folder: &TempDir, path: &str, why: &str) {
    let output = check(folder.path(), &[path, "good"]);
    let (status, text, messages) = texts(&output);
    assert_eq!(status, 2, "{text}");
    assert_eq!(messages, "");
    let line = text
        .lines()
        .find(|line| line.contains(": unreadable: "))
        .expect(text);
    assert!(line.starts_with(path) && line.contains(why), "{line}");
    assert!(
        text.contains("thread_7/index.atf: accept, 6 events\n"),
        "{text}"
    );
    assert!(text.ends_with("\n1 path could not be read\n"), "{text}");
}

#[test]
fn a_broken_must_exits_with_1_and_an_unreadable_path_with_2() {
    let folder = folder();
    let status = |paths: &[&str]| texts(&check(folder.path(), paths)).0;
    assert_eq!(status(&["good"]), 0);
    assert_eq!(status(&["good", "broken"]), 1);
    assert_eq!(status(&["broken", "nothing"]), 2);
    assert_eq!(status(&["nothing", "broken", "good"]), 2);
    assert_eq!(status(&["--json", "broken", "nothing"]), 2);
    assert_eq!(status(&["--json", "broken"]), 1);
}

#[test]
fn a_message_that_cannot_be_written_is_not_an_error() {
    let folder = folder();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_atf-conformance"));
    command.args(["check", "good", "good"]);
    command.current_dir(folder.path()).stderr(writer);
    let output = command.output().unwrap();
    assert_eq!(texts(&output).0, 0);
    assert!(!output.stdout.is_empty());
}

#[test]
fn a_path_that_does_not_exist_is_unreadable() {
    assert_unreadable(&folder(), "nothing", "o");
}

#[test]
fn a_folder_without_a_thread_is_unreadable() {
    let folder = folder();
    fs::create_dir(folder.path().join("empty")).unwrap();
    assert_unreadable(
        &folder,
        "empty",
        "contains no thread folder, manifest.json or ATF file",
    );
    fs::create_dir_all(folder.path().join("others/below")).unwrap();
    fs::write(folder.path().join("others/notes.txt"), "ATI2").unwrap();
    fs::write(folder.path().join("others/thread_pool.c"), "int main;").unwrap();
    fs::write(folder.path().join("others/below/data"), "ATI2").unwrap();
    assert_unreadable(
        &folder,
        "others",
        "contains no thread folder, manifest.json or ATF file",
    );
}

#[test]
fn a_file_that_is_not_a_trace_is_unreadable() {
    let folder = folder();
    fs::write(folder.path().join("notes.txt"), "just notes").unwrap();
    assert_unreadable(&folder, "notes.txt", "not an ATF v2 file");
    fs::write(folder.path().join("trace"), "").unwrap();
    assert_unreadable(&folder, "trace", "not an ATF v2 file");
}

/// A buffering writer that is killed before its first write leaves an empty file and breaks no
/// MUST. Only the file's name shows that it is part of a trace.
#[test]
fn an_empty_file_is_recovered_as_never_written() {
    let folder = folder();
    for (name, of, rule) in [
        ("index.atf", "events", "ATF-IFTR-001"),
        ("detail.atf", "details", "ATF-DFTR-001"),
    ] {
        fs::write(folder.path().join(name), "").unwrap();
        let output = check(folder.path(), &[name]);
        let (status, text, _) = texts(&output);
        assert_eq!(status, 0);
        let line = format!(
            "{name}: recover, 0 {of}\n  should {rule}  footer (at 0x0): the file is empty: \
             nothing was written to it\n"
        );
        assert!(text.starts_with(&line), "{text}");
    }
}

/// A thread's files are finalized together, so if one is finalized, the other cannot be empty.
#[test]
fn an_empty_file_next_to_a_finalized_one_is_damaged() {
    for (name, rule) in [
        ("index.atf", "ATF-IHDR-001"),
        ("detail.atf", "ATF-DHDR-001"),
    ] {
        let folder = folder();
        let thread = Path::new("good").join(INDEX);
        let file = folder.path().join(&thread).with_file_name(name);
        fs::write(file, "").unwrap();
        let output = check(folder.path(), &["good"]);
        let (status, text, _) = texts(&output);
        assert_eq!(status, 1, "{text}");
        let line =
            format!("{name}: reject\n  must   {rule}  header (at 0x0): truncated: 0 of 64 bytes");
        assert!(text.contains(&line), "{text}");
    }
}

#[test]
fn a_renamed_file_is_recognized_by_its_magic() {
    let folder = folder();
    fs::copy(
        folder.path().join("good").join(INDEX),
        folder.path().join("a.ati2"),
    )
    .unwrap();
    let output = check(folder.path(), &["a.ati2"]);
    let (status, text, _) = texts(&output);
    assert_eq!(status, 0);
    assert!(text.starts_with("a.ati2: accept, 6 events\n"), "{text}");
}

#[test]
fn traces_are_found_in_any_folder_below() {
    let folder = TempDir::new().unwrap();
    let trace = Trace::clean(1);
    trace.write(&folder.path().join("a/session")).unwrap();
    trace.write(&folder.path().join("a/session/pid_1")).unwrap();
    let index = trace.file(INDEX);
    for name in ["b/worker/index.atf", "c/x.ati2", "d/thread_ui/index.atf"] {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, index).unwrap();
    }
    let output = check(folder.path(), &["."]);
    let (status, text, _) = texts(&output);
    let line = |name: &str| text.matches(&format!("{name}: accept, 6 events\n")).count();
    assert_eq!(line("./a/session/thread_7/index.atf"), 1);
    assert_eq!(line("./a/session/pid_1/thread_7/index.atf"), 1);
    assert_eq!(line("c/x.ati2"), 1);
    // These folders have no detail files.
    assert!(
        text.contains("./b/worker/index.atf: accept, 6 events\n"),
        "{text}"
    );
    assert!(
        text.contains("./d/thread_ui/index.atf: accept, 6 events\n"),
        "{text}"
    );
    assert!(text.contains("\n11 files: "), "{text}");
    assert_eq!(status, 1);
}

#[test]
fn a_session_with_a_stray_thread_file_is_checked_completely() {
    let folder = TempDir::new().unwrap();
    let mut trace = Trace::clean(1);
    trace.put("detail.atf", "stray");
    trace.write(folder.path()).unwrap();
    let output = check(folder.path(), &["."]);
    let (status, text, _) = texts(&output);
    assert!(text.contains("./detail.atf: reject\n"), "{text}");
    assert!(
        text.contains("./thread_7/index.atf: accept, 6 events\n"),
        "{text}"
    );
    assert_eq!(status, 1);
}

#[test]
fn a_missing_argument_and_an_unknown_option_are_usage_errors() {
    for arguments in [&[] as &[&str], &["--frobnicate", "."], &["--json"]] {
        let output = command().args(arguments).output().unwrap();
        let (status, text, messages) = texts(&output);
        assert_eq!((status, text), (2, ""), "{arguments:?}");
        assert!(
            messages.contains("Usage: atf-conformance check"),
            "{messages}"
        );
    }
}

#[test]
fn help_explains_each_exit_status() {
    let output = command().arg("--help").output().unwrap();
    let (status, text, _) = texts(&output);
    assert_eq!(status, 0);
    for part in [
        "Exit status: 0 ",
        "; 1 a MUST is broken, ",
        "Example:",
        "standard output: summary, text, tap,",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

/// Text from a manifest may be shown but must not control the terminal.
#[test]
fn control_characters_in_a_manifest_do_not_reach_the_terminal() {
    let folder = TempDir::new().unwrap();
    let mut trace = Trace::clean(1);
    trace.replace(MANIFEST, "\"id\": 9", "\"id\": \"\u{9b}31m\u{7f}\u{202e}\"");
    trace.replace(
        MANIFEST,
        "\"clock_type\"",
        "\"\u{9b}2J\\u001b[2J\\nfake: accept\": 1, \"clock_type\"",
    );
    trace.write(folder.path()).unwrap();
    let output = check(folder.path(), &["."]);
    let (_, text, _) = texts(&output);
    assert!(
        text.contains("ATF-MANI-003") && text.contains("ATF-MANI-011"),
        "{text}"
    );
    let steers = |letter: char| (letter.is_control() && letter != '\n') || letter == '\u{202e}';
    assert!(!text.contains(steers), "{text:?}");
    assert!(!text.contains("\nfake"), "{text:?}");
}

#[test]
fn output_is_coloured_only_on_a_terminal() {
    let folder = folder();
    let output = check(folder.path(), &["good", "broken", "nothing"]);
    assert!(!texts(&output).1.contains('\u{1b}'));
}
