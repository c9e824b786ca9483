//! Cases for readers and validators.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use super::task::{Ended, Task};
use super::{Graded, failed, materialize};
use crate::corpus::{Case, Class};
use crate::protocol::compare::Step;
use crate::protocol::{
    Answer, Broken, Feature, Manifest, first_difference, locate, locate_field, schema,
};
use crate::results::{Difference, Failure, Outcome, Role};
use crate::{FileReport, Output, Verdict, check};

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
pub fn readings(cases: impl IntoIterator<Item = Case>) -> Vec<Box<dyn Task>> {
    let mut tasks: Vec<Box<dyn Task>> = Vec::new();
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

    fn is_smoke(&self) -> bool {
        self.case.class == Class::Valid && self.case.verdicts == [Verdict::Accept]
    }

    fn prepare(&self, place: &Path) -> io::Result<Vec<(&'static str, PathBuf)>> {
        let trace = trace(place);
        materialize(&self.case, &trace)?;
        Ok(vec![("path", self.subject(place))])
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

    fn grade(&self, manifest: &Manifest, ended: &Ended, place: &Path) -> Graded {
        let answer = ended
            .exit_code()
            .and_then(|code| Answer::of(code, &ended.output));
        let outcome = match answer {
            Err(Broken { class, message }) => failed(class, message),
            Ok(Answer::Unsupported) => Outcome::Skipped {
                why: "exit code 77".to_owned(),
            },
            Ok(Answer::Document(verdict, document)) => {
                self.compare(manifest, verdict, &document, place)
            }
        };
        Graded {
            outcome,
            notes: Vec::new(),
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

    fn compare(
        &self,
        manifest: &Manifest,
        verdict: Verdict,
        document: &Value,
        place: &Path,
    ) -> Outcome {
        if !self.case.verdicts.contains(&verdict) {
            return self.wrong_verdict(verdict, place);
        }
        if self.role == Role::Validate {
            return Outcome::Passed;
        }
        self.wrong_decode(manifest, verdict, document)
            .unwrap_or(Outcome::Passed)
    }

    fn wrong_verdict(&self, verdict: Verdict, place: &Path) -> Outcome {
        let names: Vec<_> = self
            .case
            .verdicts
            .iter()
            .map(|verdict| verdict.name())
            .collect();
        let expected = names.join(" or ");
        let got = verdict.name().to_owned();
        let finding = self.finding(place);
        let message = match &finding {
            Some(finding) => format!(
                "{got}, expected {expected}: {}: {}",
                finding.place, finding.message
            ),
            None => format!("{got}, expected {expected}"),
        };
        let (rule, hexdump) = match finding {
            Some(finding) => (Some(finding.rule.to_owned()), finding.hexdump),
            None => (self.first_rule(), None),
        };
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
        let expected = self.case.expected.as_object()?;
        // The verdict is one of several that are right, and of a file that is refused nothing else
        // counts.
        let expected: serde_json::Map<_, _> = expected
            .iter()
            .filter(|(key, _)| *key != "verdict" && (verdict != Verdict::Reject || *key == "kind"))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        let got: serde_json::Map<_, _> = document
            .as_object()?
            .iter()
            .filter(|(key, _)| *key != "verdict" && (verdict != Verdict::Reject || *key == "kind"))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        let ignored: &[&str] = match manifest.has(Feature::Function) {
            true => &[],
            false => &["function"],
        };
        let mismatch = first_difference(&expected.into(), &got.into(), ignored)?;
        let nothing = || "nothing".to_owned();
        let difference = Difference {
            place: mismatch.place(),
            expected: mismatch.expected.clone().unwrap_or_else(nothing),
            got: mismatch.got.clone().unwrap_or_else(nothing),
            rule: self.first_rule(),
            hexdump: self.hexdump(&mismatch.steps),
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

    fn hexdump(&self, steps: &[Step]) -> Option<crate::results::Hexdump> {
        locate(&self.case, steps)
    }

    fn first_rule(&self) -> Option<String> {
        self.case.rules.first().map(|rule| (*rule).to_owned())
    }

    /// Where the case breaks a rule, as the checker finds it: the strictest of those that it is
    /// about.
    fn finding(&self, place: &Path) -> Option<Found> {
        let mut broken = Finder {
            case: &self.case,
            trace: trace(place),
            found: None,
        };
        check::check(&self.subject(place), &mut broken);
        broken.found
    }
}

/// The folder of a case's files.
fn trace(place: &Path) -> PathBuf {
    place.join("trace")
}

/// A broken rule.
struct Found {
    rule: &'static str,
    place: String,
    message: String,
    hexdump: Option<crate::results::Hexdump>,
}

/// Looks for the first broken rule that a case is about.
struct Finder<'a> {
    case: &'a Case,
    trace: PathBuf,
    found: Option<Found>,
}

impl Output for Finder<'_> {
    fn file(&mut self, report: FileReport) {
        let file = report
            .path
            .strip_prefix(&self.trace)
            .unwrap_or(&report.path);
        let file = file.to_string_lossy().replace('\\', "/");
        for finding in report.findings() {
            if self.found.is_some() || !self.case.rules.contains(&finding.rule.id) {
                continue;
            }
            let offset = finding.place.offset;
            let at = |offset| locate_field(self.case, &file, &finding.place.field, offset);
            self.found = Some(Found {
                rule: finding.rule.id,
                place: format!("{file}: {}", finding.place.field),
                message: finding.message.clone(),
                hexdump: offset.and_then(at),
            });
        }
    }

    fn unreadable(&mut self, _path: &Path, _why: &str) {}
}
