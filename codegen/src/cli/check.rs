//! `spec check`: says that the spec is consistent. Its faults are reported in front of every
//! subcommand.

use std::io;
use std::process::ExitCode;

use super::Context;
use super::text::print;

pub(super) fn run(context: &Context<'_>) -> io::Result<ExitCode> {
    let claims: usize = context.found.claims.values().map(Vec::len).sum();
    let line = format!(
        "the spec is consistent: {claims} claims of {} sources, {} disagreements, all settled, {} rules\n",
        context.spec.sources.len(),
        context.found.disagreements.len(),
        context.spec.all_rules().count(),
    );
    print(io::stdout(), &line)?;
    Ok(ExitCode::SUCCESS)
}
