//! Receives restored files: writes them to a folder or compares them with the originals.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};

use super::bad;
use super::tree::{self, Entry, Kind, below, set_mode};
use crate::error::Error;
use crate::stage::output;

/// Receives the entries of an archive, in order.
pub(super) trait Sink {
    /// Begins an entry. For a symlink, `target` is its target.
    fn begin(&mut self, entry: &Entry, target: Option<&str>) -> Result<(), Error>;
    /// Receives the next bytes of the file.
    fn write(&mut self, bytes: &[u8]) -> Result<(), Error>;
    fn end_file(&mut self) -> Result<(), Error>;
    fn finish(&mut self) -> Result<(), Error>;
}

/// Writes files to an empty folder.
pub(super) struct Disk {
    root: PathBuf,
    file: Option<(PathBuf, File)>,
    /// Folders with their modes, which are set last because they may make a folder read-only.
    folders: BTreeMap<PathBuf, Option<u32>>,
    /// Whether there was a symlink. Symlinks come last, as they may point elsewhere.
    has_links: bool,
}

impl Disk {
    pub(super) fn new(root: &Path) -> Self {
        Self {
            root: root.to_path_buf(),
            file: None,
            folders: BTreeMap::new(),
            has_links: false,
        }
    }

    /// Creates a symlink, but only in a folder that was created here, because a path through another
    /// symlink could lead anywhere.
    fn link(&mut self, path: &Path, target: &str) -> Result<(), Error> {
        self.has_links = true;
        let parent = path.parent().unwrap_or(&self.root);
        if parent != self.root && !self.folders.contains_key(parent) {
            return Err(output(path, "the symlink is outside the session's folder"));
        }
        link(target, path).map_err(|error| output(path, error))
    }
}

impl Sink for Disk {
    fn begin(&mut self, entry: &Entry, target: Option<&str>) -> Result<(), Error> {
        let path = below(&self.root, &entry.path);
        if self.has_links && entry.kind != Kind::Link {
            return Err(output(&path, "it comes after a symlink"));
        }
        match (entry.kind, target) {
            (Kind::Folder, _) => {
                if !entry.path.is_empty() {
                    fs::create_dir(&path).map_err(|error| output(&path, error))?;
                }
                self.folders.entry(path).or_insert(entry.mode);
            }
            (Kind::Link, target) => {
                let target = target.ok_or_else(|| output(&path, "the symlink has no target"))?;
                self.link(&path, target)?;
            }
            (Kind::File, _) => {
                let file = File::create_new(&path).map_err(|error| output(&path, error))?;
                if let Some(mode) = entry.mode {
                    // The file is already open, so it can be written whatever its mode.
                    set_mode(&path, mode).map_err(|error| output(&path, error))?;
                }
                self.file = Some((path, file));
            }
        }
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let Some((path, file)) = &mut self.file else {
            return Err(Error::Internal("bytes without a file".to_owned()));
        };
        file.write_all(bytes).map_err(|error| output(path, error))
    }

    fn end_file(&mut self) -> Result<(), Error> {
        match self.file.take() {
            Some((path, file)) => file.sync_all().map_err(|error| output(&path, error)),
            None => Ok(()),
        }
    }

    fn finish(&mut self) -> Result<(), Error> {
        for (path, mode) in self.folders.iter().rev() {
            if let Some(mode) = mode {
                set_mode(path, *mode).map_err(|error| output(path, error))?;
            }
        }
        Ok(())
    }
}

#[cfg(unix)]
fn link(target: &str, path: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(target, path)
}

#[cfg(not(unix))]
fn link(_: &str, _: &Path) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}

/// Compares the entries with a session's files.
pub(super) struct Comparer {
    root: PathBuf,
    /// The entries that have not been compared yet.
    left: BTreeSet<Entry>,
    file: Option<(PathBuf, BufReader<File>)>,
    offset: u64,
    buffer: Vec<u8>,
}

impl Comparer {
    /// Lists the session's files.
    pub(super) fn new(root: &Path) -> Result<Self, Error> {
        Ok(Self {
            root: root.to_path_buf(),
            left: tree::list(root)?.into_iter().collect(),
            file: None,
            offset: 0,
            buffer: Vec::new(),
        })
    }

    fn differs(&self, path: &Path, what: &str) -> Error {
        let offset = self.offset;
        let why = format!(
            "{what} at offset {offset}: the archive has different bytes. Is a tracer still writing the session?"
        );
        bad(path, why)
    }
}

impl Sink for Comparer {
    fn begin(&mut self, entry: &Entry, target: Option<&str>) -> Result<(), Error> {
        let path = below(&self.root, &entry.path);
        if !self.left.remove(entry) {
            let why = "it was changed or removed while it was being packed";
            return Err(bad(&path, why));
        }
        self.offset = 0;
        match entry.kind {
            Kind::Folder => {}
            Kind::Link => {
                let found = fs::read_link(&path).map_err(|error| bad(&path, error))?;
                if found.to_str() != target {
                    return Err(self.differs(&path, "the symlink's target"));
                }
            }
            Kind::File => {
                let file = File::open(&path).map_err(|error| bad(&path, error))?;
                self.file = Some((path, BufReader::with_capacity(1 << 18, file)));
            }
        }
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let Some((path, file)) = &mut self.file else {
            return Err(Error::Internal("bytes without a file".to_owned()));
        };
        self.buffer.clear();
        let read = file.take(bytes.len() as u64).read_to_end(&mut self.buffer);
        read.map_err(|error| bad(path, error))?;
        if self.buffer != bytes {
            let path = path.clone();
            return Err(self.differs(&path, "bytes"));
        }
        self.offset = self.offset.saturating_add(bytes.len() as u64);
        Ok(())
    }

    fn end_file(&mut self) -> Result<(), Error> {
        let Some((path, mut file)) = self.file.take() else {
            return Ok(());
        };
        let read = file.read(&mut [0]).map_err(|error| bad(&path, error))?;
        match read {
            0 => Ok(()),
            _ => Err(self.differs(&path, "more bytes")),
        }
    }

    fn finish(&mut self) -> Result<(), Error> {
        match self.left.first() {
            None => Ok(()),
            Some(entry) => {
                let path = below(&self.root, &entry.path);
                Err(bad(&path, "it appeared while the session was being packed"))
            }
        }
    }
}
