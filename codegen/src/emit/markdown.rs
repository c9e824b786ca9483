//! The format's reference.

use atf_spec::layout::Layout;
use atf_spec::load::Spec;
use atf_spec::reconcile::Reconciliation;

use crate::GeneratedFile;

/// The pages.
#[must_use]
pub fn files(_spec: &Spec, _found: &Reconciliation, _layout: &Layout) -> Vec<GeneratedFile> {
    Vec::new()
}
