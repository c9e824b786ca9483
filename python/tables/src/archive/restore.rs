//! Restores the files of an archive, in order.

use std::collections::BTreeSet;
use std::path::{Component, Path};

use arrow_array::cast::AsArray;
use arrow_array::types::Int8Type;
use arrow_array::{BinaryArray, DictionaryArray, Int64Array, RecordBatch, StringArray};
use atf::Wire;

use super::encode::{Encoding, blob, bytes, is_there, number, numbers};
use super::files::{ListChecksum, RowRange};
use super::read::{Batches, RecordReader};
use super::sink::Sink;
use super::tree::{Entry, Kind};
use super::{Layout, VERSION};
use crate::error::Error;
use crate::table::Table;

/// How much was restored from an archive.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct Unpacked {
    /// The number of files.
    pub files: u64,
    /// The total size of the files in bytes.
    pub bytes: u64,
}

/// Passes all entries of an archive to `sink`.
pub(super) fn restore(layout: &Layout, sink: &mut dyn Sink) -> Result<Unpacked, Error> {
    let columns = [&["path", "kind", "source", "bytes"][..], &NUMBERS].concat();
    let path = layout.files();
    let fail = |why: String| super::bad(&path, why);
    let mut batches = Batches::open(&path, &columns)?;
    let version = batches.pairs().get("atf.archive").copied();
    if version != Some(VERSION) {
        let found = version.unwrap_or("none");
        return Err(fail(format!(
            "atf.archive in the metadata: expected version {VERSION}, found {found}"
        )));
    }
    let mut state = State {
        layout,
        sink,
        file: None,
        records: None,
        read: BTreeSet::new(),
        restored: Unpacked::default(),
        checksum: ListChecksum::default(),
    };
    while let Some(batch) = batches.next()? {
        let columns = Columns::new(&batch).map_err(fail)?;
        for row in 0..batch.num_rows() {
            // Errors of a table's rows and of the sink already contain a path.
            let part = columns.part(row).map_err(fail)?;
            state.part(&part, &path)?;
        }
    }
    if let Some(open) = state.file {
        let path = open.entry.path;
        return Err(fail(format!("the last part of {path} is missing")));
    }
    let (restored, found) = (state.restored, state.checksum.text());
    let expected = batches.pairs().get("atf.checksum").copied();
    if expected != Some(&found) {
        let expected = expected.unwrap_or("none");
        return Err(fail(format!(
            "the list of files has the checksum {found}, expected {expected}: the archive is damaged"
        )));
    }
    sink.finish()?;
    Ok(restored)
}

struct State<'a> {
    layout: &'a Layout,
    sink: &'a mut dyn Sink,
    file: Option<Open>,
    records: Option<RecordReader>,
    /// The tables of threads from which rows were read. A table is read once, for one file.
    read: BTreeSet<(&'static str, u32)>,
    restored: Unpacked,
    checksum: ListChecksum,
}

/// A file whose parts are being read.
struct Open {
    entry: Entry,
    size: u64,
    checksum: u32,
}

impl State<'_> {
    fn part(&mut self, part: &Part<'_>, path: &Path) -> Result<(), Error> {
        let Part { entry, .. } = part;
        let fail = |why: &str| Err(super::bad(path, format!("{:?}: {why}", entry.path)));
        if entry.kind != Kind::File {
            if self.file.is_some() {
                return fail("expected the next part of a file");
            }
            let target = part.bytes.map(std::str::from_utf8);
            let Ok(target) = target.transpose() else {
                return fail("the symlink's target is not UTF-8");
            };
            self.checksum.add(entry, target, None);
            return self.sink.begin(entry, target);
        }
        let mut file = match self.file.take() {
            Some(file) if file.entry == *entry => file,
            Some(file) => return fail(&format!("expected the next part of {:?}", file.entry.path)),
            None => {
                self.sink.begin(entry, None)?;
                Open {
                    entry: entry.clone(),
                    size: 0,
                    checksum: 0,
                }
            }
        };
        if part.offset != file.size {
            return fail(&format!(
                "offset: expected {}, found {}",
                file.size, part.offset
            ));
        }
        if let Some(checksum) = part.checksum {
            if checksum != u64::from(file.checksum) {
                let found = file.checksum;
                return fail(&format!(
                    "its restored bytes have the checksum {found:#010x}, expected {checksum:#010x}: the archive is damaged"
                ));
            }
            self.checksum
                .add(entry, None, Some((file.size, file.checksum)));
            self.restored.files = self.restored.files.saturating_add(1);
            self.restored.bytes = self.restored.bytes.saturating_add(file.size);
            return self.sink.end_file();
        }
        let before = file.size;
        let sink = &mut *self.sink;
        let mut pass = |bytes: &[u8]| {
            file.checksum = crc32c::crc32c_append(file.checksum, bytes);
            file.size = file.size.saturating_add(bytes.len() as u64);
            sink.write(bytes)
        };
        match (&part.rows, part.bytes) {
            (Some(rows), _) => {
                let records = match self.records.take().filter(|records| records.has(rows)) {
                    Some(records) => records,
                    None if !self.read.insert((rows.table.name(), rows.thread)) => {
                        let (table, thread) = (rows.table, rows.thread);
                        return fail(&format!(
                            "rows of the table {table} of thread {thread} after rows of another"
                        ));
                    }
                    None => {
                        let folder = self.layout.folder(rows.table);
                        let path =
                            folder.join(format!("thread={}/{}.parquet", rows.thread, rows.table));
                        RecordReader::open(&path, rows.table, rows.thread)?
                    }
                };
                self.records.insert(records).read(rows, &mut pass)?;
            }
            (None, Some(bytes)) => pass(bytes)?,
            (None, None) => return fail("neither rows nor bytes"),
        }
        let found = file.size.saturating_sub(before);
        if found != part.size {
            return fail(&format!(
                "size of the part at {before}: expected {}, found {found}",
                part.size
            ));
        }
        self.file = Some(file);
        Ok(())
    }
}

/// A row of the table `files`.
struct Part<'a> {
    entry: Entry,
    offset: u64,
    size: u64,
    rows: Option<RowRange>,
    bytes: Option<&'a [u8]>,
    checksum: Option<u64>,
}

/// The columns of a batch from the table `files`.
struct Columns {
    path: StringArray,
    kind: DictionaryArray<Int8Type>,
    source: DictionaryArray<Int8Type>,
    numbers: [Int64Array; 9],
    bytes: BinaryArray,
}

const NUMBERS: [&str; 9] = [
    "mode",
    "offset",
    "size",
    "thread",
    "row",
    "rows",
    "wire_version",
    "thread_id",
    "checksum",
];

impl Columns {
    fn new(batch: &RecordBatch) -> Result<Self, String> {
        let words = |name: &str| {
            let column = batch.column_by_name(name);
            let column = column.and_then(|column| column.as_dictionary_opt::<Int8Type>());
            column
                .cloned()
                .ok_or_else(|| format!("column {name}: expected words"))
        };
        let path = batch.column_by_name("path");
        let path = path.and_then(|path| path.as_string_opt::<i32>());
        let [a, b, c, d, e, f, g, h, i] = NUMBERS.map(|name| numbers(batch, name));
        Ok(Self {
            path: path.cloned().ok_or("column path: expected text")?,
            kind: words("kind")?,
            source: words("source")?,
            numbers: [a?, b?, c?, d?, e?, f?, g?, h?, i?],
            bytes: bytes(batch, "bytes")?,
        })
    }

    fn part(&self, row: usize) -> Result<Part<'_>, String> {
        let path = is_there(&self.path, row).then(|| self.path.value(row));
        let path = path.ok_or("column path: null")?;
        let fail = |what: &str| format!("{path:?}: {what}");
        let [
            mode,
            offset,
            size,
            thread,
            first,
            rows,
            wire,
            thread_id,
            checksum,
        ] = self.numbers.each_ref().map(|column| number(column, row));
        let kind = word(&self.kind, row).and_then(Kind::named);
        let kind = kind.ok_or_else(|| fail("kind: null"))?;
        check_path(path, kind).map_err(fail)?;
        let small = |number: Option<u64>| number.and_then(|number| u32::try_from(number).ok());
        let table = word(&self.source, row).and_then(Table::named);
        let table = table.filter(|table| matches!(table, Table::Events | Table::Details));
        let rows = match table {
            None => None,
            Some(table) => {
                let range = || {
                    let wire = Wire::from_version(u8::try_from(wire?).ok()?)?;
                    let thread_id = small(thread_id)?;
                    let (thread, row, rows) = (small(thread)?, first?, rows?);
                    let encoding = Encoding { wire, thread_id };
                    Some(RowRange {
                        table,
                        thread,
                        row,
                        rows,
                        encoding,
                    })
                };
                Some(range().ok_or_else(|| fail("the rows' place is incomplete"))?)
            }
        };
        Ok(Part {
            entry: Entry {
                path: path.to_owned(),
                kind,
                mode: small(mode),
            },
            offset: offset.ok_or_else(|| fail("offset: null"))?,
            size: size.ok_or_else(|| fail("size: null"))?,
            rows,
            bytes: blob(&self.bytes, row),
            checksum,
        })
    }
}

fn word(column: &DictionaryArray<Int8Type>, row: usize) -> Option<&str> {
    let key = column.key(row).filter(|_| is_there(column, row))?;
    let words = column.values().as_string_opt::<i32>()?;
    is_there(words, key).then(|| words.value(key))
}

/// Rejects paths that could lead outside the session's folder.
fn check_path(path: &str, kind: Kind) -> Result<(), &'static str> {
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
    match path {
        "" if kind == Kind::Folder => Ok(()),
        "" => Err("path: empty"),
        path if Path::new(path).components().all(is_plain) => Ok(()),
        _ => Err("path: it leads out of the session's folder"),
    }
}
