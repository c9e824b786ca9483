//! The text report: one line per file with its findings below, and a summary at the end.

use std::io::{self, Write};
use std::path::Path;

use anstyle::{AnsiColor, Style};

use super::{Sink, words};
use crate::printable::{Printable, counted};
use atf::check::{FileReport, Finding, Summary, Verdict};
use atf::rules::Severity;

/// A report in coloured text. `out` may strip the colours.
pub(super) struct Terminal<W> {
    pub(super) out: W,
}

impl<W: Write> Terminal<W> {
    fn finding(&mut self, finding: &Finding) -> io::Result<()> {
        let severity = finding.rule.severity;
        let style = match severity {
            Severity::Must => Style::new().bold().fg_color(Some(AnsiColor::Red.into())),
            Severity::Should => Style::new().fg_color(Some(AnsiColor::Yellow.into())),
            Severity::Advice => Style::new().dimmed(),
        };
        let name = severity.name();
        let (id, what) = (finding.rule.id, words::problem(finding));
        writeln!(self.out, "  {style}{name:6}{style:#} {id}  {what}")
    }
}

impl<W: Write> Sink for Terminal<W> {
    fn file(&mut self, report: &FileReport) -> io::Result<()> {
        let verdict = report.verdict();
        let findings = report.findings();
        let colour = match verdict {
            Verdict::Accept => AnsiColor::Green,
            Verdict::Recover => AnsiColor::Yellow,
            Verdict::Reject => AnsiColor::Red,
        };
        let style = Style::new().bold().fg_color(Some(colour.into()));
        let state = if report.is_absent() {
            "missing"
        } else {
            verdict.name()
        };
        let path = Printable(report.path.display());
        write!(self.out, "{path}: {style}{state}{style:#}")?;
        for (count, noun) in [(report.events, "event"), (report.details, "detail")] {
            if let Some(count) = count {
                write!(self.out, ", {}", counted(count, noun))?;
            }
        }
        if report.missing > 0 {
            write!(self.out, ", {} missing", report.missing)?;
        }
        writeln!(self.out)?;
        for finding in findings {
            self.finding(finding)?;
        }
        Ok(())
    }

    fn unreadable(&mut self, path: &Path, why: &str) -> io::Result<()> {
        let style = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
        let (path, why) = (Printable(path.display()), Printable(why));
        writeln!(self.out, "{path}: {style}unreadable{style:#}: {why}")
    }

    fn finish(&mut self, summary: &Summary) -> io::Result<()> {
        let Summary {
            files,
            absent,
            accept,
            recover,
            reject,
            events,
            details,
            missing,
            must,
            should,
            advice,
            unreadable,
            ..
        } = *summary;
        if files > 0 {
            write!(
                self.out,
                "\n{}: {accept} accept, {recover} recover, {reject} reject; {}, {}",
                counted(files, "file"),
                counted(events, "event"),
                counted(details, "detail"),
            )?;
            if missing > 0 {
                write!(self.out, "; {} missing", counted(missing, "event"))?;
            }
            match absent {
                0 => writeln!(self.out)?,
                1 => writeln!(self.out, "; no manifest.json")?,
                _ => writeln!(self.out, "; {absent} sessions without manifest.json")?,
            }
            writeln!(
                self.out,
                "rules broken: {must} must, {should} should; {advice} advice"
            )?;
        }
        if unreadable > 0 {
            let paths = counted(unreadable, "path");
            writeln!(self.out, "{paths} could not be read")?;
        }
        self.out.flush()
    }
}
