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
use atf_conformance::results::{CaseResult, Failure, Grading, Outcome, Results};
use atf_conformance::run::{Candidate, Limits, Options, Select, Smoke, readings, run};
use atf_conformance::{Place, Verdict};
use atf_samples::files::Bytes;
use serde_json::{Value, json};
use tempfile::TempDir;

/// The kit's program.
pub(crate) const KIT: &str = env!("CARGO_BIN_EXE_atf-conformance");
/// A time limit that is long enough for a shell on a busy machine.
const LONG: Duration = Duration::from_secs(60);

/// Returns an index file of wire version 1 with one event and no footer, written by hand from the
/// sources' tables.
pub(crate) fn file() -> Vec<u8> {
    let mut file = Bytes::default();
    file.raw(b"ATI2\x01\x01\x02\x04");
    file.u32(0).u32(7).u32(3); // flags, thread_id, clock_type
    file.u32(0).u32(32).u32(0); // _reserved2, event_size, event_count
    file.u64(64).raw(&[0; 24]); // events_offset; footer_offset and the times
    file.u64(1000).u64(5); // timestamp_ns, function_id
    file.u32(7).u32(1).u32(1).u32(u32::MAX); // thread_id, event_kind, call_depth, detail_seq
    file.0
}

/// Returns the expected document of [`file`].
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

/// Makes a case with [`file`].
pub(crate) fn case(name: &str) -> Case {
    Case {
        name: name.to_owned(),
        wire: 1,
        rules: vec!["ATF-IFTR-001"],
        class: Class::Truncated,
        path: "thread_7/index.atf".to_owned(),
        subject: Subject::Index,
        note: "no footer".to_owned(),
        files: BTreeMap::from([("thread_7/index.atf".to_owned(), file())]),
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

/// A folder for implementations and a folder for their cases.
pub(crate) struct Bench {
    folder: TempDir,
    /// The parent of the cases' folders.
    pub(crate) cases: PathBuf,
    /// The options of its runs, whose wardens run the program `kit`.
    pub(crate) options: Options,
    pub(crate) select: Select,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let cases = folder.path().join("cases");
        fs::create_dir(&cases).unwrap();
        let options = Options {
            kit: KIT.into(),
            folder: cases.clone(),
            jobs: NonZero::new(2).unwrap(),
            repeat: NonZero::<u32>::MIN,
            seed: 1,
            limits: Limits {
                time: LONG,
                ..Limits::default()
            },
            grading: Grading::All,
            interrupt: Arc::default(),
        };
        Self {
            folder,
            cases,
            options,
            select: Select::default(),
        }
    }

    /// The folder of manifests.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Makes a reader from a shell script.
    pub(crate) fn reader(&self, name: &str, script: &str) -> Candidate {
        self.manifest(name, script, "")
    }

    /// Makes a reader with additional keys in its manifest.
    pub(crate) fn manifest(&self, name: &str, script: &str, keys: &str) -> Candidate {
        self.testee(name, &[("read", script)], "'index'", keys)
    }

    /// Makes an implementation with a shell script for each role, and additional keys in its
    /// manifest. A reader's `$1` is the path to read; a writer's `$1` is the script to execute, and
    /// `$2` is the folder to write to.
    pub(crate) fn testee(
        &self,
        name: &str,
        roles: &[(&str, &str)],
        features: &str,
        keys: &str,
    ) -> Candidate {
        let mut text = format!(
            "protocol = 1\nname = '{name}'\nversion = '1'\nwire = [1]\nfeatures = [{features}]\n{keys}"
        );
        for (role, script) in roles {
            let program = self.path().join(format!("{name}-{role}.sh"));
            fs::write(&program, script).unwrap();
            let paths = match *role {
                "write" => ", '{script}', '{out}'",
                "serve.read" => "",
                _ => ", '{path}'",
            };
            text += &format!("{role} = ['sh', '{}'{paths}]\n", program.display());
        }
        candidate(&self.path().join(format!("{name}.toml")), &text)
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
            folder: self.cases.clone(),
            jobs: NonZero::new(jobs).unwrap(),
            ..self.options.clone()
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
