//! Tests the spec's own consistency: layouts without gap or overlap, names that exist, ids that
//! are unique, claims that are named where they are relied upon.

mod layout;
mod names;
mod rules;
mod sources;

use crate::diagnostic::Diagnostic;
use crate::load::Spec;
use crate::reconcile::Reconciliation;

/// All faults of the spec beyond those that reconciling finds.
#[must_use]
pub fn check(spec: &Spec, reconciliation: &Reconciliation) -> Vec<Diagnostic> {
    let mut faults = Vec::new();
    layout::check(spec, &mut faults);
    names::check(spec, &mut faults);
    rules::check(spec, &mut faults);
    sources::check(spec, &reconciliation.claims, &mut faults);
    faults
}
