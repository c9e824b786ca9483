//! A growing file that is reopened whenever it is examined.

use std::path::{Path, PathBuf};

use super::input::source_in_session;
use super::{Input, OpenOptions};
use crate::error::{Error, ErrorKind, Result, at};
use crate::platform::Identity;

/// A file at a path, which need not exist yet.
///
/// The file is open only while it is examined, so that thousands of files can be followed at once.
#[derive(Debug)]
pub(crate) struct Growing {
    path: PathBuf,
    options: OpenOptions,
    identity: Option<Identity>,
}

impl Growing {
    /// Creates a source for a standalone file. Symlinks are followed.
    pub(crate) fn new(path: &Path) -> Self {
        Self::with(path, OpenOptions::new().follow_links(true))
    }

    /// Creates a source for a file of a session. Symlinks are refused, because they could lead out
    /// of the session.
    pub(crate) fn in_session(path: &Path) -> Self {
        Self::with(path, OpenOptions::new())
    }

    fn with(path: &Path, options: OpenOptions) -> Self {
        Self {
            path: path.to_path_buf(),
            options,
            identity: None,
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens the file with its current size. Returns `None` if it never existed. Fails if it no
    /// longer exists, and with [`ErrorKind::Replaced`] if the path now refers to a different file.
    pub(crate) fn look(&mut self) -> Result<Option<Input>> {
        let (input, identity) = match self.open() {
            Ok(opened) => opened,
            Err(error) if self.identity.is_none() && error.is_not_found() => return Ok(None),
            Err(error) => return Err(error),
        };
        self.identity = Some(identity);
        Ok(Some(input))
    }

    /// Opens the same file again. Fails like [`look`](Self::look), and also if the file never
    /// existed.
    pub(crate) fn again(&self) -> Result<Input> {
        self.open().map(|(input, _)| input)
    }

    fn open(&self) -> Result<(Input, Identity)> {
        let file = source_in_session(&self.path, self.options)?;
        let metadata = file.file.metadata().map_err(at(&self.path))?;
        let found = Identity::new(&metadata);
        if self.identity.is_some_and(|identity| identity != found) {
            return Err(Error::new(ErrorKind::Replaced).with_path(Some(&self.path)));
        }
        Ok((Input::at(&self.path, file), found))
    }
}
