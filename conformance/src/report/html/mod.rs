//! The page of a run.

mod cause;
mod failure;
mod matrix;
mod page;
mod rule;

use std::io::{self, Write};

use crate::results::Results;
use atf_report::html;
use page::Page;

const TEMPLATE: &str = include_str!("../../../templates/run.html");

pub(super) fn write(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    html::write(TEMPLATE, Page::new(results), out)
}
