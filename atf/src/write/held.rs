//! A storage that keeps a session's folder open.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::storage::DiskFile;
use super::{Storage, StorageFile};
use crate::platform::{self, Folder, Identity, Lent};
use crate::sys::uncancelled;

/// Finds files by their names in a folder that is open, or in the folder above it, which contains
/// the next segments of a recording.
#[derive(Debug)]
pub(super) struct Held {
    above: Arc<Folder>,
    folder: Arc<Folder>,
}

impl Held {
    /// Opens an existing folder. If `is_lent`, the program may close its descriptors.
    pub(super) fn open(path: &Path, is_lent: bool) -> io::Result<Self> {
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
