//! Checks that rules have well-formed ids, valid references, and a reason about the rule for each
//! verdict that they exclude.

use super::names::Unique;
use super::references::about;
use super::word::is_prefix;
use super::{sources_exist, wires_exist};
use crate::diagnostic::Diagnostic;
use crate::load::Spec;
use crate::model::{Exclusion, ReaderDoes, RuleSpec, RulesFile, Silence, Verdict, When};

pub(super) fn check(spec: &Spec, faults: &mut Vec<Diagnostic>) {
    let (mut ids, mut prefixes) = (Unique::new("rule"), Unique::new("prefix"));
    for file in &spec.rules {
        prefixes.add(&file.prefix, faults);
        if !is_prefix(&file.prefix) {
            let why = format!("`{}` is not a valid rule prefix", file.prefix);
            let fault = file.prefix.fault(why);
            faults.push(fault.help("use capitals, digits and single hyphens"));
        }
        for id in file.retired.iter() {
            ids.add(id, faults);
        }
    }
    for file in &spec.rules {
        for rule in &file.rules {
            ids.add(&rule.id, faults);
            let number = rule.id.strip_prefix(file.prefix.as_str());
            let number = number.and_then(|id| id.strip_prefix('-'));
            let is_number =
                |text: &str| text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_digit());
            if !number.is_some_and(is_number) {
                let (id, prefix) = (&rule.id, &file.prefix);
                let why = format!("`{id}` is not `{prefix}-` followed by three digits");
                faults.push(rule.id.fault(why).related(file.prefix.place, "prefix"));
            }
            wires_exist(spec, &rule.wire, faults);
            exclusions(spec, rule, faults);
            about(spec, &rule.about, faults);
            sources_exist(spec, &rule.sources, faults);
            let unknown = rule.settled_by.iter().filter(|it| !is_settled(spec, it));
            for name in unknown {
                faults.push(name.fault(format!("there is no topic or silence `{name}`")));
            }
            if rule.sources.is_empty() && rule.settled_by.is_empty() {
                let why = format!("{} cites no source, topic or silence", rule.id);
                faults.push(rule.id.fault(why));
            }
        }
    }
    // A misspelled id also leaves a gap. Report only one of the two faults.
    if faults.is_empty() {
        for file in &spec.rules {
            unaccounted(file, faults);
        }
    }
    // If a silence's name is misspelled here, that silence also has no rule. Report only one of the
    // two faults.
    let mut rules = spec.all_rules();
    if rules.all(|rule| rule.settled_by.iter().all(|it| is_settled(spec, it))) {
        for silence in &spec.decisions.silences {
            rests(spec, silence, faults);
        }
    }
}

/// Checks that a rule or a retired rule has each number up to the highest.
fn unaccounted(file: &RulesFile, faults: &mut Vec<Diagnostic>) {
    let ids = file.rules.iter().map(|rule| &rule.id);
    let ids: Vec<_> = ids.chain(file.retired.iter()).collect();
    let id = |number: usize| format!("{}-{number:03}", file.prefix);
    let mut expected = (1..=ids.len()).map(id);
    if let Some(missing) = expected.find(|id| ids.iter().all(|own| own.value != *id)) {
        let why = format!("{missing} is neither a rule nor retired");
        let help = "a withdrawn id is never used again: list it in `retired`";
        faults.push(file.prefix.fault(why).help(help));
    }
}

/// Returns whether a topic or silence has this name.
fn is_settled(spec: &Spec, name: &str) -> bool {
    spec.topic(name).is_some() || spec.silence(name).is_some()
}

/// Checks that a silence has either a rule or a reason for having none, but not both.
fn rests(spec: &Spec, silence: &Silence, faults: &mut Vec<Diagnostic>) {
    let name = &silence.silence;
    match (spec.rules_citing(name).next(), silence.no_rule.is_some()) {
        (None, false) => {
            let why = format!("no rule cites the silence `{name}`");
            let help =
                "list it in a rule's `settled_by`, or explain in `no_rule` why it needs no rule";
            faults.push(name.fault(why).help(help));
        }
        (Some(rule), true) => {
            let why = format!("the silence `{name}` has `no_rule`, but a rule cites it");
            faults.push(name.fault(why).related(rule.id.place, "the rule"));
        }
        _ => {}
    }
}

/// Checks a rule's exclusions.
///
/// `reject` needs no reason here: a reader that refuses a file loses its events, as each test case
/// states. `recover` needs none either if readers ignore a violation: such a file is as good as one
/// that follows all rules.
fn exclusions(spec: &Spec, rule: &RuleSpec, faults: &mut Vec<Diagnostic>) {
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
