//! Each rule, met at its boundary and broken by one fault.

#[path = "../support/mod.rs"]
mod support;

mod case;
mod complete;
mod detail_event;
mod detail_footer;
mod detail_function_payload;
mod detail_header;
mod every_bit;
mod index_event;
mod index_footer;
mod index_header;
mod known_failures;
mod link;
mod manifest;
mod session;
