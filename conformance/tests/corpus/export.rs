//! Tests that the bare corpus is enough to grade a reader.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use atf_conformance::Verdict;
use atf_conformance::corpus::{Case, export::export};
use atf_samples::tools::has;
use serde_json::Value;
use tempfile::TempDir;

use crate::CASES;

#[test]
fn file_names_contain_the_correct_verdicts() {
    let folder = TempDir::new().unwrap();
    let cases = &*CASES;
    export(folder.path(), cases).unwrap();
    let list = fs::read_to_string(folder.path().join("index.csv")).unwrap();
    let (head, lines) = list.split_once('\n').unwrap();
    let columns = "path,documents,case,wire,kind,verdicts,events,rules,note";
    assert_eq!(head, columns);
    assert_eq!(lines.lines().count(), cases.len());
    let mut letters = BTreeSet::new();
    for (line, case) in lines.lines().zip(cases) {
        // No path has a comma.
        let cells: Vec<_> = line.splitn(4, ',').collect();
        let [path, documents, name, _] = cells[..] else {
            panic!("{line}");
        };
        let documents: Vec<_> = documents.split(' ').collect();
        let document = documents[0];
        assert_eq!(name, case.name);
        let (wire, named) = document.split_once('/').unwrap();
        let (verdicts, rest) = named.split_once('_').unwrap();
        assert_eq!(format!("{wire}/{rest}"), format!("{}.json", case.name));
        let verdict = |letter| match letter {
            'a' => Verdict::Accept,
            'r' => Verdict::Recover,
            'n' => Verdict::Reject,
            other => panic!("{other}"),
        };
        let verdicts: Vec<_> = verdicts.chars().map(verdict).collect();
        assert_eq!(verdicts, case.verdicts, "{name}");
        letters.insert(verdicts);
        let right = documents.iter().map(|document| -> Value {
            serde_json::from_slice(&fs::read(folder.path().join(document)).unwrap()).unwrap()
        });
        let all = [std::slice::from_ref(&case.expected), &case.alternatives].concat();
        assert_eq!(right.collect::<Vec<_>>(), all);
        same_files(
            case,
            &folder.path().join(document.trim_end_matches(".json")),
        );
        let read = folder.path().join(path);
        assert!(fs::symlink_metadata(&read).is_ok(), "{path}");
    }
    assert!(letters.len() > 3, "{letters:?}");
    // Nothing is written into a folder that contains files.
    assert!(export(folder.path(), cases).is_err());
}

fn same_files(case: &Case, folder: &Path) {
    for (path, bytes) in &case.files {
        assert_eq!(&fs::read(folder.join(path)).unwrap(), bytes, "{path}");
    }
    for path in &case.folders {
        assert!(folder.join(path).is_dir(), "{path}");
    }
    for (path, target) in &case.symlinks {
        assert_eq!(fs::read_link(folder.join(path)).unwrap(), Path::new(target));
    }
}

/// Runs the program in the guide on some of the cases.
fn graded(reader: &[&str]) -> Output {
    let folder = TempDir::new().unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let guide = fs::read_to_string(root.join("docs/conformance/files.md")).unwrap();
    let (_, program) = guide.split_once("```python\n").unwrap();
    let (program, _) = program.split_once("```").unwrap();
    let some: Vec<_> = { CASES.iter().cloned() }
        .filter(|case| case.name.contains("1/iftr-00") || case.name.contains("1/sess-003-a"))
        .collect();
    assert!(some.len() > 40, "{}", some.len());
    let corpus: PathBuf = folder.path().join("corpus");
    export(&corpus, &some).unwrap();
    let mut python = Command::new("python3");
    python.args(["-c", program]).arg(corpus).args(reader);
    python.output().unwrap()
}

#[test]
fn the_guides_program_grades_from_the_files_alone() {
    if !has("python3") {
        return;
    }
    let kit = env!("CARGO_BIN_EXE_atf-conformance");
    let good = graded(&[kit, "testee", "read"]);
    let text = String::from_utf8_lossy(&good.stdout);
    assert!(
        good.status.success() && text.ends_with(" passed, 0 failed\n"),
        "{good:?}"
    );

    // Each of these answers is correct for some of the cases.
    let wrong = |answer: &str| {
        let script = format!("echo '{answer}'");
        let run = graded(&["sh", "-c", &script]);
        assert_eq!(run.status.code(), Some(1), "{run:?}");
        String::from_utf8_lossy(&run.stdout).into_owned()
    };
    let rejects = wrong(r#"{"verdict": "reject"}"#);
    assert!(rejects.contains("reject, expected accept: "), "{rejects}");
    assert!(!rejects.contains("/rn_"), "{rejects}");
    let accepts = wrong(r#"{"verdict": "accept", "derived": {"event_count": "7"}}"#);
    assert!(accepts.contains(": 7 events, expected 6: "), "{accepts}");
    let crashes = wrong("");
    for part in ["no document, exit status 0, expected", "\n0 passed, "] {
        assert!(crashes.contains(part), "{crashes}");
    }
}
