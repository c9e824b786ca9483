//! `index.atf`: every call and return of one thread, 32 bytes each.

mod blocks;
mod event;
mod footer;
mod header;
mod holes;
mod iter;
mod reader;
mod records;
mod scan;
mod section;
mod slice;
mod sparse;
mod time;

pub use blocks::EventBlocks;
pub use event::IndexEvent;
pub use footer::IndexFooter;
pub use header::IndexHeader;
pub use holes::{Hole, Holes};
pub use iter::{Events, IndexCursor};
pub use reader::IndexReader;
pub(crate) use records::Record;
pub(crate) use scan::Pass;
pub use scan::{Disorder, KindCounts, Scan};
pub(crate) use slice::clamp;
pub use slice::{EventSlice, SliceIter};
pub use time::TimeQuery;
