//! Runs the commands in a folder's text files and compares what they print. Also used by the
//! kit's tests.
//!
//! A file contains the cases of one command, or of a topic shared by several commands. A case
//! begins with `# SENTENCE`, which states what must be true, and runs in a separate folder:
//!
//! - `$ COMMAND`, continued by lines that begin with `> `, is a command for Bash, which may use the
//!   functions in `functions.sh` and the samples in `$SAMPLES`. It is followed by its output, its
//!   messages after `! `, and its exit status after `? `, unless it is 0.
//! - `= NAME` runs the lines of that fixture in `fixtures.txt`.
//! - `= PATH TEXT` writes a trace; see [`Commands::write`].
//!
//! In the output, `[CWD]` stands for the case's folder, `[..]` for any text in a line, and a line
//! `...` for any lines. `ATF_BLESS=1` updates the lines that do not match.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use snapbox::filter::NormalizeToExpected;
use snapbox::report::{Palette, write_diff};
use snapbox::{Data, Redactions};
use tempfile::TempDir;

/// The commands in a folder of text files.
pub(crate) struct Commands {
    pub(crate) folder: &'static str,
    /// A program. Commands find it, and those next to it, by their names.
    pub(crate) program: &'static str,
    /// Writes the trace that a text describes.
    pub(crate) write: fn(&Path, &str),
}

/// The folder of a case, in which its commands run.
struct Sandbox<'a> {
    commands: &'a Commands,
    folder: TempDir,
    redactions: Redactions,
}

impl Sandbox<'_> {
    fn new(commands: &Commands) -> Sandbox<'_> {
        let folder = TempDir::new().unwrap();
        let mut redactions = Redactions::new();
        let path = folder.path().to_owned();
        redactions.insert("[CWD]", path).unwrap();
        Sandbox {
            commands,
            folder,
            redactions,
        }
    }

    /// Runs a command and returns its output, messages and exit status, in the format of the files.
    fn run(&self, command: &str) -> String {
        let functions = self.commands.read("functions.sh");
        let programs = Path::new(self.commands.program).parent().unwrap();
        let path = env::var_os("PATH").unwrap();
        let path = [programs.to_owned()]
            .into_iter()
            .chain(env::split_paths(&path));
        let output = Command::new("bash")
            .args(["-o", "pipefail", "-c", &format!("{functions}\n{command}")])
            .current_dir(self.folder.path())
            .env("PATH", env::join_paths(path).unwrap())
            .env("LC_ALL", "C.UTF-8")
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
        text
    }

    /// Runs the lines of a fixture, whose commands must succeed and print nothing.
    fn set_up(&self, name: &str) {
        let fixtures = sections(&self.commands.read("fixtures.txt"));
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
            Some((path, text)) => (self.commands.write)(&self.folder.path().join(path), text),
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

impl Commands {
    fn path(&self, name: &str) -> PathBuf {
        Path::new(self.folder).join(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Runs a case and returns its lines with what they printed.
    fn case(&self, title: &str, steps: &[Step]) -> String {
        let sandbox = Sandbox::new(self);
        let mut found = format!("{}\n", title.trim_end());
        for (line, expected) in steps {
            let output = sandbox.step(line);
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
        found
    }

    /// Runs the cases of a file.
    pub(crate) fn run(&self, name: &str) {
        let name = format!("{name}.txt");
        let expected = self.read(&name);
        let cases = sections(&expected).into_iter();
        let found: Vec<_> = cases
            .map(|(title, steps)| self.case(&title, &steps))
            .collect();
        let found = found.join("\n");
        if env::var_os("ATF_BLESS").is_some() {
            fs::write(self.path(&name), &found).unwrap();
        } else if found != expected {
            let mut diff = String::new();
            let (expected, found) = (Data::text(expected), Data::text(found));
            let plain = Palette::plain();
            write_diff(
                &mut diff,
                &expected,
                &found,
                Some(&name),
                Some(&"found"),
                plain,
            )
            .unwrap();
            panic!("ATF_BLESS=1 writes what was found:\n{diff}");
        }
    }

    /// Checks that these are all files with cases.
    pub(crate) fn assert_all(&self, names: &[&str]) {
        let files = fs::read_dir(self.folder)
            .unwrap()
            .map(|file| file.unwrap().path());
        let texts = files.filter(|path| path.extension().is_some_and(|it| it == "txt"));
        let texts = texts.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned());
        let texts: BTreeSet<_> = texts.filter(|name| name != "fixtures").collect();
        assert_eq!(texts, names.iter().map(|name| (*name).to_owned()).collect());
    }
}

/// Declares a test for each file.
macro_rules! files {
    ($commands:ident: $($name:ident)*) => {
        $(#[test] fn $name() { $commands.run(stringify!($name)); })*

        #[test]
        fn each_file_is_run() {
            $commands.assert_all(&[$(stringify!($name)),*]);
        }
    };
}
pub(crate) use files;
