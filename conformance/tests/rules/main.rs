//! Tests the checker: the boundary cases of each rule follow it, a single fault breaks it, and what
//! the library recovers breaks none.

mod complete;
mod every_bit;
mod messages;
mod outcome;
mod recipes;
mod recovered;
mod written;
