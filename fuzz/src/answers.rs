//! Grades arbitrary output as the conformance kit grades the output of programs under test.

use std::path::Path;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use arbitrary::{Arbitrary, Unstructured};
use atf_conformance::Verdict;
use atf_conformance::cause::Causes;
use atf_conformance::corpus::{self, Case};
use atf_conformance::protocol::Manifest;
use atf_conformance::results::{CaseResult, Outcome, Role};
use atf_conformance::run::warden::End;
use atf_conformance::run::{Ended, Reading, Smoke, Task};
use serde_json::Value;

/// The maximum size of the reported differences, in bytes per byte of the answer. [`OF_CASE`] is
/// added to it.
const SHARE: usize = 64;
const OF_CASE: usize = 1 << 20;

/// A change to the correct answer.
#[derive(Debug, Arbitrary)]
struct Change<'a> {
    /// The member to choose at each level of the document.
    path: [u8; 4],
    to: To<'a>,
}

#[derive(Debug, Arbitrary)]
enum To<'a> {
    Nothing,
    Null,
    Number(i64),
    Text(&'a str),
    Many(u8),
    Twice,
}

impl Change<'_> {
    fn apply(&self, document: &mut Value) {
        self.at(&self.path, document);
    }

    fn at(&self, path: &[u8], place: &mut Value) {
        if let [step, path @ ..] = path {
            let step = usize::from(*step);
            match place {
                Value::Object(members) if !members.is_empty() => {
                    let step = step % members.len();
                    let inner = members.values_mut().nth(step);
                    return self.at(path, inner.expect("one of them"));
                }
                Value::Array(items) if !items.is_empty() => {
                    let step = step % items.len();
                    return self.at(path, &mut items[step]);
                }
                _ => {}
            }
        }
        *place = match &self.to {
            To::Nothing => Value::Object(serde_json::Map::new()),
            To::Null => Value::Null,
            To::Number(number) => (*number).into(),
            To::Text(text) => (*text).into(),
            To::Many(count) => vec![Value::Null; usize::from(*count)].into(),
            To::Twice => vec![place.clone(), place.clone()].into(),
        };
    }
}

static CASES: LazyLock<Vec<Arc<Case>>> =
    LazyLock::new(|| corpus::cases().into_iter().map(Arc::new).collect());

/// Grades an answer to a test case of the corpus: arbitrary bytes, or the correct answer with
/// changes.
///
/// Checks that nothing panics, that the correct answer passes, that every failure has a cause, and
/// that the size of a failure is limited by the size of the answer.
pub fn answers(data: &[u8]) {
    let mut input = Unstructured::new(data);
    let Ok((place, is_read, code, is_raw)) = <(u16, bool, u8, bool)>::arbitrary(&mut input) else {
        return;
    };
    let case = &CASES[usize::from(place) % CASES.len()];
    let role = if is_read { Role::Read } else { Role::Validate };
    let reading = Reading::new(role, Arc::clone(case));
    if is_raw {
        grade(&reading, case, code.into(), input.take_rest().to_vec());
        return;
    }
    let mut document = case.expected.clone();
    let verdict = case.verdicts[0];
    document["verdict"] = verdict.name().into();
    let code = i32::from(verdict == Verdict::Reject);
    let right = grade(&reading, case, code, document.to_string().into_bytes());
    if role == Role::Read {
        assert!(matches!(right, Outcome::Passed), "{}: {right:?}", case.name);
    }
    let Ok(changes) = Vec::<Change<'_>>::arbitrary_take_rest(input) else {
        return;
    };
    for change in changes.iter().take(8) {
        change.apply(&mut document);
    }
    grade(&reading, case, code, document.to_string().into_bytes());
}

fn grade(reading: &Reading, case: &Case, code: i32, output: Vec<u8>) -> Outcome {
    let most = OF_CASE + SHARE * output.len();
    let manifest = Manifest::reference(Path::new("atf-conformance"));
    let ended = Ended {
        end: End::Exited(code),
        output,
        stderr: String::new(),
        elapsed: Duration::ZERO,
        opened: Ok(Vec::new()),
    };
    let form = reading.check_form(&manifest, &ended);
    let graded = reading.grade(&manifest, &ended, Path::new("/nowhere"));
    let size =
        format!("{:?}", graded.outcome).len() + form.map_or_else(|it| it.message.len(), |_| 0);
    assert!(size <= most, "{}: {size} bytes of failures", case.name);
    let result = CaseResult {
        files: reading.files(),
        ..CaseResult::new(0, reading.about().role, &case.name, graded.outcome)
    };
    let is_failure = matches!(result.outcome, Outcome::Failed { .. });
    let results = [result];
    let cause = Causes::new(&results).of(&results[0]);
    assert_eq!(cause.is_some(), is_failure);
    let [result] = results;
    result.outcome
}
