//! The C API as C and C++ programs see it: header, libraries, examples, misuse.

mod examples;
mod header;
mod misuse;
mod recording;
mod support;
