//! Skips a test if a tool that it needs is not installed, and opens pages in a browser.

use std::fmt::Display;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// Reports the running test as skipped. Writes directly to standard error, because the test harness
/// hides what a passing test prints with `eprintln!`.
pub fn skip(why: impl Display) {
    let _ = writeln!(io::stderr(), "\nSKIPPED: {why}");
}

/// Reports the running test as skipped because a tool is missing.
///
/// # Panics
///
/// Panics if `ATF_REQUIRE_TOOLS=1` is set.
pub fn skip_without(tool: &str) {
    let required = std::env::var_os("ATF_REQUIRE_TOOLS").is_some_and(|value| value == "1");
    assert!(!required, "{tool} is missing and required");
    skip(format_args!("{tool} is missing"));
}

/// Returns whether a tool is installed, or calls [`skip_without`].
#[must_use]
pub fn has(tool: &str) -> bool {
    let found = Command::new(tool).arg("--version").output().is_ok();
    if !found {
        skip_without(tool);
    }
    found
}

/// Finds Chromium by the names that it has on Debian and elsewhere.
fn chromium() -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let path = std::env::var_os("PATH")?;
    let mut found = std::env::split_paths(&path)
        .flat_map(|folder| names.map(|name| folder.join(name)))
        .filter(|program| program.is_file());
    let program = found.next();
    if program.is_none() {
        skip_without("chromium");
    }
    program
}

/// Opens a page in headless Chromium, with a new profile in a folder. Returns the DOM after the
/// page's scripts ran, and the console messages, which are exceptions and policy violations. Returns
/// `None` if there is no browser.
///
/// # Panics
///
/// Panics if the browser fails.
#[must_use]
pub fn browsed(address: &str, profile: &Path) -> Option<(String, Vec<String>)> {
    let output = Command::new(chromium()?)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            // A container's shared memory may be small.
            "--disable-dev-shm-usage",
            "--enable-logging=stderr",
            "--dump-dom",
        ])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(address)
        .output()
        .unwrap();
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{messages}");
    let console = messages.lines().filter(|line| line.contains(":CONSOLE"));
    let console = console.map(str::to_owned).collect();
    Some((String::from_utf8(output.stdout).unwrap(), console))
}

/// Starts a program, sends it lines, and returns its answers, each a line of JSON.
///
/// # Errors
///
/// Returns an error if the program fails, or if an answer is not JSON.
pub fn answers(program: &mut Command, lines: String) -> Result<Vec<Value>, String> {
    let shown = format!("{program:?}");
    let error = |why: &dyn Display| format!("{shown}: {why}");
    let program = program.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = program
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|why| error(&why))?;
    let mut input = child.stdin.take().expect("a pipe");
    // The program answers while it reads requests. If it stops reading, its status shows why.
    let asks = std::thread::spawn(move || drop(input.write_all(lines.as_bytes())));
    let output = child.wait_with_output().map_err(|why| error(&why))?;
    asks.join().expect("the thread cannot panic");
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{shown}: {}\n{said}", output.status));
    }
    let answers = output.stdout.split(|byte| *byte == b'\n');
    let answers = answers.filter(|line| !line.is_empty());
    answers
        .map(|line| serde_json::from_slice(line).map_err(|why| error(&why)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The test runs itself again without a tool that it needs.
    #[test]
    fn a_skipped_test_is_listed_although_it_passes() {
        const AGAIN: &str = "ATF_SAMPLES_AGAIN";
        if std::env::var_os(AGAIN).is_some() {
            assert!(!has("./no-such-tool"));
            return;
        }
        let name = "tools::tests::a_skipped_test_is_listed_although_it_passes";
        let run = |required| {
            Command::new(std::env::current_exe().unwrap())
                .args(["--exact", name])
                .envs([(AGAIN, "1"), ("ATF_REQUIRE_TOOLS", required)])
                .output()
                .unwrap()
        };
        let skipped = run("0");
        assert!(skipped.status.success(), "{skipped:?}");
        let messages = String::from_utf8(skipped.stderr).unwrap();
        let line = "SKIPPED: ./no-such-tool is missing";
        assert!(messages.lines().any(|it| it == line), "{messages}");
        assert!(!run("1").status.success());
    }
}
