//! Records as only wire version 1 lays them out (S0, S1, S3, S4).

/// The header of `index.atf`.
#[atf_derive::record(index_header, wire = 1)]
pub struct IndexHeader;

/// An event of `index.atf`.
#[atf_derive::record(index_event, wire = 1)]
pub struct IndexEvent;

/// What each event of `detail.atf` begins with.
#[atf_derive::record(detail_event_header, wire = 1)]
pub struct DetailEventHeader;
