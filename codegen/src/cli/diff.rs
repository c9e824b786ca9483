//! `spec diff`: shows the differences between two wire versions.

use std::fmt::Write as _;
use std::io;

use atf_spec::difference::{Difference, differences};
use atf_spec::layout::Wire;

use super::{Context, invalid};

/// Options of `spec diff`.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  $ atf-codegen spec diff 1 2")]
pub(super) struct Options {
    /// First wire version
    from: Wire,
    /// Second wire version
    to: Wire,
}

pub(super) fn run(options: &Options, context: &Context<'_>) -> io::Result<String> {
    let (layout, from, to) = (&context.layout, options.from, options.to);
    for wire in [from, to] {
        if !layout.wires.contains(&wire) {
            let known: Vec<String> = layout.wires.iter().map(Wire::to_string).collect();
            let known = known.join(" and ");
            let why = format!("there is no wire version {wire}, only {known}");
            return Err(invalid(why));
        }
    }
    let mut out = String::new();
    for record in &layout.records {
        let differences = differences(record, &[from, to]);
        if differences.is_empty() {
            let _ = writeln!(out, "{}: the same", record.name);
            continue;
        }
        let _ = writeln!(out, "{}:", record.name);
        for Difference { name, versions } in differences {
            let _ = match versions.as_slice() {
                [Some(old), Some(new)] => writeln!(out, "  ~ {name:14} {old} → {new}"),
                [Some(old), _] => writeln!(out, "  - {name:14} {old}"),
                [_, Some(new)] => writeln!(out, "  + {name:14} {new}"),
                _ => Ok(()),
            };
        }
    }
    for constant in &layout.constants {
        let value = |wire| constant.values.iter().find(|value| value.wire == wire);
        if let (Some(old), Some(new)) = (value(from), value(to))
            && old.value != new.value
        {
            let [old, new] = [old, new].map(|it| format!("{} {:#x}", it.scalar.name(), it.value));
            let _ = writeln!(out, "{}: {old} → {new}", constant.name);
        }
    }
    Ok(out)
}
