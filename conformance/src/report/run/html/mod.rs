//! The page of a run.

mod cause;
mod failure;
mod matrix;
mod page;
mod rule;

use std::io::{self, Write};

use crate::report::html;
use crate::results::Results;
use page::Page;

pub(super) fn write(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    html::write("run.html", Page::new(results), out)
}
