//! Records in the layout of wire version 2 (S2).

/// The header of `index.atf`.
#[atf_derive::record(index_header, wire = 2)]
pub struct IndexHeader;

/// An event of `index.atf`.
#[atf_derive::record(index_event, wire = 2)]
pub struct IndexEvent;

/// The header of each event in `detail.atf`.
#[atf_derive::record(detail_event_header, wire = 2)]
pub struct DetailEventHeader;
