//! The reference implementation as a testee: the library in each role of the protocol.

pub mod writer;
