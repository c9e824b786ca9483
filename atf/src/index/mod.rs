//! `index.atf`: every call and return of one thread, 32 bytes each.
//!
//! ```
//! use atf::index::IndexReader;
#![doc = include_str!("../doc_setup/thread.md")]
//! let index = IndexReader::open(folder.join("index.atf"))?;
//! let second = index.get(1)?; // Any event, by its position.
//! assert_eq!(second.map(|event| event.timestamp_ns), Some(250));
//! for found in index.time_query(200..300)? {
//!     let (seq, event) = found?;
//!     println!("event {seq}: {:#x}", event.function_id);
//! }
//! for event in index.events() {
//!     event?; // After the last event comes an error for each problem.
//! }
//! # Ok::<(), atf::Error>(())
//! ```

mod blocks;
mod event;
mod footer;
mod header;
mod holes;
mod iter;
mod pass;
mod reader;
mod scan;
mod section;
mod slice;
mod sparse;
mod time;

pub use blocks::EventBlocks;
pub(crate) use blocks::Steps;
pub use event::IndexEvent;
pub(crate) use event::{is_zero, timestamp_ns};
pub use footer::IndexFooter;
pub use header::IndexHeader;
pub use holes::Hole;
pub use iter::{Events, IndexCursor};
pub(crate) use pass::Pass;
pub use reader::IndexReader;
pub use scan::{Disorder, KindCounts, Scan};
pub(crate) use section::event_end;
pub use slice::EventSlice;
pub(crate) use slice::{Record, clamp};
pub(crate) use time::inclusive;
