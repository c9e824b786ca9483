//! `spec check`: checks that the spec is consistent, and compares its claims with the documents.
//! Faults in the spec itself are reported first, as in every subcommand.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use atf_spec::Compiled;
use atf_spec::origin::Origin;
use atf_spec::text;

use super::{Context, invalid, print, refuse};

/// Options of `spec check`.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  $ atf-codegen spec check")]
pub(super) struct Options {
    /// Compare the claims with the source documents in this folder, line by line
    #[arg(long, value_name = "DIR")]
    sources: Option<PathBuf>,
    /// Write the documents' digests to spec/digests.yaml, after reviewing the claims against their
    /// lines
    #[arg(long, requires = "sources")]
    bless: bool,
}

pub(super) fn run(options: &Options, context: &Context<'_>) -> io::Result<ExitCode> {
    let compiled = context.compiled;
    let mut line = String::new();
    if let Some(folder) = &options.sources {
        let faults = text::compare(context.spec, folder);
        if !faults.is_empty() {
            return refuse(&compiled.files, &faults);
        }
        let sources = context.spec.sources.iter();
        let lines = sources.filter_map(|source| Some(source.text.as_ref()?.lines.value));
        let lines: u32 = lines.sum();
        line = format!("all {lines} lines of the documents match the claims\n");
    }
    let claims: usize = context.found.claims.values().map(Vec::len).sum();
    line = format!(
        "the spec is consistent: {claims} claims of {} sources, {} disagreements, all settled, {} rules\n{line}",
        context.spec.sources.len(),
        context.found.disagreements.len(),
        context.spec.all_rules().count(),
    );
    print(io::stdout(), &line)?;
    Ok(ExitCode::SUCCESS)
}

/// Writes the digests. This happens before the spec's faults are reported, because stale digests
/// would be among them. Returns `None` if `--bless` is not set or the spec is malformed.
pub(super) fn bless(
    options: &Options,
    compiled: &Compiled,
    origin: &Origin,
    has_overlay: bool,
) -> io::Result<Option<ExitCode>> {
    let (true, Some(folder), Some(known)) = (options.bless, &options.sources, &compiled.spec)
    else {
        return Ok(None);
    };
    let Origin::Folder(spec) = origin else {
        let why = "--bless writes spec/digests.yaml, so it needs a checkout";
        return Err(invalid(why));
    };
    if has_overlay {
        let why = "--bless writes the official digests, so it cannot be used with --overlay";
        return Err(invalid(why));
    }
    match text::digests(known, folder) {
        Ok(yaml) => fs::write(spec.join("digests.yaml"), yaml)?,
        Err(faults) => return refuse(&compiled.files, &faults).map(Some),
    }
    print(io::stdout(), "spec/digests.yaml matches these documents\n")?;
    Ok(Some(ExitCode::SUCCESS))
}
