//! The C API of `atf`.
