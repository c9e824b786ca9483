//! Tests the spec's own consistency: layouts without gap or overlap, names that exist, ids that
//! are unique, claims that are named where they are relied upon.

mod claims;
mod editions;
mod enums;
mod holds;
mod layout;
mod names;
mod references;
mod rules;
mod session;
mod sources;
mod text;
mod word;

use crate::diagnostic::{Diagnostic, Files};
use crate::load::Spec;
use crate::reconcile::Claims;

pub(crate) use text::tiling;

/// All faults of the spec: those that `reconcile` found among the claims, and those of the spec
/// itself.
///
/// Where a name is broken, claims do not find what they are about, and dozens of faults among
/// them follow from the one; so claims are judged only by names that are sound.
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
        claims::check(spec, claims, &mut faults);
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
