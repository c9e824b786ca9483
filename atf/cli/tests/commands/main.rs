//! Runs the commands in this folder's text files and compares what they print.
//!
//! A file contains the cases of one command, or of a topic shared by several commands. A case
//! begins with `# SENTENCE`, which states what must be true, and runs in a separate folder:
//!
//! - `$ COMMAND`, continued by lines that begin with `> `, is a command for Bash, which may use the
//!   functions in `functions.sh` and the samples in `$SAMPLES`. It is followed by its output, its
//!   messages after `! `, and its exit status after `? `, unless it is 0.
//! - `= NAME` runs the lines of that fixture in `fixtures.txt`.
//! - `= PATH VERSION EVENTS` writes a thread; see [`threads::write`].
//!
//! In the output, `[CWD]` stands for the case's folder, `[..]` for any text in a line, and a line
//! `...` for any lines. `ATF_BLESS=1` updates the lines that do not match.

// The cases use GNU tools and Linux devices.
#![cfg(target_os = "linux")]

mod threads;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use snapbox::filter::NormalizeToExpected;
use snapbox::report::{Palette, write_diff};
use snapbox::{Data, Redactions};
use tempfile::TempDir;

const FIXTURES: &str = include_str!("fixtures.txt");

/// Functions that commands may use.
const FUNCTIONS: &str = include_str!("functions.sh");

/// The folder of a case, in which its commands run.
struct Sandbox {
    folder: TempDir,
    redactions: Redactions,
}

impl Sandbox {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let mut redactions = Redactions::new();
        let path = folder.path().to_owned();
        redactions.insert("[CWD]", path).unwrap();
        Self { folder, redactions }
    }

    /// Runs a command and returns its output, messages and exit status, in the format of the files.
    fn run(&self, command: &str) -> String {
        let atf = assert_cmd::cargo::cargo_bin("atf");
        let mut path = atf.parent().unwrap().as_os_str().to_owned();
        path.push(":");
        path.push(env::var_os("PATH").unwrap());
        let output = Command::new("bash")
            .args(["-o", "pipefail", "-c", &format!("{FUNCTIONS}\n{command}")])
            .current_dir(self.folder.path())
            .env("PATH", path)
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
        let status = output.status.code().expect("not killed by a signal");
        if status != 0 {
            writeln!(text, "? {status}").unwrap();
        }
        text
    }

    /// Runs the lines of a fixture, whose commands must succeed and print nothing.
    fn set_up(&self, name: &str) {
        let fixtures = sections(FIXTURES);
        let found = fixtures.iter().find(|(title, _)| {
            let title = title.strip_prefix("# ").unwrap_or_default();
            title.split(':').next() == Some(name)
        });
        let (_, steps) = found.unwrap_or_else(|| panic!("there is no fixture {name}"));
        for (line, _) in steps {
            assert_eq!(self.step(line), "", "{name}: {line}");
        }
    }

    /// Runs a line of a case and returns what it printed.
    fn step(&self, line: &str) -> String {
        if let Some(command) = line.strip_prefix("$ ") {
            return self.run(&command.replace("\n> ", "\n"));
        }
        let fixture = line.strip_prefix("= ").unwrap();
        match fixture.split_once(' ') {
            None => self.set_up(fixture),
            Some((path, events)) => threads::write(&self.folder.path().join(path), events),
        }
        String::new()
    }
}

/// A line of a case with its continuations, and the expected output.
type Step = (String, String);

/// Splits a file into cases, each with its title and its steps.
fn sections(text: &str) -> Vec<(String, Vec<Step>)> {
    let mut sections: Vec<(String, Vec<Step>)> = Vec::new();
    for line in text.lines() {
        if line.starts_with("# ") {
            sections.push((line.to_owned(), Vec::new()));
            continue;
        }
        let Some((title, steps)) = sections.last_mut() else {
            panic!("a line before the first title: {line}");
        };
        match steps.last_mut() {
            _ if line.starts_with("$ ") || line.starts_with("= ") => {
                steps.push((line.to_owned(), String::new()));
            }
            Some((command, output)) if output.is_empty() && line.starts_with("> ") => {
                *command += &format!("\n{line}");
            }
            Some((_, output)) => *output += &format!("{line}\n"),
            None => *title += &format!("\n{line}"),
        }
    }
    for (_, output) in sections.iter_mut().flat_map(|(_, steps)| steps) {
        output.truncate(output.trim_end_matches('\n').len());
    }
    sections
}

/// Runs the cases of a file.
fn run(name: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/commands");
    let path = path.join(name).with_extension("txt");
    let expected = fs::read_to_string(&path).unwrap();
    let mut found = String::new();
    for (title, steps) in sections(&expected) {
        let sandbox = Sandbox::new();
        let blank = if found.is_empty() { "" } else { "\n" };
        writeln!(found, "{blank}{}", title.trim_end()).unwrap();
        for (line, expected) in steps {
            let output = sandbox.step(&line);
            let is_plain = |line: &str| {
                !["# ", "$ ", "= ", "> "]
                    .iter()
                    .any(|it| line.starts_with(it))
            };
            assert!(output.lines().all(is_plain), "{line}: {output}");
            let normalize = NormalizeToExpected::new().redact_with(&sandbox.redactions);
            let output = Data::text(output.trim_end_matches('\n'));
            let output = normalize.normalize(output, &Data::text(expected));
            writeln!(found, "{line}").unwrap();
            match output.render().unwrap().as_str() {
                "" => {}
                output => writeln!(found, "{output}").unwrap(),
            }
        }
    }
    if env::var_os("ATF_BLESS").is_some() {
        fs::write(&path, &found).unwrap();
    } else if found != expected {
        let mut diff = String::new();
        let (expected, found) = (Data::text(expected), Data::text(found));
        let (name, plain) = (&path.display(), Palette::plain());
        write_diff(
            &mut diff,
            &expected,
            &found,
            Some(name),
            Some(&"found"),
            plain,
        )
        .unwrap();
        panic!(
            "ATF_BLESS=1 writes what was found:
{diff}"
        );
    }
}

/// Declares a test for each file.
macro_rules! files {
    ($($name:ident)*) => {
        $(#[test] fn $name() { run(stringify!($name)); })*

        #[test]
        fn each_file_is_run() {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/commands");
            let files = fs::read_dir(folder).unwrap();
            let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
            let cases = names.filter(|name| name.ends_with(".txt") && name != "fixtures.txt");
            assert_eq!(cases.count(), [$(stringify!($name)),*].len());
        }
    };
}

files! {
    check cut damage diff dump explain export follow info last losses media paths record recover report rewrite
    segments symbolize synth usage
}
