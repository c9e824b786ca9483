//! Checks that each topic is verified by something that can fail, or explains why it is not.

use crate::diagnostic::Diagnostic;
use crate::holds::{Held, Hold};
use crate::load::Spec;

pub(super) fn check(spec: &Spec, faults: &mut Vec<Diagnostic>) {
    let help = "name a test as PATH.rs::NAME, a row as atf/bench/PATH.rs::WORK, or a section as PATH.md#ANCHOR";
    for topic in &spec.topics {
        let invalid = topic.held_by.iter().filter(|it| Hold::parse(it).is_none());
        for hold in invalid {
            let why = format!("`{hold}` is not a valid entry of `held_by`");
            faults.push(hold.fault(why).help(help));
        }
        for (term, _) in topic.terms.iter() {
            let held = Held::new(spec, topic, term);
            if held.kind().is_some() || !topic.held_by.is_empty() {
                continue;
            }
            let why = format!("nothing verifies the topic `{}`", topic.topic);
            let mut fault = topic.topic.fault(why);
            if let Some(rule) = held.rules.first() {
                fault = fault.related(rule.id.place, "this rule has no test cases");
            }
            let help = "list it in the `settled_by` of a rule with test cases, or in `held_by` what \
                        verifies it, or explain in `against` or `not_done`";
            faults.push(fault.help(help));
            break;
        }
    }
}
