//! Runs `atf-codegen` as a user would, and checks its output, files and exit status.

mod breaking;
mod decode;
mod generate;
#[path = "../support/lua.rs"]
mod lua;
mod names;
mod overlay;
mod spec;
mod targets;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use assert_cmd::Command;
use atf_spec::origin::BUILT_IN;
use tempfile::TempDir;

/// The result of running the command.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    pub(crate) fn prints(&self, text: &str) {
        assert!(self.stdout.contains(text), "{text} in\n{}", self.stdout);
    }

    pub(crate) fn reports(&self, text: &str) {
        assert!(self.stderr.contains(text), "{text} in\n{}", self.stderr);
    }

    /// Checks that the command succeeded without a message, and returns what it printed.
    pub(crate) fn succeeds(&self) -> &str {
        assert_eq!((self.status, &*self.stderr), (0, ""));
        &self.stdout
    }

    /// Checks that the command failed and printed nothing, and returns its messages.
    pub(crate) fn fails(&self, status: i32) -> &str {
        let found = (self.status, &*self.stdout);
        assert_eq!(found, (status, ""), "{}", self.stderr);
        &self.stderr
    }
}

pub(crate) fn temp() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

pub(crate) fn utf8(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

/// Writes a file below a folder, and creates the folders that contain it.
pub(crate) fn put(folder: &Path, path: &str, text: impl AsRef<[u8]>) {
    let path = folder.join(path);
    let above = path.parent().expect("a file is in a folder");
    fs::create_dir_all(above).expect("a temporary folder");
    fs::write(path, text).expect("a temporary file");
}

pub(crate) fn experiment(name: &str) -> String {
    utf8(&real_spec().join("experiments").join(name)).to_owned()
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
    output(&mut command(spec, arguments))
}

/// Runs the command with the real spec and an overlay.
pub(crate) fn run_over(overlay: &str, arguments: &[&str]) -> Ran {
    let overlay = ["--overlay", overlay];
    run(&real_spec(), &[&overlay, arguments].concat())
}

/// Runs the command in a folder, without naming a spec.
pub(crate) fn run_in(folder: &Path, arguments: &[&str]) -> Ran {
    let mut command = Command::cargo_bin("atf-codegen").expect("the command is built");
    output(command.args(arguments).current_dir(folder))
}

fn output(command: &mut Command) -> Ran {
    let output = command.output().expect("the command runs");
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("UTF-8");
    Ran {
        status: output.status.code().expect("an exit status"),
        stdout: text(&output.stdout),
        stderr: text(&output.stderr),
    }
}

/// Runs `generate` with an output folder on the real spec.
pub(crate) fn generate(out: &TempDir, arguments: &[&str]) -> Ran {
    let generate = ["generate", "--out", utf8(out.path())];
    run(&real_spec(), &[&generate, arguments].concat())
}

pub(crate) fn generated() -> TempDir {
    let out = temp();
    let ran = generate(&out, &[]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    out
}

pub(crate) fn copy_of_spec() -> TempDir {
    let copy = temp();
    for (path, text) in BUILT_IN {
        put(copy.path(), path, text);
    }
    copy
}

/// Returns a copy of the real spec in which one string in one file is replaced.
pub(crate) fn changed_spec(file: &str, old: &str, new: &str) -> TempDir {
    let copy = copy_of_spec();
    replace(copy.path(), file, old, new);
    copy
}

/// Replaces a string that occurs once in a file of a spec.
pub(crate) fn replace(spec: &Path, file: &str, old: &str, new: &str) {
    let path = spec.join(file);
    let text = fs::read_to_string(&path).expect("a file of the spec");
    assert_eq!(text.matches(old).count(), 1, "{file}: {old}");
    fs::write(&path, text.replace(old, new)).expect("a temporary file");
}

/// Returns all files below a folder with their bytes, by relative path.
pub(crate) fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    atf_samples::tree(folder).expect("a folder")
}

#[test]
fn a_missing_spec_is_a_usage_error() {
    for arguments in [&["spec", "check"][..], &["generate", "--check"]] {
        let ran = run(Path::new("no/such/spec"), arguments);
        assert_eq!(ran.fails(2), "atf-codegen: no/such/spec: no such folder\n");
    }
}

#[test]
fn inside_the_repository_its_spec_is_found() {
    let ran = run_in(&real_spec().join("records"), &["spec", "check"]);
    ran.succeeds();
}

#[test]
fn outside_the_repository_the_built_in_spec_generates_the_same_files() {
    let elsewhere = temp();
    let built_in = |arguments: &[&str]| {
        let ran = run_in(elsewhere.path(), arguments);
        let note = "atf-codegen: no folder `spec` here or above: using built-in spec ";
        let (first, stderr) = ran.stderr.split_once('\n').expect("a note");
        assert!(first.starts_with(note), "{first}");
        let stderr = stderr.to_owned();
        Ran { stderr, ..ran }
    };
    let ran = built_in(&["generate", "--out", "generated"]);
    ran.succeeds();
    let out = elsewhere.path().join("generated");
    let out = utf8(&out);
    let ran = run(&real_spec(), &["generate", "--check", "--out", out]);
    assert_eq!((ran.status, &*ran.stdout), (0, ""));

    for arguments in [&["generate", "c"][..], &["generate", "--check"]] {
        let ran = built_in(arguments);
        let why =
            "atf-codegen: name the folder to write with --out DIR; only a checkout has a default\n";
        assert_eq!((ran.status, &*ran.stderr), (2, why));
    }
    assert_eq!(fs::read_dir(elsewhere.path()).expect("a folder").count(), 1);

    let vendor = experiment("vendor");
    let ran = built_in(&["--overlay", &vendor, "generate", "c", "--out", "vendor"]);
    ran.succeeds();
    ran.prints("changed: os\n");
    let remedy = "name the corpus's folder with --corpus to list the cases that still apply\n";
    assert!(ran.stdout.ends_with(remedy), "{}", ran.stdout);
}

/// An installed program shows faults as it does in a checkout, with the names of the spec's files.
#[test]
fn faults_of_an_overlay_name_the_built_in_files() {
    let folder = temp();
    let record = "acme/records/index_footer.yaml";
    put(folder.path(), record, "size: 60\n");
    let ran = run_in(folder.path(), &["--overlay", "acme", "spec", "check"]);
    ran.fails(1);
    let spec = copy_of_spec();
    let mut command = command(spec.path(), &["--overlay", "acme", "spec", "check"]);
    let beside = output(command.current_dir(folder.path()));
    let (_, faults) = ran.stderr.split_once('\n').expect("a note");
    assert_eq!(faults, beside.stderr);
    ran.reports("--> overlay/records/index_footer.yaml:1:7\n");
    ran.reports("::: sources/S0.yaml:");
}

#[test]
fn the_version_names_the_built_in_spec() {
    let ran = run_in(&real_spec(), &["--version"]);
    let editions = fs::read_to_string(real_spec().join("editions.yaml")).expect("the editions");
    let version = |of: &str| {
        let after = editions.split_once(&format!("\n{of}:\n  version: "));
        let (_, after) = after.expect(of);
        after.lines().next().expect("a version").to_owned()
    };
    let (spec, rules) = (version("spec"), version("rules"));
    let own = env!("CARGO_PKG_VERSION");
    let expected = format!("atf-codegen {own} (spec {spec}, rules {rules})\n");
    assert_eq!((ran.status, ran.stdout), (0, expected));
}

/// With `… | head`, the reader exits first. The command still does all its work and returns its
/// usual status.
#[test]
fn a_closed_pipe_changes_neither_status_nor_work() {
    let out = temp();
    let out_path = utf8(out.path());
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
    let checked = generate(&out, &["--check"]);
    assert_eq!(checked.status, 0, "all files are written");
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
        ran.prints(text);
    }
    assert_eq!(run(&real_spec(), &["spec", "everything"]).status, 2);
}
