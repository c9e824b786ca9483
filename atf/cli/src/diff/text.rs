//! Writes a comparison as a human-readable table.

use std::io::Write;

use atf_analyze::{Spread, Subject};

use super::{Shown, shown_name, state};
use crate::output::{Colours, Failure, write_problems};
use crate::report::{Listed, Modules};
use crate::text::{Printable, Span};

pub(super) fn write(
    mut out: impl Write,
    colours: Colours,
    shown: &Shown<'_>,
) -> Result<(), Failure> {
    let Colours { strong, dim, .. } = colours;
    let [before, after] = shown.sums();
    let change_ns = i128::from(after.median) - i128::from(before.median);
    writeln!(
        out,
        "{strong}all functions{strong:#}: {} before, {} after, {} ({} %)",
        spread(&before),
        spread(&after),
        signed(change_ns),
        percent(change_ns, before.median),
    )?;
    for (side, runs) in shown.sides() {
        for (about, totals) in runs {
            let path = Printable(about.path.display());
            let sums = about.summed(totals);
            writeln!(out, "{strong}{side:<6} {path}{strong:#}: {sums}")?;
            write_problems(&mut out, colours, &about.problems)?;
        }
    }
    let times = if shown.is_single() { 11 } else { 25 };
    writeln!(
        out,
        "{dim}{:>12} {:>8} {:>times$} {:>times$} {:>12} {:>12} {:>12} {:>12}  function{dim:#}",
        "change",
        "%",
        "self before",
        "self after",
        "total before",
        "total after",
        "calls before",
        "calls after",
    )?;
    let subjects = shown.rows.iter().map(|row| &row.subject);
    let modules = Modules::new(subjects.map(listed));
    for row in &shown.rows {
        write!(
            out,
            "{:>12} {:>8} {:>times$} {:>times$} {:>12} {:>12} {:>12} {:>12}  {}",
            signed(row.change_ns()),
            percent(row.change_ns(), row.before.self_ns.median),
            spread(&row.before.self_ns),
            spread(&row.after.self_ns),
            Span(row.before.total_ns.median),
            Span(row.after.total_ns.median),
            row.before.calls.median,
            row.after.calls.median,
            shown_name(&row.subject),
        )?;
        write!(out, "{}", modules.after_name(listed(&row.subject)))?;
        match state(row) {
            "changed" => writeln!(out)?,
            state => writeln!(out, "  ({state})")?,
        }
    }
    for omitted in shown.omitted() {
        writeln!(out, "{dim}… {omitted}{dim:#}")?;
    }
    if shown.is_single() {
        let percent = shown.noise_percent;
        writeln!(
            out,
            "noise: up to {percent} % of the greater value. This is assumed: single runs do not tell how much \
             runs vary"
        )?;
    } else {
        let (luck, of) = shown.diff.luck();
        writeln!(
            out,
            "noise: the ranges before and after overlap. By chance, those of {luck} in {of} unchanged functions \
             do not overlap"
        )?;
    }
    Ok(out.flush()?)
}

/// Returns a function for [`Modules`]. No id is needed, because the module's file name
/// distinguishes functions with the same name.
fn listed(subject: &Subject) -> Listed<'_> {
    match subject {
        Subject::Named { name, module, .. } => (Some(name), module.as_deref(), 0),
        _ => (None, None, 0),
    }
}

/// Formats a change in nanoseconds with its sign.
fn signed(change_ns: i128) -> String {
    let sign = if change_ns < 0 { '-' } else { '+' };
    // Both times have 64 bits.
    let ns = u64::try_from(change_ns.unsigned_abs()).unwrap_or(u64::MAX);
    format!("{sign}{}", Span(ns))
}

/// Formats how times vary between runs.
fn spread(times: &Spread) -> String {
    if times.min == times.max {
        Span(times.median).to_string()
    } else {
        format!("{} … {}", Span(times.min), Span(times.max))
    }
}

/// Formats a change in percent of the time before it.
fn percent(change_ns: i128, before_ns: u64) -> String {
    match before_ns {
        0 => "-".to_owned(),
        before_ns => format!("{:+.1}", change_ns as f64 * 100.0 / before_ns as f64),
    }
}
