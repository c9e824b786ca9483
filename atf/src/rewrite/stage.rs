//! The new folder while it is being written. It has a temporary name next to its final path, and is
//! deleted on failure. Only users who can read the original can read the new files.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::job::Failure;
use super::report::LeftBehind;
pub(super) use crate::error::at;
use crate::error::{Error, ErrorKind, Result};
use crate::files::{UNFINISHED, thread_id};
use crate::footer::FOOTER_SIZE;
use crate::platform::{self, Folder, Identity, Mode, Output};
use crate::session;
use crate::wire::HEADER_SIZE;
use crate::write::{Disk, Durability, Storage};

/// How many names to try for the unfinished folder, in case other rewrites use the same parent
/// folder.
const ATTEMPTS: u32 = 1000;
/// The size in bytes of each buffer for comparing files.
const BUFFER_SIZE: usize = 0x4_0000;
/// The size in bytes of the pieces that files are copied in.
const PIECE_SIZE: usize = 0x1_0000;

/// A folder that moves to its final path only when it is complete.
#[derive(Debug)]
pub(super) struct Stage {
    /// The parent of the new folder and the unfinished one, which have these names in it.
    parent: Folder,
    unfinished: OsString,
    name: OsString,
    /// The unfinished folder. Another user may rename it, but its path stays the same.
    held: Folder,
    pub(super) folder: PathBuf,
    out: PathBuf,
    /// The mode that the unfinished folder was created with.
    mode: Mode,
    is_published: bool,
}

impl Stage {
    /// Creates the unfinished folder for rewriting the trace at `path`, which has these sessions,
    /// to `out`.
    pub(super) fn create(path: &Path, sessions: &[PathBuf], out: &Path) -> Result<Self> {
        if Disk.exists(out).map_err(at(out))? {
            return Err(Error::new(ErrorKind::OutputExists).with_path(Some(out)));
        }
        let parent = match out.parent() {
            Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
            Some(parent) => parent,
            None => out,
        };
        let is_inside = is_inside(parent, path, sessions)?;
        if is_inside || session::is_part_of_trace(out) {
            return Err(Error::new(ErrorKind::OutputInside).with_path(Some(out)));
        }
        let process = std::process::id();
        let name = out.file_name().unwrap_or_default().to_os_string();
        let above = Folder::open(parent, false).map_err(at(parent))?;
        for attempt in 0..ATTEMPTS {
            // The temporary name is short, so it fits wherever the final name fits.
            let unfinished = format!("{UNFINISHED}{process}-{attempt}");
            match above.make_folder(Path::new(&unfinished)) {
                Ok(()) => {
                    let held = above.folder(Path::new(&unfinished)).inspect_err(|_| {
                        // Only the original error matters.
                        let _ = above.remove_folder(Path::new(&unfinished));
                    });
                    let held = held.map_err(at(parent))?;
                    let mut this = Self {
                        parent: above,
                        unfinished: unfinished.into(),
                        name,
                        folder: held.fixed_path(),
                        held,
                        out: out.to_path_buf(),
                        mode: Mode::ANY,
                        is_published: false,
                    };
                    // Until files get their original modes at the end, only the owner has access.
                    this.mode = Mode::read(&this.folder).map_err(at(parent))?;
                    let closed = this.mode.closed().set(&this.folder);
                    closed.map_err(at(parent))?;
                    return Ok(this);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(at(parent)(error)),
            }
        }
        Err(at(parent)(io::ErrorKind::AlreadyExists.into()))
    }

    /// Moves the folder to its final path, with the mode of `path`.
    pub(super) fn publish(mut self, path: &Path, durability: Durability) -> Result<()> {
        let mode = Mode::read(path).map_err(at(path))?;
        let mode = self.mode.limited_to(mode);
        mode.set(&self.folder).map_err(at(&self.folder))?;
        // Do not replace a folder that was created there in the meantime, even an empty one.
        let failed = at(&self.out);
        let [unfinished, name] = [&self.unfinished, &self.name].map(Path::new);
        if self.parent.exists(name).map_err(&failed)? {
            return Err(Error::new(ErrorKind::OutputExists).with_path(Some(&self.out)));
        }
        sync_folders(&self.folder, durability)?;
        self.parent
            .rename(unfinished, &self.name)
            .map_err(&failed)?;
        let published = self.parent.folder(name);
        if published
            .as_ref()
            .is_ok_and(|found| !found.is_same(&self.held))
        {
            self.is_published = true;
            return Err(Error::new(ErrorKind::Replaced).with_path(Some(&self.out)));
        }
        let synced = published.and_then(|_| match durability {
            Durability::None => Ok(()),
            _ => self.parent.sync(),
        });
        let synced = synced.map_err(&failed);
        // If this failed, move the folder back. Then nothing is left at `out`, unless moving it
        // back also fails.
        let back = || self.parent.rename(name, &self.unfinished);
        self.is_published = synced.is_ok() || back().is_err();
        synced
    }
}

/// Returns whether a folder is inside a trace or one of its sessions, regardless of the paths used.
fn is_inside(folder: &Path, path: &Path, sessions: &[PathBuf]) -> Result<bool> {
    let folder = fs::canonicalize(folder).map_err(at(folder))?;
    if folder.starts_with(fs::canonicalize(path).map_err(at(path))?) {
        return Ok(true);
    }
    if cfg!(not(unix)) {
        // Without a device and an inode, different folders may have the same identity.
        return Ok(false);
    }
    let identity = |path: &Path| fs::metadata(path).map(|found| Identity::new(&found));
    let above: Vec<_> = folder.ancestors().flat_map(identity).collect();
    let mut inner = std::iter::once(path).chain(sessions.iter().map(PathBuf::as_path));
    Ok(inner.any(|path| identity(path).is_ok_and(|found| above.contains(&found))))
}

impl Drop for Stage {
    fn drop(&mut self) {
        if !self.is_published {
            // Only the original error matters.
            let _ = fs::remove_dir_all(self.parent.fixed_path().join(&self.unfinished));
        }
    }
}

/// Creates a folder and its parents.
pub(super) fn create_folder(path: &Path) -> Result<()> {
    Disk.create_folder(path).map(drop).map_err(at(path))
}

/// Writes a small file in one go.
pub(super) fn write(path: &Path, bytes: &[u8], durability: Durability) -> Result<()> {
    let written = File::create_new(path).and_then(|file| Output(file).write_all(bytes));
    written.map_err(at(path))?;
    sync(path, durability)
}

/// Removes a file or a folder with all its contents, if it exists.
pub(super) fn remove(path: &Path) -> Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    };
    removed.map_err(at(path))
}

/// Returns an unused path in `folder`: `stem.extension`, `stem-2.extension`, … Shortens the stem if
/// the name would be too long.
pub(super) fn free_path(folder: &Path, stem: &str, extension: &str) -> Result<PathBuf> {
    let mut stem = stem.to_owned();
    let mut path = folder.join(format!("{stem}{extension}"));
    let mut number = 1_u64;
    loop {
        match Disk.exists(&path) {
            Ok(true) => number = number.saturating_add(1),
            Ok(false) => return Ok(path),
            // With its number, the name is too long.
            Err(error)
                if error.kind() == io::ErrorKind::InvalidFilename && stem.pop().is_some() => {}
            Err(error) => return Err(at(&path)(error)),
        }
        path = folder.join(format!("{stem}-{number}{extension}"));
    }
}

/// Copies a regular file, or a folder with all regular files below it. Returns reports on the
/// entries it did not copy, with paths relative to the session's folder `root`: unreadable ones,
/// and those that are neither files nor folders, because a symlink may lead outside the trace.
/// Fails only if the copy cannot be written.
pub(super) fn copy(
    root: &Path,
    from: &Path,
    to: &Path,
    durability: Durability,
) -> Result<Vec<LeftBehind>> {
    let mut left = Vec::new();
    // No recursion: deeply nested folders could overflow the stack.
    let mut open = vec![(from.to_path_buf(), to.to_path_buf())];
    while let Some((from, to)) = open.pop() {
        let why = match fs::symlink_metadata(&from).map(|metadata| metadata.file_type()) {
            Ok(file_type) if file_type.is_dir() => match copy_folder(&from, &to) {
                Ok(names) => {
                    let path = |name| (from.join(&name), to.join(&name));
                    open.extend(names.into_iter().map(path));
                    continue;
                }
                Err(failure) => reason(failure)?,
            },
            Ok(file_type) if file_type.is_file() => match copy_file(&from, &to, durability) {
                Ok(()) => continue,
                Err(failure) => reason(failure)?,
            },
            Ok(_) => "neither a regular file nor a folder".to_owned(),
            Err(error) => unreadable(&Error::io(error)),
        };
        let below = from.strip_prefix(root).unwrap_or(&from);
        left.push(LeftBehind::new(below, &why));
    }
    Ok(left)
}

/// Returns why an entry was not copied, or an error if writing is no longer possible.
fn reason(failure: Failure) -> Result<String> {
    match failure {
        Failure::Read(error) => Ok(unreadable(&error)),
        // The new path may be longer than the original, and therefore too long.
        Failure::Write(error) => match error.kind() {
            ErrorKind::Io(io::ErrorKind::InvalidFilename) => {
                Ok("cannot be copied: the new path would be too long".to_owned())
            }
            _ => Err(error),
        },
    }
}

/// Creates a folder with the mode of the one at `from`, and returns the names to copy into it.
fn copy_folder(from: &Path, to: &Path) -> Result<Vec<OsString>, Failure> {
    create_folder_like(from, to).map_err(Failure::Write)?;
    names(from).map_err(Failure::Read)
}

/// Creates a folder and its parents, and limits its mode to that of `from`.
pub(super) fn create_folder_like(from: &Path, to: &Path) -> Result<()> {
    create_folder(to)?;
    keep_mode(from, to)
}

/// Copies a file completely, or leaves nothing at `to`. Holes in the file are preserved.
fn copy_file(from: &Path, to: &Path, durability: Durability) -> Result<(), Failure> {
    let reading = |error| Failure::Read(at(from)(error));
    let writing = |error| Failure::Write(at(to)(error));
    let mut source = platform::open(from, false).map_err(reading)?;
    let mut target = File::create_new(to).map(Output).map_err(writing)?;
    let give_up = |error| {
        fs::remove_file(to).map_err(writing)?;
        Err(reading(error))
    };
    let mut buffer = Vec::new();
    let mut end = 0_u64;
    loop {
        match read_piece(&mut source, end, &mut buffer) {
            Ok(Some(start)) => {
                end = start.saturating_add(buffer.len() as u64);
                let written = target.seek(SeekFrom::Start(start));
                let written = written.and_then(|_| target.write_all(&buffer));
                written.map_err(writing)?;
            }
            Ok(None) => break,
            Err(error) => return give_up(error),
        }
    }
    let size = match source.seek(SeekFrom::End(0)) {
        Ok(size) => end.max(size),
        Err(error) => return give_up(error),
    };
    // Setting the size creates a hole at the end.
    let set = platform::check_size(size).and_then(|_| target.0.set_len(size));
    set.map_err(writing)?;
    keep_mode(from, to).map_err(Failure::Write)?;
    sync(to, durability).map_err(Failure::Write)
}

/// Reads the next stored piece at or after `offset` and returns its offset; `None` at the end.
fn read_piece(file: &mut File, offset: u64, buffer: &mut Vec<u8>) -> io::Result<Option<u64>> {
    buffer.clear();
    let Some(start) = platform::next_data(file, offset)? else {
        return Ok(None);
    };
    file.seek(SeekFrom::Start(start))?;
    let read = file.take(PIECE_SIZE as u64).read_to_end(buffer)?;
    Ok((read > 0).then_some(start))
}

/// Limits the mode of `to` to that of `from`.
fn keep_mode(from: &Path, to: &Path) -> Result<()> {
    let [from, own] = [
        Mode::read(from).map_err(at(from))?,
        Mode::read(to).map_err(at(to))?,
    ];
    own.limited_to(from).set(to).map_err(at(to))
}

/// Limits the modes in a new session or thread folder to those of the original, and the modes of
/// the folders between `to` and the session. A file without an original (a report, events set
/// aside) gets only the permissions that all original files share.
pub(super) fn keep_modes(from: &Path, to: &Path, below: &Path) -> Result<()> {
    keep_modes_in(&from.join(below), &to.join(below))?;
    let between = below.ancestors().skip(1);
    between
        .filter(|folder| !folder.as_os_str().is_empty())
        .try_for_each(|folder| keep_mode(&from.join(folder), &to.join(folder)))
}

/// Limits the modes in a folder. Returns the permissions that all original files share.
fn keep_modes_in(from: &Path, to: &Path) -> Result<Option<Mode>> {
    let mut of_all = None;
    let mut new = Vec::new();
    for name in names(to)? {
        let [source, target] = [from, to].map(|folder| folder.join(&name));
        let what = fs::symlink_metadata(&target).map_err(at(&target))?;
        let mode = if what.is_dir() {
            if thread_id(&name.to_string_lossy()).is_none() {
                // Folders of files set aside already have their modes.
                continue;
            }
            keep_modes_in(&source, &target)?
        } else {
            match fs::symlink_metadata(&source) {
                Ok(found) if found.is_file() => {
                    keep_mode(&source, &target)?;
                    Some(Mode::read(&source).map_err(at(&source))?)
                }
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    // The original may allow nobody else to read it.
                    let closed = Mode::read(&target).map_err(at(&target))?.closed();
                    closed.set(&target).map_err(at(&target))?;
                    Some(closed)
                }
                // Nothing else is ever read, so there is no original.
                _ => {
                    new.push(target);
                    None
                }
            }
        };
        of_all = of_all.into_iter().chain(mode).reduce(Mode::shared_with);
    }
    let source = Mode::read(from).map_err(at(from))?;
    for target in new {
        let own = Mode::read(&target).map_err(at(&target))?;
        let mode = own.limited_to(of_all.unwrap_or(source));
        mode.set(&target).map_err(at(&target))?;
    }
    keep_mode(from, to)?;
    Ok(of_all)
}

/// Describes why something cannot be read, for the report.
pub(super) fn unreadable(error: &Error) -> String {
    format!("cannot be read: {}", error.message())
}

/// Returns the sorted names in a folder.
pub(super) fn names(folder: &Path) -> Result<Vec<OsString>> {
    let entries = fs::read_dir(folder).map_err(at(folder))?;
    let names = entries.map(|entry| entry.map(|entry| entry.file_name()));
    let mut names = names.collect::<io::Result<Vec<_>>>().map_err(at(folder))?;
    names.sort();
    Ok(names)
}

/// Returns whether two paths have the same content: both are regular files with equal bytes, or
/// neither exists. Unreadable files are never the same.
pub(super) fn is_same(one: &Path, other: &Path) -> bool {
    compare(one, other).unwrap_or(false)
}

/// Like [`is_same`], but compares only the sizes and the bytes of the header and footer.
pub(super) fn ends_are_same(one: &Path, other: &Path) -> bool {
    let compare = || -> io::Result<bool> {
        let Some(size) = same_size(one, other)? else {
            return Ok(false);
        };
        let ends = |path| -> io::Result<_> {
            let mut file = platform::open(path, false)?;
            let (mut header, mut footer) = (Vec::new(), Vec::new());
            (&mut file)
                .take(HEADER_SIZE as u64)
                .read_to_end(&mut header)?;
            file.seek(SeekFrom::Start(size.saturating_sub(FOOTER_SIZE as u64)))?;
            file.read_to_end(&mut footer)?;
            Ok((header, footer))
        };
        Ok(size == 0 || ends(one)? == ends(other)?)
    };
    compare().unwrap_or(false)
}

/// Returns the common size of two regular files, 0 if neither path exists, or `None` otherwise.
fn same_size(one: &Path, other: &Path) -> io::Result<Option<u64>> {
    match [one, other].map(fs::symlink_metadata) {
        [Err(one), Err(other)] => Ok((one.kind() == other.kind()).then_some(0)),
        // Only regular files are opened: a FIFO could block forever.
        [Ok(a), Ok(b)] if a.is_file() && b.is_file() && a.len() == b.len() => Ok(Some(a.len())),
        _ => Ok(None),
    }
}

fn compare(one: &Path, other: &Path) -> io::Result<bool> {
    match same_size(one, other)? {
        Some(0) => return Ok(true),
        Some(_) => {}
        None => return Ok(false),
    }
    let mut a = BufReader::with_capacity(BUFFER_SIZE, platform::open(one, false)?);
    let mut b = BufReader::with_capacity(BUFFER_SIZE, platform::open(other, false)?);
    loop {
        let (left, right) = (a.fill_buf()?, b.fill_buf()?);
        let size = left.len().min(right.len());
        if left.get(..size) != right.get(..size) {
            return Ok(false);
        }
        if size == 0 {
            return Ok(left.is_empty() && right.is_empty());
        }
        a.consume(size);
        b.consume(size);
    }
}

fn sync(path: &Path, durability: Durability) -> Result<()> {
    if durability == Durability::None {
        return Ok(());
    }
    let file = File::open(path).map_err(at(path))?;
    file.sync_all().map_err(at(path))
}

/// Makes the names in a folder and in all folders below it survive a power loss.
fn sync_folders(folder: &Path, durability: Durability) -> Result<()> {
    if durability == Durability::None {
        return Ok(());
    }
    let mut open = vec![folder.to_path_buf()];
    while let Some(folder) = open.pop() {
        platform::sync_folder(&folder).map_err(at(&folder))?;
        for entry in fs::read_dir(&folder).map_err(at(&folder))? {
            let entry = entry.map_err(at(&folder))?;
            if entry.file_type().map_err(at(&folder))?.is_dir() {
                open.push(entry.path());
            }
        }
    }
    Ok(())
}
