//! Checks that the spec is consistent: layouts have no gaps or overlaps, names exist, ids are
//! unique, and `claims` lists are complete.

mod claims;
mod generated;
mod grammar;
mod layout;
mod names;
mod references;
mod rules;
mod session;
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

/// Checks that editions have comparable versions.
fn editions(spec: &Spec, faults: &mut Vec<Diagnostic>) {
    for (_, edition) in spec.editions.all() {
        if !is_version(&edition.version) {
            let why = format!("`{}` is not a valid version", edition.version);
            let fault = edition.version.fault(why);
            faults.push(fault.help("write three numbers without leading zeros: 1.0.0"));
        }
    }
}

/// Returns whether the version has the form `1.20.3`.
fn is_version(version: &str) -> bool {
    let is_number = |part: &str| {
        part.parse::<u32>()
            .is_ok_and(|number| number.to_string() == part)
    };
    version.split('.').count() == 3 && version.split('.').all(is_number)
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
    claims::comparable(spec, &mut faults);
    references::constants(spec, &mut faults);
    if faults.is_empty() {
        faults = found;
        generated::headers(spec, &mut faults);
        generated::library(spec, &mut faults);
        claims::check(spec, claims, &mut faults);
        grammar::check(spec, &mut faults);
    }
    layout::check(spec, &mut faults);
    layout::enums(spec, &mut faults);
    references::check(spec, &mut faults);
    rules::check(spec, &mut faults);
    session::check(spec, &mut faults);
    editions(spec, &mut faults);
    references::holds(spec, &mut faults);
    claims::lines(spec, &mut faults);
    faults
}
