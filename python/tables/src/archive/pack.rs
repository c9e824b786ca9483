//! Packs a session into an archive.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use atf::thread::{DETAIL_FILE, INDEX_FILE, ThreadReader};

use super::encode::{Encoding, Records};
use super::files::{Bytes, Files, Source};
use super::parts::{Parts, Section};
use super::restore::restore;
use super::sink::Comparer;
use super::tree::{self, Entry, Kind, below, set_mode};
use super::{Layout, VERSION, bad};
use crate::error::Error;
use crate::files::{
    FileOptions, Written, metadata, of_thread, place, refuse_existing, write_file, write_table,
};
use crate::options::{AtEnd, Options};
use crate::session::Session;
use crate::stage::{Stage, output};
use crate::stream::Outcome;
use crate::table::Table;
use crate::table_file::Form;

/// The result of [`pack`].
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Packed {
    /// The folders, files and bytes of the archive, and the trace's problems.
    pub written: Written,
    /// The numbers of bytes in the session's files, by where the archive stores the bytes.
    pub bytes: Bytes,
}

/// Packs a session's folder into `archive`, as `TABLE/[host=H/]session=S/[thread=N/]TABLE.parquet`. Several sessions
/// can be packed into one archive. There is no `host` by default. The `name` in the partition `session=` is by default
/// the last two parts of the session's path, joined by `.`: `session_20260105_101500.pid_4242`. `tables` are written in
/// addition to `events`, `details` and `files`: `functions`, `threads` and `modules` by default.
///
/// The entire content of the folder is packed. A damaged trace is not an error. Before it returns,
/// `pack` restores all files from its output and compares them with the originals. The archive is
/// written to a temporary folder that is renamed at the end, so no part of the session remains
/// after an error. The archive is readable only by users who can read the whole session.
///
/// # Errors
///
/// The errors of [`Session::open`]; [`Error::File`] if a file cannot be read, changes while it is
/// being packed, or is not a file, folder or symlink with a UTF-8 name; [`Error::Output`] if the
/// archive already contains the session or cannot be written; [`Error::Usage`] if a name cannot be
/// used for a partition.
pub fn pack(
    session: impl AsRef<Path>,
    archive: impl AsRef<Path>,
    host: Option<&str>,
    name: Option<&str>,
    tables: Option<&[Table]>,
) -> Result<Packed, Error> {
    let (root, archive) = (session.as_ref(), archive.as_ref());
    let session = Session::open(root)?;
    let place = place(&session, host, name)?;
    // `files` comes last because only this table makes the others an archive.
    let tables = tables.unwrap_or(&[Table::Functions, Table::Threads, Table::Modules]);
    let tables: BTreeSet<_> = tables.iter().map(|table| table.name()).collect();
    let others = tables.into_iter().filter_map(Table::named);
    let others = others.filter(|table| !OWN.contains(table));
    let tables: Vec<Table> = others.chain(OWN).collect();
    let target = |table: &Table| archive.join(table.name()).join(&place);
    let targets: Vec<PathBuf> = tables.iter().map(target).collect();
    refuse_existing(&targets)?;
    if is_inside(archive, root) {
        return Err(output(archive, "the archive would be inside the session"));
    }
    fs::create_dir_all(archive).map_err(|error| output(archive, error))?;
    let entries = tree::list(root)?;
    let stage = Stage::new(archive)?;
    // Keep other users from reading the archive while it is being written.
    set_mode(&stage.path, 0o700).map_err(|error| output(&stage.path, error))?;
    let layout = Layout {
        archive: stage.path.clone(),
        place: PathBuf::new(),
    };
    let mut packed = Packed::default();
    let mut parquet = FileOptions::default();
    parquet.read.problems = AtEnd::Keep;
    for table in tables.iter().filter(|table| !OWN.contains(table)) {
        let folder = layout.folder(*table);
        write_table(&session, *table, &folder, &parquet, &mut packed.written)?;
    }
    let mut packer = Packer {
        root,
        session: &session,
        layout: &layout,
        read: &parquet.read,
        files: Files::create(&layout.files())?,
    };
    packer.add_all(&entries, &mut packed.written)?;
    let Packer { files, .. } = packer;
    packed.bytes = files.bytes;
    let size = files.close(describe(&session, &parquet.read, &packed))?;
    packed.written.add_file(size);
    restore(&layout, &mut Comparer::new(root)?)?;
    let folders = tables.iter().map(|table| layout.folder(*table));
    let renames: Vec<_> = folders.zip(targets).collect();
    for (written, _) in &renames {
        fs::create_dir_all(written).map_err(|error| output(written, error))?;
        tree::limit(written, &entries)?;
    }
    stage.publish(&renames)?;
    packed.written.folders = renames.into_iter().map(|(_, target)| target).collect();
    Ok(packed)
}

/// The tables that every archive contains.
const OWN: [Table; 3] = [Table::Events, Table::Details, Table::Files];

fn is_inside(archive: &Path, root: &Path) -> bool {
    let real = |path: &Path| fs::canonicalize(path).ok();
    // The archive may not exist yet.
    let archive = if archive.is_absolute() {
        archive.to_path_buf()
    } else {
        Path::new(".").join(archive)
    };
    let archive = archive.ancestors().find_map(real);
    archive
        .zip(real(root))
        .is_some_and(|(archive, root)| archive.starts_with(root))
}

/// Returns the metadata of the table `files`.
fn describe(session: &Session, read: &Options, packed: &Packed) -> Vec<(&'static str, String)> {
    let outcome = Outcome {
        problems: packed.written.problems.clone(),
        ..Outcome::default()
    };
    let bytes = packed.bytes;
    let own = [
        ("atf.archive", VERSION.to_owned()),
        ("atf.bytes", bytes.total().to_string()),
        ("atf.bytes_from_tables", bytes.from_tables.to_string()),
        ("atf.bytes_header_footer", bytes.header_footer.to_string()),
        ("atf.bytes_other", bytes.other.to_string()),
        ("atf.bytes_unreproduced", bytes.unreproduced.to_string()),
    ];
    let metadata = metadata(session, read, &outcome).into_iter();
    metadata.chain(own).collect()
}

struct Packer<'a> {
    root: &'a Path,
    session: &'a Session,
    layout: &'a Layout,
    read: &'a Options,
    files: Files,
}

impl Packer<'_> {
    /// Adds the folders, the threads' files with their tables, all other files, and the symlinks,
    /// in that order.
    fn add_all(&mut self, entries: &[Entry], written: &mut Written) -> Result<(), Error> {
        let of_kind = |kind| entries.iter().filter(move |entry| entry.kind == kind);
        for folder in of_kind(Kind::Folder) {
            self.files.add_whole(folder, None)?;
        }
        let files = of_kind(Kind::File);
        let files = files.map(|file| (below(self.root, &file.path), file));
        let files: HashMap<PathBuf, &Entry> = files.collect();
        let (mut ids, mut packed) = (BTreeSet::new(), BTreeSet::new());
        for thread in self.session.reader().threads() {
            // Folders with the same id share a table, which begins with the first folder's rows.
            if !ids.insert(thread.id()) {
                continue;
            }
            let opened = thread.open().ok();
            for (table, name) in [(Table::Events, INDEX_FILE), (Table::Details, DETAIL_FILE)] {
                let file = files.get(&thread.path().join(name)).copied();
                let section = opened.as_ref();
                let section = section.and_then(|opened| section_of(table, thread.id(), opened));
                let file = file.zip(section);
                self.add_table(table, thread.id(), file, written)?;
                packed.extend(file.map(|(entry, _)| entry));
            }
        }
        for file in of_kind(Kind::File).filter(|file| !packed.contains(file)) {
            let name = file.path.rsplit('/').next();
            let source = match name {
                Some(INDEX_FILE | DETAIL_FILE) => Source::Unreproduced,
                _ => Source::Other,
            };
            Parts::new(self.root, file, source)?.finish(None, &mut self.files)?;
        }
        for link in of_kind(Kind::Link) {
            let path = below(self.root, &link.path);
            let target = fs::read_link(&path).map_err(|error| bad(&path, error))?;
            let target = target.to_str();
            let target = target.ok_or_else(|| bad(&path, "the symlink's target is not UTF-8"))?;
            self.files.add_whole(link, Some(target))?;
        }
        Ok(())
    }

    /// Writes a thread's table, and divides the thread's file into rows and other bytes.
    fn add_table(
        &mut self,
        table: Table,
        id: u32,
        file: Option<(&Entry, Section)>,
        written: &mut Written,
    ) -> Result<(), Error> {
        let folder = self.layout.folder(table);
        let (path, read) = of_thread(table, Form::Parquet, &folder, id, self.read);
        let (session, parquet) = (self.session, (&*path, Form::Parquet));
        let Some((entry, section)) = file else {
            return write_file(session, table, parquet, &read, written, &mut |_| Ok(()));
        };
        let files = &mut self.files;
        let mut parts = Parts::new(self.root, entry, Source::Unreproduced)?;
        parts.add_until(section.start, Source::HeaderFooter, files)?;
        let mut position = 0_u64;
        let mut compare = |batch: &RecordBatch| {
            let records = Records::new(table, batch).map_err(Error::Internal)?;
            for row in 0..batch.num_rows() {
                parts.compare(&section, &records, row, position, files)?;
                position = position.saturating_add(1);
            }
            Ok(())
        };
        write_file(session, table, parquet, &read, written, &mut compare)?;
        parts.finish(Some((&section, position)), files)
    }
}

/// Returns the events section of a thread's file, if the file can be read.
fn section_of(table: Table, thread: u32, reader: &ThreadReader) -> Option<Section> {
    let (wire, thread_id, first, end, footer) = match table {
        Table::Events => {
            let (index, header) = (reader.index(), reader.index().header());
            let (first, end) = (index.event_offset(0), index.events_end());
            let footer = index.footer_bytes();
            (header.wire, header.thread_id, first, end, footer)
        }
        _ => {
            let (detail, header) = (reader.detail()?, reader.detail()?.header());
            let (first, end) = (detail.event_offset(0), detail.events_end());
            let footer = detail.footer_bytes();
            (header.wire, header.thread_id, first, end, footer)
        }
    };
    Some(Section {
        table,
        thread,
        encoding: Encoding { wire, thread_id },
        // If there are no events, the section starts where it ends.
        start: first.unwrap_or(end),
        footer: footer.map_or(0, |footer| footer.len() as u64),
    })
}
