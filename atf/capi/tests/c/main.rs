//! The C API as C and C++ programs see it: headers, libraries, examples and misuse.

// abi.txt is for 64-bit machines.
#[cfg(target_pointer_width = "64")]
mod abi;
mod examples;
mod header;
mod recording;
mod support;
