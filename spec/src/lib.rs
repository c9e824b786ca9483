//! The layout spec of ATF v2 (ADA Trace Format): the sources' claims, the decisions, and the
//! compiler that checks them against each other.
//!
//! The YAML files in this crate are the single source of truth. Every offset elsewhere is either
//! generated from them or deliberately written by hand to catch mistakes in them. The files are:
//!
//! - `sources/*.yaml`: each source document's claims as stated, including wrong sums;
//!   `digests.yaml`: digests of the lines that make the claims ([`text`], [`holds`]);
//! - `records/*.yaml`: the complete layout of each record in both wire versions, with the decision
//!   on each conflict at its field;
//! - `enums.yaml`, `constants.yaml`: open enumerations, flags, named constants;
//! - `behaviour/*.yaml`: what the sources state beyond layouts, by topic, with the decision on each
//!   conflict at its topic;
//! - `decisions.yaml`: questions that no source answers, and our decisions;
//! - `grammar/*.yaml`: how a reader finds the events and the footer of each kind of file;
//! - `rules/*.yaml`: the conformance rules; `session.yaml`, `manifest.yaml`: the folders and the
//!   manifest around the thread files.
//!
//! Data flow: [`yaml`] parses each file into a tree with places, [`model`] types it,
//! [`load`](load::load) reads the files, [`reconcile`] compares the claims with each other and
//! with arithmetic, and matches disagreements with decisions, [`check`] checks everything else, and
//! [`resolve`] produces the [`layout`] that the emitters read. Every fault is a
//! [`diagnostic::Diagnostic`] with file, line, YAML path and a caret; one run reports many.
//!
//! [`breaking`] compares two editions.
//!
//! Without the feature `compiler`, only [`layout`], [`grammar`], [`c_names`], [`rust_names`],
//! [`difference`] and [`freshness`] are built.

#![forbid(unsafe_code)]

pub mod c_names;
pub mod difference;
pub mod freshness;
pub mod grammar;
pub mod layout;
pub mod rust_names;

#[cfg(feature = "compiler")]
pub mod breaking;
#[cfg(feature = "compiler")]
pub mod check;
#[cfg(feature = "compiler")]
pub mod diagnostic;
#[cfg(feature = "compiler")]
pub mod expression;
#[cfg(feature = "compiler")]
pub mod files;
#[cfg(feature = "compiler")]
pub mod holds;
#[cfg(feature = "compiler")]
pub mod load;
#[cfg(feature = "compiler")]
pub mod model;
#[cfg(feature = "compiler")]
pub mod origin;
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
mod inline_schema;
mod named;
#[cfg(feature = "compiler")]
pub use compile::{Compiled, compile, compile_with};
