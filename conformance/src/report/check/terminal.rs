//! Text: a line for each file, its findings below, a summary at the end.

use std::io::{self, Write};
use std::path::Path;

use anstyle::{AnsiColor, Style};

use crate::finding::{FileReport, Finding, Place, Summary, Verdict};
use crate::report::printable::{Printable, counted};
use crate::rules::Severity;

/// Writes reports as text. Colours are for `out` to keep or to drop.
#[derive(Debug)]
pub struct Terminal<W> {
    out: W,
}

impl<W: Write> Terminal<W> {
    /// A report that goes to `out`.
    pub const fn new(out: W) -> Self {
        Self { out }
    }

    /// Writes a file's report.
    ///
    /// # Errors
    ///
    /// Where `out` fails.
    pub fn file(&mut self, report: &FileReport) -> io::Result<()> {
        let verdict = report.verdict();
        let style = Style::new().bold().fg_color(Some(
            match verdict {
                Verdict::Accept => AnsiColor::Green,
                Verdict::Recover => AnsiColor::Yellow,
                Verdict::Reject => AnsiColor::Red,
            }
            .into(),
        ));
        write!(
            self.out,
            "{}: {style}{}{style:#}",
            Printable(report.path.display()),
            verdict.name()
        )?;
        for (count, noun) in [(report.events, "event"), (report.details, "detail")] {
            if let Some(count) = count {
                write!(self.out, ", {}", counted(count, noun))?;
            }
        }
        writeln!(self.out)?;
        for finding in report.findings() {
            self.finding(finding)?;
        }
        Ok(())
    }

    fn finding(&mut self, finding: &Finding) -> io::Result<()> {
        let severity = finding.rule.severity;
        let style = match severity {
            Severity::Must => Style::new().bold().fg_color(Some(AnsiColor::Red.into())),
            Severity::Should => Style::new().fg_color(Some(AnsiColor::Yellow.into())),
            Severity::Advice => Style::new().dimmed(),
        };
        let name = severity.name();
        write!(self.out, "  {style}{name:6}{style:#} {}  ", finding.rule.id)?;
        write!(
            self.out,
            "{}{}",
            place(&finding.place),
            Printable(&finding.message)
        )?;
        if let Some(next) = finding.more.first() {
            let field = Printable(&next.field);
            write!(
                self.out,
                "; {} times in all, next at {field}",
                finding.count
            )?;
        }
        writeln!(self.out)
    }

    /// Writes that a path could not be read.
    ///
    /// # Errors
    ///
    /// Where `out` fails.
    pub fn unreadable(&mut self, path: &Path, why: &str) -> io::Result<()> {
        let style = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
        writeln!(
            self.out,
            "{}: {style}unreadable{style:#}: {}",
            Printable(path.display()),
            Printable(why)
        )
    }

    /// Writes the summary.
    ///
    /// # Errors
    ///
    /// Where `out` fails.
    pub fn finish(&mut self, summary: &Summary) -> io::Result<()> {
        let Summary {
            files,
            accept,
            recover,
            reject,
            events,
            details,
            must,
            should,
            advice,
            unreadable,
        } = *summary;
        if files > 0 {
            writeln!(
                self.out,
                "\n{}: {accept} accept, {recover} recover, {reject} reject; {}, {}",
                counted(files, "file"),
                counted(events, "event"),
                counted(details, "detail"),
            )?;
            writeln!(
                self.out,
                "rules broken: {must} must, {should} should; {advice} advice"
            )?;
        }
        if unreadable > 0 {
            writeln!(
                self.out,
                "{} could not be read",
                counted(unreadable, "path")
            )?;
        }
        self.out.flush()
    }
}

/// `footer.checksum (at 0x70c4): `, as much of it as there is.
fn place(place: &Place) -> String {
    match (place.field.as_str(), place.offset) {
        ("", None) => String::new(),
        ("", Some(offset)) => format!("at {offset:#x}: "),
        (field, None) => format!("{}: ", Printable(field)),
        (field, Some(offset)) => format!("{} (at {offset:#x}): ", Printable(field)),
    }
}
