//! Records as only wire version 2 lays them out (S2).

/// The header of `index.atf`.
#[atf_derive::record(index_header, wire = 2)]
pub struct IndexHeader;

/// An event of `index.atf`.
#[atf_derive::record(index_event, wire = 2)]
pub struct IndexEvent;

/// What each event of `detail.atf` begins with.
#[atf_derive::record(detail_event_header, wire = 2)]
pub struct DetailEventHeader;
