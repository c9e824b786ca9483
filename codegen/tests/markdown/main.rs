//! The pages of the reference hold what the spec holds, their links lead somewhere, GitHub reads
//! them as they are meant, and each byte diagram shows each byte once.

#![cfg(feature = "command")]

mod content;
mod diagrams;
mod pages;
mod reference;
