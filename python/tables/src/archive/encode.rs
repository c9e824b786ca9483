//! Encodes rows of the tables `events` and `details` as the records of a thread's files.

use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int64Type};
use arrow_array::{Array, BinaryArray, Int8Array, Int64Array, RecordBatch};
use atf::detail::{DetailEventHeader, FunctionPayload};
use atf::index::IndexEvent;
use atf::{DetailEventType, EventKind, Wire};

use crate::table::Table;

/// The columns of the registers for arguments and return values.
const X_REGS: [&str; 8] = ["x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7"];

/// The properties of records that are the same for all rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Encoding {
    pub(super) wire: Wire,
    pub(super) thread_id: u32,
}

/// The columns of a batch from which its rows are encoded.
pub(super) enum Records {
    Events(Box<Events>),
    Details(Box<Details>),
}

pub(super) struct Events {
    time_ns: Int64Array,
    kind: Words,
    function_id: Int64Array,
    depth: Int64Array,
    detail_seq: Int64Array,
}

pub(super) struct Details {
    seq: Int64Array,
    time_ns: Int64Array,
    kind: Words,
    payload_size: Int64Array,
    function_id: Int64Array,
    /// The columns [`X_REGS`].
    x: Vec<Int64Array>,
    lr: Int64Array,
    fp: Int64Array,
    sp: Int64Array,
    stack: BinaryArray,
    payload: BinaryArray,
}

impl Records {
    /// Returns the names of the table columns from which records are encoded.
    pub(super) fn columns(table: Table) -> Vec<&'static str> {
        let others: &[&str] = match table {
            Table::Events => &["thread", "seq", "function"],
            _ => &["thread", "detail_seq"],
        };
        let names = table.columns().iter().map(|column| column.name);
        names.filter(|name| !others.contains(name)).collect()
    }

    /// Extracts the columns of a batch. The error message names the column that is missing or has
    /// the wrong type.
    pub(super) fn new(table: Table, batch: &RecordBatch) -> Result<Self, String> {
        let number = |name| numbers(batch, name);
        let kind = |code| Words::new(batch, "kind", code);
        match table {
            Table::Events => Ok(Self::Events(Box::new(Events {
                time_ns: number("time_ns")?,
                kind: kind(event_kind)?,
                function_id: number("function_id")?,
                depth: number("depth")?,
                detail_seq: number("detail_seq")?,
            }))),
            Table::Details => Ok(Self::Details(Box::new(Details {
                seq: number("seq")?,
                time_ns: number("time_ns")?,
                kind: kind(detail_kind)?,
                payload_size: number("payload_size")?,
                function_id: number("function_id")?,
                x: X_REGS.into_iter().map(number).collect::<Result<_, _>>()?,
                lr: number("lr")?,
                fp: number("fp")?,
                sp: number("sp")?,
                stack: bytes(batch, "stack")?,
                payload: bytes(batch, "payload")?,
            }))),
            table => Err(format!("rows of the table {table} are not records")),
        }
    }

    /// Appends a row's record. Returns `None` if a column that the record needs has no value in the
    /// row.
    #[inline]
    pub(super) fn encode(&self, row: usize, encoding: Encoding, out: &mut Vec<u8>) -> Option<()> {
        match self {
            Self::Events(events) => events.encode(row, encoding, out),
            Self::Details(details) => details.encode(row, encoding, out),
        }
    }

    /// Returns the size of a row's record in bytes.
    pub(super) fn size(&self, row: usize) -> Option<u64> {
        match self {
            Self::Events(_) => Some(IndexEvent::SIZE as u64),
            Self::Details(details) => {
                number(&details.payload_size, row)?.checked_add(DetailEventHeader::SIZE as u64)
            }
        }
    }
}

impl Events {
    #[inline]
    fn encode(&self, row: usize, encoding: Encoding, out: &mut Vec<u8>) -> Option<()> {
        let kind = EventKind(self.kind.code(row)?);
        let function_id = number(&self.function_id, row)?;
        let event = IndexEvent::new(number(&self.time_ns, row)?, function_id, kind);
        let depth = number(&self.depth, row).map(u32::try_from).transpose();
        let event = event.thread_id(encoding.thread_id).call_depth(depth.ok()?);
        let event = event.detail_seq(number(&self.detail_seq, row));
        out.extend(event.encode(encoding.wire).ok()?);
        Some(())
    }
}

impl Details {
    fn encode(&self, row: usize, encoding: Encoding, out: &mut Vec<u8>) -> Option<()> {
        let kind = DetailEventType(u16::try_from(self.kind.code(row)?).ok()?);
        let (seq, time_ns) = (number(&self.seq, row)?, number(&self.time_ns, row)?);
        let size = number(&self.payload_size, row)?.checked_add(DetailEventHeader::SIZE as u64)?;
        let header = DetailEventHeader::new(kind, seq, time_ns).thread_id(encoding.thread_id);
        let header = header.total_length(u32::try_from(size).ok()?);
        out.extend(header.encode(encoding.wire).ok()?);
        if let Some(payload) = blob(&self.payload, row) {
            out.extend(payload);
            return Some(());
        }
        let stack = blob(&self.stack, row)?;
        let mut x_regs = [0; 8];
        for (register, column) in x_regs.iter_mut().zip(&self.x) {
            *register = number(column, row)?;
        }
        let payload = FunctionPayload::default().x_regs(x_regs);
        let payload = payload.function_id(number(&self.function_id, row)?);
        let payload = payload.lr(number(&self.lr, row)?);
        let payload = payload.fp(number(&self.fp, row)?);
        let payload = payload.sp(number(&self.sp, row)?);
        out.extend(payload.encode_fixed(stack.len()).ok()?);
        out.extend(stack);
        Some(())
    }
}

/// A column of words, each of which represents a number in the format.
struct Words {
    keys: Int8Array,
    codes: Vec<Option<u32>>,
}

impl Words {
    fn new(batch: &RecordBatch, name: &str, code: fn(&str) -> Option<u32>) -> Result<Self, String> {
        let column = column(batch, name)?.as_dictionary_opt::<Int8Type>();
        let words = column.and_then(|column| column.values().as_string_opt::<i32>());
        let (column, words) = column
            .zip(words)
            .ok_or_else(|| format!("column {name}: expected words"))?;
        Ok(Self {
            keys: column.keys().clone(),
            codes: words.iter().map(|word| code(word?)).collect(),
        })
    }

    #[inline]
    fn code(&self, row: usize) -> Option<u32> {
        let key = is_there(&self.keys, row).then(|| self.keys.value(row))?;
        *self.codes.get(usize::try_from(key).ok()?)?
    }
}

fn event_kind(word: &str) -> Option<u32> {
    let mut kinds = EventKind::MEMBERS.iter();
    Some(kinds.find(|kind| kind.name() == Some(word))?.0)
}

fn detail_kind(word: &str) -> Option<u32> {
    let mut kinds = DetailEventType::MEMBERS.iter();
    Some(kinds.find(|kind| kind.name() == Some(word))?.0.into())
}

fn column<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a dyn Array, String> {
    let column = batch.column_by_name(name);
    column
        .map(AsRef::as_ref)
        .ok_or_else(|| format!("column {name}: missing"))
}

pub(super) fn numbers(batch: &RecordBatch, name: &str) -> Result<Int64Array, String> {
    let numbers = column(batch, name)?.as_primitive_opt::<Int64Type>();
    numbers
        .cloned()
        .ok_or_else(|| format!("column {name}: expected numbers"))
}

pub(super) fn bytes(batch: &RecordBatch, name: &str) -> Result<BinaryArray, String> {
    let bytes = column(batch, name)?.as_binary_opt::<i32>();
    bytes
        .cloned()
        .ok_or_else(|| format!("column {name}: expected bytes"))
}

/// Returns whether a column has a value in a row.
#[inline]
pub(super) fn is_there(column: &dyn Array, row: usize) -> bool {
    row < column.len() && column.is_valid(row)
}

/// Returns the column's number at `row`, keeping its bits.
#[inline]
pub(super) fn number(column: &Int64Array, row: usize) -> Option<u64> {
    is_there(column, row).then(|| column.value(row).cast_unsigned())
}

/// Returns the column's bytes at `row`.
pub(super) fn blob(column: &BinaryArray, row: usize) -> Option<&[u8]> {
    is_there(column, row).then(|| column.value(row))
}
