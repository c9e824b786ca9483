#[atf_derive::record(index_heder, wire = 1)]
pub struct IndexHeader;

fn main() {}
