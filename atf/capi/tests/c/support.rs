//! Helpers that compile and run C programs, and check the files they write.
//!
//! Tests whose tool is missing are skipped with a message, or fail if `ATF_REQUIRE_TOOLS=1` is set.

#![allow(dead_code, reason = "no test program uses all of it")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use atf::Arch;
use atf::write::WriteOptions;
use atf_conformance::rules::Severity;
use atf_conformance::{Checked, Summary};
use atf_samples::tools::has;
use tempfile::TempDir;

/// Returns a path in this package.
pub(crate) fn package(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Returns the folder with the libraries that cargo built with this test.
pub(crate) fn libraries() -> PathBuf {
    let test = std::env::current_exe().expect("a test has a path");
    test.parent().expect("a file has a folder").to_path_buf()
}

pub(crate) const C: [&str; 2] = ["gcc", "clang"];

/// Returns the given tools that are installed.
pub(crate) fn present<'a>(tools: &[&'a str]) -> Vec<&'a str> {
    tools.iter().copied().filter(|tool| has(tool)).collect()
}

/// Returns an installed C compiler.
pub(crate) fn compiler() -> Option<&'static str> {
    present(&C).first().copied()
}

/// Runs a command, which must succeed, and returns its output.
#[track_caller]
pub(crate) fn run(command: &mut Command) -> String {
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

/// How a program is linked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Link {
    Static,
    Shared,
}

/// Compiles a program, with warnings as errors.
#[track_caller]
pub(crate) fn compile(compiler: &str, source: &Path, link: Link, more: &[&str], out: &Path) {
    let is_cpp = source
        .extension()
        .is_some_and(|extension| extension == "cpp");
    let mut command = Command::new(compiler);
    command
        .arg(if is_cpp { "-std=c++17" } else { "-std=c11" })
        .args(["-Wall", "-Wextra", "-Werror", "-g", "-D_GNU_SOURCE"])
        .arg("-I")
        .arg(package("include"))
        .arg("-I")
        .arg(package("../include"))
        .args(more)
        .arg(source);
    match link {
        Link::Static => command.arg(libraries().join("libatf_capi.a")),
        Link::Shared => {
            let folder = shared_folder(out);
            let rpath = format!("-Wl,-rpath,{}", folder.display());
            command.arg("-L").arg(folder).args(["-ladatrace", &rpath])
        }
    };
    command.args(["-lpthread", "-lm", "-ldl", "-o"]).arg(out);
    run(&mut command);
}

/// Compiles a source file of this package to a program in a folder.
#[track_caller]
pub(crate) fn built(
    folder: &TempDir,
    source: &str,
    compiler: &str,
    link: Link,
    more: &[&str],
) -> PathBuf {
    let name = source.rsplit('/').next().unwrap_or(source);
    let name = format!("{name}_{compiler}_{link:?}");
    let program = folder.path().join(name);
    compile(compiler, &package(source), link, more, &program);
    program
}

/// Like [`built`], with the static library and without more options.
#[track_caller]
pub(crate) fn program(folder: &TempDir, source: &str, compiler: &str) -> PathBuf {
    built(folder, source, compiler, Link::Static, &[])
}

/// Creates a folder with the shared library under the name that `-ladatrace` finds.
fn shared_folder(program: &Path) -> PathBuf {
    let folder = PathBuf::from(format!("{}.libs", program.display()));
    fs::create_dir(&folder).expect("a temporary folder");
    let library = libraries().join("libatf_capi.so");
    std::os::unix::fs::symlink(library, folder.join("libadatrace.so")).expect("a link");
    folder
}

/// Asserts that no MUST or SHOULD rule is broken, and returns the summary.
#[track_caller]
pub(crate) fn accepted(path: &Path) -> Summary {
    graded(path, Severity::Should)
}

/// Findings on a machine for which the documents define no number, so its writers write 0.
const NO_NUMBER: [&str; 2] = ["ATF-IHDR-008", "ATF-DHDR-006"];

/// Asserts that no rule of this severity is broken, and returns the summary.
#[track_caller]
pub(crate) fn graded(path: &Path, severity: Severity) -> Summary {
    let checked = Checked::new(path);
    let mut summary = Summary::default();
    checked.reports.iter().for_each(|it| summary.add(it));
    summary.unreadable += checked.unreadable.len() as u64;
    let mut faults = Vec::new();
    for (report, finding) in checked.findings() {
        let (path, id) = (report.path.display(), finding.rule.id);
        if NO_NUMBER.contains(&id) && WriteOptions::default().arch == Arch(0) {
            summary.should -= 1;
        } else {
            faults.push(format!("{path}: {id} {}", finding.message));
        }
    }
    let status = summary.exit_status(severity);
    assert_eq!(status, 0, "{faults:#?} {:#?}", checked.unreadable);
    assert!(summary.files > 0);
    summary
}
