//! CSV: a line of column names, then one line per function.

use std::io::Write;

use atf_analyze::Subject;
use atf_export::csv::Formulas;

use super::{Shown, shown_name, state};
use crate::output::{Failure, complain};
use crate::text::Printable;

const COLUMNS: &str = "function,function_id,module,state,change_ns,\
    calls_before_min,calls_before,calls_before_max,calls_after_min,calls_after,calls_after_max,\
    self_ns_before_min,self_ns_before,self_ns_before_max,self_ns_after_min,self_ns_after,self_ns_after_max,\
    total_ns_before_min,total_ns_before,total_ns_before_max,total_ns_after_min,total_ns_after,total_ns_after_max,\
    note";

pub(super) fn write(
    mut out: impl Write,
    formulas: Formulas,
    shown: &Shown<'_>,
) -> Result<(), Failure> {
    writeln!(out, "{COLUMNS}")?;
    for row in &shown.rows {
        let id = match row.subject {
            Subject::Unnamed { id, .. } => format!("{id:#018x}"),
            _ => String::new(),
        };
        let module = row.subject.module().unwrap_or_default();
        let name = shown_name(&row.subject);
        let module = Printable(module).to_string();
        let first = [
            formulas.text(&name),
            id.into(),
            formulas.text(&module),
            state(row).into(),
            row.change_ns().to_string().into(),
        ];
        let (before, after) = (&row.before, &row.after);
        let spreads = [
            before.calls,
            after.calls,
            before.self_ns,
            after.self_ns,
            before.total_ns,
            after.total_ns,
        ];
        let numbers = spreads.iter().flat_map(|it| [it.min, it.median, it.max]);
        let numbers = numbers.map(|it| it.to_string().into());
        let cells: Vec<_> = first.into_iter().chain(numbers).collect();
        writeln!(out, "{},", cells.join(","))?;
    }
    // Notes about missing or incorrect events are rows without a function.
    let empty = ",".repeat(COLUMNS.split(',').count() - 1);
    let mut messages = Vec::new();
    for (side, runs) in shown.sides() {
        for (about, totals) in runs {
            let sums = about.summed(totals);
            let sums = sums.has_more_than_calls().then(|| sums.to_string());
            for note in sums.iter().chain(&about.problems) {
                let path = about.path.display();
                let note = Printable(format_args!("{side} {path}: {note}")).to_string();
                writeln!(out, "{empty}{}", formulas.text(&note))?;
            }
            messages.extend(sums.map(|sums| format!("{side} {}: {sums}", about.path.display())));
        }
    }
    out.flush()?;
    // The table has no columns for these counts, so report them on standard error.
    shown.omitted().for_each(complain);
    messages.iter().for_each(complain);
    Ok(())
}
