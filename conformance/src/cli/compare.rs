//! `compare`: shows what a later run fixed and broke.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use atf_conformance::compare::Run;

use super::ended;

const AFTER_HELP: &str = "\
Cases that both runs skipped or passed are not shown. `new` is a failure of a case that the earlier
run did not grade, for example because its corpus did not have it.

Exit status: 0 nothing is broken that passed before; 1 something is; 2 usage error, a report cannot
be read, or no implementation has the same name in both.

Example:
  $ atf-conformance run my-reader/TESTEE.toml --report json=new.json
  $ atf-conformance compare old.json new.json";

#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Options {
    /// The JSON report of the earlier run
    #[arg(value_name = "OLD.json")]
    old: PathBuf,
    /// The JSON report of the later run
    #[arg(value_name = "NEW.json")]
    new: PathBuf,
}

pub(super) fn run(options: &Options) -> ExitCode {
    ended(compare(options))
}

fn compare(options: &Options) -> io::Result<u8> {
    let (old, new) = (Run::open(&options.old)?, Run::open(&options.new)?);
    if !old.has_implementation_of(&new) {
        let why = "no implementation has the same name in both reports";
        return Err(io::Error::other(why));
    }
    let comparison = old.compare(&new);
    let mut out = io::stdout().lock();
    write!(out, "{comparison}")?;
    out.flush()?;
    Ok(comparison.is_worse().into())
}
