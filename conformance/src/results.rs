//! What a run found: the model that all reports are written from.

use std::time::Duration;

use serde::{Serialize, Serializer};

use crate::rules::table;

/// All results of a run.
#[derive(Debug, Clone, Serialize)]
pub struct Results {
    /// Versions of the spec, the rules and the corpus.
    pub editions: Editions,
    /// The testees, in the order of the command line.
    pub testees: Vec<Testee>,
    /// One for each testee, role and case.
    pub cases: Vec<CaseResult>,
    /// Every writer against every reader, where there are several.
    pub cross: Vec<CrossResult>,
    /// What is wrong with failure lists, one line each.
    pub stale: Vec<String>,
    /// How long it took.
    #[serde(rename = "seconds", serialize_with = "seconds")]
    pub elapsed: Duration,
}

/// Versions of what a run grades by.
#[derive(Debug, Clone, Serialize)]
pub struct Editions {
    /// Of the kit itself.
    pub kit: String,
    /// Of the layout spec.
    pub spec: String,
    /// Of the rules.
    pub rules: String,
    /// Of the corpus.
    pub corpus: String,
}

impl Editions {
    /// Each with what it is of.
    #[must_use]
    pub fn all(&self) -> [(&'static str, &str); 4] {
        [
            ("kit", &self.kit),
            ("spec", &self.spec),
            ("rules", &self.rules),
            ("corpus", &self.corpus),
        ]
    }

    /// Those that say by what a captured session is judged.
    #[must_use]
    pub fn of_rules(&self) -> [(&'static str, &str); 3] {
        let [kit, spec, rules, _] = self.all();
        [kit, spec, rules]
    }

    /// Those of this kit.
    #[must_use]
    pub fn current() -> Self {
        Self {
            kit: env!("CARGO_PKG_VERSION").to_owned(),
            spec: table::SPEC_EDITION.version.to_owned(),
            rules: table::RULES_EDITION.version.to_owned(),
            corpus: table::CORPUS_EDITION.version.to_owned(),
        }
    }
}

/// An implementation that was graded.
#[derive(Debug, Clone, Serialize)]
pub struct Testee {
    /// As in its manifest.
    pub name: String,
    /// As in its manifest.
    pub version: String,
    /// As in its manifest.
    pub url: Option<String>,
    /// What it can be.
    pub roles: Vec<Role>,
    /// Wire versions.
    pub wire: Vec<u8>,
    /// As in its manifest.
    pub features: Vec<String>,
    /// Why it was not graded, where it was not: it cannot be started, or failed its smoke test.
    pub refused: Option<String>,
}

/// What a testee is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Makes files of a script.
    Write,
    /// Makes a document of files.
    Read,
    /// Makes a verdict of files.
    Validate,
}

impl Role {
    /// Its word, the manifest's key.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Read => "read",
            Self::Validate => "validate",
        }
    }
}

/// What a testee made of a case.
#[derive(Debug, Clone, Serialize)]
pub struct CaseResult {
    /// The position in [`Results::testees`].
    pub testee: usize,
    /// What it was asked for.
    pub role: Role,
    /// The case's or script's name.
    pub case: String,
    /// The rules that it is about.
    pub rules: Vec<String>,
    /// The note of the case.
    pub note: String,
    /// How it went.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// SHOULDs that a writer's files break, one line each: they fail nothing and are worth knowing.
    pub notes: Vec<String>,
    /// The reason of the failure list, where it lists this failure.
    pub listed: Option<String>,
    /// How long it took.
    #[serde(rename = "seconds", serialize_with = "seconds")]
    pub elapsed: Duration,
    /// What it wrote to standard error, cut off.
    pub stderr: String,
}

impl Results {
    /// Counts the failures of the matrix that their reader's failure list has, and leaves them out.
    pub fn settle_cross(&mut self) {
        for cell in &mut self.cross {
            let is_known = |script: &String| {
                let of_reader = self.cases.iter().filter(|case| {
                    case.testee == cell.reader && case.role != Role::Write && case.case == *script
                });
                // Whoever reads and validates may fail in both roles.
                let states: Vec<_> = of_reader.map(CaseResult::state).collect();
                states.contains(&State::Known) && !states.contains(&State::Failed)
            };
            let all = cell.failed.len();
            cell.failed.retain(|(script, _)| !is_known(script));
            cell.known += all - cell.failed.len();
        }
    }
}

impl CaseResult {
    /// What it means for the run.
    #[must_use]
    pub const fn state(&self) -> State {
        match (&self.outcome, &self.listed) {
            (Outcome::Passed, _) => State::Passed,
            (Outcome::Skipped { .. }, _) => State::Skipped,
            (Outcome::Failed { .. }, Some(_)) => State::Known,
            (Outcome::Failed { .. }, None) => State::Failed,
        }
    }
}

/// What a result means for the run, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// As expected.
    Passed,
    /// Left out: the testee does not support it.
    Skipped,
    /// A failure that the failure list has.
    Known,
    /// A failure that nobody expected.
    Failed,
}

impl State {
    /// Its word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Skipped => "skipped",
            Self::Known => "known",
            Self::Failed => "failed",
        }
    }
}

/// How a case went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "outcome")]
pub enum Outcome {
    /// As expected.
    Passed,
    /// The testee does not support it: exit code 77, a wire version or a feature that it lacks.
    Skipped {
        /// Which of these.
        why: String,
    },
    /// Not as expected.
    Failed {
        /// In what way.
        class: Failure,
        /// In words.
        message: String,
        /// Where what it gave first differs from what was expected.
        difference: Option<Box<Difference>>,
    },
}

/// The ways to fail, as failure lists name them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Failure {
    /// A signal, or an exit code without meaning.
    Crash,
    /// Killed at the time limit.
    Timeout,
    /// Killed above the memory limit.
    Memory,
    /// Output that is no document.
    Garbage,
    /// Another verdict.
    WrongVerdict,
    /// The right verdict, other values.
    WrongDecode,
    /// A writer's file breaks a MUST.
    Rule,
    /// A writer's file is not what was asked for.
    WrongFile,
}

impl Failure {
    /// Its word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Crash => "crash",
            Self::Timeout => "timeout",
            Self::Memory => "memory",
            Self::Garbage => "garbage",
            Self::WrongVerdict => "wrong-verdict",
            Self::WrongDecode => "wrong-decode",
            Self::Rule => "rule",
            Self::WrongFile => "wrong-file",
        }
    }

    /// Whether the testee gave no answer at all, rather than a wrong one.
    #[must_use]
    pub const fn is_broken(self) -> bool {
        matches!(
            self,
            Self::Crash | Self::Timeout | Self::Memory | Self::Garbage
        )
    }
}

/// The first difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Where: a field of a document (`events[3].detail_seq`) or of a file
    /// (`thread_0/index.atf: footer.checksum`).
    pub place: String,
    /// What was expected there.
    pub expected: String,
    /// What came.
    pub got: String,
    /// The rule that it breaks, where one is named.
    pub rule: Option<String>,
    /// The bytes of the file around the place.
    pub hexdump: Option<Hexdump>,
}

/// Bytes of a file around a field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Hexdump {
    /// The file.
    pub file: String,
    /// Where `bytes` begin, from the start of the file.
    pub offset: u64,
    /// Some bytes.
    #[serde(serialize_with = "hex")]
    pub bytes: Vec<u8>,
    /// Where the field begins, from the start of the file.
    pub field_offset: u64,
    /// Its size in bytes.
    pub field_size: u64,
}

/// What a reader made of a writer's files.
#[derive(Debug, Clone, Serialize)]
pub struct CrossResult {
    /// The position of the writer in [`Results::testees`].
    pub writer: usize,
    /// The position of the reader.
    pub reader: usize,
    /// How many scripts' files it read as asked for.
    pub passed: usize,
    /// The scripts where it did not, with the reason.
    pub failed: Vec<(String, String)>,
    /// How many more failed as the reader's failure list says.
    pub known: usize,
    /// How many it does not support.
    pub skipped: usize,
}

fn seconds<S: Serializer>(elapsed: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(elapsed.as_secs_f64())
}

fn hex<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    serializer.serialize_str(&digits)
}
