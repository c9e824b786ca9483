//! Follows a session's folder: its threads and its function names.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::{IndexFollower, ThreadFollower};
use crate::error::{Error, Result};
use crate::files::MANIFEST_FILE;
use crate::manifest::Manifest;
use crate::platform::Identity;
use crate::session::{Folders, Presence};
use crate::source::OpenOptions;
use crate::symbols::{Places, Symbols};

/// A follower of a session's folder while it is being written, which finds new threads and rereads
/// the manifest.
///
/// Callers follow each thread separately, with or without its details. Events of different threads
/// arrive as they are written, not in a common order. Once everything is finalized, a
/// [`SessionReader`](crate::session::SessionReader) merges them.
///
/// The folder is the `pid_N` folder that contains the threads; it need not exist yet.
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
/// # thread.write(&Event::new(1, 7, event_kind, 1))?;
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
    /// The thread folders already returned, by id and name.
    seen: BTreeSet<(u32, String)>,
    manifest: Option<Manifest>,
    places: Places,
    /// The identity, the size and the modification time of the manifest's file when it was last
    /// read, which change when the file is replaced or written to.
    version: Option<(Identity, u64, Option<SystemTime>)>,
}

/// A thread of a followed session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FollowedThread {
    id: u32,
    path: PathBuf,
}

impl SessionFollower {
    /// Follows the session in this folder, which need not exist yet.
    pub fn new(folder: impl AsRef<Path>) -> Self {
        Self {
            path: folder.as_ref().to_path_buf(),
            seen: BTreeSet::new(),
            manifest: None,
            places: Places::default(),
            version: None,
        }
    }

    /// Returns the path passed to [`new`](Self::new).
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the threads whose folders have appeared since the last call, by ascending id;
    /// returns none if there is no session yet. Ignores symlinks.
    ///
    /// A thread that is only listed in the manifest cannot be followed yet. It is returned once it
    /// has a folder.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Io`](crate::ErrorKind::Io) if the folder exists but cannot be listed.
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

    /// Rereads `manifest.json` if its identity, size or modification time has changed since it was
    /// last read. Returns whether it was reread.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Io`](crate::ErrorKind::Io) if the file cannot be examined. Problems with its
    /// contents are among the manifest's problems, as they are for
    /// [`SessionReader::manifest`](crate::session::SessionReader::manifest).
    pub fn poll_manifest(&mut self) -> Result<bool> {
        let path = self.path.join(MANIFEST_FILE);
        // Examine the file before reading it, so that the next poll detects a change in between.
        let version = match fs::symlink_metadata(&path) {
            Ok(found) => Some((Identity::new(&found), found.len(), found.modified().ok())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(Error::io(error).with_path(Some(&path))),
        };
        if version == self.version {
            return Ok(false);
        }
        self.manifest = Manifest::in_session(&path, OpenOptions::new());
        self.places = Places::new(self.manifest.as_mut(), Some(&path));
        self.version = version;
        Ok(true)
    }

    /// Returns the manifest as it was last read; `None` if there is no manifest.
    #[must_use]
    pub fn manifest(&self) -> Option<&Manifest> {
        self.manifest.as_ref()
    }

    /// Returns the function names from the manifest as it was last read.
    #[must_use]
    pub fn symbols(&self) -> Symbols<'_> {
        Symbols::new(self.manifest.as_ref(), &self.places)
    }
}

impl FollowedThread {
    /// Returns the id in the folder's name.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Returns the folder's path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Follows the thread's events with their details, starting with the first event.
    #[must_use]
    pub fn follow(&self) -> ThreadFollower {
        ThreadFollower::new(&self.path)
    }

    /// Follows the thread's events without details, starting with the first event.
    #[must_use]
    pub fn follow_index(&self) -> IndexFollower {
        IndexFollower::in_thread(&self.path)
    }
}
