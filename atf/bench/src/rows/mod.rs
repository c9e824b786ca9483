//! The rows of the tables, one file per group.

pub(crate) mod capi;
pub(crate) mod commands;
pub(crate) mod detail;
pub(crate) mod lookup;
pub(crate) mod merge;
pub(crate) mod peers;
pub(crate) mod program;
pub(crate) mod read;
pub(crate) mod record;
pub(crate) mod scan;
pub(crate) mod time;
pub(crate) mod write;
