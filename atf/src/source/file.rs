//! Regular files with positioned reads.

use std::fs::{self, File, FileType};
use std::io;
use std::path::Path;

use super::ReadAt;
use crate::error::{Error, ErrorKind, Result, at};
use crate::platform;

/// A regular file with positioned reads.
///
/// The file is not mapped, so if it shrinks, reads end early and never raise a signal. Bytes that
/// were removed during a read are not returned. The size is queried once, so bytes appended later
/// are ignored.
#[derive(Debug)]
pub struct FileSource {
    pub(crate) file: File,
    size: u64,
}

impl FileSource {
    /// Opens a regular file. Follows symlinks.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotRegular`] for anything but a regular file. The type is checked before the
    /// file is opened, so that a FIFO cannot block and devices are not accessed. [`ErrorKind::Io`]
    /// for any other failure.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_as(path.as_ref(), true)
    }

    /// Like [`open`](Self::open), but follows symlinks only if `follow_links` is set.
    pub(crate) fn open_as(path: &Path, follow_links: bool) -> Result<Self> {
        check_regular(path, fs::metadata(path).map_err(at(path))?.file_type())?;
        let file = platform::open(path, follow_links).map_err(at(path))?;
        let metadata = file.metadata().map_err(at(path))?;
        check_regular(path, metadata.file_type())?;
        Ok(Self {
            file,
            size: metadata.len(),
        })
    }
}

impl ReadAt for FileSource {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        platform::read_at(&self.file, offset, buffer)
    }

    fn next_data(&self, offset: u64) -> io::Result<Option<u64>> {
        platform::next_data(&self.file, offset)
    }
}

fn check_regular(path: &Path, file_type: FileType) -> Result<()> {
    if file_type.is_file() {
        return Ok(());
    }
    let found = platform::name(file_type);
    Err(Error::new(ErrorKind::NotRegular { found }).with_path(Some(path)))
}

#[cfg(all(test, unix))]
mod tests {
    use std::error::Error;
    use std::fs;

    use super::FileSource;
    use crate::platform;

    /// A file can be replaced after it is checked and before it is opened.
    #[test]
    fn open_does_not_block_on_a_fifo_or_follow_a_symlink_unless_allowed()
    -> Result<(), Box<dyn Error>> {
        let folder = tempfile::tempdir()?;
        let [fifo, path, link] = ["fifo", "index.atf", "link"].map(|name| folder.path().join(name));
        let made = std::process::Command::new("mkfifo").arg(&fifo).status()?;
        assert!(made.success());
        platform::open(&fifo, true)?;
        fs::write(&path, "x")?;
        std::os::unix::fs::symlink(&path, &link)?;
        assert!(FileSource::open_as(&link, true).is_ok());
        assert!(FileSource::open_as(&link, false).is_err());
        Ok(())
    }
}
