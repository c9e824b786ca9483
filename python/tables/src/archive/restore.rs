//! Restores a session from an archive: its files, in order.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use arrow_array::cast::AsArray;
use arrow_array::types::Int8Type;
use arrow_array::{BinaryArray, DictionaryArray, Int64Array, RecordBatch, StringArray};
use atf::Wire;
use atf::session::is_part_of_trace;

use super::encode::{Encoding, blob, bytes, is_there, number, numbers};
use super::files::{ListChecksum, RowRange};
use super::read::{Batches, RecordReader};
use super::sink::{Disk, Sink};
use super::tree::{Entry, Kind, set_mode};
use super::{Layout, VERSION, bad};
use crate::error::Error;
use crate::files::refuse_existing;
use crate::stage::{Stage, output};
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

/// Restores the files of a session, byte for byte, to the folder `session`, which must not exist
/// yet. Verifies the checksum of each file. `host` and `name` are the ones in the partitions `host=`
/// and `session=`; an archive with only one session needs neither.
///
/// All files are written to a temporary folder next to `session`. The folder is renamed at the end,
/// so nothing remains after an error.
///
/// # Errors
///
/// [`Error::File`] if the archive cannot be read or is damaged, [`Error::Output`] if the session exists or cannot be
/// written, and [`Error::Usage`] if the archive has several sessions and the names do not select one.
pub fn unpack(
    archive: impl AsRef<Path>,
    session: impl AsRef<Path>,
    host: Option<&str>,
    name: Option<&str>,
) -> Result<Unpacked, Error> {
    let (archive, target) = (archive.as_ref(), session.as_ref());
    let layout = find(archive, host, name)?;
    refuse_existing(&[target.to_path_buf()])?;
    if is_part_of_trace(target) {
        return Err(output(target, "it would become part of another trace"));
    }
    let parent = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    fs::create_dir_all(parent).map_err(|error| output(parent, error))?;
    let stage = Stage::new(parent)?;
    // Keep other users out of the folder until its files' modes are set.
    set_mode(&stage.path, 0o700).map_err(|error| output(&stage.path, error))?;
    let restored = restore(&layout, &mut Disk::new(&stage.path))?;
    let renames = [(stage.path.clone(), target.to_path_buf())];
    stage.publish(&renames)?;
    Ok(restored)
}

/// Returns the session that the names select.
fn find(archive: &Path, host: Option<&str>, name: Option<&str>) -> Result<Layout, Error> {
    let root = archive.join(Table::Files.name());
    let mut places = partitions(&root, "session")?;
    for folder in partitions(&root, "host")? {
        let sessions = partitions(&root.join(&folder), "session")?;
        places.extend(sessions.into_iter().map(|session| folder.join(session)));
    }
    let names = [("host", host), ("session", name)].into_iter();
    let wanted = names.filter_map(|(key, name)| Some(format!("{key}={}", name?)));
    let wanted: Vec<String> = wanted.collect();
    places.retain(|place| {
        let is_there = |part: &String| place.iter().any(|found| found == part.as_str());
        wanted.iter().all(is_there)
    });
    match &places[..] {
        [place] => Ok(Layout {
            archive: archive.to_path_buf(),
            place: place.clone(),
        }),
        [] => Err(bad(archive, "the archive does not contain the session")),
        several => {
            let names = several.iter().take(MOST_NAMED);
            let names = names.map(|place| place.to_string_lossy());
            let names = names.collect::<Vec<_>>().join(", ");
            let count = several.len();
            Err(Error::usage(format!(
                "{}: the archive has {count} sessions; select one by host and session: {names}",
                archive.display()
            )))
        }
    }
}

/// The maximum number of sessions to list in an error.
const MOST_NAMED: usize = 20;

/// Returns the folders named `KEY=…` in a folder.
fn partitions(folder: &Path, key: &str) -> Result<Vec<PathBuf>, Error> {
    let failed = |error| bad(folder, error);
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        let text = name.to_string_lossy();
        if text.split_once('=').is_some_and(|(found, _)| found == key) {
            found.push(PathBuf::from(name));
        }
    }
    found.sort();
    Ok(found)
}

/// Passes all entries of an archive to `sink`.
pub(super) fn restore(layout: &Layout, sink: &mut dyn Sink) -> Result<Unpacked, Error> {
    let columns = [&["path", "kind", "source", "bytes"][..], &NUMBERS].concat();
    let path = layout.files();
    let fail = |why: String| bad(&path, why);
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
        let fail = |why: &str| Err(bad(path, format!("{:?}: {why}", entry.path)));
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
