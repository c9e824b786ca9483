//! The layout spec of ATF v2 (ADA Trace Format): what each source claims, what was decided, and
//! the compiler that holds one against the other.
//!
//! The YAML files beside this crate are the truth; what else knows an offset is generated from them, or
//! typed by hand on purpose, to catch a mistake in them:
//!
//! - `sources/*.yaml`: each source document's claims, as that source states them, wrong sums
//!   included; `digests.yaml`: what the lines were that they are made from ([`text`], [`holds`]);
//! - `records/*.yaml`: the complete layout of each record in both wire versions; a settled
//!   conflict says so at its field;
//! - `enums.yaml`, `constants.yaml`: open enumerations, flags, named constants;
//! - `behaviour/*.yaml`: what the sources say beyond layouts, by topic; a settled conflict says
//!   so at its topic;
//! - `decisions.yaml`: what no source says, and what we decided;
//! - `rules/*.yaml`: the conformance rules; `session.yaml`, `manifest.yaml`: what stands around
//!   the thread files.
//!
//! The data's way: [`yaml`] makes a tree with places of each file, [`model`] gives it types,
//! [`load`](load::load) reads the folder, [`reconcile`] finds the disagreements among claims and
//! with arithmetic and matches them with decisions, [`check`] tests everything else,
//! [`resolve`] makes the [`layout`] that the emitters read. Every fault is a
//! [`diagnostic::Diagnostic`] with file, line, YAML path and a caret, and many are reported in
//! one run.
//!
//! Without the feature `compiler` only [`layout`], [`difference`] and [`freshness`] are built.

#![forbid(unsafe_code)]

pub mod difference;
pub mod freshness;
pub mod layout;

#[cfg(feature = "compiler")]
pub mod check;
#[cfg(feature = "compiler")]
pub mod diagnostic;
#[cfg(feature = "compiler")]
pub mod holds;
#[cfg(feature = "compiler")]
pub mod load;
#[cfg(feature = "compiler")]
pub mod model;
#[cfg(feature = "compiler")]
pub mod reconcile;
#[cfg(feature = "compiler")]
pub mod resolve;
#[cfg(feature = "compiler")]
pub mod schema;
#[cfg(feature = "compiler")]
pub mod text;
#[cfg(feature = "compiler")]
pub mod yaml;

#[cfg(feature = "compiler")]
mod compile;
#[cfg(feature = "compiler")]
pub use compile::{Compiled, compile};
