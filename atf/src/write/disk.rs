//! Disks, as the storage of writers.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::storage::{DiskFile, Storage, StorageFile};
use crate::platform::{self, Folder, Identity, Lent};
use crate::sys::uncancelled;

/// The operating system's file system. No thread is [cancelled](uncancelled) while it uses it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Disk;

/// Creates a folder whose parent exists. Returns whether the folder is new.
fn create_folder(path: &Path) -> io::Result<bool> {
    match platform::make_folder(path) {
        Ok(()) => Ok(true),
        // If the existing path cannot be examined, return that error, not `AlreadyExists`.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            if fs::metadata(path)?.is_dir() {
                Ok(false)
            } else {
                Err(error)
            }
        }
        Err(_) if path.is_dir() => Ok(false),
        Err(error) => Err(error),
    }
}

impl Storage for Disk {
    fn create_folder(&self, path: &Path) -> io::Result<bool> {
        // `fs::create_dir_all` would return `AlreadyExists` for a parent that cannot be examined.
        match (create_folder(path), path.parent()) {
            (Err(error), Some(parent))
                if error.kind() == io::ErrorKind::NotFound && parent != Path::new("") =>
            {
                self.create_folder(parent)?;
                create_folder(path)
            }
            (result, _) => result,
        }
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        platform::exists(fs::symlink_metadata(path))
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn StorageFile>> {
        Ok(Box::new(DiskFile(self.create_file(path)?)))
    }

    fn create_file(&self, path: &Path) -> io::Result<File> {
        platform::create_new(path)
    }

    fn held(&self, folder: &Path) -> io::Result<Option<Arc<dyn Storage>>> {
        if cfg!(miri) {
            // Miri does not support the calls.
            return Ok(None);
        }
        Ok(Some(Arc::new(Held::open(folder, false)?)))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir(path)
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        uncancelled(|| platform::sync_folder(path))
    }

    fn is_disk(&self) -> bool {
        true
    }
}

/// Returns the disk below an existing folder, for writers inside another program, which may close
/// file descriptors that it did not open and reuse their numbers for its own files. A file is open
/// only during a write, so the number of writers is not limited by the program's descriptor limit
/// either.
///
/// The program may later lose permission to open files. The folder, the folders below it and their
/// files therefore also keep descriptors, as long as numbers are free in the top sixteenth of those
/// that the program may open, not counting numbers from 1024 on. Before each use, the device and
/// inode are compared. A file without a descriptor is opened by its name, and compared in the same
/// way.
///
/// # Errors
///
/// Operating system errors.
pub fn brief_disk(folder: &Path) -> io::Result<Arc<dyn Storage>> {
    Ok(Arc::new(Held::open(folder, true)?))
}

/// Finds files by their names in a folder that is open, or in the folder above it, which contains
/// the next segments of a recording.
#[derive(Debug)]
struct Held {
    above: Arc<Folder>,
    folder: Arc<Folder>,
}

impl Held {
    /// Opens an existing folder. If `is_lent`, the program may close its descriptors.
    fn open(path: &Path, is_lent: bool) -> io::Result<Self> {
        let above = path.parent().unwrap_or(path);
        // A folder that the caller named may be a symlink.
        let folder = Arc::new(Folder::open(path, is_lent)?);
        let above = Arc::new(Folder::open(above, is_lent)?);
        Ok(Self { above, folder })
    }

    /// Returns a folder, and the path of a file or folder below it, which is empty for the folder
    /// itself.
    fn place<'a>(&self, path: &'a Path) -> io::Result<(&Arc<Folder>, &'a Path)> {
        let below = |folder: &Folder| path.strip_prefix(folder.path()).ok();
        let mut folders = [&self.folder, &self.above].into_iter();
        let found = folders.find_map(|folder| Some((folder, below(folder)?)));
        found.ok_or_else(|| io::ErrorKind::InvalidInput.into())
    }
}

impl Storage for Held {
    fn create_folder(&self, path: &Path) -> io::Result<bool> {
        let (folder, below) = self.place(path)?;
        match folder.make_folder(below) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                if folder.is_folder(below) {
                    Ok(false)
                } else {
                    Err(error)
                }
            }
            made => made.map(|()| true),
        }
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        let (folder, below) = self.place(path)?;
        if below.as_os_str().is_empty() {
            folder.is_deleted().map(|is_deleted| !is_deleted)
        } else {
            folder.exists(below)
        }
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn StorageFile>> {
        let (folder, below) = self.place(path)?;
        Ok(if folder.is_lent() {
            Box::new(BriefFile::create(Arc::clone(folder), below)?)
        } else {
            Box::new(DiskFile(folder.create(below)?))
        })
    }

    fn create_file(&self, path: &Path) -> io::Result<File> {
        let (folder, below) = self.place(path)?;
        folder.create(below)
    }

    fn held(&self, folder: &Path) -> io::Result<Option<Arc<dyn Storage>>> {
        let (above, below) = self.place(folder)?;
        let folder = Arc::new(above.folder(below)?);
        let above = Arc::clone(above);
        Ok(Some(Arc::new(Self { above, folder })))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let (folder, below) = self.place(from)?;
        match to.file_name().filter(|_| from.parent() == to.parent()) {
            Some(to) => folder.rename(below, to),
            None => Err(io::ErrorKind::InvalidInput.into()),
        }
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let (folder, below) = self.place(path)?;
        folder.remove(below)
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        let (folder, below) = self.place(path)?;
        match path.file_name().filter(|_| below.as_os_str().is_empty()) {
            Some(name) => self.above.remove_folder(Path::new(name)),
            None => folder.remove_folder(below),
        }
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        let (folder, below) = self.place(path)?;
        if below.as_os_str().is_empty() {
            folder.sync()
        } else {
            folder.sync_folder(below)
        }
    }

    fn is_disk(&self) -> bool {
        true
    }
}

/// A file that is open only during a write, unless there is a descriptor to lend.
#[derive(Debug)]
struct BriefFile {
    folder: Arc<Folder>,
    below: PathBuf,
    identity: Identity,
    lent: Option<Lent>,
}

impl BriefFile {
    fn create(folder: Arc<Folder>, below: &Path) -> io::Result<Self> {
        uncancelled(|| {
            let file = folder.create(below)?;
            Ok(Self {
                identity: Identity::new(&file.metadata()?),
                lent: Lent::new(&file),
                folder,
                below: below.to_path_buf(),
            })
        })
    }

    fn open<T>(&self, work: impl Fn(&File) -> io::Result<T>) -> io::Result<T> {
        uncancelled(|| {
            let lent = self.lent.as_ref();
            let written = lent.and_then(|lent| lent.with(&work));
            written.unwrap_or_else(|| {
                let file = self.folder.open_file(&self.below)?;
                platform::same(self.identity, &file)?;
                work(&file)
            })
        })
    }
}

impl StorageFile for BriefFile {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        self.open(|file| platform::write_at(file, offset, bytes))
    }

    fn set_size(&mut self, size: u64) -> io::Result<()> {
        platform::check_size(size)?;
        self.open(|file| file.set_len(size))
    }

    fn sync(&mut self) -> io::Result<()> {
        self.open(File::sync_all)
    }
}
