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
use crate::load::Spec;
use crate::reconcile::Claims;

/// Returns all faults in the spec, including `found`, which are the faults that `reconcile` found
/// in the claims.
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
