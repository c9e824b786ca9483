//! Compiles the spec's folder into the resolved layout.

use std::path::Path;

use crate::check::check;
use crate::diagnostic::Diagnostic;
use crate::files::Files;
use crate::freshness::fingerprint;
use crate::layout::Layout;
use crate::load::{Spec, load};
use crate::origin::Origin;
use crate::reconcile::{Reconciliation, reconcile};
use crate::resolve::resolve;

/// The result of compiling the spec.
#[derive(Debug)]
pub struct Compiled {
    /// The files, for locating places in diagnostics.
    pub files: Files,
    /// The spec, if all files are well-formed.
    pub spec: Option<Spec>,
    /// The claims and disagreements, if there is a spec.
    pub reconciliation: Option<Reconciliation>,
    /// All faults. There is a layout only if this list is empty.
    pub faults: Vec<Diagnostic>,
}

/// Reads, reconciles and checks the spec in a folder, and reports all faults at once.
#[must_use]
pub fn compile(folder: &Path) -> Compiled {
    compile_with(&Origin::Folder(folder.to_owned()), None)
}

/// Like [`compile`], but from any origin, and merges an optional overlay into the spec, file by
/// file. An overlay is a folder with the same structure that contains only changes.
#[must_use]
pub fn compile_with(origin: &Origin, overlay: Option<&Path>) -> Compiled {
    let (files, spec) = load(origin, overlay);
    let (spec, reconciliation, faults) = match spec {
        Err(faults) => (None, None, faults),
        Ok(spec) => {
            let (reconciliation, found) = reconcile(&spec);
            let faults = check(&files, &spec, &reconciliation.claims, found);
            (Some(spec), Some(reconciliation), faults)
        }
    };
    Compiled {
        files,
        spec,
        reconciliation,
        faults,
    }
}

impl Compiled {
    /// Returns the resolved layout, if there are no faults.
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

/// Returns whether the resolved layout depends on a file.
fn is_input(path: &str) -> bool {
    let folders = ["records/", "grammar/"];
    folders.iter().any(|folder| path.starts_with(folder))
        || matches!(path, "format.yaml" | "enums.yaml" | "constants.yaml")
}
