//! Turns queries about sessions into tasks.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use serde_json::Value;

use super::task::{About, Smoke, Task};
use super::warden::Ended;
use super::{Graded, blame};
use crate::corpus::Case;
use crate::protocol::{Answer, Broken, Feature, Manifest, exit};
use crate::queries::{Query, queries};
use crate::results::{Difference, Failure, Files, Note, Outcome, Role, shortened};

/// A task to answer the queries about a session.
#[derive(Debug)]
pub struct Asking {
    /// The name, such as `v1/query-clean-session`.
    name: String,
    /// The session's case.
    case: Arc<Case>,
    /// The queries, at least one.
    queries: Vec<Query>,
    rules: Vec<&'static str>,
}

/// Returns a task for each session that is queried.
#[must_use]
pub fn askings<'a>(cases: impl IntoIterator<Item = &'a Arc<Case>>) -> Vec<Box<dyn Smoke>> {
    let asking = |case: &Arc<Case>| {
        let queries = queries(case);
        let (wire, slug) = case.name.split_once('/')?;
        let rules: BTreeSet<_> = queries.iter().filter_map(|query| query.rule).collect();
        let asking = Asking {
            name: format!("{wire}/query-{slug}"),
            case: Arc::clone(case),
            rules: rules.into_iter().collect(),
            queries,
        };
        (!asking.queries.is_empty()).then(|| Box::new(asking) as Box<dyn Smoke>)
    };
    cases.into_iter().filter_map(asking).collect()
}

impl Asking {
    /// Returns how many queries have a number instead of an answer: they are unsupported.
    fn unsupported(&self, document: &Value) -> usize {
        let answers = answers(document).into_iter().flatten();
        let asked = answers.take(self.queries.len());
        asked.filter(|it| **it == exit::UNSUPPORTED).count()
    }

    /// Returns the differences from the right answers.
    fn differences(&self, document: &Value) -> Vec<Difference> {
        let mut answers = answers(document).into_iter().flatten();
        let compared = self.queries.iter().map(|query| {
            let got = answers.next();
            let is_right = got.is_some_and(|got| *got == query.answer || *got == exit::UNSUPPORTED);
            let got = got.map_or_else(|| "nothing".to_owned(), |got| shortened(&got.to_string()));
            (!is_right).then(|| Difference {
                rule: query.rule.map(str::to_owned),
                ..Difference::in_data(&*query.text, shortened(&query.answer.to_string()), got)
            })
        });
        compared.flatten().collect()
    }
}

fn answers(document: &Value) -> Option<&Vec<Value>> {
    document.get("answers")?.as_array()
}

impl Task for Asking {
    fn about(&self) -> About<'_> {
        About {
            role: Role::Query,
            name: &self.name,
            wire: self.case.wire,
            needs: &[Feature::Session],
            rules: &self.rules,
            note: &self.case.note,
        }
    }

    fn prepare(&self, place: &Path) -> io::Result<Vec<(&'static str, PathBuf)>> {
        let (trace, queries) = (place.join("trace"), place.join("queries.txt"));
        fs::create_dir(&trace)?;
        self.case.write(&trace)?;
        let lines = self.queries.iter();
        let lines: String = lines.map(|query| format!("{}\n", query.text)).collect();
        fs::write(&queries, lines)?;
        let path = trace.join(&self.case.path);
        Ok(vec![("query", queries), ("path", path)])
    }

    fn output(&self) -> Option<u64> {
        Some(Answer::limit(&self.case.expected))
    }

    fn files(&self) -> Files {
        Files {
            is_clean: blame::is_clean(&self.case),
            subject: Some(self.case.subject),
            broken: self.case.broken.iter().map(|(_, rule)| *rule).collect(),
            ..Files::default()
        }
    }

    fn grade(&self, _manifest: &Manifest, ended: &Ended, _place: &Path) -> Graded {
        let document = match ended.answer() {
            Err(Broken { class, message }) => return Outcome::failed(class, message).into(),
            Ok(Answer::Unsupported) => return Outcome::unsupported().into(),
            Ok(Answer::Document(_, document)) => document,
        };
        let (unsupported, all) = (self.unsupported(&document), self.queries.len());
        if unsupported == all {
            return Outcome::unsupported().into();
        }
        let differences = self.differences(&document);
        let number = |count: usize| f64::from(u32::try_from(count).expect("few queries"));
        let note = format!("{unsupported} of {all} queries are unsupported and were not graded");
        let note = (unsupported > 0).then(|| Note::advice(note));
        Graded {
            outcome: Outcome::of_differences(Failure::WrongDecode, Difference::text, differences),
            share: number(all - unsupported) / number(all),
            notes: note.into_iter().collect(),
        }
    }
}

impl Smoke for Asking {
    fn is_smoke(&self) -> bool {
        blame::is_clean(&self.case)
    }

    fn check_form(&self, _manifest: &Manifest, ended: &Ended) -> Result<bool, Broken> {
        let Answer::Document(_, document) = ended.answer()? else {
            return Ok(false);
        };
        let answers = answers(&document);
        let (found, count) = (answers.map_or(0, Vec::len), self.queries.len());
        if answers.is_some() && found == count {
            return Ok(true);
        }
        let message = format!("expected `answers`, a list of {count}; found {found}");
        Err(Broken::garbage(message))
    }
}
