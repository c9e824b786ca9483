//! The expansions use only absolute paths, so they compile without the prelude and next to names
//! that would shadow a relative path.
#![no_implicit_prelude]
// The test is whether this file compiles.
#![allow(dead_code)]

struct Option;
struct Some;
struct Result;
mod core {}
mod zerocopy {}

/// A record.
#[::atf_derive::record(index_header, wire = 1)]
pub struct IndexHeader;

/// An enumeration.
#[::atf_derive::open_enum(event_kind)]
pub struct EventKind;

/// A set of flags.
#[::atf_derive::open_enum(index_flags)]
pub struct IndexFlag;
