//! Parses YAML with the place of every value and deserializes serde types from it, reporting many
//! faults per pass.

mod at;
mod collections;
mod de;
mod node;
mod overlay;
mod parse;

pub use crate::diagnostic::{FileId, Place};
pub use at::At;
pub use collections::{List, Pairs};
pub use de::decode;
pub use node::{Node, Value};
pub(crate) use overlay::lay;
