//! Exposes the crate `atf` and the checker's verdicts through the protocol, so that the reference
//! implementation can be graded as an implementation under test.
//!
//! Like any other implementation, the reference runs as a separate process for each case:
//! `atf-conformance testee read PATH`.

mod file;
mod session;
pub mod writer;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use atf::FileKind;
use atf::thread::DETAIL_FILE;
use serde_json::{Value, json};

use crate::{FileReport, Kind, Output, Verdict, check};

/// Returns the document of a file or session folder.
#[must_use]
pub fn read(path: &Path) -> Value {
    let verdicts = Verdicts::check(path);
    if path.is_dir() {
        session::document(path, &verdicts)
    } else if is_detail(path) {
        file::detail(path, verdicts.of_file(path))
    } else {
        file::index(path, verdicts.of_file(path))
    }
}

/// Returns the verdict on a file or session folder, and the broken rules.
#[must_use]
pub fn validate(path: &Path) -> Value {
    let document = read(path);
    json!({"verdict": document.get("verdict"), "rules": Verdicts::check(path).rules})
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

/// The checker's verdicts on each file.
#[derive(Default)]
struct Verdicts {
    files: Vec<(PathBuf, Verdict)>,
    manifest: Option<FileReport>,
    rules: BTreeSet<&'static str>,
}

impl Verdicts {
    fn check(path: &Path) -> Self {
        let mut this = Self::default();
        check::check(path, &mut this);
        this
    }

    /// Returns whether readers must ignore the session's manifest.
    fn ignores_manifest(&self) -> bool {
        const READERS_IGNORE: [&str; 3] = ["ATF-MANI-002", "ATF-MANI-003", "ATF-SESS-003"];
        let Some(manifest) = &self.manifest else {
            // The manifest was unreadable.
            return true;
        };
        let mut broken = manifest
            .findings()
            .into_iter()
            .map(|finding| finding.rule.id);
        broken.any(|broken| READERS_IGNORE.contains(&broken))
    }

    /// Returns the verdict on a file. Unreadable files are rejected.
    fn of_file(&self, path: &Path) -> Verdict {
        let mut files = self.files.iter();
        let found = files.find(|(file, _)| file == path);
        found.map_or(Verdict::Reject, |(_, verdict)| *verdict)
    }
}

impl Output for Verdicts {
    fn file(&mut self, report: FileReport) {
        let rules = report.findings().into_iter().map(|finding| finding.rule.id);
        self.rules.extend(rules);
        let verdict = report.verdict();
        match report.kind {
            Kind::Index | Kind::Detail => self.files.push((report.path, verdict)),
            Kind::Manifest => self.manifest = Some(report),
            _ => {}
        }
    }

    // There is nothing to record: a file without a report counts as rejected.
    fn unreadable(&mut self, _path: &Path, _why: &str) {}
}
