//! Tests what happens if the system runs out of a resource that the kit needs to run a case.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use atf_conformance::corpus::Case;
use atf_conformance::protocol::{Broken, Manifest};
use atf_conformance::results::{Failure, Outcome, Role};
use atf_conformance::run::warden::is_shortage;
use atf_conformance::run::{About, Ended, Graded, Reading, Smoke, Task};
use rustix::io::Errno;

use crate::support::{Bench, KIT, case, document, executable, failure};

/// A case whose files cannot be written at first, because a resource has run out.
struct Unprepared {
    reading: Reading,
    error: Errno,
    /// How many times this fails.
    times: usize,
    tries: Arc<AtomicUsize>,
}

/// Makes a task that cannot be prepared the first `times` times. Also returns its number of tries.
fn unprepared(case: Case, error: Errno, times: usize) -> (Box<dyn Smoke>, Arc<AtomicUsize>) {
    let tries = Arc::new(AtomicUsize::new(0));
    let task = Unprepared {
        reading: Reading::new(Role::Read, Arc::new(case)),
        error,
        times,
        tries: Arc::clone(&tries),
    };
    (Box::new(task), tries)
}

impl Task for Unprepared {
    fn about(&self) -> About<'_> {
        self.reading.about()
    }

    fn prepare(&self, place: &Path) -> io::Result<Vec<(&'static str, PathBuf)>> {
        if self.tries.fetch_add(1, Ordering::Relaxed) >= self.times {
            return self.reading.prepare(place);
        }
        // Some of the files, which must be removed before the next try.
        fs::create_dir(place.join("trace"))?;
        Err(self.error.into())
    }

    fn grade(&self, manifest: &Manifest, ended: &Ended, place: &Path) -> Graded {
        self.reading.grade(manifest, ended, place)
    }
}

impl Smoke for Unprepared {
    fn is_smoke(&self) -> bool {
        false
    }

    fn check_form(&self, manifest: &Manifest, ended: &Ended) -> Result<bool, Broken> {
        self.reading.check_form(manifest, ended)
    }
}

const SHORTAGES: [Errno; 6] = [
    Errno::AGAIN,
    Errno::NOMEM,
    Errno::NFILE,
    Errno::MFILE,
    Errno::NOSPC,
    Errno::DQUOT,
];

#[test]
fn a_case_waits_for_a_resource_that_another_one_uses_up() {
    let bench = Bench::new();
    let (tasks, tries): (Vec<_>, Vec<_>) = (SHORTAGES.iter())
        .map(|error| unprepared(case("v1/one"), *error, 3))
        .unzip();
    let results = bench.run_tasks(&[bench.says("good", &document(), 0)], &tasks, 2);
    for (result, tries) in results.cases.iter().zip(tries) {
        assert_eq!(result.outcome, Outcome::Passed);
        assert_eq!(tries.load(Ordering::Relaxed), 4);
    }
    assert_eq!(results.cases.len(), SHORTAGES.len());
}

#[test]
fn a_lasting_shortage_fails_its_case_and_not_the_run() {
    let mut bench = Bench::new();
    // The kit counts pauses of 20 ms.
    bench.options.limits.time = Duration::from_millis(60);
    bench.options.limits.margin = Duration::ZERO;
    let no_space = Errno::NOSPC;
    let (first, tries) = unprepared(case("v1/first"), no_space, usize::MAX);
    let (second, later) = unprepared(case("v1/second"), no_space, usize::MAX);
    let mut other_wire = case("v2/third");
    other_wire.wire = 2;
    let (third, _) = unprepared(other_wire, no_space, usize::MAX);
    let reader = bench.says("good", &document(), 0);
    let results = bench.run_tasks(&[reader], &[first, second, third], 1);
    let [first, second, third] = results.cases.as_slice() else {
        panic!("{results:?}")
    };
    let message = "the kit itself lacked a resource: No space left on device (os error 28)";
    assert_eq!(failure(first), (Failure::Crash, message));
    assert_eq!(failure(second), (Failure::Crash, message));
    assert!(matches!(third.outcome, Outcome::Skipped { .. }));
    assert_eq!(tries.load(Ordering::Relaxed), 4);
    // Once the first case has waited without success, the second one does not wait.
    assert_eq!(later.load(Ordering::Relaxed), 1);
}

/// Makes a program that runs the kit, the first time after a command that limits a resource.
fn short_of(bench: &Bench, limit: &str) -> PathBuf {
    let path = bench.path().join("kit");
    let flag = bench.path().join("flag");
    let script = format!(
        "#!/bin/sh\n[ $# -gt 0 ] && mkdir {} 2>/dev/null && {limit}\nexec {KIT} \"$@\"\n",
        flag.display()
    );
    executable(&path, &script);
    // A process that another test is just starting may still have the script open for writing.
    let busy = |result: &io::Result<_>| {
        let busy = io::ErrorKind::ExecutableFileBusy;
        result.as_ref().is_err_and(|error| error.kind() == busy)
    };
    while busy(&Command::new(&path).output()) {
        std::thread::sleep(Duration::from_millis(10));
    }
    path
}

#[test]
fn a_program_that_cannot_start_for_lack_of_a_resource_is_retried() {
    for limit in [
        // No thread can have a stack of 64 TiB.
        "export RUST_MIN_STACK=70368744177664",
        // Starting a program takes more files: its input and two pipes.
        "exec 3>&- 4>&- 5>&- && ulimit -n 6",
    ] {
        let mut bench = Bench::new();
        bench.options.kit = short_of(&bench, limit);
        let log = bench.path().join("log");
        let document = document();
        let result = bench.one(&format!("echo run >>{}; echo '{document}'", log.display()));
        assert_eq!(result.outcome, Outcome::Passed, "{limit}");
        assert!(bench.path().join("flag").is_dir(), "{limit}");
        assert_eq!(fs::read_to_string(log).unwrap(), "run\n", "{limit}");
    }
}

#[derive(Debug, thiserror::Error)]
#[error("file: {0}")]
struct At(#[source] io::Error);

#[test]
fn a_shortage_is_found_inside_an_error_with_a_path() {
    let is_short = |errno: Errno| {
        let error = io::Error::from(errno);
        let kind = error.kind();
        [
            is_shortage(&errno.into()),
            is_shortage(&io::Error::new(kind, At(error))),
        ]
    };
    for errno in [Errno::NOSPC, Errno::AGAIN, Errno::MFILE, Errno::NFILE] {
        assert_eq!(is_short(errno), [true; 2], "{errno}");
    }
    for errno in [Errno::NOENT, Errno::ACCESS, Errno::IO, Errno::PIPE] {
        assert_eq!(is_short(errno), [false; 2], "{errno}");
    }
}
