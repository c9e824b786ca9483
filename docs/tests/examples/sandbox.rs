//! A folder that looks like a checkout, with a user's trace, a program to grade, and the commands
//! on `PATH`.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

use tempfile::TempDir;

pub(crate) fn root() -> PathBuf {
    fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).expect("the root")
}

/// The folder with the commands. They are built together with all tests, because their dependencies
/// would have different features otherwise; after `cargo test --workspace`, they are up to date.
static PROGRAMS: LazyLock<PathBuf> = LazyLock::new(|| {
    let built = Command::new(env!("CARGO"))
        .current_dir(root())
        .args(["test", "--workspace", "--no-run", "--quiet", "--locked"])
        .status();
    assert!(built.expect("cargo runs").success());
    // The path of this test is target/debug/deps/examples-0123.
    let test = env::current_exe().expect("a test has a path");
    let programs = test.ancestors().nth(2).expect("the folder of the profile");
    // Only `cargo build` puts the library next to the commands, where `atf` looks for it: as a link to
    // the file that was built, which a copy would truncate.
    let library = "libatf_instrument.so";
    let built = programs.join("deps").join(library);
    let _ = fs::remove_file(programs.join(library));
    fs::copy(built, programs.join(library)).expect("the library was built");
    programs.to_owned()
});

/// A stand-in for `cargo run` that starts the already built programs.
const CARGO: &str = "#!/bin/sh
[ \"$1\" = run ] || { echo \"not run here: cargo $*\" >&2; exit 99; }
while [ $# -gt 0 ] && [ \"$1\" != -- ]; do
    [ \"$1\" != -p ] || package=$2
    shift
done
shift
case $package in atf-cli) package=atf;; esac
exec \"$package\" \"$@\"
";

/// A temporary folder laid out as a checkout.
pub(crate) struct Sandbox(TempDir);

impl Sandbox {
    pub(crate) fn new() -> Self {
        let sandbox = Self(tempfile::tempdir().expect("a temporary folder"));
        let (root, here) = (root(), sandbox.0.path());
        let own = ["target", ".git", "samples"].map(OsStr::new);
        for entry in fs::read_dir(&root).expect("the root").map(Result::unwrap) {
            if !own.contains(&&*entry.file_name()) {
                symlink(entry.path(), here.join(entry.file_name())).expect("a link");
            }
        }
        let session = "session_20260105_101500";
        let small = format!("samples/sample-small/{session}");
        for (from, to) in [
            ("samples", "samples"),
            (&small, session),
            (&format!("{small}/pid_4242/thread_0"), "thread_0"),
            ("conformance/testees/python", "my-reader"),
        ] {
            let paths = [root.join(from), here.join(to)];
            let copied = Command::new("cp").arg("-rL").args(paths).status();
            assert!(copied.expect("cp runs").success(), "{from}");
        }
        fs::create_dir_all(here.join("home/.local/share/bash-completion/completions")).unwrap();
        fs::create_dir_all(here.join("bin")).unwrap();
        for program in ["atf", "atf-conformance", "atf-codegen"] {
            symlink(PROGRAMS.join(program), here.join("bin").join(program)).expect("a link");
        }
        let shim = here.join("bin/cargo");
        fs::write(&shim, CARGO).expect("a temporary file");
        fs::set_permissions(&shim, fs::Permissions::from_mode(0o755)).expect("a mode");
        // Make a trace without findings.
        let made = sandbox.sh("atf synth --events 100 --threads 2 --out clean");
        assert!(made.status.success(), "{made:?}");
        sandbox
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn sh(&self, command: &str) -> Output {
        let bin = self.path().join("bin");
        let path = env::var_os("PATH").unwrap_or_default();
        let path = env::join_paths([bin].into_iter().chain(env::split_paths(&path)));
        let mut shell = Command::new("sh");
        shell.current_dir(self.path());
        shell.env("PATH", path.expect("a path"));
        shell.env("HOME", self.path().join("home"));
        shell.args(["-e", "-c", command]).output().expect("sh runs")
    }
}
