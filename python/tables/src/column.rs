//! Columns of tables.

use arrow_schema::{DataType, Field};

/// A column of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Column {
    /// The column's name.
    pub name: &'static str,
    /// The type of its values.
    pub kind: ColumnKind,
    /// The meaning of a value, with its unit.
    pub about: &'static str,
    /// The meaning of a null; `None` if the column has no nulls.
    pub null: Option<&'static str>,
    /// The source of the value: `index_event.timestamp_ns` for a field of a record,
    /// `manifest.json`, or a description of the computation.
    pub source: &'static str,
}

/// The type of a column's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ColumnKind {
    /// A number: `Int64`. 64-bit fields keep their bits, so values of 2⁶³ or more become negative.
    Number,
    /// A function name: a dictionary of `Utf8` with `Int32` keys, the same dictionary in every
    /// batch.
    Name,
    /// One of these words: a dictionary of `Utf8` with `Int8` keys, the same dictionary in every
    /// batch.
    Word(&'static [&'static str]),
    /// Text: `Utf8`.
    Text,
    /// Bytes: `Binary`.
    Bytes,
    /// Yes or no: `Boolean`.
    Flag,
}

impl Column {
    pub(crate) const fn new(
        name: &'static str,
        kind: ColumnKind,
        about: &'static str,
        source: &'static str,
    ) -> Self {
        Self {
            name,
            kind,
            about,
            null: None,
            source,
        }
    }

    pub(crate) const fn number(
        name: &'static str,
        about: &'static str,
        source: &'static str,
    ) -> Self {
        Self::new(name, ColumnKind::Number, about, source)
    }

    pub(crate) const fn text(
        name: &'static str,
        about: &'static str,
        source: &'static str,
    ) -> Self {
        Self::new(name, ColumnKind::Text, about, source)
    }

    /// Allows nulls in the column, with this meaning.
    pub(crate) const fn or_null(mut self, meaning: &'static str) -> Self {
        self.null = Some(meaning);
        self
    }

    /// Returns the column's field in a schema, with dictionaries or plain text.
    #[must_use]
    pub fn field(&self, dictionaries: bool) -> Field {
        let kind = self.kind.data_type(dictionaries);
        Field::new(self.name, kind, self.null.is_some())
    }
}

impl ColumnKind {
    /// Returns the column's Arrow type, with dictionaries or plain text.
    #[must_use]
    pub fn data_type(self, dictionaries: bool) -> DataType {
        let dictionary =
            |keys: DataType| DataType::Dictionary(Box::new(keys), Box::new(DataType::Utf8));
        match self {
            Self::Number => DataType::Int64,
            Self::Name if dictionaries => dictionary(DataType::Int32),
            Self::Word(_) if dictionaries => dictionary(DataType::Int8),
            Self::Name | Self::Word(_) | Self::Text => DataType::Utf8,
            Self::Bytes => DataType::Binary,
            Self::Flag => DataType::Boolean,
        }
    }
}
