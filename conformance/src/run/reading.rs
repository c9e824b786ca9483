//! Cases for readers and validators.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};

use super::task::{Ended, Smoke, Task};
use super::{Graded, failed};
use crate::Verdict;
use crate::corpus::{Case, Class};
use crate::protocol::{
    Answer, Broken, Feature, Manifest, first_difference, locate, locate_field, schema,
};
use crate::results::{Difference, Failure, Outcome, Role};

/// A case of the corpus, to be read or validated.
#[derive(Debug)]
pub struct Reading {
    role: Role,
    case: Arc<Case>,
    rules: Vec<String>,
    needs: [Feature; 1],
}

/// Each case, for readers and for validators.
#[must_use]
pub fn readings(cases: impl IntoIterator<Item = Case>) -> Vec<Box<dyn Smoke>> {
    let mut tasks: Vec<Box<dyn Smoke>> = Vec::new();
    for case in cases {
        let case = Arc::new(case);
        for role in [Role::Read, Role::Validate] {
            tasks.push(Box::new(Reading {
                role,
                case: Arc::clone(&case),
                rules: case.rules.iter().map(|rule| (*rule).to_owned()).collect(),
                needs: [case.subject.into()],
            }));
        }
    }
    tasks
}

impl Task for Reading {
    fn role(&self) -> Role {
        self.role
    }

    fn name(&self) -> &str {
        &self.case.name
    }

    fn wire(&self) -> u8 {
        self.case.wire
    }

    fn needs(&self) -> &[Feature] {
        &self.needs
    }

    fn rules(&self) -> &[String] {
        &self.rules
    }

    fn note(&self) -> &str {
        &self.case.note
    }

    fn prepare(&self, place: &Path) -> io::Result<Vec<(&'static str, PathBuf)>> {
        let trace = trace(place);
        fs::create_dir(&trace)?;
        self.case.write(&trace)?;
        Ok(vec![("path", self.subject(place))])
    }

    fn grade(&self, manifest: &Manifest, ended: &Ended, _: &Path) -> Graded {
        let answer = ended
            .exit_code()
            .and_then(|code| Answer::of(code, &ended.output));
        let outcome = match answer {
            Err(Broken { class, message }) => failed(class, message),
            Ok(Answer::Unsupported) => Outcome::Skipped {
                why: "exit code 77".to_owned(),
            },
            Ok(Answer::Document(verdict, document)) => self.compare(manifest, verdict, &document),
        };
        Graded {
            outcome,
            notes: Vec::new(),
        }
    }
}

impl Smoke for Reading {
    fn is_smoke(&self) -> bool {
        self.case.class == Class::Valid && self.case.verdicts == [Verdict::Accept]
    }

    fn check_form(&self, ended: &Ended) -> Result<bool, Broken> {
        match Answer::of(ended.exit_code()?, &ended.output)? {
            Answer::Unsupported => Ok(false),
            Answer::Document(_, document) => {
                schema::check(self.role, &document).map_err(|message| Broken {
                    class: Failure::Garbage,
                    message,
                })?;
                Ok(true)
            }
        }
    }
}

impl Reading {
    /// The path that the testee is given.
    fn subject(&self, place: &Path) -> PathBuf {
        match self.case.path.as_str() {
            "" => trace(place),
            path => trace(place).join(path),
        }
    }

    fn compare(&self, manifest: &Manifest, verdict: Verdict, document: &Value) -> Outcome {
        if !self.case.verdicts.contains(&verdict) {
            return self.wrong_verdict(verdict);
        }
        if self.role == Role::Validate {
            return Outcome::Passed;
        }
        self.wrong_decode(manifest, verdict, document)
            .unwrap_or(Outcome::Passed)
    }

    fn wrong_verdict(&self, verdict: Verdict) -> Outcome {
        let case = &self.case;
        let expected: Vec<_> = case.verdicts.iter().map(|verdict| verdict.name()).collect();
        let expected = expected.join(" or ");
        let got = verdict.name().to_owned();
        let mut message = format!("{got}, expected {expected}");
        let mut hexdump = None;
        // At a rule's limit another one may be broken, which is beside the point.
        let broken = case.broken.first();
        let broken = broken.filter(|(_, rule)| case.rules.contains(rule));
        if let Some(((file, rule), place)) = broken.zip(case.place.as_ref()) {
            // Writing to a string does not fail.
            let _ = write!(message, ": {rule} is broken in {file}");
            if !place.field.is_empty() {
                let _ = write!(message, " at {}", place.field);
            }
            let bytes = |offset| locate_field(case, file, &place.field, offset);
            hexdump = place.offset.and_then(bytes);
        }
        let rule = broken.map_or_else(|| self.first_rule(), |(_, rule)| Some((*rule).to_owned()));
        Outcome::Failed {
            class: Failure::WrongVerdict,
            message,
            difference: Some(Box::new(Difference {
                place: "verdict".to_owned(),
                expected,
                got,
                rule,
                hexdump,
            })),
        }
    }

    fn wrong_decode(
        &self,
        manifest: &Manifest,
        verdict: Verdict,
        document: &Value,
    ) -> Option<Outcome> {
        let (expected, got) = match verdict {
            // Of what is refused nothing else counts.
            Verdict::Reject => (kind(&self.case.expected), kind(document)),
            // Which of several right verdicts it is does not matter.
            _ => (
                without_verdict(&self.case.expected),
                without_verdict(document),
            ),
        };
        let ignored: &[&str] = match manifest.has(Feature::Function) {
            true => &[],
            false => &["function"],
        };
        let mismatch = first_difference(&expected, &got, ignored)?;
        let nothing = || "nothing".to_owned();
        let difference = Difference {
            place: mismatch.place(),
            expected: mismatch.expected.clone().unwrap_or_else(nothing),
            got: mismatch.got.clone().unwrap_or_else(nothing),
            rule: self.first_rule(),
            hexdump: locate(&self.case, &mismatch.steps),
        };
        Some(Outcome::Failed {
            class: Failure::WrongDecode,
            message: format!(
                "{}: {}, expected {}",
                difference.place, difference.got, difference.expected
            ),
            difference: Some(Box::new(difference)),
        })
    }

    fn first_rule(&self) -> Option<String> {
        self.case.rules.first().map(|rule| (*rule).to_owned())
    }
}

/// The folder of a case's files.
fn trace(place: &Path) -> PathBuf {
    place.join("trace")
}

/// A document's kind alone.
fn kind(document: &Value) -> Value {
    json!({"kind": document.get("kind")})
}

/// A document without its own verdict; those of a session's files stay.
fn without_verdict(document: &Value) -> Value {
    let mut document = document.clone();
    if let Some(members) = document.as_object_mut() {
        members.shift_remove("verdict");
    }
    document
}
