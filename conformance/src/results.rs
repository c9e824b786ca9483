//! What a run found: the model that all reports are written from.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

use serde::{Serialize, Serializer};

use crate::cause::Cause;
use crate::editions::Editions;
use crate::protocol::Lack;
use crate::rules::Severity;

/// All results of a run.
#[derive(Debug, Clone, Serialize)]
pub struct Results {
    /// Versions of the spec, the rules and the corpus.
    pub editions: Editions,
    /// The testees, in the order of the command line.
    pub testees: Vec<Testee>,
    /// What was graded.
    pub grading: Grading,
    /// When, where and how the run was made; `None` of results that no command made.
    pub made: Option<Made>,
    /// One for each testee, role and case.
    #[serde(serialize_with = "scored")]
    pub cases: Vec<CaseResult>,
    /// Every writer against every reader, where there are several.
    pub cross: Vec<CrossResult>,
    /// What is wrong with failure lists, one line each.
    pub stale: Vec<String>,
    /// How long it took.
    #[serde(rename = "seconds", serialize_with = "seconds")]
    pub elapsed: Duration,
}

/// When, where and how a run was made.
#[derive(Debug, Clone, Serialize)]
pub struct Made {
    /// The time when it began, in UTC: `2026-01-05T10:15:00Z`.
    pub at: String,
    /// The operating system and the processor's architecture.
    pub system: String,
    /// The command line.
    pub command: String,
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
    /// As in its manifest: what it does not do, and is not graded on.
    pub lacks: Vec<Lack>,
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
    /// SHOULDs that a writer's files break, and what else is worth knowing. They fail nothing, unless
    /// SHOULDs are denied.
    pub notes: Vec<Note>,
    /// What of it was not graded, since the testee says that it does not do it.
    pub not_graded: Vec<Lack>,
    /// The reason of the failure list, where it lists this failure.
    pub listed: Option<String>,
    /// How long it took.
    #[serde(rename = "seconds", serialize_with = "seconds")]
    pub elapsed: Duration,
    /// What it wrote to standard error, cut off.
    pub stderr: String,
}

impl Results {
    /// Forgets all labels: a failure that is a label's alone is none any more.
    pub fn grade_data_only(&mut self) {
        self.grading = Grading::Data;
        for case in &mut self.cases {
            case.outcome.forget_labels();
        }
    }

    /// Makes a failure of each SHOULD that a writer's files break.
    pub fn deny_shoulds(&mut self) {
        for case in &mut self.cases {
            let first = case.shoulds().next().map(Note::to_string);
            if let (Outcome::Passed, Some(message)) = (&case.outcome, first) {
                case.outcome = Outcome::Failed {
                    class: Failure::Should,
                    message,
                    differences: Vec::new(),
                };
            }
        }
    }

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

/// What is worth knowing of a case, beside how it went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Note {
    /// A SHOULD that a writer's files break, or no more than advice.
    pub severity: Severity,
    /// The rule that it is about.
    pub rule: Option<String>,
    /// In words.
    pub text: String,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rule, text, .. } = self;
        match rule {
            Some(rule) => write!(f, "{rule} {text}"),
            None => f.write_str(text),
        }
    }
}

impl CaseResult {
    /// The SHOULDs that a writer's files break.
    pub fn shoulds(&self) -> impl Iterator<Item = &Note> {
        let notes = self.notes.iter();
        notes.filter(|note| note.severity == Severity::Should)
    }

    /// The rules that a failed answer broke, which need not be those of the case; without an answer, the
    /// first of the case.
    #[must_use]
    pub fn blamed(&self) -> BTreeSet<&str> {
        let Outcome::Failed { differences, .. } = &self.outcome else {
            return BTreeSet::new();
        };
        let named = differences.iter().filter_map(|it| it.rule.as_deref());
        let named: BTreeSet<_> = named.collect();
        match named.is_empty() {
            true => self.rules.first().map(String::as_str).into_iter().collect(),
            false => named,
        }
    }

    /// What it means for each rule: a failure counts for the rules that the answer broke alone.
    #[must_use]
    pub fn by_rule(&self) -> BTreeMap<&str, State> {
        let blamed = self.blamed();
        let others = match self.state() {
            State::Failed | State::Known => State::Passed,
            state => state,
        };
        let own = self.rules.iter().map(|rule| (rule.as_str(), others));
        let blamed = blamed.into_iter().map(|rule| (rule, self.state()));
        own.chain(blamed).collect()
    }

    /// How it went in one grade.
    #[must_use]
    pub fn score(&self, grade: Grade) -> Score {
        match grade {
            Grade::Label if self.role == Role::Write => Score::None,
            _ => self.outcome.score(grade),
        }
    }

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
        /// Where what it gave differs from what was expected: data first, then labels.
        differences: Vec<Difference>,
    },
}

impl Outcome {
    /// A failure with these differences, which it orders; none for one without a place. `class` is
    /// that of differences in data, [`Failure::WrongLabel`] where there are none.
    #[must_use]
    pub fn of_differences(
        class: Failure,
        message: impl Fn(&Difference) -> String,
        mut differences: Vec<Difference>,
    ) -> Self {
        differences.sort_by_key(|difference| difference.grade);
        match differences.first() {
            None => Self::Passed,
            Some(first) => Self::Failed {
                class: match first.grade {
                    Grade::Data => class,
                    Grade::Label => Failure::WrongLabel,
                },
                message: message(first),
                differences,
            },
        }
    }

    /// How it went in one grade, for readers and validators.
    fn score(&self, grade: Grade) -> Score {
        let Self::Failed {
            class, differences, ..
        } = self
        else {
            return match self {
                Self::Passed => Score::Passed,
                _ => Score::None,
            };
        };
        let differs = differences.iter().any(|it| it.grade == grade);
        match grade {
            Grade::Data if *class != Failure::WrongLabel => Score::Failed,
            Grade::Label if class.is_broken() => Score::None,
            _ if differs => Score::Failed,
            _ => Score::Passed,
        }
    }

    fn forget_labels(&mut self) {
        if let Self::Failed {
            class, differences, ..
        } = self
        {
            differences.retain(|difference| difference.grade == Grade::Data);
            if *class == Failure::WrongLabel {
                *self = Self::Passed;
            }
        }
    }
}

/// What of an answer is graded apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Grade {
    /// No crash, no event that is none, no event lost that is provably whole, right values,
    /// nothing read outside the session.
    Data,
    /// Verdict, source of the count, state of checksum and manifest, trailing bytes.
    Label,
}

impl Grade {
    /// Its word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Data => "data",
            Self::Label => "label",
        }
    }
}

/// How a case went in one grade.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Score {
    /// As expected.
    Passed,
    /// Not as expected.
    Failed,
    /// Not graded: left out, without an answer, or a writer's, which has no labels.
    None,
}

impl Score {
    /// Its word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::None => "none",
        }
    }
}

/// Which grades a run counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Grading {
    /// Data and labels.
    #[default]
    All,
    /// Data alone.
    Data,
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
    /// Files outside the session were opened or read.
    Outside,
    /// Accepted or recovered what must be refused: damaged events are given as good.
    WrongAccept,
    /// Refused what must be read: its events are lost.
    WrongReject,
    /// The right verdict, other values.
    WrongDecode,
    /// The right data under a wrong label, its verdict among them.
    WrongLabel,
    /// A writer's file breaks a MUST.
    Rule,
    /// A writer's file is not what was asked for.
    WrongFile,
    /// A writer's file breaks a SHOULD, and the run denies that.
    Should,
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
            Self::Outside => "outside",
            Self::WrongAccept => "wrong-accept",
            Self::WrongReject => "wrong-reject",
            Self::WrongDecode => "wrong-decode",
            Self::WrongLabel => "wrong-label",
            Self::Rule => "rule",
            Self::WrongFile => "wrong-file",
            Self::Should => "should",
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

/// A difference between what a testee gave and what was expected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Whether data or a label differs.
    pub grade: Grade,
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

/// Each case with its score in both grades and its cause.
fn scored<S: Serializer>(cases: &[CaseResult], serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Scored<'a> {
        #[serde(flatten)]
        case: &'a CaseResult,
        data: Score,
        label: Score,
        cause: Option<String>,
    }
    serializer.collect_seq(cases.iter().map(|case| Scored {
        case,
        data: case.score(Grade::Data),
        label: case.score(Grade::Label),
        cause: Cause::of(case).map(|cause| cause.id),
    }))
}

fn seconds<S: Serializer>(elapsed: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(elapsed.as_secs_f64())
}

fn hex<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    serializer.serialize_str(&digits)
}
