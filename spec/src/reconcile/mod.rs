//! Finds contradictions among the sources or with arithmetic, and matches each disagreement with a
//! decision in the spec.

mod claim;
mod group;
mod settle;

pub use claim::{
    ABSENT, Claim, Claims, How, Key, collect, constant_key, formula_base, layout_value,
    section_record,
};
pub use group::Group;
pub use settle::{Disagreement, Reconciliation, Settlement, reconcile};
