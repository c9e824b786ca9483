//! Runs the command `atf-codegen` as a user does, and checks its output, files and exit status.

mod decode;
mod generate;
mod names;
mod overlay;
mod spec;
mod targets;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use assert_cmd::Command;
use tempfile::TempDir;

/// The result of running the command.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

pub(crate) fn real_spec() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../spec")
}

pub(crate) fn command(spec: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("atf-codegen").expect("the command is built");
    command.arg("--spec").arg(spec).args(arguments);
    command
}

pub(crate) fn run(spec: &Path, arguments: &[&str]) -> Ran {
    let output = command(spec, arguments).output().expect("the command runs");
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("UTF-8");
    Ran {
        status: output.status.code().expect("an exit status"),
        stdout: text(&output.stdout),
        stderr: text(&output.stderr),
    }
}

/// Runs `generate` with an output folder on the real spec.
pub(crate) fn generate(out: &TempDir, arguments: &[&str]) -> Ran {
    let out = out.path().to_str().expect("a path in UTF-8");
    run(
        &real_spec(),
        &[&["generate", "--out", out], arguments].concat(),
    )
}

/// Returns a folder with all generated files.
pub(crate) fn generated() -> TempDir {
    let out = tempfile::tempdir().expect("a temporary folder");
    let ran = generate(&out, &[]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    out
}

/// Returns a copy of the real spec in which one string in one file is replaced.
pub(crate) fn changed_spec(file: &str, old: &str, new: &str) -> TempDir {
    let copy = tempfile::tempdir().expect("a temporary folder");
    for folder in ["", "sources", "records", "behaviour", "grammar", "rules"] {
        fs::create_dir_all(copy.path().join(folder)).expect("a temporary folder");
        for entry in fs::read_dir(real_spec().join(folder)).expect("a folder of the spec") {
            let path = entry.expect("an entry").path();
            if path.extension().is_some_and(|ending| ending == "yaml") {
                let name = path.file_name().expect("a file has a name");
                fs::copy(&path, copy.path().join(folder).join(name)).expect("a copy");
            }
        }
    }
    let path = copy.path().join(file);
    let text = fs::read_to_string(&path).expect("a file of the spec");
    assert_eq!(text.matches(old).count(), 1, "{file}: {old}");
    fs::write(&path, text.replace(old, new)).expect("a temporary file");
    copy
}

/// Returns all files below a folder with their bytes.
pub(crate) fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut all = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                all.push((path.clone(), fs::read(&path).expect("a file")));
            }
        }
    }
    all.sort();
    all
}

#[test]
fn a_missing_spec_is_a_usage_error() {
    for arguments in [&["spec", "check"][..], &["generate", "--check"]] {
        let ran = run(Path::new("no/such/spec"), arguments);
        let says = "atf-codegen: no/such/spec: no such folder\n";
        assert_eq!(
            (ran.status, ran.stderr.as_str()),
            (2, says),
            "{arguments:?}"
        );
    }
}

#[test]
fn the_spec_is_found_only_from_within_the_repository() {
    let mut below = Command::cargo_bin("atf-codegen").expect("the command is built");
    below
        .args(["spec", "check"])
        .current_dir(real_spec().join("records"));
    below.assert().code(0);
    let elsewhere = tempfile::tempdir().expect("a temporary folder");
    let mut command = Command::cargo_bin("atf-codegen").expect("the command is built");
    command
        .args(["spec", "check"])
        .current_dir(elsewhere.path());
    let output = command.output().expect("the command runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("name it with --spec DIR"));
}

/// With `… | head`, the reader exits first. The command still does all its work and returns its
/// usual status.
#[test]
fn a_closed_pipe_changes_neither_status_nor_work() {
    let out = tempfile::tempdir().expect("a temporary folder");
    let out_path = out.path().to_str().expect("a path in UTF-8");
    let broken = changed_spec("enums.yaml", "enums:\n", "enumerations:\n");
    let real = real_spec();
    let cases: [(&Path, &[&str], i32); 5] = [
        (&real, &["spec", "conflicts"], 0),
        (&real, &["generate", "--check", "--out", out_path], 1),
        (&real, &["generate", "--out", out_path], 0),
        (&real, &["spec", "why", "nothing"], 2),
        (broken.path(), &["spec", "check"], 1),
    ];
    for (spec, arguments, status) in cases {
        let program = assert_cmd::cargo::cargo_bin("atf-codegen");
        let mut command = std::process::Command::new(program);
        command.arg("--spec").arg(spec).args(arguments);
        let piped = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = piped.expect("the command runs");
        drop((child.stdout.take(), child.stderr.take()));
        let ended = child.wait().expect("the command ends");
        assert_eq!(ended.code(), Some(status), "{arguments:?}");
    }
    assert_eq!(
        generate(&out, &["--check"]).status,
        0,
        "all files are written"
    );
}

#[test]
fn help_shows_examples_and_exit_statuses() {
    let says = [
        (
            &["--help"][..],
            "Exit status: 0 success; 1 faults in the spec, or stale files; 2",
        ),
        (&["generate", "--help"], "$ atf-codegen generate --check"),
        (
            &["spec", "why", "--help"],
            "$ atf-codegen spec why index_footer.reserved",
        ),
        (&["spec", "diff", "--help"], "$ atf-codegen spec diff 1 2"),
    ];
    for (arguments, text) in says {
        let ran = run(&real_spec(), arguments);
        assert_eq!(ran.status, 0);
        assert!(ran.stdout.contains(text), "{}", ran.stdout);
    }
    assert_eq!(run(&real_spec(), &["spec", "everything"]).status, 2);
}
