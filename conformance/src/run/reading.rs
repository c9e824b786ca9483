//! Turns corpus cases into tasks for readers and validators.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};

use super::choices::{is_harmless, settle};
use super::outside::has_canary;
use super::task::{About, Smoke, Task};
use super::warden::Ended;
use super::{Graded, blame};
use crate::corpus::{CHECKSUMS, Case, Class};
use crate::lacks::{Lack, allows, breaks_checksum, of_case, omit, omit_unasked};
use crate::protocol::{
    Answer, Broken, Feature, Manifest, Mismatch, differences, holds_events, locate,
    locate_beginning, locate_field, schema,
};
use crate::results::{Difference, Failure, Files, Grade, Hexdump, Note, Outcome, Role};
use crate::{Place, Verdict};

/// The place of a wrong verdict in a document.
const VERDICT: &str = "verdict";

/// A task to read or validate a case of the corpus.
#[derive(Debug)]
pub struct Reading {
    role: Role,
    case: Arc<Case>,
    needs: [Feature; 1],
}

/// Returns two tasks per case, one for readers and one for validators.
#[must_use]
pub fn readings(cases: impl IntoIterator<Item = impl Into<Arc<Case>>>) -> Vec<Box<dyn Smoke>> {
    let mut tasks: Vec<Box<dyn Smoke>> = Vec::new();
    for case in cases {
        let case = case.into();
        for role in [Role::Read, Role::Validate] {
            tasks.push(Box::new(Reading::new(role, Arc::clone(&case))));
        }
    }
    tasks
}

impl Task for Reading {
    fn about(&self) -> About<'_> {
        About {
            role: self.role,
            name: &self.case.name,
            wire: self.case.wire,
            needs: &self.needs,
            rules: &self.case.rules,
            note: &self.case.note,
        }
    }

    fn prepare(&self, place: &Path) -> io::Result<Vec<(&'static str, PathBuf)>> {
        let trace = trace(place);
        fs::create_dir(&trace)?;
        self.case.write(&trace)?;
        Ok(vec![("path", self.subject(place))])
    }

    fn output(&self) -> Option<u64> {
        Some(Answer::limit(&self.case.expected))
    }

    fn not_graded(&self, manifest: &Manifest) -> Vec<Lack> {
        let is_read = self.role == Role::Read;
        let lacks = manifest.lacks.iter().copied();
        let is_asked = |lack: &Lack| lack.is_asked_by(&self.case, is_read);
        lacks.filter(is_asked).collect()
    }

    fn share(&self, manifest: &Manifest) -> f64 {
        if self.role == Role::Validate || manifest.lacks.is_empty() {
            return 1.0;
        }
        let mut shown = self.case.expected.clone();
        omit(&mut shown, &manifest.lacks);
        values(&shown) / values(&self.case.expected)
    }

    fn files(&self) -> Files {
        let document = &self.case.expected;
        Files {
            is_clean: blame::is_clean(&self.case),
            subject: Some(self.case.subject),
            has_checksum: has_checksum(document),
            broken: self.case.broken.iter().map(|(_, rule)| *rule).collect(),
        }
    }

    fn decoys(&self, place: &Path) -> Vec<PathBuf> {
        let trace = trace(place);
        self.case.decoys().map(|file| trace.join(file)).collect()
    }

    fn grade(&self, manifest: &Manifest, ended: &Ended, place: &Path) -> Graded {
        let outcome = match ended.answer() {
            Err(Broken { class, message }) => self.failed(class, message, "a document"),
            Ok(Answer::Unsupported) => Outcome::unsupported(),
            Ok(Answer::Document(verdict, document)) => {
                match self.read_outside(ended, &document, place) {
                    Some(message) => {
                        self.failed(Failure::Outside, message, "no reads outside the session")
                    }
                    None => self.compare(manifest, verdict, &document),
                }
            }
        };
        let unseen = ended.opened.as_ref().err();
        let unseen = unseen.filter(|_| self.case.decoys().next().is_some());
        let note = unseen.map(|why| {
            let what = "could not detect whether a file outside the session was opened";
            Note::advice(format!("{what}: {why}"))
        });
        Graded {
            notes: note.into_iter().collect(),
            ..outcome.into()
        }
    }
}

impl Smoke for Reading {
    fn is_smoke(&self) -> bool {
        self.case.class == Class::Valid && self.case.verdicts == [Verdict::Accept]
    }

    fn check_form(&self, manifest: &Manifest, ended: &Ended) -> Result<bool, Broken> {
        match ended.answer()? {
            Answer::Unsupported => Ok(false),
            Answer::Document(_, document) => {
                schema::check(self.role, &document, &manifest.lacks).map_err(Broken::garbage)?;
                Ok(true)
            }
        }
    }
}

impl Reading {
    /// Creates a task from a case.
    #[must_use]
    pub fn new(role: Role, case: Arc<Case>) -> Self {
        Self {
            role,
            needs: [case.subject.into()],
            case,
        }
    }

    /// Creates a failure that shows the case's bytes, because there is no answer to compare them
    /// with.
    fn failed(&self, class: Failure, message: String, expected: &str) -> Outcome {
        Outcome::Failed {
            class,
            differences: vec![Difference {
                rule: blame::of_files(&self.case).map(str::to_owned),
                hexdump: self.fault().or_else(|| locate_beginning(&self.case)),
                ..Difference::in_data("answer", expected, &message)
            }],
            message,
        }
    }

    /// Returns the path that is passed to the implementation.
    fn subject(&self, place: &Path) -> PathBuf {
        match self.case.path.as_str() {
            "" => trace(place),
            path => trace(place).join(path),
        }
    }

    /// Returns evidence that the implementation read files outside the session, if there is any.
    fn read_outside(&self, ended: &Ended, document: &Value, place: &Path) -> Option<String> {
        let trace = trace(place);
        let opened = ended.opened.iter().flatten();
        let opened = opened.map(|path| path.strip_prefix(&trace).unwrap_or(path));
        let opened: Vec<_> = opened.map(|path| path.display().to_string()).collect();
        let what = match (opened.as_slice(), has_canary(document)) {
            ([], false) => return None,
            ([], true) => "the answer contains events of another session".to_owned(),
            (_, false) => format!("opened {}", opened.join(", ")),
            (_, true) => format!("the answer contains events of {}", opened.join(", ")),
        };
        Some(format!("read outside the session: {what}"))
    }

    /// Grades an answer that consists of `verdict` and `document`.
    #[must_use]
    pub fn compare(&self, manifest: &Manifest, verdict: Verdict, document: &Value) -> Outcome {
        let case = &self.case;
        let breaks_checksum = breaks_checksum(case, |_| true);
        let lacks = of_case(&manifest.lacks, case);
        // A reader's data shows whether the harm occurred. A validator returns only the verdict.
        let is_harmless = self.role == Role::Read
            && is_harmless(&case.because, &case.verdicts, verdict, document);
        let is_allowed = is_harmless || allows(&lacks, &case.verdicts, verdict, breaks_checksum);
        let is_comparable = match verdict {
            Verdict::Reject => is_allowed,
            // If more than one verdict is correct, accept any of them.
            _ => case
                .expected
                .get("verdict")
                .is_some_and(|it| it != "reject"),
        };
        let values = if self.role == Role::Read && is_comparable {
            self.wrong_values(manifest, &lacks, verdict, document)
        } else {
            Vec::new()
        };
        let wrong_verdict = (!is_allowed).then(|| Difference {
            rule: self.charge(verdict, &values),
            ..self.wrong_verdict(verdict, document)
        });
        let class = match (&wrong_verdict, verdict) {
            (Some(it), Verdict::Reject) if it.grade == Grade::Data => Failure::WrongReject,
            (Some(it), _) if it.grade == Grade::Data => Failure::WrongAccept,
            _ => Failure::WrongDecode,
        };
        let message = |first: &Difference| self.message(first);
        let differences = wrong_verdict.into_iter().chain(values).collect();
        Outcome::of_differences(class, message, differences)
    }

    /// Returns the charge for a wrong verdict. A wrong state of a checksum or of the manifest
    /// explains it, as does any wrong value in a clean file.
    fn charge(&self, verdict: Verdict, values: &[Difference]) -> Option<String> {
        let is_state = |it: &&Difference| {
            it.place.ends_with("derived.checksum") || it.place == "derived.manifest"
        };
        let state = values.iter().find(is_state);
        let source = state.and_then(|it| it.rule.clone());
        let source = source.or_else(|| blame::of_verdict(&self.case, verdict).map(str::to_owned));
        source.or_else(|| values.first()?.rule.clone())
    }

    fn wrong_verdict(&self, verdict: Verdict, document: &Value) -> Difference {
        let case = &self.case;
        let expected: Vec<_> = case.verdicts.iter().map(|verdict| verdict.name()).collect();
        let is_bad = |(_, rule): &(String, &str)| CHECKSUMS.contains(rule);
        // The data is wrong if a rejection loses events, if events come from a file that must be
        // rejected, or if events with a checksum mismatch are accepted as intact. For a validator,
        // the verdict is the data.
        let is_data = match (verdict, case.verdicts.as_slice()) {
            (Verdict::Reject, _) => holds_events(Some(&case.expected)),
            (_, [Verdict::Reject]) => self.role == Role::Validate || holds_events(Some(document)),
            (Verdict::Accept, _) => case.broken.iter().any(is_bad),
            (Verdict::Recover, _) => false,
        };
        Difference {
            grade: if is_data { Grade::Data } else { Grade::Label },
            place: VERDICT.to_owned(),
            expected: expected.join(" or "),
            got: verdict.name().to_owned(),
            rule: None,
            hexdump: self.fault(),
        }
    }

    /// Returns the bytes that break the case's rule.
    fn fault(&self) -> Option<Hexdump> {
        let (file, _, place) = self.broken()?;
        locate_field(&self.case, file, &place.field, place.offset?)
    }

    /// Returns the rule that the case breaks, with the file and the location, but only if the case
    /// tests this rule. A boundary case of one rule may break an unrelated rule.
    fn broken(&self) -> Option<(&str, &'static str, &Place)> {
        let (file, rule) = self.case.broken.first()?;
        let place = self.case.place.as_ref()?;
        let is_asked = self.case.rules.contains(rule);
        is_asked.then_some((file, *rule, place))
    }

    fn message(&self, first: &Difference) -> String {
        if first.place != VERDICT {
            return first.text();
        }
        let mut message = format!("{}, expected {}", first.got, first.expected);
        if let Some((file, rule, place)) = self.broken() {
            // Writing to a string cannot fail.
            let _ = write!(message, ": {rule} is broken in {file}");
            if !place.field.is_empty() {
                let _ = write!(message, " at {}", place.field);
            }
        }
        message
    }

    /// Returns the differences from the correct document that is closest to the answer.
    fn wrong_values(
        &self,
        manifest: &Manifest,
        lacks: &[Lack],
        verdict: Verdict,
        document: &Value,
    ) -> Vec<Difference> {
        let right = [&self.case.expected].into_iter();
        let right = right.chain(&self.case.alternatives);
        // Most answers are equal to the expected one, and large ones take long to compare in full.
        if right.clone().any(|it| it == document) {
            return Vec::new();
        }
        let differences = right.map(|it| self.differences(manifest, lacks, verdict, it, document));
        let count = |all: &Vec<Difference>| {
            let data = all.iter().filter(|it| it.grade == Grade::Data).count();
            (data, all.len())
        };
        differences.min_by_key(count).unwrap_or_default()
    }

    fn differences(
        &self,
        manifest: &Manifest,
        lacks: &[Lack],
        verdict: Verdict,
        right: &Value,
        document: &Value,
    ) -> Vec<Difference> {
        let (mut expected, refused) = settle(&self.case, right, lacks, document);
        omit(&mut expected, lacks);
        let (expected, got) = match verdict {
            // The documents of rejected files are compared only by kind.
            Verdict::Reject => (kind(&expected), kind(document)),
            _ => {
                let mut got = without_verdict(document);
                // A value that is returned but declared as missing is not graded either.
                omit(&mut got, lacks);
                omit_unasked(&mut expected, &got);
                (without_verdict(&expected), got)
            }
        };
        let ignored = ignored(manifest);
        let difference = |(mismatch, rule): (Mismatch, Option<String>)| {
            let nothing = || "nothing".to_owned();
            Difference {
                grade: mismatch.grade,
                place: mismatch.place(),
                rule,
                hexdump: locate(&self.case, &mismatch.steps),
                expected: mismatch.expected.unwrap_or_else(nothing),
                got: mismatch.got.unwrap_or_else(nothing),
            }
        };
        let mismatches = differences(&expected, &got, &ignored);
        let mut mismatches: Vec<_> = refused.into_iter().chain(mismatches).collect();
        // A session's times follow from the order of its events.
        mismatches.sort_by_key(|mismatch| mismatch.place().starts_with("derived.time_"));
        let rules = blame::of_mismatches(&self.case, &mismatches);
        mismatches.into_iter().zip(rules).map(difference).collect()
    }
}

/// Counts the values of a document.
fn values(document: &Value) -> f64 {
    match document {
        Value::Array(values) => values.iter().map(self::values).sum(),
        Value::Object(members) => members.values().map(self::values).sum(),
        _ => 1.0,
    }
}

/// Returns whether a file of a document has a matching checksum.
fn has_checksum(document: &Value) -> bool {
    let is_good = |file: &Value| file["derived"]["checksum"] == "good";
    let threads = document["threads"].as_array().into_iter().flatten();
    let mut files = threads.flat_map(|thread| ["index", "detail"].map(|kind| &thread[kind]));
    is_good(document) || files.any(is_good)
}

/// Returns the keys that are ignored when an implementation's documents are compared.
fn ignored(manifest: &Manifest) -> Vec<&'static str> {
    let function = (!manifest.has(Feature::Function)).then_some("function");
    let verdict = manifest.lacks.contains(&Lack::Verdict).then_some("verdict");
    function.into_iter().chain(verdict).collect()
}

/// Returns the folder of a case's files.
fn trace(place: &Path) -> PathBuf {
    place.join("trace")
}

/// Reduces a document to its kind.
fn kind(document: &Value) -> Value {
    json!({"kind": document.get("kind")})
}

/// Returns a document without its own verdict, but with the verdicts on a session's files.
fn without_verdict(document: &Value) -> Value {
    let mut document = document.clone();
    if let Some(members) = document.as_object_mut() {
        members.shift_remove("verdict");
    }
    document
}
