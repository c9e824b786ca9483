//! Restores a session from an archive.

use std::fs;
use std::path::{Path, PathBuf};

use atf::session::is_part_of_trace;

use super::restore::{Unpacked, restore};
use super::sink::Disk;
use super::tree::set_mode;
use super::{Layout, bad};
use crate::error::Error;
use crate::files::refuse_existing;
use crate::stage::{Stage, output};
use crate::table::Table;

/// Selects the session to unpack. An archive with only one session needs neither option.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct UnpackOptions {
    /// The name of the host, as in the partition `host=`.
    pub host: Option<String>,
    /// The name of the session, as in the partition `session=`.
    pub session: Option<String>,
}

/// Restores the files of a session, byte for byte, to the folder `session`, which must not exist
/// yet. Verifies the checksum of each file.
///
/// All files are written to a temporary folder next to `session`. The folder is renamed at the end,
/// so nothing remains after an error.
///
/// # Errors
///
/// [`Error::File`] if the archive cannot be read or is damaged, [`Error::Output`] if the session exists or cannot be
/// written, and [`Error::Usage`] if the archive has several sessions and the options do not select one.
pub fn unpack(
    archive: impl AsRef<Path>,
    session: impl AsRef<Path>,
    options: &UnpackOptions,
) -> Result<Unpacked, Error> {
    let (archive, target) = (archive.as_ref(), session.as_ref());
    let layout = find(archive, options)?;
    refuse_existing(&[target.to_path_buf()])?;
    if is_part_of_trace(target) {
        return Err(output(target, "it would become part of another trace"));
    }
    let parent = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    fs::create_dir_all(parent).map_err(|error| output(parent, error))?;
    let stage = Stage::new(parent)?;
    // Keep other users out of the folder until its files' modes are set.
    set_mode(&stage.path, 0o700).map_err(|error| output(&stage.path, error))?;
    let restored = restore(&layout, &mut Disk::new(&stage.path))?;
    let renames = [(stage.path.clone(), target.to_path_buf())];
    stage.publish(&renames)?;
    Ok(restored)
}

/// Returns the session that the options select.
fn find(archive: &Path, options: &UnpackOptions) -> Result<Layout, Error> {
    let root = archive.join(Table::Files.name());
    let mut places = partitions(&root, "session")?;
    for host in partitions(&root, "host")? {
        let sessions = partitions(&root.join(&host), "session")?;
        places.extend(sessions.into_iter().map(|session| host.join(session)));
    }
    let wants = |key: &str, name: &Option<String>, place: &Path| match name {
        Some(name) => place
            .iter()
            .any(|part| part == format!("{key}={name}").as_str()),
        None => true,
    };
    places.retain(|place| {
        wants("host", &options.host, place) && wants("session", &options.session, place)
    });
    match &places[..] {
        [place] => Ok(Layout {
            archive: archive.to_path_buf(),
            place: place.clone(),
        }),
        [] => Err(bad(archive, "the archive does not contain the session")),
        several => {
            let names = several.iter().take(MOST_NAMED);
            let names = names.map(|place| place.to_string_lossy());
            let names = names.collect::<Vec<_>>().join(", ");
            let count = several.len();
            Err(Error::usage(format!(
                "{}: the archive has {count} sessions; select one by host and session: {names}",
                archive.display()
            )))
        }
    }
}

/// The maximum number of sessions to list in an error.
const MOST_NAMED: usize = 20;

/// Returns the folders named `KEY=…` in a folder.
fn partitions(folder: &Path, key: &str) -> Result<Vec<PathBuf>, Error> {
    let failed = |error| bad(folder, error);
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        let text = name.to_string_lossy();
        if text.split_once('=').is_some_and(|(found, _)| found == key) {
            found.push(PathBuf::from(name));
        }
    }
    found.sort();
    Ok(found)
}
