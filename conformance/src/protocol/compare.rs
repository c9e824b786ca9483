//! Two documents compared as values: where they differ first.

use serde_json::{Map, Number, Value};

/// A step into a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// A member of an object.
    Key(String),
    /// An element of an array.
    Element(usize),
}

/// Where two documents differ first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// The way there.
    pub steps: Vec<Step>,
    /// What was expected, as JSON; `None` where nothing was.
    pub expected: Option<String>,
    /// What came, as JSON; `None` where nothing did.
    pub got: Option<String>,
}

impl Mismatch {
    /// The way there in words: `events[3].detail_seq`.
    #[must_use]
    pub fn place(&self) -> String {
        let mut place = String::new();
        for step in &self.steps {
            match step {
                Step::Key(key) if place.is_empty() => place.push_str(key),
                Step::Key(key) => {
                    place.push('.');
                    place.push_str(key);
                }
                Step::Element(seq) => place.push_str(&format!("[{seq}]")),
            }
        }
        place
    }
}

/// Where `got` differs from `expected` first, in the order of `expected`.
///
/// Order of keys does not matter, numbers are equal if their values are, and keys that begin with
/// `x_` or that `ignored` names are left out; `x_regs` is a field of the format, and counts.
#[must_use]
pub fn first_difference(expected: &Value, got: &Value, ignored: &[&str]) -> Option<Mismatch> {
    let mut steps = Vec::new();
    let (expected, got) = difference(expected, got, ignored, &mut steps)?;
    Some(Mismatch {
        steps,
        expected: expected.map(shown),
        got: got.map(shown),
    })
}

/// Two values that differ; `None` for one that is not there.
type Different<'a> = (Option<&'a Value>, Option<&'a Value>);

fn difference<'a>(
    expected: &'a Value,
    got: &'a Value,
    ignored: &[&str],
    steps: &mut Vec<Step>,
) -> Option<Different<'a>> {
    match (expected, got) {
        (Value::Object(expected), Value::Object(got)) => objects(expected, got, ignored, steps),
        (Value::Array(expected), Value::Array(got)) => arrays(expected, got, ignored, steps),
        (Value::Number(one), Value::Number(other)) if is_equal(one, other) => None,
        _ if expected == got => None,
        _ => Some((Some(expected), Some(got))),
    }
}

fn objects<'a>(
    expected: &'a Map<String, Value>,
    got: &'a Map<String, Value>,
    ignored: &[&str],
    steps: &mut Vec<Step>,
) -> Option<Different<'a>> {
    let is_own = |key: &str| key.starts_with("x_") && key != "x_regs";
    let counts = |key: &str| !is_own(key) && !ignored.contains(&key);
    for (key, value) in expected.iter().filter(|(key, _)| counts(key)) {
        steps.push(Step::Key(key.clone()));
        let different = match got.get(key) {
            None => Some((Some(value), None)),
            Some(other) => difference(value, other, ignored, steps),
        };
        if different.is_some() {
            return different;
        }
        steps.pop();
    }
    let (key, value) = got
        .iter()
        .find(|(key, _)| counts(key) && !expected.contains_key(*key))?;
    steps.push(Step::Key(key.clone()));
    Some((None, Some(value)))
}

fn arrays<'a>(
    expected: &'a [Value],
    got: &'a [Value],
    ignored: &[&str],
    steps: &mut Vec<Step>,
) -> Option<Different<'a>> {
    for seq in 0..expected.len().max(got.len()) {
        steps.push(Step::Element(seq));
        let different = match (expected.get(seq), got.get(seq)) {
            (Some(one), Some(other)) => difference(one, other, ignored, steps),
            different => Some(different),
        };
        if different.is_some() {
            return different;
        }
        steps.pop();
    }
    None
}

/// As values: 1 and 1.0 are the same number.
fn is_equal(one: &Number, other: &Number) -> bool {
    one == other
        || (one.is_f64() || other.is_f64())
            && one.as_f64().is_some()
            && one.as_f64() == other.as_f64()
}

/// A value as JSON, not longer than a report can bear.
fn shown(value: &Value) -> String {
    const LONGEST: usize = 200;
    let text = value.to_string();
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}
