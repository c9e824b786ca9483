#[atf_derive::record(index_header, wire = 1, align = 1, wire = 2)]
pub struct KeysThatAreUnknownAndRepeated;

#[atf_derive::record(index_header, wire: 1)]
pub struct Malformed;

#[atf_derive::record]
pub struct Empty;

#[atf_derive::record(index_header, wire = 1, size = 60)]
pub struct WrongSize;

fn main() {}
