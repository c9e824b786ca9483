//! Finds function names after a run, in the symbol tables of the program's files.
//!
//! A tracer that must not look up names while the program runs records each function as an offset
//! from its module's base address. [`Search`] finds the module's file by path and build id, and
//! [`SymbolTable`] returns the name of the function at an offset, demangled.
//!
//! Files are untrusted. Only their tables are read, and nothing is mapped: if a program is replaced
//! while it is being read, the result is an error or wrong names, but nothing worse. A stated size
//! larger than the file causes no allocation, and at most [`LIMIT`] bytes are read from one file.
//!
//! A [`Search`] reads each file at most twice, no matter how many modules lead to it, and a table
//! keeps and demangles each name once, no matter how many functions have it. If demangling a C++
//! name takes longer than a second, that name and all later C++ names in the file stay mangled.
//! Together, all C++ names that a search finds take at most 10 s, plus 10 µs per byte. Swift names
//! always stay mangled: the maintained crates wrap Swift's own demangler in C++, and untrusted
//! names must not reach code that is not memory-safe.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let path = std::env::current_exe()?;
//! let table = atf_symbolize::SymbolTable::read(&path)?;
//! if let Some(name) = table.name_at(0x1139) {
//!     println!("{name}");
//! }
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]
// Numbers from a file are never trusted: code that handles them must not be able to panic.
#![cfg_attr(
    not(test),
    warn(
        clippy::arithmetic_side_effects,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::unwrap_used
    )
)]

mod cpp;
mod debug_link;
mod demangle;
mod elf;
mod error;
mod file;
mod filter;
mod macho;
mod search;
mod table;

pub use demangle::{STACK, Spawn};
pub use error::{Error, ErrorKind, LIMIT};
pub use filter::Filter;
pub use search::{Found, Search};
pub use table::{Function, Names, Namesakes, SymbolTable};
