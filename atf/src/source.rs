//! What readers read from: a regular file, or bytes in memory.

use std::fs::{self, File, FileType};
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Error, ErrorKind, Result};

/// Bytes that can be read at any place without a cursor.
///
/// Implement it to read from elsewhere, for example from an archive. Readers never trust it
/// further than they must: the size is asked once, and a read that ends early is an error.
pub trait ReadAt: Send + Sync {
    /// The size in bytes.
    fn size(&self) -> u64;

    /// Reads bytes at `offset` from the start and says how many; 0 only at the end.
    ///
    /// # Errors
    ///
    /// What the operating system says. A reader repeats an interrupted read.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize>;

    /// All bytes, where they are in memory: saves readers a copy.
    fn as_bytes(&self) -> Option<&[u8]> {
        None
    }
}

impl ReadAt for &[u8] {
    fn size(&self) -> u64 {
        self.len() as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let mut rest = self.get(start..).unwrap_or_default();
        io::Read::read(&mut rest, buffer)
    }

    fn as_bytes(&self) -> Option<&[u8]> {
        Some(self)
    }
}

impl ReadAt for Vec<u8> {
    fn size(&self) -> u64 {
        self.len() as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.as_slice().read_at(offset, buffer)
    }

    fn as_bytes(&self) -> Option<&[u8]> {
        Some(self)
    }
}

/// A regular file, read at positions.
///
/// It is not mapped, so a file that shrinks gives an error and never a signal. Its size is taken
/// once: what is appended later is not seen.
#[derive(Debug)]
pub struct FileSource {
    file: File,
    size: u64,
}

impl FileSource {
    /// Opens a regular file. Symbolic links are followed.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotRegular`] for anything but a regular file, found out before it is opened,
    /// so that a FIFO cannot block and a device is not touched; [`ErrorKind::Io`] otherwise.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let open = || -> Result<Self> {
            check_regular(fs::metadata(path).map_err(Error::io)?.file_type())?;
            let file = File::open(path).map_err(Error::io)?;
            let metadata = file.metadata().map_err(Error::io)?;
            check_regular(metadata.file_type())?;
            Ok(Self {
                file,
                size: metadata.len(),
            })
        };
        open().map_err(|error| error.with_path(Some(path)))
    }
}

impl ReadAt for FileSource {
    fn size(&self) -> u64 {
        self.size
    }

    #[cfg(unix)]
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(&self.file, buffer, offset)
    }

    #[cfg(windows)]
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        std::os::windows::fs::FileExt::seek_read(&self.file, buffer, offset)
    }
}

fn check_regular(file_type: FileType) -> Result<()> {
    if file_type.is_file() {
        return Ok(());
    }
    Err(Error::new(ErrorKind::NotRegular {
        found: name(file_type),
    }))
}

#[cfg(unix)]
fn name(file_type: FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    match file_type {
        t if t.is_dir() => "folder",
        t if t.is_fifo() => "FIFO",
        t if t.is_socket() => "socket",
        t if t.is_char_device() => "character device",
        t if t.is_block_device() => "block device",
        _ => "special file",
    }
}

#[cfg(not(unix))]
fn name(file_type: FileType) -> &'static str {
    if file_type.is_dir() {
        "folder"
    } else {
        "special file"
    }
}

/// A source with the size that counts and the path that errors name.
pub(crate) struct Input {
    source: Box<dyn ReadAt>,
    size: u64,
    path: Option<PathBuf>,
}

impl Input {
    pub(crate) fn new(source: impl ReadAt + 'static) -> Self {
        Self {
            size: source.size(),
            source: Box::new(source),
            path: None,
        }
    }

    pub(crate) fn open(path: &Path) -> Result<Self> {
        let source = FileSource::open(path)?;
        Ok(Self {
            path: Some(path.to_path_buf()),
            ..Self::new(source)
        })
    }

    /// Opens a file of a session, where a symbolic link could lead out of it.
    pub(crate) fn open_unlinked(path: &Path) -> Result<Self> {
        let metadata = fs::symlink_metadata(path);
        let metadata = metadata.map_err(|error| Error::io(error).with_path(Some(path)))?;
        if metadata.is_symlink() {
            return Err(Error::new(ErrorKind::SymbolicLink).with_path(Some(path)));
        }
        Self::open(path)
    }

    /// The size in bytes when it was opened.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    pub(crate) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// An error about this input.
    pub(crate) fn error(&self, kind: ErrorKind) -> Error {
        Error::new(kind).with_path(self.path())
    }

    /// All bytes, where they are in memory and as many as were announced.
    pub(crate) fn as_bytes(&self) -> Option<&[u8]> {
        self.source
            .as_bytes()
            .filter(|bytes| bytes.len() as u64 == self.size)
    }

    /// Fills the buffer from `offset`.
    pub(crate) fn read_exact(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        let wanted = buffer.len();
        let read = self.read(offset, buffer)?;
        let missing = wanted.saturating_sub(read) as u64;
        if missing == 0 {
            return Ok(());
        }
        Err(self
            .error(ErrorKind::UnexpectedEnd { missing })
            .with_offset(offset))
    }

    /// A record of `N` bytes at `offset`.
    pub(crate) fn record<const N: usize>(&self, offset: u64) -> Result<[u8; N]> {
        let start = usize::try_from(offset).ok().zip(self.as_bytes());
        if let Some(record) = start.and_then(|(start, all)| all.get(start..)?.first_chunk()) {
            return Ok(*record);
        }
        let mut record = [0; N];
        self.read_exact(offset, &mut record)?;
        Ok(record)
    }

    /// Reads until the buffer is full or the source ends, and says how many bytes.
    pub(crate) fn read(&self, offset: u64, buffer: &mut [u8]) -> Result<usize> {
        let mut filled = 0_usize;
        while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match self
                .source
                .read_at(offset.saturating_add(filled as u64), rest)
            {
                Ok(0) => break,
                Ok(read) => filled = filled.saturating_add(read),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    return Err(Error::io(error).with_path(self.path()).with_offset(offset));
                }
            }
        }
        Ok(filled.min(buffer.len()))
    }
}

impl std::fmt::Debug for Input {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Input")
            .field("path", &self.path)
            .field("size", &self.size)
            .finish()
    }
}
