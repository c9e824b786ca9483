//! Checks that rules give a reason for each verdict that they exclude, and that the reason is about
//! the rule.

use crate::diagnostic::Diagnostic;
use crate::load::Spec;
use crate::model::{Exclusion, ReaderDoes, RuleSpec, Verdict, When};

/// Checks a rule's exclusions.
///
/// `reject` needs no reason here: a reader that refuses a file loses its events, as each test case
/// states. `recover` needs none either if readers ignore a violation: such a file is as good as one
/// that follows all rules.
pub(super) fn exclusions(spec: &Spec, rule: &RuleSpec, faults: &mut Vec<Diagnostic>) {
    let broken = |exclusion: &&Exclusion| exclusion.when == When::Broken;
    for verdict in [Verdict::Accept, Verdict::Recover] {
        let mut given = rule.excludes.iter().filter(broken);
        let is_given = given.any(|exclusion| exclusion.verdict.value == verdict);
        if needs_reason(rule, verdict) && !is_given {
            let (id, name) = (&rule.id, verdict.name());
            let why = format!("{id} does not allow `{name}` but gives no reason");
            let help = "name the lines or the harm in `excludes`, or list the verdict in `allows`";
            faults.push(rule.reader.fault(why).help(help));
        }
    }
    for exclusion in rule.excludes.iter() {
        let verdict = exclusion.verdict;
        if exclusion.when == When::Broken && allowed(rule, verdict.value) {
            let why = format!("{} both allows and excludes `{}`", rule.id, verdict.name());
            faults.push(verdict.fault(why));
        }
        if exclusion.lines.is_empty() && exclusion.phantom.is_none() {
            let why = format!("{} excludes `{}` without a reason", rule.id, verdict.name());
            let help = "give the `lines` of a source, or describe the harm in `phantom`";
            faults.push(verdict.fault(why).help(help));
        }
        for cited in exclusion.lines.iter() {
            if spec.sentence(rule, cited).is_none() {
                let id = &rule.id;
                let why =
                    format!("no statement with the lines {cited} is about a topic that {id} cites");
                let help = "a sentence excludes verdicts only where it is about the rule: \
                    cite its topic in `settled_by`";
                faults.push(cited.fault(why).help(help));
            }
        }
    }
}

fn needs_reason(rule: &RuleSpec, verdict: Verdict) -> bool {
    let is_strict = match verdict {
        Verdict::Accept => rule.reader.value >= ReaderDoes::Recover,
        Verdict::Recover => rule.reader.value == ReaderDoes::Reject,
        Verdict::Reject => false,
    };
    is_strict && !allowed(rule, verdict)
}

fn allowed(rule: &RuleSpec, verdict: Verdict) -> bool {
    let by_reader = match rule.reader.value {
        ReaderDoes::Ignore => verdict == Verdict::Accept,
        ReaderDoes::Warn => verdict != Verdict::Reject,
        ReaderDoes::Recover => verdict == Verdict::Recover,
        ReaderDoes::Reject => verdict == Verdict::Reject,
    };
    by_reader || rule.allows.iter().any(|other| other.value == verdict)
}
