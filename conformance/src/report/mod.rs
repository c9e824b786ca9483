//! The forms of a report: text for a terminal, TAP and JUnit for a CI, JSON for programs.

pub mod check;
mod hexdump;
mod printable;
pub mod run;
mod target;
mod xml;

pub use printable::Printable;
pub use target::{BadTarget, Form, Target};
