//! A step of a path into a document.

/// One step of a path into a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// A member of an object.
    Key(String),
    /// An element of an array.
    Element(usize),
    /// A number of additional elements, reported together.
    More(usize),
}

impl Step {
    /// Returns the member's name.
    #[must_use]
    pub fn key(&self) -> Option<&str> {
        match self {
            Self::Key(key) => Some(key),
            Self::Element(_) | Self::More(_) => None,
        }
    }
}
