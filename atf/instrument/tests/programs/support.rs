//! Compiles and runs programs, and reads their traces.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use atf::check::{FileReport, check};
use atf::index::IndexEvent;
use atf::manifest::{Loss, ManifestThread};
use atf::rules::Severity;
use atf::session::SessionReader;
use atf::spans::{Paired, SpanEnd, Spans};
use atf_samples::tools::has;
use tempfile::TempDir;

/// How the hooks are linked into a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Link {
    Preloaded,
    Static,
}

/// A compiled program, and a folder for its traces.
pub(crate) struct Program {
    pub(crate) folder: TempDir,
    link: Link,
}

pub(crate) struct Run {
    pub(crate) output: Output,
    pub(crate) sessions: Vec<PathBuf>,
}

impl Program {
    /// Compiles `tests/programs/NAME` with each installed compiler's instrumentation, and passes
    /// each program to `test`: for GCC with the library preloaded and linked statically, for Clang
    /// with the library preloaded.
    pub(crate) fn each(name: &str, test: impl Fn(&Self)) {
        for link in [Link::Preloaded, Link::Static] {
            Self::compiled("gcc", name, link, &test);
        }
        Self::compiled("clang", name, Link::Preloaded, &test);
    }

    /// Compiles the program with GCC and passes it to `test`.
    pub(crate) fn with(name: &str, test: impl Fn(&Self)) {
        Self::compiled("gcc", name, Link::Preloaded, &test);
    }

    fn compiled(compiler: &str, name: &str, link: Link, test: impl Fn(&Self)) {
        if !has(compiler) {
            return;
        }
        let folder = TempDir::new().unwrap();
        let is_cpp = name.ends_with(".cpp");
        let program = match (compiler, is_cpp) {
            ("gcc", true) => "g++",
            ("clang", true) => "clang++",
            (compiler, _) => compiler,
        };
        let hooks = match compiler {
            "clang" => "-finstrument-functions-after-inlining",
            _ => "-finstrument-functions",
        };
        let mut command = Command::new(program);
        command.args([
            "-Wall",
            "-Wextra",
            "-Werror",
            "-Wno-infinite-recursion",
            "-g",
            "-O1",
            hooks,
        ]);
        command.arg(source(name));
        if link == Link::Static {
            command.arg(libraries().join("libatf_instrument.a"));
        }
        command.args(["-lpthread", "-ldl", "-lm", "-o"]);
        succeed(command.arg(folder.path().join("program")));
        test(&Self { folder, link });
    }

    /// Compiles a library whose functions are recorded, and returns its path.
    pub(crate) fn library(&self, from: &str, name: &str, options: &[&str]) -> String {
        let path = self.folder.path().join(name);
        let mut command = Command::new("gcc");
        command.args(["-O1", "-shared", "-fPIC", "-finstrument-functions"]);
        command.args(options).arg(source(from));
        succeed(command.arg("-o").arg(&path));
        path.to_str().unwrap().to_owned()
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("program")
    }

    /// Returns a command that runs the program and records into `traces`.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.path());
        command.args(arguments).current_dir(self.folder.path());
        self.record(&mut command);
        command
    }

    /// Makes a command that runs the program, such as a shell, record into `traces`.
    pub(crate) fn record<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command.env("ATF_OUT", self.traces());
        if self.link == Link::Preloaded {
            command.env("LD_PRELOAD", libraries().join("libatf_instrument.so"));
        }
        command
    }

    pub(crate) fn traces(&self) -> PathBuf {
        self.folder.path().join("traces")
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        self.run_with(arguments, &[])
    }

    /// Runs the program with these arguments and environment variables.
    pub(crate) fn run_with(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Run {
        let mut command = self.command(arguments);
        self.finished(command.envs(variables.iter().copied()))
    }

    /// Like [`run_with`](Self::run_with), for a program that must succeed.
    #[track_caller]
    pub(crate) fn succeeds(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Run {
        let run = self.run_with(arguments, variables);
        let is_ok = run.output.status.success();
        assert!(is_ok, "{arguments:?} {variables:?}: {:?}", run.output);
        run
    }

    /// Runs a command, and moves its sessions to another folder before the next run.
    pub(crate) fn finished(&self, command: &mut Command) -> Run {
        let output = command.output().unwrap();
        let sessions = self.sessions();
        Run { output, sessions }
    }

    /// Returns the sessions, in a folder that no later run uses.
    pub(crate) fn sessions(&self) -> Vec<PathBuf> {
        let kept = TempDir::new_in(self.folder.path()).unwrap().keep();
        if !self.traces().exists() {
            return Vec::new();
        }
        fs::rename(self.traces(), kept.join("traces")).unwrap();
        let folders = list(&kept.join("traces"));
        let mut sessions: Vec<_> = folders.iter().flat_map(|it| list(it)).collect();
        sessions.sort();
        sessions
    }
}

impl Run {
    /// Returns the number that the program counted: the last line of its output.
    #[track_caller]
    pub(crate) fn counted(&self) -> u64 {
        let text = String::from_utf8_lossy(&self.output.stdout);
        let last = text.lines().last();
        last.and_then(|line| line.parse().ok())
            .unwrap_or_else(|| panic!("no count: {:?}", self.output))
    }

    /// Returns the library's messages on standard error.
    pub(crate) fn messages(&self) -> String {
        String::from_utf8(self.output.stderr.clone()).unwrap()
    }

    /// Returns the only session.
    #[track_caller]
    pub(crate) fn session(&self) -> Trace {
        assert_eq!(self.sessions.len(), 1, "{:?}", self.output);
        Trace::open(&self.sessions[0])
    }
}

pub(crate) struct Trace {
    pub(crate) reader: SessionReader,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Calls {
    pub(crate) returned: u64,
    /// Calls left by `longjmp`: their caller returned first.
    pub(crate) left: u64,
    pub(crate) open: u64,
    pub(crate) unmatched: u64,
}

impl Calls {
    pub(crate) fn all_returned(returned: u64) -> Self {
        Self {
            returned,
            ..Self::default()
        }
    }
}

impl Trace {
    #[track_caller]
    pub(crate) fn open(path: &Path) -> Self {
        Self {
            reader: SessionReader::open(path).unwrap(),
        }
    }

    /// Asserts that no MUST or SHOULD rule is broken.
    #[track_caller]
    pub(crate) fn accepted(self) -> Self {
        struct Findings(Vec<String>);
        impl atf::check::Output for Findings {
            fn file(&mut self, report: FileReport) {
                let broken = report.findings().into_iter();
                let broken = broken.filter(|it| it.rule.severity > Severity::Advice);
                let texts = broken.map(|it| format!("{} {}", it.rule.id, it.message));
                self.0.extend(texts);
            }
            fn unreadable(&mut self, path: &Path, why: &str) {
                self.0.push(format!("{}: {why}", path.display()));
            }
        }
        let mut findings = Findings(Vec::new());
        check(self.reader.path(), &mut findings);
        assert!(findings.0.is_empty(), "{:#?}", findings.0);
        self
    }

    /// Returns each thread's name and events, ordered by name.
    pub(crate) fn threads(&self) -> Vec<(String, Vec<IndexEvent>)> {
        let threads = self.reader.threads().iter();
        let events = threads.map(|thread| {
            let listed = self.reader.manifest().unwrap().threads.iter();
            let listed = listed.clone().find(|listed| listed.id == thread.id());
            let name = listed.and_then(|listed| listed.name.clone());
            let reader = thread.open().unwrap();
            let events = reader.index().events_in(..).map(Result::unwrap).collect();
            (name.unwrap_or_default(), events)
        });
        let mut threads: Vec<_> = events.collect();
        threads.sort_by(|one, other| one.0.cmp(&other.0));
        threads
    }

    pub(crate) fn event_count(&self) -> u64 {
        let threads = self.threads().into_iter();
        threads.map(|(_, events)| events.len() as u64).sum()
    }

    /// Returns the number of lost events in the manifest.
    pub(crate) fn lost(&self) -> u64 {
        self.sum(|thread| thread.lost_events)
    }

    /// Returns the number of lost details in the manifest.
    pub(crate) fn lost_details(&self) -> u64 {
        self.sum(|thread| thread.lost_details)
    }

    fn sum(&self, loss: fn(&ManifestThread) -> Option<Loss>) -> u64 {
        let threads = self.reader.manifest().unwrap().threads.iter();
        threads.filter_map(loss).map(|loss| loss.count).sum()
    }

    pub(crate) fn lost_in_unlisted_threads(&self) -> u64 {
        let lost = self.reader.manifest().unwrap().lost_events;
        lost.map_or(0, |loss| loss.count)
    }

    pub(crate) fn calls(&self) -> Calls {
        let mut calls = Calls::default();
        for (_, events) in self.threads() {
            for paired in Spans::new(events.into_iter().map(Ok)) {
                *match paired.unwrap() {
                    Paired::Span(span) => match span.end {
                        SpanEnd::Return => &mut calls.returned,
                        SpanEnd::NotReturned => &mut calls.left,
                        _ => &mut calls.open,
                    },
                    _ => &mut calls.unmatched,
                } += 1;
            }
        }
        calls
    }
}

/// Returns the path of a source file next to this one.
pub(crate) fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/programs")
        .join(name)
}

/// Returns the folder with the libraries that cargo built with this test.
pub(crate) fn libraries() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.parent().unwrap().to_path_buf()
}

fn list(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// Runs a command that must succeed.
#[track_caller]
pub(crate) fn succeed(command: &mut Command) {
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
}
