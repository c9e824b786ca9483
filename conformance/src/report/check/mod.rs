//! The forms of a check's report: text for a terminal, JSON for programs.

mod json;
mod terminal;

pub use json::Json;
pub use terminal::Terminal;
