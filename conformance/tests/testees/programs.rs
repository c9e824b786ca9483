//! The testees, each in a folder of its own, built where they can be.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;

use serde_json::Value;
use tempfile::TempDir;

/// A folder with a `TESTEE.toml` and what it names.
pub(crate) struct Testee(TempDir);

impl Testee {
    fn of(language: &str) -> Self {
        Self::copied(&source(language))
    }

    fn copied(from: &Path) -> Self {
        let folder = TempDir::new().unwrap();
        for (name, path) in files(from) {
            fs::copy(path, folder.path().join(name)).unwrap();
        }
        Self(folder)
    }

    pub(crate) fn folder(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn manifest(&self) -> PathBuf {
        self.folder().join("TESTEE.toml")
    }
}

/// All programs that can be built here, C and C++ by the first compiler that is there.
pub(crate) fn compiled() -> Vec<Testee> {
    let mut testees = vec![cargo("rust", "atf-testee"), interpreter()];
    testees.extend(c());
    testees.extend(cpp());
    testees
}

/// The one in C.
pub(crate) fn c() -> Option<Testee> {
    by_make("c", "CC", "CFLAGS", &["gcc", "clang"])
}

/// The one in C++.
pub(crate) fn cpp() -> Option<Testee> {
    by_make("cpp", "CXX", "CXXFLAGS", &["g++", "clang++"])
}

/// The one that interprets the layout.
pub(crate) fn interpreter() -> Testee {
    cargo("interpreter", "atf-interpreter")
}

pub(crate) fn python() -> Option<Testee> {
    has("python3").then(|| Testee::of("python"))
}

/// Built by its own Makefile, by each compiler, with the generated header and nothing else. What was
/// built is kept for the other tests, and made anew where something in it has changed.
fn by_make(
    language: &str,
    compiler_variable: &str,
    flags_variable: &str,
    compilers: &[&str],
) -> Option<Testee> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock();
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../atf/include");
    let compilers = compilers.iter().filter(|compiler| has(compiler));
    let built = compilers.filter(|_| has("make")).map(|compiler| {
        let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join("testees");
        let folder = kept.join(language).join(compiler);
        fs::create_dir_all(&folder).unwrap();
        for (name, path) in files(&source(language)) {
            let (own, kept) = (fs::read(&path).unwrap(), folder.join(name));
            if fs::read(&kept).ok() != Some(own) {
                fs::copy(path, kept).unwrap();
            }
        }
        let mut make = Command::new("make");
        make.current_dir(&folder)
            .arg(format!("INCLUDE={}", include.display()))
            .arg(format!("{compiler_variable}={compiler}"))
            .arg(format!("{flags_variable}=-Wall -Wextra -Werror"));
        succeeds(&mut make);
        folder
    });
    // Both must take it; one is run.
    let built: Vec<_> = built.collect();
    built.first().map(|folder| Testee::copied(folder))
}

/// The names and paths of the files that stand in a folder.
fn files(folder: &Path) -> impl Iterator<Item = (OsString, PathBuf)> {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    let files = entries.filter(|entry| entry.file_type().unwrap().is_file());
    files.map(|entry| (entry.file_name(), entry.path()))
}

/// A package of this workspace, in the profile of this test.
fn cargo(language: &str, package: &str) -> Testee {
    let testee = Testee::of(language);
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--quiet", "--package", package]);
    if !cfg!(debug_assertions) {
        build.arg("--release");
    }
    succeeds(&mut build);
    let built = built(package);
    fs::copy(&built, testee.folder().join(package))
        .unwrap_or_else(|error| panic!("{}: {error}", built.display()));
    testee
}

/// What a run of the kit came to: its exit code and its report.
pub(crate) fn run(testees: &[&Testee], arguments: &[&str]) -> (Option<i32>, Value) {
    let folder = TempDir::new().unwrap();
    let report = folder.path().join("report.json");
    let mut run = Command::new(env!("CARGO_BIN_EXE_atf-conformance"));
    run.arg("run")
        .args(testees.iter().map(|testee| testee.manifest()))
        .args(arguments)
        .arg(format!("--report=json={}", report.display()))
        .env("PATH", path());
    let output = run.output().unwrap();
    let text = fs::read_to_string(&report).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    (output.status.code(), serde_json::from_str(&text).unwrap())
}

/// `PATH` with the interpreter itself in front: a version manager's wrapper takes ten times as
/// long to start.
pub(crate) fn path() -> OsString {
    let mut ask = Command::new("python3");
    ask.args([
        "-c",
        "import os, sys; print(os.path.dirname(sys.executable))",
    ]);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let Ok(Output { stdout, .. }) = ask.output() else {
        return path;
    };
    let first = PathBuf::from(String::from_utf8_lossy(&stdout).trim());
    std::env::join_paths([first].into_iter().chain(std::env::split_paths(&path))).unwrap()
}

/// A program that cargo built: those of tests stand in `deps` beside it.
fn built(package: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.ancestors().nth(2).unwrap().join(package)
}

fn source(language: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("testees")
        .join(language)
}

/// Whether a tool is there.
pub(crate) fn has(tool: &str) -> bool {
    let found = Command::new(tool).arg("--version").output().is_ok();
    if !found {
        let required = std::env::var_os("ATF_REQUIRE_TOOLS").is_some_and(|value| value == "1");
        assert!(!required, "{tool} is missing and required");
        eprintln!("SKIPPED: {tool} is missing");
    }
    found
}

#[track_caller]
pub(crate) fn succeeds(command: &mut Command) -> String {
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().expect("the command runs");
    let (stdout, stderr) = (
        String::from_utf8_lossy(&stdout),
        String::from_utf8_lossy(&stderr),
    );
    assert!(status.success(), "{command:?}: {status}\n{stdout}{stderr}");
    stdout.into_owned()
}
