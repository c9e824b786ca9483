//! Following a session's folder: which threads there are, and what functions are called.

use std::collections::BTreeSet;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::{IndexFollower, ThreadFollower};
use crate::error::{Error, Result};
use crate::manifest::Manifest;
use crate::session::{Folders, MANIFEST_FILE, Presence};
use crate::source::{Identity, OpenOptions};
use crate::symbols::{Places, Symbols};

/// Follows a session's folder while it is written: says which threads are new, and keeps up with
/// the manifest.
///
/// Each thread is followed by itself, where and as its caller likes: events of different threads
/// come as they are written, not in one order. When all is finalized, a
/// [`SessionReader`](crate::session::SessionReader) merges them.
///
/// The folder is the one that has the threads, `pid_N`; it need not be there yet.
///
/// ```
/// use atf::follow::{FollowedThread, Polled, SessionFollower};
/// use atf::write::{Event, SessionWriter, WriteOptions};
/// # let folder = tempfile::tempdir().unwrap();
/// # let folder = folder.path().join("pid_1");
///
/// let mut session = SessionFollower::new(&folder);
/// # let writer = SessionWriter::create(&folder, &WriteOptions::default())?;
/// # let mut thread = writer.thread(3)?;
/// # let event_kind = atf::EventKind::CALL;
/// # thread.write(&Event { timestamp_ns: 1, function_id: 7, event_kind, call_depth: 1 })?;
/// # thread.finalize()?;
/// # let mut seen = 0;
/// let mut threads = Vec::new();
/// loop {
///     session.poll_manifest()?;
///     let new = session.poll_threads()?;
///     threads.extend(new.iter().map(FollowedThread::follow_index));
///     let mut is_quiet = true;
///     for thread in &mut threads {
///         while let Polled::New(event) = thread.poll_event()? {
///             println!("{}", session.symbols().function(event.function_id));
///             is_quiet = false;
/// #           seen += 1;
///         }
///     }
/// #   if is_quiet { break }
///     if is_quiet {
///         std::thread::sleep(std::time::Duration::from_millis(100));
///     }
/// }
/// # assert_eq!((threads.len(), seen), (1, 1));
/// # Ok::<(), atf::Error>(())
/// ```
#[derive(Debug)]
pub struct SessionFollower {
    path: PathBuf,
    /// The thread folders that were given, by id and name.
    seen: BTreeSet<(u32, String)>,
    manifest: Option<Manifest>,
    places: Places,
    /// What the manifest's file was when it was read.
    version: Option<Version>,
}

/// A thread of a session that is followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FollowedThread {
    id: u32,
    path: PathBuf,
}

impl SessionFollower {
    /// Follows the session in this folder, which need not be there yet.
    pub fn new(folder: impl AsRef<Path>) -> Self {
        Self {
            path: folder.as_ref().to_path_buf(),
            seen: BTreeSet::new(),
            manifest: None,
            places: Places::default(),
            version: None,
        }
    }

    /// The folder, as it was named.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The threads whose folders are new since the last time, by ascending id; none where there
    /// is no session yet. Symbolic links are not followed.
    ///
    /// A thread that only the manifest lists has nothing to follow: it comes with its folder.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Io`](crate::ErrorKind::Io) where the folder is there and cannot be listed.
    pub fn poll_threads(&mut self) -> Result<Vec<FollowedThread>> {
        let folders = match fs::symlink_metadata(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            _ => Folders::list(&self.path).map_err(|error| error.with_path(Some(&self.path)))?,
        };
        let mut new = Vec::new();
        for (key, presence) in folders.threads {
            if presence == Presence::Folder && !self.seen.contains(&key) {
                new.push(FollowedThread {
                    id: key.0,
                    path: self.path.join(&key.1),
                });
                self.seen.insert(key);
            }
        }
        Ok(new)
    }

    /// Reads `manifest.json` again where it is not the file that was read last, by its identity,
    /// size and time; says whether that was so.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Io`](crate::ErrorKind::Io) where it cannot be looked at. What is wrong in it
    /// is among the manifest's problems, as with
    /// [`SessionReader::manifest`](crate::session::SessionReader::manifest).
    pub fn poll_manifest(&mut self) -> Result<bool> {
        let path = self.path.join(MANIFEST_FILE);
        // Looked at before it is read: what changes meanwhile is seen the next time.
        let version = match fs::symlink_metadata(&path) {
            Ok(metadata) => Some(Version::of(&metadata)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(Error::io(error).with_path(Some(&path))),
        };
        if version == self.version {
            return Ok(false);
        }
        self.manifest = Manifest::in_session(&path, OpenOptions::new());
        self.places = self.manifest.as_ref().map(Places::of).unwrap_or_default();
        self.version = version;
        Ok(true)
    }

    /// The manifest as it was read last; `None` where there was none.
    #[must_use]
    pub fn manifest(&self) -> Option<&Manifest> {
        self.manifest.as_ref()
    }

    /// The names of functions, from that manifest.
    #[must_use]
    pub fn symbols(&self) -> Symbols<'_> {
        Symbols::new(self.manifest.as_ref(), &self.places)
    }
}

impl FollowedThread {
    /// The id in the folder's name.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.id
    }

    /// The folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Follows its events with their details, from the first one on.
    #[must_use]
    pub fn follow(&self) -> ThreadFollower {
        ThreadFollower::new(&self.path)
    }

    /// Follows its events alone, from the first one on.
    #[must_use]
    pub fn follow_index(&self) -> IndexFollower {
        IndexFollower::in_thread(&self.path)
    }
}

/// What changes when a file is replaced or written to.
#[derive(Debug, PartialEq, Eq)]
struct Version {
    identity: Identity,
    size: u64,
    modified: Option<SystemTime>,
}

impl Version {
    fn of(metadata: &Metadata) -> Self {
        Self {
            identity: Identity::of(metadata),
            size: metadata.len(),
            modified: metadata.modified().ok(),
        }
    }
}
