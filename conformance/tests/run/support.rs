//! A case with one event, and implementations in a few lines of shell.

use std::collections::BTreeMap;
use std::fs;
use std::num::NonZero;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use atf_conformance::corpus::{Case, Class, Subject};
use atf_conformance::protocol::Manifest;
use atf_conformance::results::{CaseResult, Difference, Failure, Grading, Outcome, Results};
use atf_conformance::run::{Candidate, Limits, Options, Select, Smoke, readings, run};
use atf_conformance::{Place, Verdict};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The kit's program.
pub(crate) const KIT: &str = env!("CARGO_BIN_EXE_atf-conformance");
/// A time limit that is long enough for a shell on a busy machine.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// An index file of wire version 1 with one event and no footer, written by hand from the sources'
/// tables.
pub(crate) const FILE: [u8; 96] = {
    let mut bytes = [0; 96];
    let header = *b"ATI2\x01\x01\x02\x04";
    let mut at = 0;
    while at < header.len() {
        bytes[at] = header[at];
        at += 1;
    }
    bytes[12] = 7; // thread_id
    bytes[16] = 3; // clock_type
    bytes[24] = 32; // event_size
    bytes[32] = 64; // events_offset
    bytes[64] = 0xe8; // timestamp_ns 1000
    bytes[65] = 0x03;
    bytes[72] = 5; // function_id
    bytes[80] = 7; // thread_id
    bytes[84] = 1; // event_kind
    bytes[88] = 1; // call_depth
    let mut none = 92; // detail_seq
    while none < 96 {
        bytes[none] = 0xff;
        none += 1;
    }
    bytes
};

/// Returns the expected document of [`FILE`].
pub(crate) fn document() -> Value {
    json!({
        "kind": "index",
        "verdict": "recover",
        "header": {
            "endian": 1, "version": 1, "arch": 2, "os": 4, "flags": 0, "thread_id": 7,
            "clock_type": 3, "event_size": 32, "event_count": 0, "events_offset": "64",
            "footer_offset": "0", "time_start_ns": "0", "time_end_ns": "0"
        },
        "events": [{
            "timestamp_ns": "1000", "function_id": "5", "thread_id": 7, "event_kind": 1,
            "call_depth": 1, "detail_seq": null
        }],
        "footer": null,
        "derived": {
            "event_count": "1", "count_source": "file_size", "checksum": "not_checked",
            "trailing_bytes": "0"
        }
    })
}

/// Makes a case with [`FILE`].
pub(crate) fn case(name: &str) -> Case {
    Case {
        name: name.to_owned(),
        wire: 1,
        rules: vec!["ATF-IFTR-001"],
        class: Class::Truncated,
        path: "thread_7/index.atf".to_owned(),
        subject: Subject::Index,
        note: "no footer".to_owned(),
        files: BTreeMap::from([("thread_7/index.atf".to_owned(), FILE.to_vec())]),
        verdicts: vec![Verdict::Recover],
        expected: document(),
        broken: vec![("thread_7/index.atf".to_owned(), "ATF-IFTR-001")],
        place: Some(Place::at("footer", 96)),
        ..Case::default()
    }
}

/// Makes a case that is also a smoke test, with the document of an accepted file.
pub(crate) fn smoke_case(name: &str) -> Case {
    Case {
        class: Class::Valid,
        verdicts: vec![Verdict::Accept],
        ..case(name)
    }
}

/// Returns the options of a run in a folder.
pub(crate) fn options(folder: &Path) -> Options {
    Options {
        kit: KIT.into(),
        folder: folder.to_owned(),
        jobs: NonZero::new(2).unwrap(),
        repeat: NonZero::<u32>::MIN,
        seed: 1,
        limits: Limits {
            time: LONG,
            ..Limits::default()
        },
        grading: Grading::All,
        interrupt: Arc::default(),
    }
}

/// A folder for implementations and a folder for their cases.
pub(crate) struct Bench {
    folder: TempDir,
    /// The parent of the cases' folders.
    pub(crate) cases: PathBuf,
    pub(crate) limits: Limits,
    pub(crate) repeat: NonZero<u32>,
    pub(crate) select: Select,
    /// The program that the wardens run.
    pub(crate) kit: PathBuf,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let cases = folder.path().join("cases");
        fs::create_dir(&cases).unwrap();
        let Options {
            kit,
            repeat,
            limits,
            ..
        } = options(&cases);
        Self {
            folder,
            cases,
            limits,
            repeat,
            select: Select::default(),
            kit,
        }
    }

    /// The folder of manifests.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Makes a reader from a shell script. `$1` is the path to read.
    pub(crate) fn reader(&self, name: &str, script: &str) -> Candidate {
        self.manifest(name, script, "")
    }

    /// Makes a reader from a shell script, and a persistent process from another script.
    pub(crate) fn served(&self, name: &str, script: &str, serve: &str) -> Candidate {
        let program = self.folder.path().join(format!("{name}-serve.sh"));
        fs::write(&program, serve).unwrap();
        let keys = format!("serve.read = ['sh', '{}']\n", program.display());
        self.manifest(name, script, &keys)
    }

    /// Makes a reader with additional keys in its manifest.
    pub(crate) fn manifest(&self, name: &str, script: &str, keys: &str) -> Candidate {
        let program = self.folder.path().join(format!("{name}.sh"));
        fs::write(&program, script).unwrap();
        let text = format!(
            "protocol = 1\nname = '{name}'\nversion = '1'\nread = ['sh', '{}', '{{path}}']\n\
             wire = [1]\nfeatures = ['index']\n{keys}",
            program.display()
        );
        let path = self.folder.path().join(format!("{name}.toml"));
        candidate(&path, &text)
    }

    /// Makes a reader that prints a document, with a manifest that declares missing capabilities.
    pub(crate) fn lacking(&self, lacks: &str, document: &Value) -> Candidate {
        let script = format!("echo '{document}'");
        self.manifest("lacking", &script, &format!("lacks = [{lacks}]\n"))
    }

    /// Makes a reader that prints a document and exits.
    pub(crate) fn says(&self, name: &str, document: &Value, code: u8) -> Candidate {
        self.reader(name, &format!("echo '{document}'; exit {code}"))
    }

    pub(crate) fn run(&self, candidates: &[Candidate], cases: Vec<Case>) -> Results {
        self.run_tasks(candidates, &readings(cases), 2)
    }

    pub(crate) fn run_tasks(
        &self,
        candidates: &[Candidate],
        tasks: &[Box<dyn Smoke>],
        jobs: usize,
    ) -> Results {
        let options = Options {
            kit: self.kit.clone(),
            jobs: NonZero::new(jobs).unwrap(),
            repeat: self.repeat,
            limits: self.limits,
            ..options(&self.cases)
        };
        run(candidates, tasks, &self.select, &options, &|_, _| {}).unwrap()
    }

    /// Grades a script on the case.
    #[track_caller]
    pub(crate) fn one(&self, script: &str) -> CaseResult {
        self.grade(self.reader("one", script), case("v1/one"))
    }

    /// Grades a reader on a case.
    #[track_caller]
    pub(crate) fn grade(&self, reader: Candidate, case: Case) -> CaseResult {
        let mut results = self.run(&[reader], vec![case]);
        assert_eq!(results.testees[0].refused, None);
        assert_eq!(results.cases.len(), 1);
        results.cases.remove(0)
    }
}

/// Writes a manifest and opens it.
pub(crate) fn candidate(path: &Path, text: &str) -> Candidate {
    fs::write(path, text).unwrap();
    Candidate::Manifest(Box::new(Manifest::open(path).unwrap()))
}

/// Writes a program.
pub(crate) fn executable(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Waits for something that happens soon.
#[track_caller]
pub(crate) fn wait_until(is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < LONG, "it does not happen");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[track_caller]
pub(crate) fn assert_all_pass(results: &Results) {
    let mut cases = results.cases.iter();
    assert!(
        cases.all(|case| case.outcome == Outcome::Passed),
        "{results:?}"
    );
}

/// Returns the class and message of a failure.
#[track_caller]
pub(crate) fn failure(result: &CaseResult) -> (Failure, &str) {
    match &result.outcome {
        Outcome::Failed { class, message, .. } => (*class, message),
        other => panic!("{other:?}"),
    }
}

/// Returns the differences of a failure.
#[track_caller]
pub(crate) fn differences(result: &CaseResult) -> &[Difference] {
    match &result.outcome {
        Outcome::Failed { differences, .. } => differences,
        other => panic!("{other:?}"),
    }
}
