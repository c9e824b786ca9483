//! Test programs: which tests they have, what each reaches, whether one fails while a mutant is switched on.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::results::Outcome;
use crate::switch;

/// A test program that cargo has built.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// The package it tests.
    pub(crate) package: String,
    /// The package's folder, in which it runs.
    pub(crate) folder: PathBuf,
    /// The target's name.
    pub(crate) name: String,
    /// The program.
    pub(crate) path: PathBuf,
    /// The environment in which a test finds what is built, and builds more.
    pub(crate) settings: Vec<(&'static str, OsString)>,
}

/// One test, and what it reaches.
pub(crate) struct Test {
    /// Its program, by number.
    pub(crate) program: usize,
    /// Its name.
    pub(crate) name: String,
    /// How long it takes by itself.
    pub(crate) time: Duration,
    /// The mutants whose places it passes.
    pub(crate) reaches: BTreeSet<usize>,
}

/// How a run of tests ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// All passed.
    Passed,
    /// One failed, or the program did not end well.
    Failed,
    /// It was stopped after its time.
    TimedOut,
}

/// All tests, and where they may leave files.
pub(crate) struct Suite {
    /// The programs.
    pub(crate) programs: Vec<Program>,
    /// Their tests that pass alone, the quickest first.
    pub(crate) tests: Vec<Test>,
    /// By file, the tests that caught a mutant in it, the last one first.
    caught: Mutex<BTreeMap<String, Vec<usize>>>,
}

impl Suite {
    /// Runs each test alone, to learn what it reaches; those that take longer than the longest are left out.
    ///
    /// # Errors
    /// If a program cannot be run.
    pub(crate) fn new(
        programs: Vec<Program>,
        longest: Duration,
        temporary: &Path,
    ) -> io::Result<Self> {
        let mut tests = Vec::new();
        for (number, program) in programs.iter().enumerate() {
            for name in program.tests()? {
                let why = match program.reach(number, &name, longest, temporary)? {
                    (Ended::Passed, test) => {
                        tests.push(test);
                        continue;
                    }
                    (Ended::Failed, _) => "fails without a mutant",
                    (Ended::TimedOut, _) => "takes too long",
                };
                eprintln!(
                    "{why}, not used: {} {} {name}",
                    program.package, program.name
                );
            }
        }
        tests.sort_by_key(|test: &Test| test.time);
        Ok(Self {
            programs,
            tests,
            caught: Mutex::default(),
        })
    }

    fn caught(&self) -> MutexGuard<'_, BTreeMap<String, Vec<usize>>> {
        // It is whole whatever happened to the thread that held it.
        self.caught.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The mutants that some test reaches.
    pub(crate) fn reached(&self) -> BTreeSet<usize> {
        self.tests
            .iter()
            .flat_map(|test| test.reaches.iter().copied())
            .collect()
    }

    /// Runs the tests that reach a mutant until one fails, and says which. Those come first that caught another mutant of
    /// the same file, then the quickest.
    ///
    /// # Errors
    /// If a program cannot be run.
    pub(crate) fn judge(
        &self,
        number: usize,
        file: &str,
        temporary: &Path,
    ) -> io::Result<(Outcome, String)> {
        let mut reaching = self.caught().get(file).cloned().unwrap_or_default();
        let others: Vec<usize> = (0..self.tests.len())
            .filter(|test| !reaching.contains(test))
            .collect();
        reaching.extend(others);
        reaching.retain(|test| self.tests[*test].reaches.contains(&number));
        let mut rest = reaching.as_slice();
        // First two, then twice as many, and so on.
        let mut size = 2;
        while !rest.is_empty() {
            let (now, later) = rest.split_at(size.min(rest.len()));
            (rest, size) = (later, size * 2);
            let mut of_programs: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
            for test in now {
                of_programs
                    .entry(self.tests[*test].program)
                    .or_default()
                    .push(*test);
            }
            for (program, numbers) in of_programs {
                let program = &self.programs[program];
                let tests: Vec<&Test> = numbers.iter().map(|test| &self.tests[*test]).collect();
                let alone: Duration = tests.iter().map(|test| test.time).sum();
                let limit = Duration::from_secs(5) + alone * 4;
                let (ended, failed) = program.run(&tests, number, limit, temporary)?;
                let outcome = match ended {
                    Ended::Passed => continue,
                    Ended::Failed => Outcome::Caught,
                    Ended::TimedOut => Outcome::Timeout,
                };
                let first = numbers
                    .into_iter()
                    .find(|test| failed.contains(&self.tests[*test].name));
                if let Some(first) = first {
                    let mut caught = self.caught();
                    let known = caught.entry(file.to_owned()).or_default();
                    known.retain(|test| *test != first);
                    known.insert(0, first);
                }
                let name = first.map_or("", |test| &self.tests[test].name);
                return Ok((
                    outcome,
                    format!("{} {} {name}", program.package, program.name),
                ));
            }
        }
        Ok((Outcome::Missed, String::new()))
    }
}

impl Program {
    fn command(&self, temporary: &Path) -> Command {
        // What a mutant may take of memory, in KiB.
        let mut command = Command::new("sh");
        command
            .args(["-c", "ulimit -v 12000000 && exec \"$0\" \"$@\""])
            .arg(&self.path);
        command
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
            .env("CARGO_MANIFEST_DIR", &self.folder)
            .env("TMPDIR", temporary)
            .envs(self.settings.iter().cloned());
        // A failing property must not be noted down as one to keep.
        command
            .env("PROPTEST_DISABLE_FAILURE_PERSISTENCE", "1")
            .process_group(0);
        command
    }

    /// The names of the program's tests.
    ///
    /// # Errors
    /// If it cannot be run.
    pub(crate) fn tests(&self) -> io::Result<Vec<String>> {
        let output = Command::new(&self.path)
            .args(["--list", "--format", "terse"])
            .current_dir(&self.folder)
            .output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        Ok(text
            .lines()
            .filter_map(|line| line.strip_suffix(": test"))
            .map(str::to_owned)
            .collect())
    }

    /// Runs one test without a mutant and notes what it reaches, for as long as it may take.
    ///
    /// # Errors
    /// If the program cannot be run, or its notes not be read.
    pub(crate) fn reach(
        &self,
        number: usize,
        test: &str,
        longest: Duration,
        temporary: &Path,
    ) -> io::Result<(Ended, Test)> {
        let notes = temporary.join("reached");
        fs::write(&notes, "")?;
        // A test may start a program as a user without rights.
        fs::set_permissions(&notes, Permissions::from_mode(0o666))?;
        let mut command = self.command(temporary);
        command.args(["--exact", test]).env(switch::REACHED, &notes);
        let start = Instant::now();
        let ended = wait(command.spawn()?, longest)?;
        let reaches = fs::read_to_string(&notes)?
            .lines()
            .filter_map(|line| line.parse().ok())
            .collect();
        let found = Test {
            program: number,
            name: test.to_owned(),
            time: start.elapsed(),
            reaches,
        };
        Ok((ended, found))
    }

    /// Runs some tests with a mutant, and names those that failed.
    ///
    /// # Errors
    /// If the program cannot be run.
    fn run(
        &self,
        tests: &[&Test],
        mutant: usize,
        limit: Duration,
        temporary: &Path,
    ) -> io::Result<(Ended, BTreeSet<String>)> {
        let output = temporary.join("output");
        let mut command = self.command(temporary);
        command
            .arg("--exact")
            .args(tests.iter().map(|test| &test.name));
        command
            .args(["--test-threads", "2"])
            .env(switch::ACTIVE, mutant.to_string());
        let ended = wait(command.stdout(File::create(&output)?).spawn()?, limit)?;
        let output = fs::read(output)?;
        let failed = String::from_utf8_lossy(&output)
            .lines()
            .filter_map(failed)
            .collect();
        Ok((ended, failed))
    }
}

/// The test that a line of a program's output calls failed.
fn failed(line: &str) -> Option<String> {
    let name = line.strip_prefix("test ")?.strip_suffix(" ... FAILED")?;
    Some(name.to_owned())
}

fn wait(mut child: Child, limit: Duration) -> io::Result<Ended> {
    let start = Instant::now();
    let group = child.id();
    let ended = loop {
        if let Some(status) = child.try_wait()? {
            break of(status);
        }
        if start.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            break Ended::TimedOut;
        }
        std::thread::sleep(Duration::from_millis(
            if start.elapsed().as_millis() < 200 {
                2
            } else {
                20
            },
        ));
    };
    // What it has started, if it is still there.
    Command::new("kill")
        .args(["-9", "--", &format!("-{group}")])
        .stderr(Stdio::null())
        .status()?;
    Ok(ended)
}

fn of(status: ExitStatus) -> Ended {
    if status.success() {
        Ended::Passed
    } else {
        Ended::Failed
    }
}
