//! The recipes: one table per record, plus tables for whole sessions.

mod detail_event;
mod detail_footer;
mod detail_function_payload;
mod detail_header;
mod index_event;
mod index_footer;
mod index_header;
mod known_file;
mod known_session;
mod link;
mod manifest;
mod outside;
mod page;
mod ring;
mod session;
mod valid;
mod wide;

use super::recipe::Recipe;

/// Returns all recipes. They are in the order of the records in a session.
#[must_use]
pub fn recipes() -> Vec<Recipe> {
    let tables = [
        index_header::recipes(),
        index_event::recipes(),
        index_footer::recipes(),
        detail_header::recipes(),
        detail_event::recipes(),
        detail_function_payload::recipes(),
        detail_footer::recipes(),
        link::recipes(),
        manifest::recipes(),
        session::recipes(),
        ring::recipes(),
        known_file::recipes(),
        known_session::recipes(),
        outside::recipes(),
        page::recipes(),
        valid::recipes(),
        wide::recipes(),
    ];
    tables.into_iter().flatten().collect()
}
