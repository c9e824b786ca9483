//! YAML with the place of every value, and serde types out of it, many faults in one pass.

mod at;
mod collections;
mod de;
mod node;
mod parse;

pub use at::At;
pub use collections::{List, Pairs};
pub use de::decode;
pub use node::{FileId, Key, Node, Place, Tree, Value};
