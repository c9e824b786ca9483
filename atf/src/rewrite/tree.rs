//! Finds the sessions and threads to rewrite at a path.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::report::LeftBehind;
use super::stage::{at, names, unreadable};
use crate::error::{Error, ErrorKind, Result};
use crate::files::{RECOVERY, is_numbered, is_unfinished};
use crate::kind::FolderKind;
use crate::session::SEARCH_DEPTH;
use crate::trace::Process;

/// The folder for unreadable files, which are copied unchanged.
pub(super) const UNREADABLE: &str = "unreadable";

/// A session, or the folder of a thread without a session.
#[derive(Debug)]
pub(super) struct Item {
    /// The path relative to the given path; empty for that path itself.
    pub(super) below: PathBuf,
    pub(super) is_thread: bool,
}

/// The sessions and threads at a path: the path itself, or all those below it.
#[derive(Debug, Default)]
pub(super) struct Tree {
    pub(super) items: Vec<Item>,
    pub(super) left_behind: Vec<LeftBehind>,
    /// The error of the first folder that could not be read.
    unread: Option<Error>,
}

impl Tree {
    pub(super) fn find(path: &Path) -> Result<Self> {
        let mut this = Self::default();
        this.visit(path, Path::new(""), SEARCH_DEPTH)?;
        if this.items.is_empty() {
            let empty = || Error::new(ErrorKind::NotASession).with_path(Some(path));
            return Err(this.unread.unwrap_or_else(empty));
        }
        Ok(this)
    }

    /// Returns the items grouped by process, with each process's segments in order.
    pub(super) fn processes(&self) -> Vec<Vec<&Item>> {
        let items = self.items.iter().map(|item| (&*item.below, item));
        let items: BTreeMap<&Path, &Item> = items.collect();
        let groups = Process::group(self.items.iter().map(|it| it.below.clone()).collect());
        let group = |paths: &Vec<PathBuf>| {
            let items = paths.iter().filter_map(|path| items.get(&**path));
            items.copied().collect()
        };
        groups.iter().map(group).collect()
    }

    fn visit(&mut self, root: &Path, below: &Path, depth: usize) -> Result<()> {
        let folder = root.join(below);
        if let Some(kind) = FolderKind::detect(&folder).map_err(at(&folder))? {
            self.items.push(Item {
                below: below.to_path_buf(),
                is_thread: kind == FolderKind::Thread,
            });
            return Ok(());
        }
        for name in names(&folder)? {
            if is_unfinished(&name) {
                self.left_behind
                    .push(LeftBehind::unfinished(&below.join(name)));
                continue;
            }
            let below = below.join(name);
            let mut inner = Self::default();
            let visited = fs::symlink_metadata(root.join(&below)).map_err(Error::io);
            let visited = visited.and_then(|metadata| {
                let file_type = metadata.file_type();
                if file_type.is_dir() {
                    match depth.checked_sub(1) {
                        Some(depth) => inner.visit(root, &below, depth)?,
                        None => inner
                            .left_behind
                            .push(LeftBehind::new(&below, &ErrorKind::TooDeep.to_string())),
                    }
                }
                Ok(file_type)
            });
            let file_type = match visited {
                Ok(file_type) => file_type,
                Err(error) => {
                    // Report the unreadable folder, because it may contain sessions.
                    let left = LeftBehind::new(&below, &unreadable(&error));
                    self.left_behind.push(left);
                    self.unread.get_or_insert(error);
                    continue;
                }
            };
            self.unread = self.unread.take().or(inner.unread);
            let is_lost = inner.left_behind.iter().any(|left| left.is_loss);
            if inner.items.is_empty() && !is_lost {
                let why = match () {
                    () if file_type.is_symlink() => "a symlink, which is not followed",
                    () if file_type.is_dir() => "not a session, and contains none",
                    () => "not part of a session",
                };
                self.left_behind.push(LeftBehind {
                    is_loss: false,
                    ..LeftBehind::new(&below, why)
                });
            } else {
                self.items.append(&mut inner.items);
                self.left_behind.append(&mut inner.left_behind);
            }
        }
        Ok(())
    }
}

/// Returns whether a rewrite may leave a file or folder with this name next to the threads.
pub(super) fn is_earlier(name: &str) -> bool {
    name == UNREADABLE || is_numbered(name, RECOVERY.0, RECOVERY.1)
}
