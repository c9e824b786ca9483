//! What a testee says that it does not do: that is not compared, and the report says so.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Verdict;
use crate::corpus::{CHECKSUMS, Case};

/// What a reader or validator may do without.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Lack {
    /// It verifies no checksum.
    Checksum,
    /// It shows no header.
    Header,
    /// It shows no footer.
    Footer,
    /// It derives nothing from the events.
    Derived,
    /// It does not tell what survived from what is whole: `accept` and `recover` are one.
    Verdict,
}

impl Lack {
    /// Its word in the manifest.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Checksum => "checksum",
            Self::Header => "header",
            Self::Footer => "footer",
            Self::Derived => "derived",
            Self::Verdict => "verdict",
        }
    }

    /// What is not graded then.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Checksum => "verification of checksums",
            Self::Header => "headers",
            Self::Footer => "footers",
            Self::Derived => "derived values",
            Self::Verdict => "accept or recover",
        }
    }

    /// Whether a document may leave this key out.
    pub(super) fn leaves_out(self, key: &str) -> bool {
        self != Self::Verdict && self.name() == key
    }

    /// Whether a case asks for it; `is_read` for a reader's document, where not a verdict alone.
    #[must_use]
    pub fn is_asked_by(self, case: &Case, is_read: bool) -> bool {
        match self {
            Self::Verdict => case.verdicts.iter().any(|it| *it != Verdict::Reject),
            Self::Checksum if breaks_checksum(case, |_| true) => true,
            _ => is_read && has(&case.expected, self),
        }
    }
}

/// Whether a checksum of the files that are asked for does not hold.
pub(crate) fn breaks_checksum(case: &Case, is_own: impl Fn(&str) -> bool) -> bool {
    let mut broken = case.broken.iter();
    broken.any(|(file, rule)| is_own(file) && CHECKSUMS.contains(rule))
}

/// Whether a verdict is right for a testee that lacks these, where `verdicts` are right for others.
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

/// Takes out of an expected document what a testee does not show.
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
