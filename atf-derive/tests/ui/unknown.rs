#[atf_derive::record(index_heder, wire = 1)]
pub struct UnknownRecord;

#[atf_derive::record(index_header, wire = 3)]
pub struct UnknownWire;

#[atf_derive::record(index_header)]
pub struct MissingWire;

#[atf_derive::open_enum(event_kinds)]
pub struct UnknownEnum;

#[atf_derive::open_enum]
pub struct MissingEnum;

fn main() {}
