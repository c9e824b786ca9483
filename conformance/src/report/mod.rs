//! The report formats: text for a terminal, TAP and JUnit for CI, JSON for programs, a page for
//! browsers, and a badge for a README. The reports of runs and checks share code.

mod badge;
pub mod check;
#[cfg(feature = "kit")]
mod hexdump;
mod html;
mod junit;
mod page;
mod printable;
#[cfg(feature = "kit")]
pub mod run;
mod spool;
mod tap;
mod target;
mod xml;

pub use printable::Printable;
pub use target::{BadTarget, Form, Target};
