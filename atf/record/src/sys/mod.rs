//! The only module of this crate with unsafe code. Each unsafe block and declaration has a safety
//! comment. All other modules contain only safe code.

#![allow(
    unsafe_code,
    reason = "the module for unsafe code; every block has a safety proof"
)]
#![deny(clippy::undocumented_unsafe_blocks, unsafe_op_in_unsafe_fn)]

mod barrier;
mod counter;
mod exit;
mod revocable;
mod thread;

pub(crate) use barrier::Barrier;
pub(crate) use counter::{is_invariant, ticks};
pub(crate) use exit::at_exit;
pub(crate) use revocable::{Holder, InUse, Revoker, revocable};
pub(crate) use thread::{Joining, Watched, spawn};
