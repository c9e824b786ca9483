//! Finds what the sources disagree about, with one another and with arithmetic, and matches it
//! with the decisions that stand in the spec.

mod claim;
mod group;
mod settle;

pub use claim::{
    ABSENT, Claim, Claims, How, Key, collect, constant_key, formula_base, layout_value,
    section_record,
};
pub use group::Group;
pub use settle::{Disagreement, Reconciliation, Settlement, reconcile};
