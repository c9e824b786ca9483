#[atf_derive::open_enum(event_kinds)]
pub struct EventKind;

#[atf_derive::open_enum]
pub struct Empty;

fn main() {}
