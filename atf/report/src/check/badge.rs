//! The badge of a check.

use std::io::{self, Write};
use std::path::Path;

use super::Sink;
use crate::badge::{self, Mood};
use crate::printable::counted;
use atf::check::{FileReport, Summary};
use atf::rules::Severity;

const LABEL: &str = "ATF v2 traces";

/// A badge, which shows only the summary and ignores the individual reports.
pub(super) struct Badge<W> {
    pub(super) deny: Severity,
    pub(super) out: W,
}

impl<W: Write> Sink for Badge<W> {
    fn file(&mut self, _report: &FileReport) -> io::Result<()> {
        Ok(())
    }

    fn unreadable(&mut self, _path: &Path, _why: &str) -> io::Result<()> {
        Ok(())
    }

    fn finish(&mut self, summary: &Summary) -> io::Result<()> {
        let (words, mood) = words(summary, self.deny);
        badge::write(LABEL, &words, mood, &mut self.out)?;
        self.out.flush()
    }
}

fn words(summary: &Summary, deny: Severity) -> (String, Mood) {
    let Summary {
        files,
        must,
        should,
        unreadable,
        ..
    } = *summary;
    let broken = || format!("{must} must, {should} should broken");
    match summary.exit_status(deny) {
        0 if files == 0 => ("nothing checked".to_owned(), Mood::Nothing),
        0 if must + should == 0 => (format!("{} good", counted(files, "file")), Mood::Good),
        0 => (broken(), Mood::Known),
        1 => (broken(), Mood::Bad),
        _ => (format!("{unreadable} unreadable"), Mood::Bad),
    }
}
