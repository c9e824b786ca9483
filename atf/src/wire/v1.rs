//! Records in the layout of wire version 1 (S0, S1, S3, S4).

/// The header of `index.atf`.
#[atf_derive::record(index_header, wire = 1)]
pub struct IndexHeader;

/// An event of `index.atf`.
#[atf_derive::record(index_event, wire = 1)]
pub struct IndexEvent;

/// The header of each event in `detail.atf`.
#[atf_derive::record(detail_event_header, wire = 1)]
pub struct DetailEventHeader;
