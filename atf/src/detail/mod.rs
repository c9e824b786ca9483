//! `detail.atf`: variable-length records of registers and stack for some events of one thread.

mod event;
mod footer;
mod framing;
mod header;
mod iter;
mod payload;
mod reader;
mod scan;

pub use event::{DetailEvent, DetailEventHeader};
pub use footer::DetailFooter;
pub(crate) use framing::{footer_of, misfit, stated_count};
pub use header::DetailHeader;
pub use iter::DetailCursor;
pub use payload::{FunctionPayload, LARGEST_FIELDS, fields};
pub use reader::DetailReader;
pub(crate) use scan::BothScans;
pub use scan::Scan;
