//! Archives: the tables of a session as Parquet files, plus everything else needed to restore its
//! files byte for byte.
//!
//! The table `files` lists the parts of each file. Wherever rows of the tables `events` and
//! `details` encode to a file's bytes, `files` refers to the rows. All other bytes are stored in
//! `files` itself.

mod encode;
mod files;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod hostile;
mod pack;
mod parts;
mod read;
mod restore;
mod sink;
mod tree;
mod unpack;

use std::path::{Path, PathBuf};

pub use pack::{PackOptions, Packed, pack};
pub use restore::Unpacked;
pub use unpack::{UnpackOptions, unpack};

use crate::error::Error;
use crate::table::Table;

/// The archive's layout version, stored in the metadata of its table `files`.
const VERSION: &str = "1";

/// The paths of a session's tables in an archive.
struct Layout {
    archive: PathBuf,
    /// The path below each table's folder: `host=H/session=S`.
    place: PathBuf,
}

impl Layout {
    fn folder(&self, table: Table) -> PathBuf {
        self.archive.join(table.name()).join(&self.place)
    }

    fn files(&self) -> PathBuf {
        self.folder(Table::Files).join("files.parquet")
    }
}

// Errors are passed by value, for use with `map_err`.
#[allow(clippy::needless_pass_by_value)]
fn bad(path: &Path, why: impl ToString) -> Error {
    Error::File {
        path: path.to_path_buf(),
        why: why.to_string(),
    }
}

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]
mod tests {
    use std::fs;

    use super::files::Files;
    use super::restore::restore;
    use super::sink::Comparer;
    use super::tree::{Entry, Kind};
    use super::*;

    /// Packs a session of threads with two events each. Returns the session's path and the archive.
    pub(super) fn packed(folder: &Path, threads: u32) -> (PathBuf, Layout) {
        let [root, archive] = ["session", "archive"].map(|name| folder.join(name));
        let writer = atf::write::SessionWriter::create(&root, &Default::default()).unwrap();
        for id in 0..threads {
            let mut thread = writer.thread(id).unwrap();
            for timestamp_ns in [100, 250] {
                let event = atf::write::Event::new(timestamp_ns, 7, atf::EventKind::CALL, 1);
                thread.write(&event).unwrap();
            }
            thread.finalize().unwrap();
        }
        writer.finalize().unwrap();
        let packed = pack(&root, &archive, &PackOptions::default()).unwrap();
        let place = packed.written.folders.last().unwrap().file_name().unwrap();
        let place = place.into();
        (root, Layout { archive, place })
    }

    /// Returns an entry without a mode.
    pub(super) fn entry(path: &str, kind: Kind) -> Entry {
        Entry {
            path: path.to_owned(),
            kind,
            mode: None,
        }
    }

    /// A change to a session's folder, and the error it should cause.
    type Change = (fn(&Path), &'static str);

    const CHANGES: [Change; 7] = [
        (|root| edit(root, |data| data[100] ^= 1), "different bytes"),
        (
            |root| edit(root, |data| data.truncate(100)),
            "different bytes",
        ),
        (
            |root| edit(root, |data| data.push(0)),
            "more bytes at offset 192",
        ),
        (
            |root| fs::remove_file(index(root)).unwrap(),
            "changed or removed",
        ),
        (|root| fs::write(root.join("new"), "").unwrap(), "appeared"),
        (
            |root| fs::create_dir(root.join("thread_9")).unwrap(),
            "appeared",
        ),
        (
            |root| {
                fs::remove_file(index(root)).unwrap();
                fs::create_dir(index(root)).unwrap();
            },
            "changed or removed",
        ),
    ];

    fn index(root: &Path) -> PathBuf {
        root.join("thread_0/index.atf")
    }

    fn edit(root: &Path, change: impl Fn(&mut Vec<u8>)) {
        let mut data = fs::read(index(root)).unwrap();
        change(&mut data);
        fs::write(index(root), data).unwrap();
    }

    #[test]
    fn the_comparison_finds_every_change_of_the_session() {
        for (change, expected) in CHANGES {
            let folder = tempfile::tempdir().unwrap();
            let (root, layout) = packed(folder.path(), 1);
            let compare = || restore(&layout, &mut Comparer::new(&root)?);
            compare().unwrap();
            change(&root);
            let error = compare().unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    /// Unpacks an archive of a folder and symlinks.
    #[cfg(unix)]
    fn unpack_links(folder: &Path, links: &[(&str, &str)]) -> Result<Unpacked, Error> {
        let archive = folder.join("archive");
        let layout = Layout {
            archive: archive.clone(),
            place: "session=hostile".into(),
        };
        fs::create_dir_all(layout.files().parent().unwrap()).unwrap();
        let mut files = Files::create(&layout.files()).unwrap();
        files.add_whole(&entry("real", Kind::Folder), None).unwrap();
        for (path, target) in links {
            let link = entry(path, Kind::Link);
            files.add_whole(&link, Some(target)).unwrap();
        }
        files.close([("atf.archive", VERSION.to_owned())]).unwrap();
        unpack(archive, folder.join("unpacked"), &UnpackOptions::default())
    }

    #[test]
    #[cfg(unix)]
    fn a_symlink_below_another_one_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let outside = folder.path().join("outside");
        fs::create_dir_all(outside.join("below")).unwrap();
        let target = outside.to_str().unwrap();
        for path in ["a/evil", "a/below/evil", "./a/evil", "real/../a/evil"] {
            let links = [("a", target), (path, "/etc/passwd")];
            let error = unpack_links(folder.path(), &links).unwrap_err().to_string();
            assert!(error.contains("folder"), "{error}");
            assert_eq!(fs::read_dir(&outside).unwrap().count(), 1, "{path}");
            assert_eq!(fs::read_dir(outside.join("below")).unwrap().count(), 0);
            assert!(!folder.path().join("unpacked").exists());
        }
        let links = [("a", target), ("real/b", "../a")];
        unpack_links(folder.path(), &links).unwrap();
        let link = folder.path().join("unpacked/real/b");
        assert_eq!(fs::read_link(link).unwrap(), Path::new("../a"));
    }
}
