//! Checks that the reference's pages contain everything in the spec, that GitHub renders them as intended, and that each byte diagram shows every byte once.

#![cfg(feature = "command")]

mod diagrams;
mod pages;
mod reference;
