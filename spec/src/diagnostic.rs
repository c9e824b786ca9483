//! Faults in the spec's files, and their places.

/// Identifies a loaded file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct FileId(pub u32);

/// A range of bytes in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Place {
    /// The file.
    pub file: FileId,
    /// The first byte's offset.
    pub start: u32,
    /// The offset after the last byte.
    pub end: u32,
}

/// A fault: a message, its place, and related places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The place of the fault.
    pub place: Place,
    /// The message, as one sentence.
    pub message: String,
    /// The text under the caret.
    pub label: Option<String>,
    /// Other places that are involved in the fault, each with a label.
    pub related: Vec<(Place, String)>,
    /// Advice on how to fix the fault.
    pub help: Option<String>,
}

impl Diagnostic {
    /// Creates a fault at a place.
    #[must_use]
    pub fn error(place: Place, message: impl Into<String>) -> Self {
        Self {
            place,
            message: message.into(),
            label: None,
            related: Vec::new(),
            help: None,
        }
    }

    /// Sets the text under the caret.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// Adds another place that is involved in the fault.
    #[must_use]
    pub fn related(mut self, place: Place, label: impl Into<String>) -> Self {
        self.related.push((place, label.into()));
        self
    }

    /// Sets the advice on how to fix the fault.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}
