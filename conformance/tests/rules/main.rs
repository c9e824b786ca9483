//! Tests each rule: its boundary cases follow the rule, and a single fault breaks it.

#[path = "../support/mod.rs"]
mod support;

mod complete;
mod every_bit;
mod messages;
mod recipes;
