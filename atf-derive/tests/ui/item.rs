#[atf_derive::record(index_header, wire = 1)]
pub enum Enum {}

#[atf_derive::record(index_header, wire = 1)]
pub struct Generic<T>;

#[atf_derive::record(index_header, wire = 1)]
pub struct Tuple(u8);

#[atf_derive::open_enum(event_kind)]
pub enum EventKind {
    Call = 1,
}

#[atf_derive::open_enum(event_kind)]
pub struct WithField {
    value: u32,
}

fn main() {}
