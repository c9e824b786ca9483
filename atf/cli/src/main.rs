//! The command `atf`: looks into traces, recovers, converts and scrubs them.

#![forbid(unsafe_code)]

fn main() {}
