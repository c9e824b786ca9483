//! The results of a run. All reports are generated from them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Serialize, Serializer};

use crate::corpus::Subject;
use crate::hex::hex;
use crate::lacks::Lack;
use crate::named::named;
use crate::rules::Severity;
use atf_report::Editions;

/// The charge of a failure if no rule is known, such as a crash on a clean file.
pub const NO_RULE: &str = "no rule";

/// All results of a run.
#[derive(Debug, Clone, Serialize)]
pub struct Results {
    /// The versions of everything that the grading depends on: the kit, the spec, the rules and the
    /// corpus.
    pub editions: Editions,
    /// The implementations, in the order in which the command line names them.
    pub testees: Vec<Testee>,
    /// The parts of answers that were graded.
    pub grading: Grading,
    /// When, where and how the run was made; `None` if it was not made by a command.
    pub made: Option<Made>,
    /// One result for each implementation, role and case; if the files of one script fail in
    /// several ways, one for each class of failure. The JSON report adds their scores.
    #[serde(skip)]
    pub cases: Vec<CaseResult>,
    /// The results of each reader on each writer's files.
    pub cross: Vec<CrossResult>,
    /// Problems in failure lists, such as stale lines, with one problem per string.
    pub stale: Vec<String>,
    /// The duration of the run.
    #[serde(rename = "seconds", serialize_with = "seconds")]
    pub elapsed: Duration,
}

/// When, where and how a run was made.
#[derive(Debug, Clone, Serialize)]
pub struct Made {
    /// The start time in UTC, such as `2026-01-05T10:15:00Z`.
    pub at: String,
    /// The operating system and the processor's architecture.
    pub system: String,
    /// The command line.
    pub command: String,
}

impl Made {
    /// Describes a run that begins now on this system.
    #[must_use]
    pub fn new(now: SystemTime, command: String) -> Self {
        // The system's clock may be set to any time, but only years up to 9999 can be formatted.
        let last = UNIX_EPOCH + Duration::from_secs(253_402_300_799);
        Self {
            at: humantime::format_rfc3339_seconds(now.clamp(UNIX_EPOCH, last)).to_string(),
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            command,
        }
    }
}

/// An implementation under test.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Testee {
    /// The name in its manifest.
    pub name: String,
    /// The version in its manifest.
    pub version: String,
    /// The home page in its manifest.
    pub url: Option<String>,
    /// The roles in its manifest.
    pub roles: Vec<Role>,
    /// The wire versions that it supports.
    pub wire: Vec<u8>,
    /// The features in its manifest.
    pub features: Vec<String>,
    /// The capabilities that its manifest declares it lacks. They are not graded.
    pub lacks: Vec<Lack>,
    /// The reason why the implementation was not graded: its manifest is unusable, its program
    /// cannot be started, or it failed its smoke test.
    pub refused: Option<String>,
}

named! {
    /// The task that an implementation performs.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
    pub enum Role {
        /// Writes the files of a script.
        Write = "write",
        /// Reads files and returns a document.
        Read = "read",
        /// Checks files and returns a verdict.
        Validate = "validate",
        /// Answers queries about sessions.
        Query = "query",
    }
}

impl Role {
    /// Returns whether the role answers with a document or a verdict on the files of a case.
    #[must_use]
    pub const fn reads(self) -> bool {
        matches!(self, Self::Read | Self::Validate)
    }
}

/// The result of one case for one implementation.
#[derive(Debug, Clone, Serialize)]
pub struct CaseResult {
    /// The index of the implementation in [`Results::testees`].
    pub testee: usize,
    /// The role in which the implementation was run.
    pub role: Role,
    /// The name of the case or script.
    pub case: String,
    /// The rules that the case tests.
    pub rules: Vec<String>,
    /// The note of the case.
    pub note: String,
    /// The outcome.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// SHOULDs that a writer's files break, and other notes. Notes are not failures unless SHOULDs
    /// are denied.
    pub notes: Vec<Note>,
    /// The parts that were not graded because, according to its manifest, the implementation lacks
    /// them.
    pub not_graded: Vec<Lack>,
    /// The reason in the failure list, if this failure is listed.
    pub listed: Option<String>,
    /// The share of the case that was graded, from 0 to 1: 0 if it was skipped, and less than 1 if
    /// the implementation cannot show all values.
    pub share: f64,
    /// The properties of the case's files, to find causes.
    #[serde(skip)]
    pub files: Files,
    /// How long the case took.
    #[serde(rename = "seconds", serialize_with = "seconds")]
    pub elapsed: Duration,
    /// The standard error output, truncated.
    pub stderr: String,
}

/// The properties of a case's files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Files {
    /// Whether the files are clean, or a script finalizes all of its files: a mistake in them explains
    /// the same mistake in other files.
    pub is_clean: bool,
    /// The file or session that is read; `None` for a script.
    pub subject: Option<Subject>,
    /// Whether a file has a matching checksum.
    pub has_checksum: bool,
    /// The rules that the files break.
    pub broken: BTreeSet<&'static str>,
}

impl Results {
    /// Returns the implementations that were not graded, with their positions and the reasons.
    pub fn refused(&self) -> impl Iterator<Item = (usize, &Testee, &str)> {
        let testees = self.testees.iter().enumerate();
        testees.filter_map(|(seq, testee)| Some((seq, testee, testee.refused.as_deref()?)))
    }

    /// Returns the results of an implementation.
    pub fn cases_of(&self, testee: usize) -> impl Iterator<Item = &CaseResult> + Clone {
        self.cases.iter().filter(move |case| case.testee == testee)
    }

    /// Returns the writer–reader pairs with failed scripts.
    pub fn misread(&self) -> impl Iterator<Item = &CrossResult> {
        self.cross.iter().filter(|pair| !pair.failed.is_empty())
    }

    /// Turns broken SHOULDs in a writer's files into failures.
    pub fn deny_shoulds(&mut self) {
        for case in &mut self.cases {
            let first = case.shoulds().next().map(Note::to_string);
            if let (Outcome::Passed, Some(message)) = (&case.outcome, first) {
                case.outcome = Outcome::failed(Failure::Should, message);
            }
        }
    }

    /// Counts failures in the matrix as known if they are on the reader's failure list.
    pub fn settle_cross(&mut self) {
        let readers = self.cases.iter().filter(|case| case.role.reads());
        let known = readers.filter(|case| case.state() == State::Known);
        let known: BTreeSet<_> = known
            .map(|case| (case.testee, case.case.as_str(), case.outcome.class()))
            .collect();
        for cell in &mut self.cross {
            let is_known = |script: &str| {
                let classes = cell.classes.get(script);
                classes.is_some_and(|classes| {
                    let mut classes = classes.iter();
                    classes.all(|class| known.contains(&(cell.reader, script, Some(*class))))
                })
            };
            let all = cell.failed.len();
            cell.failed.retain(|(script, _)| !is_known(script));
            cell.known += all - cell.failed.len();
        }
    }
}

/// The beginning of a note on a case whose answers differ from run to run.
pub(crate) const UNSTABLE: &str = "differs from run to run: ";

/// A note on a case, separate from its outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Note {
    /// `SHOULD` if a writer's file breaks a rule, and advice otherwise.
    pub severity: Severity,
    /// The rule, if any.
    pub rule: Option<String>,
    /// The text.
    pub text: String,
}

impl Note {
    /// Makes a note about no rule.
    pub(crate) fn advice(text: String) -> Self {
        Self {
            severity: Severity::Advice,
            rule: None,
            text,
        }
    }
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
    /// Makes a result without rules, notes and times.
    #[must_use]
    pub fn new(testee: usize, role: Role, case: &str, outcome: Outcome) -> Self {
        Self {
            testee,
            role,
            case: case.to_owned(),
            rules: Vec::new(),
            note: String::new(),
            outcome,
            notes: Vec::new(),
            not_graded: Vec::new(),
            listed: None,
            share: 1.0,
            files: Files::default(),
            elapsed: Duration::ZERO,
            stderr: String::new(),
        }
    }

    /// Returns the SHOULDs that a writer's files break.
    pub fn shoulds(&self) -> impl Iterator<Item = &Note> {
        let notes = self.notes.iter();
        notes.filter(|note| note.severity == Severity::Should)
    }

    /// Returns the notes that say that the case's answers differ from run to run.
    pub(crate) fn unstable(&self) -> impl Iterator<Item = &Note> {
        let notes = self.notes.iter();
        notes.filter(|note| note.text.starts_with(UNSTABLE))
    }

    /// Returns what a failed answer broke: rules, which may differ from the case's rules, or fields
    /// of the format, such as `index_event.call_depth`. If neither is known, returns [`NO_RULE`].
    #[must_use]
    pub fn blamed(&self) -> BTreeSet<&str> {
        let named = self.outcome.differences().iter();
        let mut named: BTreeSet<_> = named.filter_map(|it| it.rule.as_deref()).collect();
        if named.is_empty() && self.outcome.class().is_some() {
            named.insert(NO_RULE);
        }
        named
    }

    /// Returns the state of each rule. A failure counts only for the rules that the answer broke.
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

    /// Returns the score in one grade.
    #[must_use]
    pub fn score(&self, grade: Grade) -> Score {
        match grade {
            Grade::Label if !self.role.reads() => Score::None,
            _ => self.outcome.score(grade),
        }
    }

    /// Returns the result's state in the run.
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

named! {
    /// The state of a result in a run, from best to worst.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
    pub enum State {
        /// The result is as expected.
        Passed = "passed",
        /// The implementation does not support the case.
        Skipped = "skipped",
        /// A failure on the failure list.
        Known = "known",
        /// An unexpected failure.
        Failed = "failed",
    }
}

/// The outcome of a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "outcome")]
pub enum Outcome {
    /// The answer is as expected.
    Passed,
    /// The implementation does not support the case: it exited with code 77, or its manifest lacks
    /// the wire version or a feature.
    Skipped {
        /// The reason.
        why: String,
    },
    /// The answer is not as expected.
    Failed {
        /// The class of the failure.
        class: Failure,
        /// A human-readable message.
        message: String,
        /// The differences from the expected result, first in data and then in labels.
        differences: Vec<Difference>,
    },
}

impl Outcome {
    /// Makes a failure without any differences.
    pub fn failed(class: Failure, message: impl Into<String>) -> Self {
        Self::Failed {
            class,
            message: message.into(),
            differences: Vec::new(),
        }
    }

    /// Makes the outcome of an implementation that reported that it does not support the case.
    pub(crate) fn unsupported() -> Self {
        Self::Skipped {
            why: "exit code 77".to_owned(),
        }
    }

    /// Makes an outcome from the differences, after sorting them. Without differences, the case
    /// passes. The failure class is `class` if data differs, and [`Failure::WrongLabel`] otherwise.
    #[must_use]
    pub fn of_differences(
        class: Failure,
        message: impl Fn(&Difference) -> String,
        mut differences: Vec<Difference>,
    ) -> Self {
        // A verdict as a label follows from the other labels.
        let is_verdict =
            |it: &Difference| it.grade == Grade::Label && it.place.ends_with("verdict");
        differences.sort_by_key(|it| (it.grade, follows(&it.place), is_verdict(it)));
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

    /// Returns the score in one grade, for readers and validators.
    fn score(&self, grade: Grade) -> Score {
        let (class, differences) = match self {
            Self::Passed => return Score::Passed,
            Self::Skipped { .. } => return Score::None,
            Self::Failed {
                class, differences, ..
            } => (class, differences),
        };
        let differs = differences.iter().any(|it| it.grade == grade);
        match grade {
            Grade::Data if *class != Failure::WrongLabel => Score::Failed,
            Grade::Label if class.is_broken() => Score::None,
            _ if differs => Score::Failed,
            _ => Score::Passed,
        }
    }

    /// Returns the class of a failure.
    #[must_use]
    pub const fn class(&self) -> Option<Failure> {
        match self {
            Self::Failed { class, .. } => Some(*class),
            Self::Passed | Self::Skipped { .. } => None,
        }
    }

    /// Returns the differences of a failure; none if the case did not fail.
    #[must_use]
    pub fn differences(&self) -> &[Difference] {
        match self {
            Self::Failed { differences, .. } => differences,
            Self::Passed | Self::Skipped { .. } => &[],
        }
    }

    /// Discards all labels, so that a failure in labels alone becomes a pass.
    pub fn forget_labels(&mut self) {
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

named! {
    /// The parts of an answer that are graded separately.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
    pub enum Grade {
        /// The events and their values: no crashes, no events that are not in the file, no loss of
        /// provably complete events, no wrong values, and no reads outside the session.
        Data = "data",
        /// The reader's statements about the data: the verdict, the count source, the checksum state,
        /// the manifest state, and the trailing bytes.
        Label = "label",
    }
}

named! {
    /// The score of a case in one grade.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
    pub enum Score {
        /// The answer is as expected.
        Passed = "passed",
        /// The answer is not as expected.
        Failed = "failed",
        /// Not graded: the case was skipped or got no answer, or the implementation is a writer,
        /// which has no labels.
        None = "none",
    }
}

named! {
    /// The grades that a run counts.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
    pub enum Grading {
        /// Data and labels.
        #[default]
        All = "all",
        /// Data only.
        Data = "data",
    }
}

named! {
    /// The classes of failure, with the names used in failure lists. A reader's classes come first,
    /// from the worst to the mildest.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
    pub enum Failure {
        /// The process was killed by a signal or returned an unknown exit code.
        Crash = "crash",
        /// The process was killed at the time limit.
        Timeout = "timeout",
        /// The process was killed because it exceeded the memory limit.
        Memory = "memory",
        /// The output is not a document.
        Garbage = "garbage",
        /// Files outside the session were opened or read.
        Outside = "outside",
        /// A file that must be rejected was accepted or recovered, so damaged events are taken for
        /// intact ones.
        WrongAccept = "wrong-accept",
        /// A file that must be read was rejected, so its events are lost.
        WrongReject = "wrong-reject",
        /// The verdict is correct, but values are wrong.
        WrongDecode = "wrong-decode",
        /// The data is correct, but a label, such as the verdict, is wrong.
        WrongLabel = "wrong-label",
        /// A writer's file breaks a MUST.
        Rule = "rule",
        /// A writer's file differs from the script.
        WrongFile = "wrong-file",
        /// A writer's file breaks a SHOULD, and the run denies SHOULDs.
        Should = "should",
    }
}

impl Failure {
    /// Returns whether there was no answer at all, as opposed to a wrong one.
    #[must_use]
    pub const fn is_broken(self) -> bool {
        matches!(
            self,
            Self::Crash | Self::Timeout | Self::Memory | Self::Garbage
        )
    }
}

/// A difference between an answer and the expected result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Whether the difference is in data or in a label.
    pub grade: Grade,
    /// The field that differs, in a document (`events[3].detail_seq`) or a file
    /// (`thread_0/index.atf: footer.checksum`).
    pub place: String,
    /// The expected value.
    pub expected: String,
    /// The actual value.
    pub got: String,
    /// The rule that the answer broke, or the field of the format that it misread, such as
    /// `index_event.call_depth`.
    pub rule: Option<String>,
    /// The bytes of the file around this field.
    pub hexdump: Option<Hexdump>,
}

impl Difference {
    /// Makes a difference in data, without what the answer broke and the file's bytes.
    pub fn in_data(
        place: impl Into<String>,
        expected: impl Into<String>,
        got: impl Into<String>,
    ) -> Self {
        Self {
            grade: Grade::Data,
            place: place.into(),
            expected: expected.into(),
            got: got.into(),
            rule: None,
            hexdump: None,
        }
    }

    /// Describes the place and both values.
    pub(crate) fn text(&self) -> String {
        format!("{}: {}, expected {}", self.place, self.got, self.expected)
    }
}

/// Returns whether the value at a place follows from events, so that it is wrong whenever they are.
pub(crate) fn follows(place: &str) -> bool {
    const FOLLOWING: [&str; 8] = [
        "dangling_links",
        "detail_count",
        "event_count",
        "links",
        "merged",
        "orphan_details",
        "time_end_ns",
        "time_start_ns",
    ];
    let derived = place.rsplit_once("derived.").map_or("", |(_, name)| name);
    FOLLOWING.contains(&derived.split('[').next().unwrap_or_default())
}

/// Bytes of a file around a field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Hexdump {
    /// The file.
    pub file: String,
    /// The offset of `bytes` in the file.
    pub offset: u64,
    /// The bytes.
    #[serde(serialize_with = "in_hex")]
    pub bytes: Vec<u8>,
    /// The offset of the field in bytes from the start of the file.
    pub field_offset: u64,
    /// The size of the field in bytes.
    pub field_size: u64,
}

/// The results of one reader on one writer's files.
#[derive(Debug, Clone, Default, Serialize)]
pub struct CrossResult {
    /// The index of the writer in [`Results::testees`].
    pub writer: usize,
    /// The index of the reader in [`Results::testees`].
    pub reader: usize,
    /// The number of scripts whose files the reader read correctly.
    pub passed: usize,
    /// The scripts that failed, with the reason.
    pub failed: Vec<(String, String)>,
    /// All classes of each script's failures, for failure lists.
    #[serde(skip)]
    pub classes: BTreeMap<String, BTreeSet<Failure>>,
    /// The number of scripts that failed but are on the reader's failure list.
    pub known: usize,
    /// The number of scripts that the reader does not support.
    pub skipped: usize,
}

/// Shortens text from an implementation's answer or files, so that results stay small.
pub(crate) fn shortened(text: &str) -> String {
    const LONGEST: usize = 200;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

fn seconds<S: Serializer>(elapsed: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(elapsed.as_secs_f64())
}

fn in_hex<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&hex(bytes))
}
