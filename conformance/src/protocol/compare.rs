//! Compares two documents by value, and decides whether they differ in data or only in labels.

use serde_json::{Map, Value};

use crate::results::{Grade, shortened};

/// One step of a path into a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// A member of an object.
    Key(String),
    /// An element of an array.
    Element(usize),
    /// A number of additional elements, reported together.
    More(usize),
}

impl Step {
    /// Returns the member's name.
    #[must_use]
    pub fn key(&self) -> Option<&str> {
        match self {
            Self::Key(key) => Some(key),
            Self::Element(_) | Self::More(_) => None,
        }
    }
}

/// A place where two documents differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// The path to this place.
    pub steps: Vec<Step>,
    /// Whether data or a label differs.
    pub grade: Grade,
    /// The expected value as JSON; `None` if none was expected.
    pub expected: Option<String>,
    /// The actual value as JSON; `None` if it is missing.
    pub got: Option<String>,
}

impl Mismatch {
    /// Formats the path, such as `events[3].detail_seq`.
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
                Step::More(count) => place.push_str(&format!("[{count} more]")),
            }
        }
        place
    }
}

/// The maximum number of differing elements of a list, or unexpected keys of an object, to report
/// individually. The rest are reported as one difference.
const MOST: usize = 20;

/// Returns the places where `got` differs from `expected`, in the order of `expected`.
///
/// The order of keys does not matter. An integer differs from the same number with a fraction or an
/// exponent, such as 1.0, as in a manifest. Skips keys in `ignored` and keys that begin with `x_`,
/// except `x_regs`, which is a field of the format. `got` may have header, footer and derived values
/// that `expected` omits.
#[must_use]
pub fn differences(expected: &Value, got: &Value, ignored: &[&str]) -> Vec<Mismatch> {
    let mut comparison = Comparison {
        ignored,
        header: expected.get("header"),
        steps: Vec::new(),
        found: Vec::new(),
    };
    comparison.values(expected, got);
    comparison.found
}

struct Comparison<'a> {
    ignored: &'a [&'a str],
    /// The expected header of the current file.
    header: Option<&'a Value>,
    /// The path to the current place.
    steps: Vec<Step>,
    found: Vec<Mismatch>,
}

impl<'a> Comparison<'a> {
    fn values(&mut self, expected: &'a Value, got: &Value) {
        match (expected, got) {
            (Value::Object(_), Value::Object(_)) if is_rejected(expected) != is_rejected(got) => {
                self.refusals(expected, got);
            }
            (Value::Object(expected), Value::Object(got)) => self.objects(expected, got),
            (Value::Array(expected), Value::Array(got)) if self.are_threads() => {
                self.threads(expected, got);
            }
            (Value::Array(expected), Value::Array(got)) => self.arrays(expected, got),
            _ if expected == got => {}
            _ => self.differ(Some(expected), Some(got)),
        }
    }

    /// Reports a single difference for each file of a session that only one side rejects.
    fn refusals(&mut self, expected: &Value, got: &Value) {
        let grade = if holds_events(Some(expected)) || holds_events(Some(got)) {
            Grade::Data
        } else {
            Grade::Label
        };
        let verdict = |document: &Value| document.get("verdict").map(shown);
        self.at(Step::Key("verdict".to_owned()), |this| {
            this.push(grade, verdict(expected), verdict(got));
        });
    }

    fn objects(&mut self, expected: &'a Map<String, Value>, got: &Map<String, Value>) {
        let is_own = |key: &str| key.starts_with("x_") && key != "x_regs";
        let ignored = self.ignored;
        let counts = |key: &str| !is_own(key) && !ignored.contains(&key);
        let above = self.header;
        self.header = expected.get("header").or(above);
        for (key, value) in expected.iter().filter(|(key, _)| counts(key)) {
            self.at(Step::Key(key.clone()), |this| match got.get(key) {
                None => this.differ(Some(value), None),
                Some(other) => this.values(value, other),
            });
        }
        let is_derived = self.steps.last().and_then(Step::key) == Some("derived");
        let is_asked = |key: &str| !is_derived && !["header", "footer", "derived"].contains(&key);
        let is_more = |key: &str| counts(key) && !expected.contains_key(key) && is_asked(key);
        let more = got.iter().filter(|(key, _)| is_more(key));
        let keys = [expected.len(), got.len()].map(|count| format!("{count} keys"));
        self.each(more, keys, |this, (key, value)| {
            this.at(Step::Key(shortened(key)), |this| {
                this.differ(None, Some(value));
            });
        });
        self.header = above;
    }

    fn arrays(&mut self, expected: &'a [Value], got: &[Value]) {
        let sizes = elements(expected, got);
        self.each(0..expected.len().max(got.len()), sizes, |this, seq| {
            this.at(Step::Element(seq), |this| {
                match (expected.get(seq), got.get(seq)) {
                    (Some(one), Some(other)) => this.values(one, other),
                    (one, other) => this.differ(one, other),
                }
            });
        });
    }

    /// Compares the parts of the current place. Reports the differences in the first [`MOST`]
    /// differing parts, and then the number of the others as one difference between `sizes`, the
    /// expected and the actual size.
    fn each<T>(
        &mut self,
        parts: impl Iterator<Item = T>,
        sizes: [String; 2],
        mut compare: impl FnMut(&mut Self, T),
    ) {
        let mut differing = 0_usize;
        let mut omitted = None;
        for part in parts {
            let before = self.found.len();
            compare(self, part);
            if self.found.len() > before {
                differing = differing.saturating_add(1);
                if differing > MOST {
                    let grades = self.found.drain(before..).map(|mismatch| mismatch.grade);
                    omitted = grades.chain(omitted).min();
                }
            }
        }
        if let Some(grade) = omitted {
            let [expected, got] = sizes.map(|size| Some(shown(&size.into())));
            self.at(Step::More(differing - MOST), |this| {
                this.push(grade, expected, got);
            });
        }
    }

    /// Returns whether the current place is a session's list of threads.
    fn are_threads(&self) -> bool {
        matches!(self.steps.as_slice(), [Step::Key(key)] if key == "threads")
    }

    /// Compares threads by id, so that a missing thread does not make the others differ.
    fn threads(&mut self, expected: &'a [Value], got: &[Value]) {
        let mut rest: Vec<(usize, &Value)> = got.iter().enumerate().collect();
        let mut order = Vec::new();
        for (seq, thread) in expected.iter().enumerate() {
            let same = rest
                .iter()
                .position(|(_, other)| is_same_thread(other, thread));
            let other = same.map(|place| rest.remove(place));
            order.extend(other.map(|(place, _)| place));
            self.at(Step::Element(seq), |this| match other {
                Some((_, other)) => this.values(thread, other),
                None => this.differ(Some(thread), None),
            });
        }
        let is_complete = order.len() == expected.len() && rest.is_empty();
        let sizes = elements(expected, got);
        self.each(rest.into_iter(), sizes, |this, (seq, thread)| {
            this.at(Step::Element(seq), |this| this.differ(None, Some(thread)));
        });
        if is_complete && !order.is_sorted() {
            let ids = |threads: &[Value]| -> Value {
                let ids = threads.iter().map(|it| it.get("thread_id").cloned());
                ids.collect()
            };
            self.differ(Some(&ids(expected)), Some(&ids(got)));
        }
    }

    fn at(&mut self, step: Step, compare: impl FnOnce(&mut Self)) {
        self.steps.push(step);
        compare(self);
        self.steps.pop();
    }

    fn differ(&mut self, expected: Option<&Value>, got: Option<&Value>) {
        let grade = grade(&self.steps, expected, got, self.header);
        self.push(grade, expected.map(shown), got.map(shown));
    }

    fn push(&mut self, grade: Grade, expected: Option<String>, got: Option<String>) {
        let steps = self.steps.clone();
        self.found.push(Mismatch {
            steps,
            grade,
            expected,
            got,
        });
    }
}

/// Returns whether the difference is in data or in a label.
///
/// `header` is the expected header of the file with the difference.
fn grade(
    steps: &[Step],
    expected: Option<&Value>,
    got: Option<&Value>,
    header: Option<&Value>,
) -> Grade {
    let keys: Vec<&str> = steps.iter().filter_map(Step::key).collect();
    let is_empty = |value: Option<&Value>| value.is_none_or(Value::is_null);
    let is_label = match keys.as_slice() {
        [.., "verdict"] => !holds_events(expected) && !holds_events(got),
        [
            ..,
            "derived",
            "count_source" | "checksum" | "trailing_bytes" | "manifest",
        ] => true,
        // In a session without events, these times are undefined.
        [.., "derived", "time_start_ns" | "time_end_ns"] => is_empty(expected),
        // The presence of a footer is a label, but its content is data.
        [.., "footer"] => is_empty(expected) || is_empty(got),
        // These values have no meaning in an unfinalized file.
        [
            ..,
            "header",
            "flags" | "event_count" | "bytes_length" | "footer_offset" | "index_seq_start"
            | "index_seq_end" | "time_start_ns" | "time_end_ns",
        ] => header.is_some_and(is_placeholder),
        // If neither document has events, a missing thread or file is only a difference in labels.
        ["threads"] | ["threads", "index" | "detail"] => {
            !holds_events(expected) && !holds_events(got)
        }
        _ => false,
    };
    if is_label { Grade::Label } else { Grade::Data }
}

/// Returns whether a document, or a part of one, contains any events.
#[must_use]
pub fn holds_events(document: Option<&Value>) -> bool {
    let Some(document) = document else {
        return false;
    };
    let has_events = |file: &Value| file["events"].as_array().is_some_and(|it| !it.is_empty());
    let thread = |thread: &Value| has_events(&thread["index"]) || has_events(&thread["detail"]);
    let threads = document["threads"].as_array();
    has_events(document) || thread(document) || threads.into_iter().flatten().any(thread)
}

/// Returns whether a header has neither counts nor times and therefore belongs to an unfinalized
/// file.
fn is_placeholder(header: &Value) -> bool {
    let is_zero = |name: &str| {
        let value = header.get(name);
        value.is_none_or(|value| *value == 0 || *value == "0")
    };
    ["event_count", "bytes_length"].into_iter().all(is_zero)
        && ["time_start_ns", "time_end_ns"].into_iter().all(is_zero)
}

/// Returns whether two threads of sessions' documents have the same id.
pub(crate) fn is_same_thread(one: &Value, other: &Value) -> bool {
    one.get("thread_id") == other.get("thread_id")
}

/// Returns whether a document rejects its file or session.
pub(crate) fn is_rejected(document: &Value) -> bool {
    document.get("verdict").is_some_and(|it| it == "reject")
}

/// Formats the sizes of two lists.
fn elements(expected: &[Value], got: &[Value]) -> [String; 2] {
    [expected, got].map(|list| format!("{} elements", list.len()))
}

/// Formats a value as JSON, shortened for reports.
fn shown(value: &Value) -> String {
    shortened(&value.to_string())
}
