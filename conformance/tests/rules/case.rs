//! A case: a session without a fault, an edit, and what must be found then.

use std::fmt::Write as _;

use atf_conformance::{Place, Verdict};

use crate::support::{Outcome, Trace};

/// One edit of the clean session, in each of some wire versions.
pub(crate) struct Case {
    pub(crate) rule: &'static str,
    pub(crate) wires: &'static [u8],
    name: &'static str,
    edit: fn(&mut Trace),
    /// What the rule's finding is like; a case without one meets the rule.
    pub(crate) expected: Option<Expected>,
    /// Other rules that the edit cannot help to break, by file.
    also: Vec<(&'static str, &'static str)>,
}

/// The rule's finding.
pub(crate) struct Expected {
    file: &'static str,
    field: &'static str,
    offset: Offset,
    count: u64,
    verdict: Verdict,
}

/// Where a finding points, bytes from the start of the file.
enum Offset {
    None,
    /// In wire versions 1 and 2.
    Bytes([u64; 2]),
    /// The one place where the file has this text.
    Text(&'static str),
}

/// The edit takes the rule to its limit.
pub(crate) fn meets(rule: &'static str, name: &'static str, edit: fn(&mut Trace)) -> Case {
    Case {
        rule,
        wires: &[1, 2],
        name,
        edit,
        expected: None,
        also: Vec::new(),
    }
}

/// The edit breaks the rule.
pub(crate) fn breaks(rule: &'static str, name: &'static str, edit: fn(&mut Trace)) -> Breaking {
    Breaking(meets(rule, name, edit))
}

/// A case that does not say yet what must be found.
pub(crate) struct Breaking(Case);

impl Breaking {
    pub(crate) fn at(
        self,
        file: &'static str,
        field: &'static str,
        offset: u64,
        verdict: Verdict,
    ) -> Case {
        self.at_each(file, field, [offset, offset], verdict)
    }

    /// Where the offset is another in wire version 2.
    pub(crate) fn at_each(
        self,
        file: &'static str,
        field: &'static str,
        offsets: [u64; 2],
        verdict: Verdict,
    ) -> Case {
        self.expect(file, field, Offset::Bytes(offsets), verdict)
    }

    /// Where the file is a text.
    pub(crate) fn at_text(
        self,
        file: &'static str,
        field: &'static str,
        text: &'static str,
        verdict: Verdict,
    ) -> Case {
        self.expect(file, field, Offset::Text(text), verdict)
    }

    /// Where there is no offset.
    pub(crate) fn in_file(self, file: &'static str, field: &'static str, verdict: Verdict) -> Case {
        self.expect(file, field, Offset::None, verdict)
    }

    fn expect(
        self,
        file: &'static str,
        field: &'static str,
        offset: Offset,
        verdict: Verdict,
    ) -> Case {
        let expected = Expected {
            file,
            field,
            offset,
            count: 1,
            verdict,
        };
        Case {
            expected: Some(expected),
            ..self.0
        }
    }
}

impl Case {
    /// Breaks another rule too.
    pub(crate) fn also(mut self, file: &'static str, rule: &'static str) -> Self {
        self.also.push((file, rule));
        self
    }

    /// Holds in one wire version only.
    pub(crate) fn only(mut self, wires: &'static [u8]) -> Self {
        self.wires = wires;
        self
    }

    /// Breaks the rule so many times.
    pub(crate) fn times(mut self, count: u64) -> Self {
        self.expected.as_mut().unwrap().count = count;
        self
    }

    /// What is not as it must be, in one wire version.
    fn faults(&self, version: u8) -> Vec<String> {
        let mut trace = Trace::clean(version);
        (self.edit)(&mut trace);
        let outcome = Outcome::of_trace(&trace);
        let mut faults = Vec::new();
        for (path, why) in &outcome.unreadable {
            faults.push(format!("unreadable: {}: {why}", path.display()));
        }
        let own = self
            .expected
            .as_ref()
            .map(|expected| (expected.file, self.rule));
        let broken = own.iter().chain(&self.also);
        let mut broken: Vec<_> = broken
            .map(|(file, rule)| format!("{file} {rule}"))
            .collect();
        broken.sort();
        if outcome.broken() != broken {
            let found = outcome.broken().join("\n      ");
            let expected = broken.join("\n      ");
            faults.push(format!(
                "found\n      {found}\n    expected\n      {expected}"
            ));
        }
        if let Some(expected) = &self.expected {
            faults.extend(expected.faults(self.rule, &trace, &outcome));
        }
        faults
    }
}

impl Expected {
    fn faults(&self, rule: &str, trace: &Trace, outcome: &Outcome) -> Vec<String> {
        let Some(finding) = outcome.finding(self.file, rule) else {
            return Vec::new();
        };
        let place = Place {
            field: self.field.to_owned(),
            offset: self.offset.of(self.file, trace),
        };
        let mut faults = Vec::new();
        if finding.place != place {
            faults.push(format!("at {:?}, expected {place:?}", finding.place));
        }
        if finding.count != self.count {
            faults.push(format!("{} times, expected {}", finding.count, self.count));
        }
        let verdict = outcome.verdict(self.file);
        if verdict != self.verdict {
            faults.push(format!("{verdict:?}, expected {:?}", self.verdict));
        }
        faults
    }
}

impl Offset {
    fn of(&self, file: &str, trace: &Trace) -> Option<u64> {
        match self {
            Self::None => None,
            Self::Bytes(offsets) => Some(offsets[usize::from(trace.version) - 1]),
            Self::Text(text) => {
                let all = str::from_utf8(trace.file(file)).unwrap();
                assert_eq!(all.matches(text).count(), 1, "{text} in {file}");
                all.find(text).map(|offset| offset as u64)
            }
        }
    }
}

/// Runs cases and says all that is wrong with them.
pub(crate) fn run(cases: &[Case]) {
    let mut faults = String::new();
    for case in cases {
        for version in case.wires {
            for fault in case.faults(*version) {
                let (rule, name) = (case.rule, case.name);
                let _ = write!(
                    faults,
                    "\n  {rule}, wire version {version}, {name}:\n    {fault}"
                );
            }
        }
    }
    assert!(faults.is_empty(), "{faults}");
}
