//! Reports on checked traces, as text, TAP, JUnit, JSON, HTML, SARIF or a badge, and the command
//! `check`.
//!
//! The checker is [`atf::check`]. `atf` and the conformance kit share the [`command`] and its
//! [reports](check); the kit's reports on implementations share their formats.

#![forbid(unsafe_code)]

pub mod badge;
pub mod check;
pub mod command;
mod editions;
pub mod html;
pub mod junit;
pub mod packaged;
mod printable;
mod spool;
pub mod tap;
mod target;
pub mod xml;

pub use editions::Editions;
pub use printable::{Printable, clipped, counted};
pub use target::{Form, Target};
