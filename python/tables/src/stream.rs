//! Streams of record batches, how they end, and the rows of a batch.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use arrow_array::builder::{
    BinaryBuilder, BooleanBuilder, Int8Builder, Int32Builder, Int64Builder, StringBuilder,
};
use arrow_array::types::Int8Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Int8Array, RecordBatch, RecordBatchOptions, RecordBatchReader,
    StringArray,
};
use arrow_schema::{ArrowError, SchemaRef};

use crate::column::ColumnKind;
use crate::error::{Error, Incomplete, Problem};
use crate::names::Names;
use crate::options::{AtEnd, Options};
use crate::table::Table;

/// The total size in bytes of text and payloads at which a batch is full.
const MOST_BYTES: usize = 16 << 20;
/// The maximum size in bytes of a column. Arrow's offsets are 32-bit, and its builders panic if a
/// column is larger.
const HELD_BYTES: usize = i32::MAX as usize;

/// Supplies the rows of a table: adds rows until the batch is full, and returns whether there may be
/// more rows.
pub(crate) type Source = Box<dyn FnMut(&mut Rows, &mut Outcome) -> Result<bool, Error> + Send>;

/// The result of reading a table to its end.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Outcome {
    /// The number of returned rows.
    pub rows: u64,
    /// The problems that may cause missing or wrong rows.
    pub problems: Vec<Problem>,
    /// The threads whose checksum was not verified because they were read only in part.
    pub unverified: BTreeSet<u32>,
}

impl Outcome {
    /// Adds a problem of a thread, or of the session.
    pub(crate) fn add(&mut self, thread: Option<u32>, error: atf::Error) {
        self.problems.push(Problem { thread, error });
    }
}

/// A table's rows as record batches, read on demand.
///
/// Memory use does not grow with the trace: a stream keeps one batch, the names in the manifest
/// and, for the table `calls`, the open calls.
///
/// Rows are verified as they are read. If the trace is damaged or incomplete, an `Err` follows the
/// last batch unless [`AtEnd::Keep`] is set. In either case, [`outcome`](Self::outcome) lists the
/// problems.
pub struct Stream {
    source: Source,
    rows: Rows,
    at_end: AtEnd,
    found: Outcome,
    outcome: Arc<OnceLock<Outcome>>,
    may_have_more: bool,
    is_done: bool,
}

impl Stream {
    pub(crate) fn new(source: Source, rows: Rows, at_end: AtEnd, found: Outcome) -> Self {
        Self {
            source,
            rows,
            at_end,
            found,
            outcome: Arc::default(),
            may_have_more: true,
            is_done: false,
        }
    }

    /// Returns the outcome, which is set once the stream has ended.
    #[must_use]
    pub fn outcome(&self) -> Arc<OnceLock<Outcome>> {
        Arc::clone(&self.outcome)
    }

    /// Returns the next batch, or `None` at the end.
    fn batch(&mut self) -> Result<Option<RecordBatch>, Error> {
        if self.is_done {
            return Ok(None);
        }
        while self.may_have_more && !self.rows.is_full() {
            self.may_have_more = (self.source)(&mut self.rows, &mut self.found)?;
        }
        if !self.rows.is_empty() {
            let batch = self.rows.take()?;
            self.found.rows = self.found.rows.saturating_add(batch.num_rows() as u64);
            return Ok(Some(batch));
        }
        self.is_done = true;
        let found = self.outcome.get_or_init(|| std::mem::take(&mut self.found));
        if found.problems.is_empty() || self.at_end == AtEnd::Keep {
            return Ok(None);
        }
        Err(Error::Incomplete(Incomplete {
            rows: found.rows,
            problems: found.problems.clone(),
        }))
    }
}

impl Iterator for Stream {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.batch();
        self.is_done |= batch.is_err();
        batch.map_err(ArrowError::from).transpose()
    }
}

impl RecordBatchReader for Stream {
    fn schema(&self) -> SchemaRef {
        Arc::clone(self.rows.schema())
    }
}

impl std::fmt::Debug for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut stream = f.debug_struct("Stream");
        stream.field("schema", self.rows.schema());
        stream
            .field("outcome", &self.outcome)
            .finish_non_exhaustive()
    }
}

/// The value in one row of a column.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Cell<'a> {
    Null,
    Number(i64),
    /// The name of the function with this id.
    Name(u64),
    /// A string or a word.
    Text(&'a str),
    Bytes(&'a [u8]),
    Flag(bool),
}

impl From<u64> for Cell<'_> {
    /// Converts a number, keeping its bits.
    fn from(number: u64) -> Self {
        Self::Number(number.cast_signed())
    }
}

impl From<u32> for Cell<'_> {
    fn from(number: u32) -> Self {
        Self::Number(number.into())
    }
}

impl From<bool> for Cell<'_> {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl<'a> From<&'a str> for Cell<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a [u8]> for Cell<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::Bytes(bytes)
    }
}

impl<'a, T: Into<Self>> From<Option<T>> for Cell<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// The rows of the batch that is being read, with only the requested columns.
pub(crate) struct Rows {
    schema: SchemaRef,
    /// The requested columns in order, with their positions among all columns of the table.
    columns: Vec<(usize, Builder)>,
    names: Arc<Names>,
    dictionaries: bool,
    limit: usize,
    len: usize,
    bytes: usize,
}

enum Builder {
    Number(Int64Builder),
    /// The last function and its key, cached because consecutive events often have the same
    /// function.
    Name(Int32Builder, Option<(u64, Option<i32>)>),
    Word(Int8Builder, &'static [&'static str]),
    Text(StringBuilder),
    Bytes(BinaryBuilder),
    Flag(BooleanBuilder),
}

impl Rows {
    /// Creates rows with the columns of `schema`, as selected by the options.
    pub(crate) fn new(
        table: Table,
        options: &Options,
        schema: SchemaRef,
        names: &Arc<Names>,
    ) -> Result<Self, Error> {
        let wanted = options.columns_of(table)?;
        if options.batch_rows == 0 {
            return Err(Error::usage("batch_rows: must be greater than 0"));
        }
        let place = |name: &str| table.columns().iter().position(|it| it.name == name);
        let columns = wanted.into_iter().filter_map(|column| {
            let builder = Builder::new(column.kind);
            place(column.name).map(|place| (place, builder))
        });
        Ok(Self {
            schema,
            columns: columns.collect(),
            names: Arc::clone(names),
            dictionaries: options.dictionaries,
            limit: options.batch_rows,
            len: 0,
            bytes: 0,
        })
    }

    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Returns whether a column was requested.
    pub(crate) fn wants(&self, name: &str) -> bool {
        self.schema.column_with_name(name).is_some()
    }

    pub(crate) fn is_full(&self) -> bool {
        self.len >= self.limit || self.bytes >= MOST_BYTES
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds a row. `cells` must have a value for each column of the table.
    #[inline]
    pub(crate) fn push(&mut self, cells: &[Cell<'_>]) -> Result<(), Error> {
        for (place, builder) in &mut self.columns {
            let cell = cells.get(*place).copied().unwrap_or(Cell::Null);
            let size = builder.size(cell, &self.names, self.dictionaries);
            self.bytes = self.bytes.saturating_add(size);
            if self.bytes > HELD_BYTES {
                return Err(too_large(self.dictionaries));
            }
            builder.push(cell, &self.names)?;
        }
        self.len = self.len.saturating_add(1);
        Ok(())
    }

    /// Returns the rows and starts the next batch.
    pub(crate) fn take(&mut self) -> Result<RecordBatch, Error> {
        let (names, dictionaries) = (&self.names, self.dictionaries);
        let arrays = self.columns.iter_mut();
        let arrays = arrays.map(|(_, builder)| builder.take(names, dictionaries));
        let arrays = arrays.collect::<Result<Vec<_>, _>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(self.len));
        (self.len, self.bytes) = (0, 0);
        let schema = Arc::clone(&self.schema);
        Ok(RecordBatch::try_new_with_options(schema, arrays, &options)?)
    }
}

impl Builder {
    fn new(kind: ColumnKind) -> Self {
        match kind {
            ColumnKind::Number => Self::Number(Int64Builder::new()),
            ColumnKind::Name => Self::Name(Int32Builder::new(), None),
            ColumnKind::Word(words) => Self::Word(Int8Builder::new(), words),
            ColumnKind::Text => Self::Text(StringBuilder::new()),
            ColumnKind::Bytes => Self::Bytes(BinaryBuilder::new()),
            ColumnKind::Flag => Self::Flag(BooleanBuilder::new()),
        }
    }

    /// Returns the number of bytes that a variable-size value adds to the batch.
    #[inline]
    fn size(&self, cell: Cell<'_>, names: &Names, dictionaries: bool) -> usize {
        match (self, cell) {
            (Self::Name(..), Cell::Name(id)) if !dictionaries => {
                names.name(names.key(id)).map_or(0, str::len)
            }
            (Self::Text(_), Cell::Text(text)) => text.len(),
            (Self::Bytes(_), Cell::Bytes(bytes)) => bytes.len(),
            _ => 0,
        }
    }

    #[inline]
    fn push(&mut self, cell: Cell<'_>, names: &Names) -> Result<(), Error> {
        match (self, cell) {
            (Self::Number(numbers), Cell::Number(number)) => numbers.append_value(number),
            (Self::Number(numbers), Cell::Null) => numbers.append_null(),
            (Self::Name(keys, last), Cell::Name(id)) => {
                let key = match *last {
                    Some((last, key)) if last == id => key,
                    _ => names.key(id),
                };
                *last = Some((id, key));
                keys.append_option(key);
            }
            (Self::Name(keys, _), Cell::Null) => keys.append_null(),
            (Self::Word(keys, words), Cell::Text(word)) => keys.append_value(key_of(word, words)?),
            (Self::Word(keys, _), Cell::Null) => keys.append_null(),
            (Self::Text(texts), Cell::Text(text)) => texts.append_value(text),
            (Self::Text(texts), Cell::Null) => texts.append_null(),
            (Self::Bytes(all), Cell::Bytes(bytes)) => all.append_value(bytes),
            (Self::Bytes(all), Cell::Null) => all.append_null(),
            (Self::Flag(flags), Cell::Flag(flag)) => flags.append_value(flag),
            (Self::Flag(flags), Cell::Null) => flags.append_null(),
            (_, cell) => return Err(Error::Internal(format!("{cell:?} is in another column"))),
        }
        Ok(())
    }

    fn take(&mut self, names: &Names, dictionaries: bool) -> Result<ArrayRef, Error> {
        Ok(match self {
            Self::Number(numbers) => Arc::new(numbers.finish()),
            Self::Name(keys, _) => names.array(keys.finish(), dictionaries)?,
            Self::Word(keys, words) => word_array(keys.finish(), words, dictionaries)?,
            Self::Text(texts) => Arc::new(texts.finish()),
            Self::Bytes(bytes) => Arc::new(bytes.finish()),
            Self::Flag(flags) => Arc::new(flags.finish()),
        })
    }
}

fn too_large(dictionaries: bool) -> Error {
    let remedy = if dictionaries {
        "read fewer columns"
    } else {
        "read with dictionaries or fewer columns"
    };
    Error::usage(format!(
        "a batch has more than 2,147,483,647 bytes of text and payloads: {remedy}"
    ))
}

/// Returns the index of a word in a column's list of words.
#[inline]
fn key_of(word: &str, words: &[&str]) -> Result<i8, Error> {
    let key = words.iter().position(|known| *known == word);
    let key = key.and_then(|key| i8::try_from(key).ok());
    key.ok_or_else(|| Error::Internal(format!("unlisted word {word}")))
}

fn word_array(keys: Int8Array, words: &[&str], dictionaries: bool) -> Result<ArrayRef, Error> {
    if dictionaries {
        let values = Arc::new(StringArray::from_iter_values(words));
        let words = DictionaryArray::<Int8Type>::try_new(keys, values)?;
        return Ok(Arc::new(words));
    }
    let word = |key: Option<i8>| words.get(usize::try_from(key?).ok()?).copied();
    Ok(Arc::new(keys.iter().map(word).collect::<StringArray>()))
}
