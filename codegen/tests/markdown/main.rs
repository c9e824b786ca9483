//! Checks that the reference's pages contain everything in the spec, their links have targets,
//! GitHub renders them as intended, and each byte diagram shows every byte once.

#![cfg(feature = "command")]

mod content;
mod diagrams;
mod pages;
mod reference;
