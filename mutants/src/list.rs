//! The list of mutants, as `cargo mutants --list --json` has it.

use serde::Deserialize;

/// One change of the source that a test should notice.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Mutant {
    /// What the tool calls it: place and change.
    pub(crate) name: String,
    /// The package whose source it changes.
    pub(crate) package: String,
    /// The file, from the workspace's folder.
    pub(crate) file: String,
    /// Which kind of change it is.
    pub(crate) genre: Genre,
    /// What stands in place of [`Mutant::span`].
    pub(crate) replacement: String,
    /// What is replaced.
    pub(crate) span: Span,
}

/// What is changed.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Hash)]
pub(crate) enum Genre {
    /// A function's whole body becomes one value.
    FnValue,
    /// An operator with two sides becomes another.
    BinaryOperator,
    /// An operator with one side is deleted.
    UnaryOperator,
    /// An arm of a match is deleted.
    MatchArm,
    /// An arm's condition becomes true or false.
    MatchArmGuard,
    /// A field of a struct expression with a base is left to the base.
    StructField,
}

/// A stretch of a file.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct Span {
    /// Where it begins.
    pub(crate) start: Place,
}

/// A place in a file: lines and columns (in characters) from 1.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Place {
    /// The line.
    pub(crate) line: usize,
    /// The column.
    pub(crate) column: usize,
}

impl From<proc_macro2::LineColumn> for Place {
    fn from(at: proc_macro2::LineColumn) -> Self {
        Self {
            line: at.line,
            column: at.column + 1,
        }
    }
}
