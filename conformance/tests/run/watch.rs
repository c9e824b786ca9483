//! Tests `run --watch`: after a change, it runs the failed cases again, and then all cases.

use std::fs::{self, File};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use crate::processes::after_the_smoke_test;
use crate::support::{Bench, KIT, LONG};

/// Ends the process on drop.
struct Watching(Child);

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn the_failed_cases_and_then_all_cases_run_after_a_change() {
    let bench = Bench::new();
    // The implementation crashes instead of rejecting a file.
    bench.reader("reader", &after_the_smoke_test("exit 9"));
    let at = |name: &str| bench.path().join(name);
    let mut command = Command::new(KIT);
    command
        .args(["run", "reader.toml", "--watch", "--time-limit", "60"])
        .args(["--case", "v1/ihdr-003-0", "--case=v1/iftr-013-where-*"])
        .arg("--case=v1/iftr-013-a-first-timestamp-*")
        .current_dir(bench.path())
        .env("TMPDIR", &bench.cases)
        .stdout(File::create(bench.cases.join("out")).unwrap())
        .stderr(File::create(bench.cases.join("messages")).unwrap());
    let _watching = Watching(command.spawn().unwrap());
    let text = |name: &str| fs::read_to_string(bench.cases.join(name)).unwrap();
    let wait_for = |words: &str| {
        let start = Instant::now();
        while !text("messages").contains(words) {
            let texts = (text("out"), text("messages"));
            assert!(start.elapsed() < LONG, "no {words:?}: {texts:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    wait_for("on a change, the cases that failed run again");
    fs::write(at("reader.sh"), format!("exec {KIT} testee read \"$1\"\n")).unwrap();
    wait_for("on a change, all cases run again");
    let out = text("out");
    let is_total = |line: &&str| line.contains(" passed, ") || line.contains(" failed, ");
    let totals = out.lines().filter(is_total);
    let totals = totals.filter_map(|line| Some(line.rsplit_once(", ")?.0));
    let expected = ["4 failed", "All 4 passed", "All 5 passed"];
    assert_eq!(totals.collect::<Vec<_>>(), expected, "{out}");
}
