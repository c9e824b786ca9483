//! The options, progress display and report shared by `recover`, `convert`, `scrub` and `cut`.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use atf::manifest::Manifest;
use atf::rewrite::{RecoverOptions, Report};
use atf::session::ProcessName;
use atf::write::Durability;

use crate::output::{Failure, Outcome, State, complain, progress_bar, stdout};
use crate::text::Printable;

/// Options of all these commands.
#[derive(clap::Args)]
pub(super) struct Common {
    /// A session, a thread's folder or a folder with sessions below it; never modified
    pub(super) path: PathBuf,
    /// The new trace; must not exist yet
    #[arg(long, value_name = "DIR")]
    pub(super) out: PathBuf,
    /// Return only when the new trace would survive power loss
    #[arg(long)]
    sync: bool,
    /// Write the report as JSON
    #[arg(long)]
    json: bool,
}

impl Common {
    /// Returns the durability of the new trace.
    pub(super) fn durability(&self) -> Durability {
        if self.sync {
            Durability::Finalize
        } else {
            Durability::None
        }
    }

    /// Runs a rewrite with a progress bar and writes its report. With `offers_salvage`, suggests
    /// `--salvage` if it would keep more.
    pub(super) fn run(
        &self,
        offers_salvage: bool,
        rewrite: impl FnOnce(&Path, &Path, &dyn Fn(u64, u64)) -> atf::Result<Report>,
    ) -> Outcome {
        // A single file cannot be rewritten.
        let metadata = fs::metadata(&self.path).map_err(|error| Failure::at(&self.path, error))?;
        if !metadata.is_dir() {
            let message = "is a file; pass its thread's folder or its session";
            return Err(Failure::at(&self.path, message));
        }
        let bar = progress_bar(Some(0), "{bar:40} {bytes} of {total_bytes}, {eta} left");
        let report = rewrite(&self.path, &self.out, &|done, total| {
            bar.set_length(total);
            bar.set_position(done);
        });
        bar.finish_and_clear();
        let report = report.map_err(|error| self.failure(error))?;
        let mut out = stdout();
        if self.json {
            serde_json::to_writer_pretty(&mut out, &report)?;
            writeln!(out)?;
        } else {
            for line in report.to_string().lines() {
                writeln!(out, "{}", Printable(line))?;
            }
            writeln!(out, "written to {}", Printable(self.out.display()))?;
            if offers_salvage && report.is_salvageable() {
                let hint =
                    "to keep events in files with damaged headers, after gaps and after damage";
                writeln!(out, "{hint}, run again with --salvage and another --out")?;
            }
        }
        out.flush()?;
        if self.is_beside() {
            let (path, out) = (self.path.display(), self.out.display());
            complain(format_args!(
                "{out} is next to {path}: commands on their parent folder read both"
            ));
        }
        Ok(State::damaged_if(report.losses() > 0))
    }

    /// Returns whether the new trace is in the same folder as the original, among the processes of
    /// its recording.
    fn is_beside(&self) -> bool {
        let folders = [&self.path, &self.out].map(|path| {
            let path = fs::canonicalize(path).ok()?;
            path.parent().map(Path::to_owned)
        });
        ProcessName::from_path(&self.path).is_some() && folders[0] == folders[1]
    }

    /// Converts an error to a failure. If the new trace could not be written, reports the
    /// system's error without the temporary file name.
    fn failure(&self, error: atf::Error) -> Failure {
        let is_about_input = error
            .path()
            .is_some_and(|path| path.starts_with(&self.path));
        match std::error::Error::source(&error) {
            Some(system) if !is_about_input => {
                let why = format_args!("cannot be written: {system}; no output was left");
                Failure::at(&self.out, why)
            }
            _ => Failure::Input(error),
        }
    }
}

/// Options of `recover` and `convert`.
#[derive(clap::Args)]
pub(super) struct Repair {
    /// Also search past gaps and damaged regions
    #[arg(long)]
    salvage: bool,
    /// Take missing function and module names from this manifest
    #[arg(long, value_name = "MANIFEST")]
    symbols: Option<PathBuf>,
}

impl Repair {
    /// Runs a rewrite with these options.
    pub(super) fn run(
        &self,
        common: &Common,
        rewrite: impl FnOnce(&Path, &Path, &RecoverOptions<'_>) -> atf::Result<Report>,
    ) -> Outcome {
        let options = RecoverOptions::default()
            .salvage(self.salvage)
            .symbols(self.manifest()?)
            .durability(common.durability());
        common.run(!self.salvage, |path, out, progress| {
            rewrite(path, out, &options.progress(Some(progress)))
        })
    }

    /// Reads another run's manifest, reports its problems and returns its readable part, if any.
    fn manifest(&self) -> Result<Option<Manifest>, Failure> {
        let Some(path) = &self.symbols else {
            return Ok(None);
        };
        let manifest = Manifest::open(path).map_err(|error| Failure::Usage(error.to_string()))?;
        if manifest.symbols.is_empty() && manifest.modules.is_empty() {
            return Err(Failure::Usage(match manifest.problems.first() {
                Some(problem) => problem.to_string(),
                None => format!("{}: has no modules and no symbols", path.display()),
            }));
        }
        manifest.problems.iter().take(3).for_each(complain);
        Ok(Some(manifest))
    }
}
