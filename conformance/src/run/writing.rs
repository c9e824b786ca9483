//! Scripts for writers.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::task::{Ended, Smoke, Task};
use super::{Graded, failed};
use crate::protocol::{Broken, Feature, Manifest, exit};
use crate::results::{Failure, Outcome, Role};
use crate::scripts::{Scripted, scripts};
use crate::written;

/// A script, to be written.
#[derive(Debug)]
pub struct Writing {
    scripted: Arc<Scripted>,
    rules: Vec<String>,
    needs: Vec<Feature>,
}

/// Each script of both wire versions.
#[must_use]
pub fn writings() -> Vec<Box<dyn Smoke>> {
    let all = [1, 2].into_iter().flat_map(scripts);
    all.map(|scripted| Box::new(Writing::new(scripted)) as Box<dyn Smoke>)
        .collect()
}

impl Writing {
    /// A script as something that a writer is asked for.
    #[must_use]
    pub fn new(scripted: Scripted) -> Self {
        let rules = scripted.rules.iter().map(|rule| (*rule).to_owned());
        let details = scripted.script.has_details().then_some(Feature::Detail);
        Self {
            rules: rules.collect(),
            needs: [Some(Feature::Index), details]
                .into_iter()
                .flatten()
                .collect(),
            scripted: Arc::new(scripted),
        }
    }
}

impl Task for Writing {
    fn role(&self) -> Role {
        Role::Write
    }

    fn name(&self) -> &str {
        &self.scripted.name
    }

    fn wire(&self) -> u8 {
        self.scripted.wire
    }

    fn needs(&self) -> &[Feature] {
        &self.needs
    }

    fn rules(&self) -> &[String] {
        &self.rules
    }

    fn note(&self) -> &str {
        self.scripted.note
    }

    fn writes(&self, place: &Path) -> Option<(&Arc<Scripted>, PathBuf)> {
        Some((&self.scripted, out(place)))
    }

    fn prepare(&self, place: &Path) -> io::Result<Vec<(&'static str, PathBuf)>> {
        let (script, out) = (place.join("script.txt"), out(place));
        fs::write(&script, self.scripted.to_string())?;
        fs::create_dir(&out)?;
        Ok(vec![("script", script), ("out", out)])
    }

    fn grade(&self, manifest: &Manifest, ended: &Ended, place: &Path) -> Graded {
        let outcome = match is_done(ended) {
            Err(Broken { class, message }) => failed(class, message),
            Ok(false) => Outcome::Skipped {
                why: "exit code 77".to_owned(),
            },
            Ok(true) => {
                let features = manifest.features.iter();
                let features: Vec<_> = features.map(|f| f.name().to_owned()).collect();
                return written::grade(&self.scripted, &features, &out(place));
            }
        };
        Graded {
            outcome,
            notes: Vec::new(),
        }
    }
}

impl Smoke for Writing {
    fn is_smoke(&self) -> bool {
        !self.scripted.script.aborts()
    }

    fn check_form(&self, ended: &Ended) -> Result<bool, Broken> {
        is_done(ended)
    }
}

/// Whether a writer says that all was written, or that it does not support the script.
fn is_done(ended: &Ended) -> Result<bool, Broken> {
    let code = ended.exit_code()?;
    match u8::try_from(code) {
        Ok(exit::DONE) => Ok(true),
        Ok(exit::UNSUPPORTED) => Ok(false),
        _ => Err(Broken {
            class: Failure::Crash,
            message: format!("exit code {code}, not all was written"),
        }),
    }
}

/// The folder that a writer fills.
fn out(place: &Path) -> PathBuf {
    place.join("out")
}
