//! Exposes the crate `atf` and the checker's verdicts through the protocol, so that the reference
//! implementation can be graded as an implementation under test.
//!
//! Like any other implementation, the reference runs as a separate process for each case:
//! `atf-conformance testee read PATH`.

mod file;
mod query;
mod session;
pub mod writer;

use std::collections::BTreeSet;
use std::path::Path;

use atf::FileKind;
use atf::thread::DETAIL_FILE;
use serde_json::{Value, json};

pub use query::query;

use crate::{Checked, Kind, Verdict};

/// Returns the document of a file or session folder.
#[must_use]
pub fn read(path: &Path) -> Value {
    document(path, &Checked::new(path))
}

/// Returns the verdict on a file or session folder, and the broken rules.
#[must_use]
pub fn validate(path: &Path) -> Value {
    let checked = Checked::new(path);
    let rules: BTreeSet<_> = checked.findings().map(|(_, it)| it.rule.id).collect();
    json!({"verdict": document(path, &checked).get("verdict"), "rules": rules})
}

fn document(path: &Path, checked: &Checked) -> Value {
    if path.is_dir() {
        session::document(path, checked)
    } else if is_detail(path) {
        file::detail(path, verdict_on(path, checked))
    } else {
        file::index(path, verdict_on(path, checked))
    }
}

/// Returns whether a file is a detail file, judging by its magic or, failing that, its name.
fn is_detail(path: &Path) -> bool {
    match FileKind::detect(path) {
        Ok(Some(kind)) => kind == FileKind::Detail,
        _ => path.file_name().is_some_and(|name| name == DETAIL_FILE),
    }
}

/// Returns a document that rejects the file or session.
fn rejected(kind: &str) -> Value {
    json!({"kind": kind, "verdict": Verdict::Reject})
}

/// Returns the checker's verdict on a file. Unreadable files are rejected.
fn verdict_on(path: &Path, checked: &Checked) -> Verdict {
    let mut reports = checked.reports.iter();
    let found = reports.find(|report| report.path == path);
    found.map_or(Verdict::Reject, crate::FileReport::verdict)
}

/// Returns whether readers must ignore the session's manifest.
fn ignores_manifest(checked: &Checked) -> bool {
    const READERS_IGNORE: [&str; 3] = ["ATF-MANI-002", "ATF-MANI-003", "ATF-SESS-003"];
    let mut reports = checked.reports.iter();
    let manifest = reports.rfind(|report| report.kind == Kind::Manifest);
    // Without a report, the manifest was unreadable.
    manifest.is_none_or(|manifest| {
        let mut findings = manifest.findings().into_iter();
        findings.any(|finding| READERS_IGNORE.contains(&finding.rule.id))
    })
}
