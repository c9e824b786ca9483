//! Wire structs of ATF v2 (ADA Trace Format) as macros, without hand-typed offsets.
//!
//! [`macro@record`] turns an empty struct into a record of the format in one wire version, with the
//! fields, offsets and documentation of the layout spec. The struct has alignment 1, and its
//! numbers are little-endian on every host, so any bytes can be viewed in place without `unsafe`:
//!
//! ```
//! use zerocopy::FromBytes;
//!
//! /// A call, a return or an exception.
//! #[atf_derive::record(index_event, wire = 1)]
//! pub struct IndexEvent;
//!
//! let file = [
//!     0xe8, 0x03, 0, 0, 0, 0, 0, 0, // timestamp_ns
//!     0x07, 0, 0, 0, 0x01, 0, 0, 0, // function_id
//!     0x02, 0, 0, 0, // thread_id
//!     0x01, 0, 0, 0, // event_kind
//!     0x01, 0, 0, 0, // call_depth
//!     0xff, 0xff, 0xff, 0xff, // detail_seq
//!     0xe9, 0x03, // the start of the next event
//! ];
//! let (event, rest) = IndexEvent::ref_from_prefix(&file).expect("32 bytes or more");
//! assert_eq!(event.timestamp_ns.get(), 1000);
//! assert_eq!(event.detail_seq.get(), IndexEvent::DETAIL_SEQ_NONE);
//! assert_eq!(rest.len(), file.len() - IndexEvent::SIZE);
//! ```
//!
//! [`macro@open_enum`] does the same for enumerations and flags, keeping unknown values:
//!
//! ```
//! /// What happened.
//! #[atf_derive::open_enum(event_kind)]
//! pub struct EventKind;
//!
//! assert_eq!(EventKind::from(2_u8), EventKind::RETURN);
//! assert_eq!(EventKind::RETURN.name(), Some("return"));
//! assert_eq!(format!("{:?}", EventKind(9)), "EventKind(9)");
//! ```
//!
//! The folder `example` of this package contains a tracer without `std` that needs only this macro
//! and `zerocopy`.
//!
//! # Notes
//!
//! - A crate that uses [`macro@record`] must depend on `zerocopy` 0.8 with feature `derive`.
//! - Put your own derives below the macro; above it, they would see an empty struct.
//! - The layout comes from the committed `layout.json` of crate `atf-spec`, so no YAML parser is
//!   compiled.
//! - To avoid the macro, copy `v1.rs`, `v2.rs` and `enums.rs` from the folder
//!   `src/wire/generated` of crate `atf`: they need only `zerocopy`.

mod errors;
mod open_enum;
mod record;

use std::sync::OnceLock;

use atf_spec::layout::Layout;
use proc_macro::TokenStream;

/// Defines a record of the format in one wire version.
///
/// The struct is `#[repr(C, packed)]`; it derives `Clone`, `Copy`, `Debug`, `PartialEq`, `Eq` and
/// zerocopy's `FromBytes`, `IntoBytes`, `KnownLayout`, `Immutable` and `Unaligned`. Its fields are
/// public: `u8`, zerocopy's little-endian `U16`, `U32` and `U64`, and arrays of these. The size,
/// the alignment and the offset of each field are asserted at compile time.
///
/// The struct has these constants:
///
/// | constant | meaning |
/// |---|---|
/// | `RECORD` | the record's name in the spec |
/// | `WIRE` | the wire version |
/// | `SIZE` | the size in bytes |
/// | `MAGIC`, `VERSION`, … | the value of each field with a fixed value |
/// | `DETAIL_SEQ_NONE`, … | the value of a field that means "none" |
/// | `C_DEFINITION` | the same struct in C, with its assertions |
///
/// # Pins
///
/// A crate can pin the properties it relies on: the size, and the types, order and offsets of
/// fields. If the spec differs, compilation fails. The struct always has all fields of the record.
///
/// ```
/// #[atf_derive::record(index_event, wire = 2, size = 32)]
/// pub struct IndexEvent {
///     pub function_id: u64,
///     #[offset(16)]
///     pub detail_seq: u64,
///     pub event_kind: u8,
/// }
///
/// assert_eq!(IndexEvent::DETAIL_SEQ_NONE, u64::MAX);
/// ```
///
/// In wire version 1, the same field is narrower and has a different offset:
///
/// ```compile_fail
/// #[atf_derive::record(index_event, wire = 1)]
/// pub struct IndexEvent {
///     // index_event.detail_seq is u32 at offset 28 in wire version 1, not u64
///     pub detail_seq: u64,
/// }
/// ```
#[proc_macro_attribute]
pub fn record(arguments: TokenStream, item: TokenStream) -> TokenStream {
    record::expand(layout(), arguments.into(), item.into()).into()
}

/// Defines an open enumeration or a set of flags.
///
/// The struct is a newtype over the widest scalar of the fields that use it. It has a constant per
/// member, a method `name`, a `Debug` implementation that shows the name or, for unknown values,
/// the number, and lossless conversions from and to integers. Members can be used as patterns. For
/// flags, the constants are masks, and there is also a method `contains`.
///
/// ```
/// #[atf_derive::open_enum(index_flags)]
/// pub struct IndexFlags;
///
/// let flags = IndexFlags::from(0x8001_u16);
/// assert!(flags.contains(IndexFlags::HAS_DETAIL_FILE));
/// assert_eq!(u32::from(flags), 0x8001, "unknown bits are kept");
/// ```
#[proc_macro_attribute]
pub fn open_enum(arguments: TokenStream, item: TokenStream) -> TokenStream {
    open_enum::expand(layout(), arguments.into(), item.into()).into()
}

/// Parses the resolved layout.
fn layout() -> &'static Layout {
    static LAYOUT: OnceLock<Layout> = OnceLock::new();
    LAYOUT.get_or_init(|| {
        serde_json::from_str(atf_spec::layout::JSON)
            .expect("the committed layout.json is a resolved layout")
    })
}
