//! Writes a comparison as a human-readable table.

use std::io::Write;

use atf::analyze::{Change, Spread, Subject};

use super::{Shown, shown_name, state};
use crate::output::{Colours, Failure, write_problems};
use crate::report::{Listed, Modules};
use crate::text::{Counted, Printable, Span};

/// Writes a comparison.
pub(super) fn write(
    mut out: impl Write,
    colours: Colours,
    shown: &Shown<'_>,
) -> Result<(), Failure> {
    let Colours { strong, dim, .. } = colours;
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
    let modules = Modules::of(subjects.map(listed));
    for row in &shown.rows {
        let sign = if row.change_ns() < 0 { '-' } else { '+' };
        let difference_ns = row.before.self_ns.median.abs_diff(row.after.self_ns.median);
        let change = format!("{sign}{}", Span(difference_ns));
        let spread = |spread: &Spread| {
            if spread.min == spread.max {
                Span(spread.median).to_string()
            } else {
                format!("{} … {}", Span(spread.min), Span(spread.max))
            }
        };
        write!(
            out,
            "{change:>12} {:>8} {:>times$} {:>times$} {:>12} {:>12} {:>12} {:>12}  {}",
            percent(row),
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
    for (count, how) in [
        (shown.more, "not shown; --limit 0 shows all"),
        (shown.noise, "within the noise not shown; --all shows them"),
    ] {
        if count > 0 {
            writeln!(out, "{dim}… {} {how}{dim:#}", Counted(count, "function"))?;
        }
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

/// Returns the change of a row's self time, in percent.
fn percent(row: &Change) -> String {
    match row.before.self_ns.median {
        0 => "-".to_owned(),
        before => format!("{:+.1}", row.change_ns() as f64 * 100.0 / before as f64),
    }
}
