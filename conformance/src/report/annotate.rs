//! GitHub workflow commands, which show a run's failures at the repository's files.

use std::io::{self, Write};
use std::path::PathBuf;

use super::words;
use crate::cause::Causes;
use crate::results::{Results, State};
use atf_report::{Printable, counted};

/// Writes an annotation for each cause of failures, for each implementation that is not graded and
/// for each problem in a failure list, and a warning for each unstable case. GitHub shows only the
/// first ten annotations of a step, so failures with the same cause share one. `manifests` are the
/// files to annotate, one for each implementation.
///
/// # Errors
///
/// Returns an error if writing to `out` fails.
pub fn github(results: &Results, manifests: &[PathBuf], out: &mut dyn Write) -> io::Result<()> {
    let mut write = |kind: &str, testee: Option<usize>, title: &str, text: &str| {
        let file = testee.and_then(|testee| manifests.get(testee));
        let file = file.map(|file| format!("file={},", property(&file.to_string_lossy())));
        let (file, title, text) = (file.unwrap_or_default(), property(title), data(text));
        writeln!(out, "::{kind} {file}title={title}::{text}")
    };
    for (testee, it, why) in results.refused() {
        let title = format!("{} is not graded", it.name);
        write("error", Some(testee), &title, why)?;
    }
    for line in &results.stale {
        write("error", None, "The failure list is stale", line)?;
    }
    let causes = Causes::new(&results.cases);
    for group in causes.groups() {
        let mut failed = group.cases.iter().map(|(_, case)| *case);
        let Some(first) = failed.find(|case| case.state() == State::Failed) else {
            continue;
        };
        let title = format!("{} failed: {}", group.failed, group.cause.title);
        let failure = words::failure(first).unwrap_or_default();
        let mut lines = vec![format!("{}: {failure}", words::title(results, first))];
        lines.extend(words::details(&causes, first));
        write("error", Some(first.testee), &title, &lines.join("\n"))?;
    }
    for pair in results.misread() {
        let [writer, reader] = words::names(results, pair);
        let count = counted(pair.failed.len() as u64, "script");
        let title = format!("{count} of {writer} misread by {reader}");
        let first = pair.failed.first();
        let text = first.map(|(script, why)| format!("{script}: {why}"));
        let text = text.unwrap_or_default();
        write("error", Some(pair.reader), &title, &text)?;
    }
    for case in &results.cases {
        for note in case.unstable() {
            let title = words::title(results, case);
            write("warning", Some(case.testee), &title, &note.text)?;
        }
    }
    Ok(())
}

/// Escapes the text of a command. The service shows `%0A` as a line break.
fn data(text: &str) -> String {
    let lines = text.split('\n').map(|line| Printable(line).to_string());
    let lines: Vec<_> = lines.map(|line| line.replace('%', "%25")).collect();
    lines.join("%0A")
}

/// Escapes the value of a property.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
