//! Invented results: several implementations, each class of failure, a refused implementation, and
//! hostile strings.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use atf_conformance::results::{
    CaseResult, CrossResult, Difference, Failure, Grade, Grading, Hexdump, Note, Outcome, Results,
    Role, Testee,
};
use atf_conformance::rules::Severity;
use atf_report::Editions;

/// The classes of failure, in the order of the enum.
pub(crate) const CLASSES: [Failure; 9] = [
    Failure::Crash,
    Failure::Timeout,
    Failure::Memory,
    Failure::Garbage,
    Failure::WrongAccept,
    Failure::WrongDecode,
    Failure::WrongLabel,
    Failure::Rule,
    Failure::WrongFile,
];

/// Strings that a report must not interpret.
pub(crate) const HOSTILE: [&str; 8] = [
    "<script>alert(1)</script>",
    "</title><img src=x onerror=alert(1)>\"'&amp;",
    "\u{1b}[31mred\u{1b}[0m\u{7}\u{9b}2J",
    "\u{202e}desrever\u{2066}",
    "עברית # TODO not ours \\",
    "a\nok 1 - forged\r\n  ...\nnot ok",
    "]]>\0\u{ffff}\u{fffe}",
    "{{ 7 * 7 }}{% raw %}",
];

/// Makes an implementation with these roles.
pub(crate) fn testee(name: &str, roles: &[Role]) -> Testee {
    Testee {
        name: name.to_owned(),
        version: "1.4".to_owned(),
        url: Some("https://example.org/ada".to_owned()),
        roles: roles.to_vec(),
        wire: vec![1],
        features: vec!["index".to_owned()],
        lacks: Vec::new(),
        refused: None,
    }
}

/// Makes a result of the first implementation as a reader.
pub(crate) fn case(name: &str, rules: &[&str], outcome: Outcome) -> CaseResult {
    CaseResult {
        rules: rules.iter().map(|rule| (*rule).to_owned()).collect(),
        note:
            "One bit of the checksum is off; a reader that never verifies returns damaged events."
                .to_owned(),
        share: match outcome {
            Outcome::Skipped { .. } => 0.0,
            _ => 1.0,
        },
        elapsed: Duration::from_millis(12),
        ..CaseResult::new(0, Role::Read, name, outcome)
    }
}

pub(crate) fn note(severity: Severity, rule: &str, text: &str) -> Note {
    Note {
        severity,
        rule: Some(rule.to_owned()),
        text: text.to_owned(),
    }
}

pub(crate) fn failed(class: Failure) -> Outcome {
    Outcome::failed(class, "accept, expected reject")
}

/// Makes a failure that breaks a rule.
pub(crate) fn charged(class: Failure, rule: &str) -> Outcome {
    Outcome::Failed {
        class,
        message: "accept, expected reject".to_owned(),
        differences: vec![Difference {
            rule: Some(rule.to_owned()),
            ..Difference::in_data("answer", "a document", "another")
        }],
    }
}

/// Makes the difference for a wrong checksum at offset 100, in a footer at 96.
pub(crate) fn difference() -> Difference {
    let mut bytes = vec![0_u8; 80];
    bytes[16..24].copy_from_slice(&[0x32, 0x49, 0x54, 0x41, 0xde, 0xad, 0xbe, 0xef]);
    Difference {
        rule: Some("ATF-IFTR-004".to_owned()),
        hexdump: Some(Hexdump {
            file: "thread_7/index.atf".to_owned(),
            offset: 80,
            bytes,
            field_offset: 100,
            field_size: 4,
        }),
        ..Difference::in_data("verdict", "\"reject\"", "\"accept\"")
    }
}

/// Makes the difference for a wrong label.
fn label() -> Difference {
    Difference {
        grade: Grade::Label,
        ..Difference::in_data("derived.count_source", "\"footer\"", "\"file_size\"")
    }
}

/// Makes results without implementations or cases.
pub(crate) fn empty() -> Results {
    Results {
        editions: Editions {
            kit: "0.1.0".to_owned(),
            spec: "2.0".to_owned(),
            rules: "1".to_owned(),
            corpus: "1".to_owned(),
        },
        testees: Vec::new(),
        grading: Grading::All,
        made: None,
        cases: Vec::new(),
        cross: Vec::new(),
        stale: Vec::new(),
        elapsed: Duration::from_millis(1500),
    }
}

/// Makes results of three implementations, one of them refused. Each class of failure occurs once,
/// and one failure is known. One case is skipped and two pass. A writer and a reader disagree.
pub(crate) fn demo() -> Results {
    let mut results = empty();
    let mut broken = testee("no-such-program", &[Role::Validate]);
    broken.refused = Some("./v: No such file or directory (os error 2)".to_owned());
    results.testees = vec![
        testee("ada-c", &[Role::Write, Role::Read]),
        testee("ada-py", &[Role::Read]),
        broken,
    ];
    for (seq, class) in CLASSES.into_iter().enumerate() {
        let rule = format!("ATF-IFTR-{:03}", seq + 1);
        let mut outcome = charged(class, &rule);
        if let Outcome::Failed {
            message,
            differences,
            ..
        } = &mut outcome
        {
            match class {
                Failure::Crash => "killed by signal 11 (SIGSEGV)".clone_into(message),
                Failure::WrongAccept => *differences = vec![difference(), label()],
                Failure::WrongLabel => {
                    let rule = differences[0].rule.take();
                    *differences = vec![Difference { rule, ..label() }];
                }
                _ => {}
            }
        }
        let mut case = case(&format!("v1/iftr-{seq:03}-off"), &[&rule], outcome);
        match class {
            Failure::Timeout => case.listed = Some("hangs on a count of 0, #12".to_owned()),
            Failure::WrongAccept => case.stderr = "warning: footer\nwarning: count\n".to_owned(),
            Failure::Rule | Failure::WrongFile => case.role = Role::Write,
            _ => {}
        }
        results.cases.push(case);
    }
    let skipped = Outcome::Skipped {
        why: "wire version 2".to_owned(),
    };
    results
        .cases
        .push(case("v2/ihdr-001-good", &["ATF-IHDR-001"], skipped));
    let mut passed = case(
        "v1/ihdr-001-good",
        &["ATF-IHDR-001", "ATF-IEVT-001"],
        Outcome::Passed,
    );
    results.cases.push(passed.clone());
    passed.testee = 1;
    results.cases.push(passed);
    let own = CrossResult {
        passed: 2,
        skipped: 1,
        ..CrossResult::default()
    };
    let (script, why) = ("two-threads", "events[3]: depth 1, asked for 2");
    let other = CrossResult {
        reader: 1,
        passed: 1,
        failed: vec![(script.to_owned(), why.to_owned())],
        classes: BTreeMap::from([(script.to_owned(), BTreeSet::from([Failure::WrongDecode]))]),
        ..own.clone()
    };
    results.cross = vec![own, other];
    results.stale = vec!["ada-c/failures.txt:3: crash v1/nothing-*: matches no case".to_owned()];
    results
}

/// Returns the demo results with all strings replaced by hostile ones.
pub(crate) fn hostile() -> Results {
    let mut results = demo();
    let all = HOSTILE.join(" ");
    results.editions = Editions {
        kit: all.clone(),
        spec: all.clone(),
        rules: all.clone(),
        corpus: all.clone(),
    };
    for testee in &mut results.testees {
        testee.name.push_str(&all);
        testee.version.clone_from(&all);
        testee.url = Some(format!("javascript:alert(1)//{all}"));
        testee.features = vec![all.clone()];
        testee.refused = testee.refused.take().map(|_| all.clone());
    }
    for case in &mut results.cases {
        case.case.push_str(&all);
        case.rules.push(all.clone());
        case.note.clone_from(&all);
        case.stderr.clone_from(&all);
        case.notes = vec![note(Severity::Should, &all, &all)];
        case.listed = case.listed.take().map(|_| all.clone());
        match &mut case.outcome {
            Outcome::Passed => {}
            Outcome::Skipped { why } => why.clone_from(&all),
            Outcome::Failed {
                message,
                differences,
                ..
            } => {
                message.clone_from(&all);
                for difference in differences {
                    difference.place.clone_from(&all);
                    difference.expected.clone_from(&all);
                    difference.got.clone_from(&all);
                    difference.rule = Some(all.clone());
                    if let Some(dump) = &mut difference.hexdump {
                        dump.file.clone_from(&all);
                        dump.bytes = all.as_bytes().to_vec();
                    }
                }
            }
        }
    }
    for pair in &mut results.cross {
        for (script, why) in &mut pair.failed {
            script.push_str(&all);
            why.clone_from(&all);
        }
    }
    results.stale = vec![all];
    results
}
