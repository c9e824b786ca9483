//! The capabilities that an implementation under test declares it lacks. The kit does not grade
//! them, and the report lists them.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Verdict;
use crate::corpus::{CHECKSUMS, Case};
use crate::named::named;

named! {
    /// A capability that readers or validators may lack.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
    pub enum Lack {
        /// Verifying checksums.
        Checksum = "checksum",
        /// Showing headers.
        Header = "header",
        /// Showing footers.
        Footer = "footer",
        /// Deriving values from the events.
        Derived = "derived",
        /// Distinguishing `accept` from `recover`.
        Verdict = "verdict",
    }
}

impl Lack {
    /// Describes what is not graded without this capability.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Checksum => "checksum verification",
            Self::Header => "headers",
            Self::Footer => "footers",
            Self::Derived => "derived values",
            Self::Verdict => "accept or recover",
        }
    }

    /// Returns whether an object of this name in a document may omit this key.
    pub(crate) fn leaves_out(self, object: &str, key: &str) -> bool {
        match self {
            // A footer's checksum is a field like any other.
            Self::Checksum => object == "derived" && key == self.name(),
            Self::Header | Self::Footer | Self::Derived => key == self.name(),
            Self::Verdict => false,
        }
    }

    /// Returns whether a case tests this capability. `is_read` is true for readers and false for
    /// validators, which return only a verdict.
    #[must_use]
    pub fn is_asked_by(self, case: &Case, is_read: bool) -> bool {
        match self {
            Self::Verdict => case.verdicts.iter().any(|it| *it != Verdict::Reject),
            Self::Checksum if breaks_checksum(case, |_| true) => true,
            _ => is_read && has(&case.expected, self),
        }
    }
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
pub(crate) fn leave_out(document: &mut Value, lacks: &[Lack]) {
    let Some(members) = document.as_object_mut() else {
        return;
    };
    for lack in lacks {
        match lack {
            Lack::Checksum => {
                let derived = members.get_mut("derived").and_then(Value::as_object_mut);
                derived.and_then(|derived| derived.shift_remove("checksum"));
            }
            Lack::Header | Lack::Footer | Lack::Derived => {
                members.shift_remove(lack.name());
            }
            Lack::Verdict => {}
        }
    }
    for name in ["index", "detail"] {
        if let Some(file) = members.get_mut(name) {
            leave_out(file, lacks);
        }
    }
    let threads = members.get_mut("threads").and_then(Value::as_array_mut);
    for thread in threads.into_iter().flatten() {
        leave_out(thread, lacks);
    }
}

fn has(document: &Value, lack: Lack) -> bool {
    let mut without = document.clone();
    leave_out(&mut without, &[lack]);
    without != *document
}
