//! Checks that the spec is consistent: layouts have no gaps or overlaps, names exist, ids are
//! unique, and `claims` lists are complete.

mod claims;
mod editions;
mod enums;
mod exclusions;
mod grammar;
mod headers;
mod holds;
mod layout;
mod names;
mod references;
mod rules;
mod rust;
mod session;
mod sources;
mod text;
mod word;

use crate::diagnostic::Diagnostic;
use crate::files::Files;
use crate::layout::Wire;
use crate::load::Spec;
use crate::model::Topic;
use crate::reconcile::Claims;
use crate::yaml::At;

/// Adds a fault for each id that is not a source's.
fn sources_exist<'a>(
    spec: &Spec,
    ids: impl IntoIterator<Item = &'a At<String>>,
    faults: &mut Vec<Diagnostic>,
) {
    for id in ids.into_iter().filter(|id| spec.source(id).is_none()) {
        faults.push(id.fault(format!("there is no source `{id}`")));
    }
}

/// Adds a fault for each number that is not a wire version.
fn wires_exist<'a>(
    spec: &Spec,
    wires: impl IntoIterator<Item = &'a At<Wire>>,
    faults: &mut Vec<Diagnostic>,
) {
    for wire in wires {
        if !spec.wires().any(|known| known == wire.value) {
            faults.push(wire.fault(format!("there is no wire version {wire}")));
        }
    }
}

fn has_term(topic: &Topic, term: &At<String>, faults: &mut Vec<Diagnostic>) {
    if topic.terms.get(term).is_none() {
        let why = format!("the topic `{}` has no term `{term}`", topic.topic);
        let terms: Vec<&str> = topic.terms.iter().map(|(name, _)| name.as_str()).collect();
        let says = format!("its terms: {}", terms.join(", "));
        faults.push(term.fault(why).related(topic.topic.place, says));
    }
}

/// Returns all faults in the spec, including those that `reconcile` found in the claims: `found`.
///
/// An invalid name would cause dozens of faults in the claims that use it, so claims are checked
/// only if all names are valid.
#[must_use]
pub fn check(
    files: &Files,
    spec: &Spec,
    claims: &Claims,
    found: Vec<Diagnostic>,
) -> Vec<Diagnostic> {
    let mut faults = Vec::new();
    names::check(files, spec, &mut faults);
    sources::check(spec, &mut faults);
    references::constants(spec, &mut faults);
    if faults.is_empty() {
        faults = found;
        headers::check(spec, &mut faults);
        rust::check(spec, &mut faults);
        claims::check(spec, claims, &mut faults);
        grammar::check(spec, &mut faults);
    }
    layout::check(spec, &mut faults);
    enums::check(spec, &mut faults);
    references::check(spec, &mut faults);
    rules::check(spec, &mut faults);
    session::check(spec, &mut faults);
    editions::check(spec, &mut faults);
    holds::check(spec, &mut faults);
    text::check(spec, &mut faults);
    faults
}
