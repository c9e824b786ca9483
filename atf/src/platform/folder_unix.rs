//! Open folders. A file is found by its name in an open folder, not by a path that another user
//! could redirect.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions, Permissions};
use std::io;
use std::os::fd::RawFd;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use super::{Identity, exists};
use crate::error::{Error, ErrorKind};
use crate::sys::{self, uncancelled};

/// How to open a folder only to look up names in it. On Linux, this requires no permission to list
/// it.
#[cfg(any(target_os = "linux", target_os = "android"))]
const PLACE: i32 = libc::O_PATH | libc::O_DIRECTORY;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const PLACE: i32 = libc::O_RDONLY | libc::O_DIRECTORY;

const OWNER_FOLDER: u32 = 0o700;
const OWNER_FILE: u32 = 0o600;

/// An open folder.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    identity: Identity,
    handle: Handle,
}

#[derive(Debug)]
enum Handle {
    Own(File),
    /// For a program that may close descriptors. With `None`, the folder is opened for each use.
    Lent(Option<Lent>),
}

impl Folder {
    /// Opens a folder by its path; an empty path is the working directory. Follows symlinks. If
    /// `is_lent`, the program may close its descriptor.
    pub(crate) fn open(path: &Path, is_lent: bool) -> io::Result<Self> {
        Self::new(path, open_folder(path)?, is_lent)
    }

    /// Opens a folder below this one. Refuses symlinks.
    pub(crate) fn folder(&self, below: &Path) -> io::Result<Self> {
        Self::new(&self.path.join(below), self.place(below)?, self.is_lent())
    }

    fn new(path: &Path, file: File, is_lent: bool) -> io::Result<Self> {
        Ok(Self {
            path: path.to_path_buf(),
            identity: Identity::new(&file.metadata()?),
            handle: if is_lent {
                Handle::Lent(Lent::new(&file))
            } else {
                Handle::Own(file)
            },
        })
    }

    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.identity == other.identity
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns whether a program may close the folder's descriptor.
    pub(crate) fn is_lent(&self) -> bool {
        matches!(self.handle, Handle::Lent(_))
    }

    /// Calls `work` with the open folder.
    fn with<T>(&self, work: impl Fn(Open<'_>) -> io::Result<T>) -> io::Result<T> {
        uncancelled(|| {
            let lent = match &self.handle {
                Handle::Own(file) => return work(Open::Held(file)),
                Handle::Lent(lent) => lent.as_ref(),
            };
            let with_lent = |lent: &Lent| lent.with(|file| work(Open::Held(file)));
            if let Some(result) = lent.and_then(with_lent) {
                return result;
            }
            let file = open_folder(&self.path)?;
            same(self.identity, &file)?;
            work(Open::Brief(file))
        })
    }

    /// Calls `work` with the open folder that contains `below`, and its name in that folder.
    /// Refuses symlinks on the way.
    fn at<T>(&self, below: &Path, work: impl Fn(&File, &OsStr) -> io::Result<T>) -> io::Result<T> {
        let (Some(between), Some(name)) = (below.parent(), below.file_name()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        self.with(|folder| work(folder.walk(between, PLACE)?.file(), name))
    }

    fn open_below(&self, below: &Path, flags: i32) -> io::Result<File> {
        let flags = flags | libc::O_NOFOLLOW;
        self.at(below, |folder, name| {
            sys::open_at(folder, name, flags, 0o666)
        })
    }

    fn place(&self, below: &Path) -> io::Result<File> {
        self.open_below(below, PLACE)
    }

    /// Creates a folder that its owner may use, regardless of the umask.
    pub(crate) fn make_folder(&self, below: &Path) -> io::Result<()> {
        self.at(below, |folder, name| {
            sys::make_folder_at(folder, name)?;
            let allowed = sys::open_at(folder, name, PLACE | libc::O_NOFOLLOW, 0)
                .and_then(|new| new.metadata())
                .map(|found| found.mode() & 0o7777)
                .and_then(|mode| match mode & OWNER_FOLDER {
                    OWNER_FOLDER => Ok(()),
                    _ => sys::set_mode_at(folder, name, mode | OWNER_FOLDER),
                });
            // Only the original error matters.
            allowed.inspect_err(|_| drop(sys::remove_at(folder, name, true)))
        })
    }

    /// Creates a file that its owner may read and write, regardless of the umask.
    pub(crate) fn create(&self, below: &Path) -> io::Result<File> {
        let file = self.open_below(below, libc::O_RDWR | libc::O_CREAT | libc::O_EXCL)?;
        allow_owner(&file)?;
        Ok(file)
    }

    /// Opens a file to write it. Does not wait if it is a FIFO.
    pub(crate) fn open_file(&self, below: &Path) -> io::Result<File> {
        self.open_below(below, libc::O_WRONLY | libc::O_NONBLOCK)
    }

    /// Returns whether a name exists, including that of a symlink.
    pub(crate) fn exists(&self, below: &Path) -> io::Result<bool> {
        exists(self.at(below, sys::exists_at))
    }

    pub(crate) fn is_folder(&self, below: &Path) -> bool {
        self.place(below).is_ok()
    }

    /// Renames a file in its folder.
    pub(crate) fn rename(&self, below: &Path, to: &OsStr) -> io::Result<()> {
        self.at(below, |folder, name| sys::rename_at(folder, name, to))
    }

    pub(crate) fn remove(&self, below: &Path) -> io::Result<()> {
        self.at(below, |folder, name| sys::remove_at(folder, name, false))
    }

    pub(crate) fn remove_folder(&self, below: &Path) -> io::Result<()> {
        self.at(below, |folder, name| sys::remove_at(folder, name, true))
    }

    /// Syncs this folder, so that the names in it survive a power loss.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.sync_folder(Path::new("."))
    }

    pub(crate) fn sync_folder(&self, below: &Path) -> io::Result<()> {
        let flags = libc::O_RDONLY | libc::O_DIRECTORY;
        self.with(|folder| folder.walk(below, flags)?.file().sync_all())
    }

    /// Returns whether the folder was deleted, but is still open.
    pub(crate) fn is_deleted(&self) -> io::Result<bool> {
        self.with(|folder| Ok(folder.file().metadata()?.nlink() == 0))
    }

    /// Returns a path to the folder that stays the same if another user renames it, or its own path
    /// on systems without such paths.
    pub(crate) fn fixed_path(&self) -> PathBuf {
        use std::os::fd::AsRawFd as _;
        let fixed = match &self.handle {
            Handle::Own(file) => PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd())),
            Handle::Lent(_) => return self.path.clone(),
        };
        match std::fs::metadata(&fixed) {
            Ok(found) if Identity::new(&found) == self.identity => fixed,
            _ => self.path.clone(),
        }
    }
}

/// A folder that is open for the duration of a call.
enum Open<'a> {
    Held(&'a File),
    Brief(File),
}

impl Open<'_> {
    fn file(&self) -> &File {
        match self {
            Self::Held(file) => file,
            Self::Brief(file) => file,
        }
    }

    /// Opens the folders on the way to one below this one, and closes the others. Refuses symlinks.
    fn walk(mut self, below: &Path, flags: i32) -> io::Result<Self> {
        for name in below {
            let flags = flags | libc::O_NOFOLLOW;
            self = Self::Brief(sys::open_at(self.file(), name, flags, 0)?);
        }
        Ok(self)
    }
}

fn open_folder(path: &Path) -> io::Result<File> {
    let path = if path.as_os_str().is_empty() {
        Path::new(".")
    } else {
        path
    };
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(PLACE).open(path)
}

/// Creates a file at a path as [`Folder::create`] does.
pub(crate) fn create_new(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let file = uncancelled(|| options.read(true).write(true).create_new(true).open(path))?;
    allow_owner(&file)?;
    Ok(file)
}

/// Creates a folder at a path as [`Folder::make_folder`] does.
pub(crate) fn make_folder(path: &Path) -> io::Result<()> {
    std::fs::create_dir(path)?;
    let mode = std::fs::symlink_metadata(path)?.mode() & 0o7777;
    if mode & OWNER_FOLDER == OWNER_FOLDER {
        return Ok(());
    }
    std::fs::set_permissions(path, Permissions::from_mode(mode | OWNER_FOLDER))
}

/// Lets a new file's owner read and write it. The file is already open, so failures are ignored, as
/// on a file system without permissions.
fn allow_owner(file: &File) -> io::Result<()> {
    let mode = file.metadata()?.mode() & 0o7777;
    if mode & OWNER_FILE != OWNER_FILE {
        let _ = file.set_permissions(Permissions::from_mode(mode | OWNER_FILE));
    }
    Ok(())
}

/// Returns an error if a file is not the expected one.
pub(crate) fn same(expected: Identity, found: &File) -> io::Result<()> {
    if Identity::new(&found.metadata()?) == expected {
        Ok(())
    } else {
        Err(io::Error::other(Error::new(ErrorKind::Replaced)))
    }
}

/// A descriptor in a program that may close it and use its number for its own files. It has a high
/// number, and each use checks that it still refers to the same file.
#[derive(Debug)]
pub(crate) struct Lent {
    number: RawFd,
    identity: Identity,
}

impl Lent {
    /// Duplicates a file's descriptor. Returns `None` if there is no free high number.
    pub(crate) fn new(file: &File) -> Option<Self> {
        let identity = Identity::new(&file.metadata().ok()?);
        let number = sys::duplicate_high(file)?;
        Some(Self { number, identity })
    }

    /// Calls `work` with the file. Returns `None` if the program has closed it.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&File) -> T) -> Option<T> {
        let file = sys::borrow(self.number);
        let found = file.metadata().ok()?;
        (Identity::new(&found) == self.identity).then(|| work(&file))
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if self.with(|_| ()).is_some() {
            sys::close(self.number);
        }
    }
}
