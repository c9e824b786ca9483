//! The capabilities that an implementation under test declares it lacks. The kit does not grade
//! them, and the report lists them.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::Verdict;
use crate::corpus::{CHECKSUMS, Case};
use atf_samples::layout::{FieldKind, Record};

/// A capability that readers or validators may lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lack {
    /// Verifying checksums.
    Checksum,
    /// Showing headers.
    Header,
    /// Showing footers.
    Footer,
    /// Deriving values from the events.
    Derived,
    /// Distinguishing `accept` from `recover`.
    Verdict,
    /// Reading the names of functions and threads in the manifest.
    Names,
    /// Showing a field: the name of an object of a document and of its member, such as
    /// `events.call_depth`.
    Field(&'static str),
}

/// The rules about names in the manifest.
const NAMES: [&str; 2] = ["ATF-MANI-010", "ATF-MANI-013"];

/// The derived values that a document may have.
const DERIVED: [&str; 11] = [
    "checksum",
    "count_source",
    "dangling_links",
    "detail_count",
    "event_count",
    "manifest",
    "merged",
    "orphan_details",
    "time_end_ns",
    "time_start_ns",
    "trailing_bytes",
];

/// The names of all fields of a document, such as `header.arch`.
static FIELDS: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    let records = [
        ("header", Record::IndexHeader),
        ("header", Record::DetailHeader),
        ("events", Record::IndexEvent),
        ("events", Record::DetailEventHeader),
        ("function", Record::DetailFunctionPayload),
        ("footer", Record::IndexFooter),
        ("footer", Record::DetailFooter),
    ];
    let mut names = BTreeSet::from(DERIVED.map(|name| format!("derived.{name}")));
    names.insert("events.payload".to_owned());
    for (object, record) in records {
        let fields = atf::Wire::VERSIONS.iter();
        for field in fields.flat_map(|wire| record.fields(*wire)) {
            if !matches!(field.is, FieldKind::Magic | FieldKind::Reserved) {
                names.insert(format!("{object}.{}", field.name));
            }
        }
    }
    names
});

impl Lack {
    /// All capabilities except single fields.
    const WHOLE: [Self; 6] = [
        Self::Checksum,
        Self::Header,
        Self::Footer,
        Self::Derived,
        Self::Verdict,
        Self::Names,
    ];

    /// Returns the capability with this name in `TESTEE.toml`.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        let whole = Self::WHOLE.into_iter().find(|lack| lack.name() == name);
        whole.or_else(|| FIELDS.get(name).map(|field| Self::Field(field)))
    }

    /// Returns the name in `TESTEE.toml`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Checksum => "checksum",
            Self::Header => "header",
            Self::Footer => "footer",
            Self::Derived => "derived",
            Self::Verdict => "verdict",
            Self::Names => "names",
            Self::Field(field) => field,
        }
    }

    /// Describes what is not graded without this capability.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Checksum => "checksum verification",
            Self::Header => "headers",
            Self::Footer => "footers",
            Self::Derived => "derived values",
            Self::Verdict => "accept or recover",
            Self::Names => "names",
            Self::Field(field) => field,
        }
    }

    /// Returns whether an object of this name in a document may omit this key.
    pub(crate) fn omits(self, object: &str, key: &str) -> bool {
        match self {
            // A footer's checksum is a field like any other.
            Self::Checksum => object == "derived" && key == self.name(),
            Self::Header | Self::Footer | Self::Derived => key == self.name(),
            Self::Verdict | Self::Names => false,
            Self::Field(field) => field.split_once('.') == Some((object, key)),
        }
    }

    /// Returns whether a case tests this capability. `is_read` is true for readers and false for
    /// validators, which return only a verdict.
    #[must_use]
    pub fn is_asked_by(self, case: &Case, is_read: bool) -> bool {
        match self {
            Self::Verdict => case.verdicts.iter().any(|it| *it != Verdict::Reject),
            Self::Checksum if breaks_checksum(case, |_| true) => true,
            Self::Names => case.rules.iter().any(|rule| NAMES.contains(rule)),
            _ => is_read && has(&case.expected, self),
        }
    }
}

impl Serialize for Lack {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Lack {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::find(&name).ok_or_else(|| {
            let whole = Self::WHOLE.map(Self::name).join(", ");
            D::Error::custom(format!(
                "unknown `{name}` in lacks, expected {whole} or a field such as events.call_depth"
            ))
        })
    }
}

/// Returns what an implementation lacks in a case. If it does not read names, a case about them
/// does not test whether the manifest is used or the session is intact.
pub(crate) fn of_case(lacks: &[Lack], case: &Case) -> Vec<Lack> {
    let mut lacks = lacks.to_vec();
    if lacks.contains(&Lack::Names) && Lack::Names.is_asked_by(case, true) {
        lacks.extend([Lack::Verdict, Lack::Field("derived.manifest")]);
    }
    lacks
}

/// Returns whether one of the selected files has a checksum mismatch.
pub(crate) fn breaks_checksum(case: &Case, is_own: impl Fn(&str) -> bool) -> bool {
    let mut broken = case.broken.iter();
    broken.any(|(file, rule)| is_own(file) && CHECKSUMS.contains(rule))
}

/// Returns whether a verdict is correct for an implementation that lacks these capabilities.
/// `verdicts` are the correct verdicts for an implementation that lacks none.
pub(crate) fn allows(
    lacks: &[Lack],
    verdicts: &[Verdict],
    verdict: Verdict,
    breaks_checksum: bool,
) -> bool {
    let reads = |verdict: &Verdict| *verdict != Verdict::Reject;
    let is_unverified = lacks.contains(&Lack::Checksum) && breaks_checksum;
    verdicts.contains(&verdict)
        || (is_unverified && verdict == Verdict::Accept)
        || (lacks.contains(&Lack::Verdict) && reads(&verdict) && verdicts.iter().any(reads))
}

/// Removes the parts of an expected document that the implementation cannot show.
pub(crate) fn omit(document: &mut Value, lacks: &[Lack]) {
    if !lacks.is_empty() {
        omit_in("", document, lacks);
    }
}

/// The values that follow from others in the document. Many readers do not compute them, so they
/// are compared only if the answer contains them.
pub(crate) const UNASKED: [&str; 3] = ["trailing_bytes", "dangling_links", "orphan_details"];

/// Removes from an expected document the numbers that follow from other values and are missing from
/// the answer.
pub fn omit_unasked(expected: &mut Value, got: &Value) {
    match (expected, got) {
        (Value::Object(expected), Value::Object(got)) => {
            expected.retain(|key, _| got.contains_key(key) || !UNASKED.contains(&key.as_str()));
            for (key, value) in expected.iter_mut() {
                omit_unasked(value, got.get(key).unwrap_or(&Value::Null));
            }
            let is_empty = |value: &Value| value.as_object().is_some_and(Map::is_empty);
            expected.retain(|key, value| got.contains_key(key) || !is_empty(value));
        }
        (Value::Array(expected), Value::Array(got)) => {
            for (seq, value) in expected.iter_mut().enumerate() {
                omit_unasked(value, got.get(seq).unwrap_or(&Value::Null));
            }
        }
        _ => {}
    }
}

/// Removes these parts of a value; `object` is the name of the object, or of the objects in the
/// list.
fn omit_in(object: &str, value: &mut Value, lacks: &[Lack]) {
    match value {
        Value::Object(members) => {
            members.retain(|key, _| !lacks.iter().any(|lack| lack.omits(object, key)));
            for (key, value) in members {
                omit_in(key, value, lacks);
            }
        }
        Value::Array(values) => {
            for value in values {
                omit_in(object, value, lacks);
            }
        }
        _ => {}
    }
}

fn has(document: &Value, lack: Lack) -> bool {
    let mut without = document.clone();
    omit(&mut without, &[lack]);
    without != *document
}
