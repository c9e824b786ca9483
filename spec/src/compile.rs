//! The whole way from the folder to the resolved layout.

use std::path::Path;

use crate::check::check;
use crate::diagnostic::{Diagnostic, Files};
use crate::freshness::fingerprint;
use crate::layout::Layout;
use crate::load::{Loaded, Spec, load};
use crate::reconcile::{Reconciliation, reconcile};
use crate::resolve::resolve;

/// What compiling found.
#[derive(Debug)]
pub struct Compiled {
    /// The files, for the places in diagnostics.
    pub files: Files,
    /// The spec, if all files have the right form.
    pub spec: Option<Spec>,
    /// Claims and disagreements, if there is a spec.
    pub reconciliation: Option<Reconciliation>,
    /// All faults. Only without any is there a layout.
    pub faults: Vec<Diagnostic>,
}

/// Reads, reconciles and checks the spec in a folder, and reports all faults in one go.
#[must_use]
pub fn compile(folder: &Path) -> Compiled {
    let Loaded { files, spec } = load(folder);
    match spec {
        Err(faults) => Compiled {
            files,
            spec: None,
            reconciliation: None,
            faults,
        },
        Ok(spec) => {
            let mut reconciliation = reconcile(&spec);
            let found = std::mem::take(&mut reconciliation.faults);
            let faults = check(&files, &spec, &reconciliation.claims, found);
            Compiled {
                files,
                spec: Some(spec),
                reconciliation: Some(reconciliation),
                faults,
            }
        }
    }
}

impl Compiled {
    /// The resolved layout, if there is no fault.
    #[must_use]
    pub fn layout(&self) -> Option<Layout> {
        let spec = self.spec.as_ref().filter(|_| self.faults.is_empty())?;
        let mut layout = resolve(spec);
        let inputs = self.files.iter().filter(|file| is_input(&file.path));
        layout.inputs = inputs
            .map(|file| (file.path.clone(), fingerprint(&file.text)))
            .collect();
        Some(layout)
    }
}

/// Whether the resolved layout depends on what a file says.
fn is_input(path: &str) -> bool {
    path.starts_with("records/") || matches!(path, "format.yaml" | "enums.yaml" | "constants.yaml")
}
