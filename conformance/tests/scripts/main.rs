//! Writer scripts: their text, the set of them, the reference writer, and how writers are graded.

mod command;
mod damage;
mod document;
mod fire;
mod folder;
mod set;
mod text;

use std::path::Path;

use atf_conformance::reference::writer;
use atf_conformance::results::{Difference, Failure, Outcome};
use atf_conformance::scripts::{Script, Scripted};
use atf_conformance::written::{Graded, grade};
use tempfile::TempDir;

/// A folder with what the reference writer makes of a script.
fn written(script: &Script) -> TempDir {
    let out = tempfile::tempdir().unwrap();
    writer::write(script, out.path()).unwrap();
    out
}

/// A script of one's own, by its text.
fn scripted(text: &str) -> Scripted {
    Scripted {
        name: "v1/write-test".to_owned(),
        wire: 1,
        rules: Vec::new(),
        note: "A test.",
        is_platform_exact: false,
        limit: None,
        script: text.parse().unwrap(),
    }
}

fn graded(scripted: &Scripted, out: &Path) -> Graded {
    let features = ["index", "detail", "session"].map(str::to_owned);
    grade(scripted, &features, out)
}

/// The parts of a failure.
#[track_caller]
fn failure(graded: Graded) -> (Failure, String, Option<Difference>) {
    match graded.outcome {
        Outcome::Failed {
            class,
            message,
            differences,
        } => (class, message, differences.into_iter().next()),
        other => panic!("{other:?}"),
    }
}
