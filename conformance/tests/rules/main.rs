//! Each rule, met in its boundary cases and broken by one fault.

#[path = "../support/mod.rs"]
mod support;

mod complete;
mod every_bit;
mod known_failures;
mod recipes;
