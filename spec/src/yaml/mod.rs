//! Parses YAML with the place of every value and deserializes serde types from it, reporting many
//! faults per pass.

mod de;
mod node;
mod overlay;
mod parse;
mod values;

pub use crate::diagnostic::{FileId, Place};
pub use de::decode;
pub use node::{Node, Value};
pub(crate) use overlay::lay;
pub use values::{At, List, Pairs};
