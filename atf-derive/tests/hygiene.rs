//! The expansions use absolute paths only: they compile without the prelude, and beside names that
//! would mislead a relative path.
#![no_implicit_prelude]
// That it compiles is the test.
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
#[::atf_derive::open_enum(index_flag)]
pub struct IndexFlag;
