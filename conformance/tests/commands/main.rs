//! Runs the commands in this folder's text files and compares what they print.
//!
//! The files have the same format as those in `atf/cli/tests/commands`: a case begins with
//! `# SENTENCE`, which states what must be true, and runs in a new folder. `$ COMMAND`, continued
//! by lines that begin with `> `, is a Bash command, which can use the functions in `functions.sh`
//! and the samples in `$SAMPLES`. It is followed by its output, its messages after `! `, and its
//! exit status after `? `, unless it is 0. `= PATH VERSION` writes the corpus's clean session. In
//! the output, `[CWD]` stands for the case's folder. `ATF_BLESS=1` updates the files.

// The cases use GNU tools and Linux devices.
#![cfg(target_os = "linux")]

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

use atf_conformance::corpus::Trace;
use tempfile::TempDir;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/commands");
const FUNCTIONS: &str = include_str!("functions.sh");

/// Runs a command and returns its output, messages and exit status, as in the files.
fn output(command: &str, folder: &Path) -> String {
    let kit = Path::new(env!("CARGO_BIN_EXE_atf-conformance"));
    let path = env::var("PATH").unwrap();
    let output = Command::new("bash")
        .args(["-o", "pipefail", "-c", &format!("{FUNCTIONS}\n{command}")])
        .current_dir(folder)
        .env(
            "PATH",
            format!("{}:{path}", kit.parent().unwrap().display()),
        )
        .env("LC_ALL", "C")
        .env("SAMPLES", atf_samples::folder())
        .output()
        .unwrap();
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    for line in String::from_utf8_lossy(&output.stderr).lines() {
        writeln!(text, "! {line}").unwrap();
    }
    match output.status.code().expect("not killed by a signal") {
        0 => {}
        status => writeln!(text, "? {status}").unwrap(),
    }
    text.replace(folder.to_str().unwrap(), "[CWD]")
}

/// Runs the cases of a file.
fn cases(name: &str) {
    let path = format!("{FOLDER}/{name}.txt");
    let expected = fs::read_to_string(&path).unwrap();
    let (mut found, mut folder) = (String::new(), TempDir::new().unwrap());
    let mut lines = expected.lines().peekable();
    let is_plain = |line: &&str| !["# ", "$ ", "= "].iter().any(|it| line.starts_with(it));
    while let Some(line) = lines.next() {
        if line.starts_with("# ") {
            folder = TempDir::new().unwrap();
            found += if found.is_empty() { "" } else { "\n" };
        }
        writeln!(found, "{line}").unwrap();
        if let Some(fixture) = line.strip_prefix("= ") {
            let (path, version) = fixture.split_once(' ').unwrap();
            let trace = Trace::clean(version.parse().unwrap());
            trace.write(&folder.path().join(path)).unwrap();
        } else if let Some(command) = line.strip_prefix("$ ") {
            let mut command = command.to_owned();
            while let Some(more) = lines.next_if(|line| line.starts_with("> ")) {
                writeln!(found, "{more}").unwrap();
                command += &more.replacen("> ", "\n", 1);
            }
            let output = output(&command, folder.path());
            assert!(output.lines().all(|line| is_plain(&line)), "{output}");
            found += &output;
        }
        while lines.next_if(is_plain).is_some() {}
    }
    if env::var_os("ATF_BLESS").is_some() {
        fs::write(&path, &found).unwrap();
    } else if found != expected {
        let new = folder.path().join("found");
        fs::write(&new, found).unwrap();
        let diff = Command::new("diff")
            .arg("-u")
            .args([path.as_ref(), new.as_os_str()])
            .output();
        panic!(
            "ATF_BLESS=1 writes what was found:\n{}",
            String::from_utf8_lossy(&diff.unwrap().stdout)
        );
    }
}

/// Declares a test for each file.
macro_rules! files {
    ($($name:ident)*) => {
        $(#[test] fn $name() { cases(stringify!($name)); })*

        #[test]
        fn each_file_is_run() {
            let names = fs::read_dir(FOLDER).unwrap().map(|file| file.unwrap().file_name());
            let texts = names.filter(|name| name.to_str().unwrap().ends_with(".txt"));
            assert_eq!(texts.count(), [$(stringify!($name)),*].len());
        }
    };
}

files! { check compare lists run scripts }
