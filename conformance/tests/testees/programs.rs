//! Builds the shipped implementations, each in its own folder.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, LazyLock, Mutex};
use std::thread;

use atf_samples::readers;
use atf_samples::tools::has;
use serde_json::Value;
use tempfile::TempDir;

/// A folder with a manifest and its programs. Those with planted bugs share it.
pub(crate) struct Testee {
    folder: Arc<TempDir>,
    manifest: String,
}

impl Testee {
    fn copied(from: &Path) -> Self {
        let folder = TempDir::new().unwrap();
        for (name, path) in files(from) {
            fs::copy(path, folder.path().join(name)).unwrap();
        }
        Self::new(folder)
    }

    pub(crate) fn new(folder: TempDir) -> Self {
        Self {
            folder: folder.into(),
            manifest: "TESTEE.toml".to_owned(),
        }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn manifest(&self) -> PathBuf {
        self.folder().join(&self.manifest)
    }

    /// Returns the same programs in Python with one of their bugs.
    pub(crate) fn planted(&self, bug: &str) -> Self {
        let (python, program) = (program("python3"), self.folder().join("testee.py"));
        let bugged = format!("{python:?}, \"-S\", {program:?}, \"--bug\", \"{bug}\", ");
        let text = fs::read_to_string(self.manifest()).unwrap();
        let manifest = format!("{bug}.toml");
        let text = text.replace("\"./testee.py\", ", &bugged);
        fs::write(self.folder().join(&manifest), text).unwrap();
        let folder = Arc::clone(&self.folder);
        Self { folder, manifest }
    }
}

pub(crate) fn python() -> Option<Testee> {
    let testee = has("python3").then(|| Testee::copied(&source("python")))?;
    // Otherwise, each of thousands of processes may compile it.
    let mut compile = Command::new("python3");
    succeeds(
        compile
            .args(["-m", "compileall", "-q"])
            .arg(testee.folder()),
    );
    Some(testee)
}

/// Builds the readers that are generated for other languages, if their tools are installed.
pub(crate) fn readers() -> Vec<Testee> {
    let languages = readers::languages().unwrap();
    thread::scope(|scope| {
        let builds = languages.iter().map(|it| scope.spawn(|| reader(it)));
        let builds: Vec<_> = builds.collect();
        let built = builds.into_iter().map(|build| build.join().unwrap());
        built.flatten().collect()
    })
}

/// Builds the reader that is generated for a language, if its tools are installed.
pub(crate) fn reader(language: &str) -> Option<Testee> {
    let testee = Testee::new(TempDir::new().unwrap());
    readers::build(language, testee.folder())
        .unwrap()
        .then_some(testee)
}

/// Builds the implementation in C with each compiler, using only the generated header. Keeps the
/// result for other tests, and rebuilds it when a source file changes.
pub(crate) fn c() -> Option<Testee> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock();
    let include = root().join("atf/include");
    let compilers = ["gcc", "clang"]
        .into_iter()
        .filter(|compiler| has(compiler));
    let built = compilers.filter(|_| has("make")).map(|compiler| {
        let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join("testees");
        let folder = kept.join("c").join(compiler);
        fs::create_dir_all(&folder).unwrap();
        for (name, path) in files(&source("c")) {
            let (own, kept) = (fs::read(&path).unwrap(), folder.join(name));
            if fs::read(&kept).ok() != Some(own) {
                fs::copy(path, kept).unwrap();
            }
        }
        let mut make = Command::new("make");
        make.current_dir(&folder)
            .arg(format!("INCLUDE={}", include.display()))
            .arg(format!("CC={compiler}"))
            .arg("CFLAGS=-Wall -Wextra -Werror");
        succeeds(&mut make);
        folder
    });
    // Both compilers must accept the code, but only the first program is run.
    let built: Vec<_> = built.collect();
    built.first().map(|folder| Testee::copied(folder))
}

/// Returns the names and paths of the files in a folder.
fn files(folder: &Path) -> impl Iterator<Item = (OsString, PathBuf)> {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    let files = entries.filter(|entry| entry.file_type().unwrap().is_file());
    files.map(|entry| (entry.file_name(), entry.path()))
}

/// Returns the root of the workspace.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// Builds the layout interpreter, which is a package of this workspace, in the profile of this test
/// and with the dependencies that were built with it.
pub(crate) fn interpreter() -> Testee {
    const PACKAGE: &str = "atf-interpreter";
    let testee = Testee::copied(&source("interpreter"));
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--quiet", "--workspace", "--bin", PACKAGE]);
    if !cfg!(debug_assertions) {
        build.arg("--release");
    }
    succeeds(&mut build);
    // Test programs are in the folder `deps` next to the program.
    let test = std::env::current_exe().unwrap();
    let built = test.ancestors().nth(2).unwrap().join(PACKAGE);
    fs::copy(&built, testee.folder().join(PACKAGE))
        .unwrap_or_else(|error| panic!("{}: {error}", built.display()));
    testee
}

/// Runs the kit and returns its exit code and its report.
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

/// Returns `PATH` with the Python interpreter's own folder first, because a version manager's
/// wrapper takes ten times as long to start.
pub(crate) fn path() -> &'static OsStr {
    static PATH: LazyLock<OsString> = LazyLock::new(|| {
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
    });
    &PATH
}

/// Returns the full path of an installed program.
fn program(name: &str) -> PathBuf {
    let folders = std::env::split_paths(path());
    let mut places = folders.map(|folder| folder.join(name));
    places.find(|place| place.is_file()).unwrap()
}

fn source(language: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("testees")
        .join(language)
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
