#[atf_derive::record(index_header, wire = 3)]
pub struct Unknown;

#[atf_derive::record(index_header)]
pub struct Missing;

fn main() {}
