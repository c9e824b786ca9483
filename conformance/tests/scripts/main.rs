//! Tests writer scripts: their text, the set of scripts, the reference writer, and the grading of
//! writers.

mod damage;
mod fire;
mod folder;
mod library;
mod set;
mod text;

use std::path::Path;

use atf_conformance::reference::writer;
use atf_conformance::results::{Difference, Failure, Outcome};
use atf_conformance::scripts::{Script, Scripted};
use atf_conformance::written::{Graded, grade};
use tempfile::TempDir;

/// Returns a folder with the files that the reference writer writes for a script.
fn written(script: &Script) -> TempDir {
    let out = tempfile::tempdir().unwrap();
    writer::write(script, out.path()).unwrap();
    out
}

/// Returns a script with the folder that the reference writer writes for it.
fn with_files(scripted: Scripted) -> (Scripted, TempDir) {
    let out = written(&scripted.script);
    (scripted, out)
}

/// Parses a script for a test.
fn scripted(text: &str) -> Scripted {
    Scripted {
        name: "v1/write-test".to_owned(),
        wire: 1,
        rules: Vec::new(),
        note: "A test.",
        is_platform_exact: false,
        limit: None,
        is_deep: false,
        script: text.parse().unwrap(),
    }
}

fn graded(scripted: &Scripted, out: &Path) -> Graded {
    let features = ["index", "detail", "session"].map(str::to_owned);
    grade(scripted, &features, out)
}

/// Returns the parts of a failure.
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
