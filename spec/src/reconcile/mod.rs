//! Finds contradictions among the sources or with arithmetic, and matches each disagreement with a
//! decision in the spec.

mod claim;
mod settle;

pub use claim::{Claim, Claims, How, Key, constant_key, formula_base, section_record};
pub use settle::{Disagreement, Group, Reconciliation, Settlement, reconcile};
