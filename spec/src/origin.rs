//! The origin of a spec's files: a folder, or this program.

use std::io;
use std::path::{Path, PathBuf};

/// Includes files of the spec, with their paths.
macro_rules! files {
    ($($path:literal)*) => {
        &[$(($path, include_str!(concat!("../", $path)))),*]
    };
}

/// The YAML files of the official spec, which are built into programs: path and text.
pub const BUILT_IN: &[(&str, &str)] = files! {
    "constants.yaml"
    "decisions.yaml"
    "digests.yaml"
    "editions.yaml"
    "enums.yaml"
    "format.yaml"
    "manifest.yaml"
    "session.yaml"
    "behaviour/checksum.yaml"
    "behaviour/clock.yaml"
    "behaviour/events.yaml"
    "behaviour/finalize.yaml"
    "behaviour/performance.yaml"
    "behaviour/session.yaml"
    "behaviour/threads.yaml"
    "grammar/detail.yaml"
    "grammar/index.yaml"
    "records/detail_event_header.yaml"
    "records/detail_footer.yaml"
    "records/detail_function_payload.yaml"
    "records/detail_header.yaml"
    "records/index_event.yaml"
    "records/index_footer.yaml"
    "records/index_header.yaml"
    "records/ring_header.yaml"
    "rules/detail_event.yaml"
    "rules/detail_footer.yaml"
    "rules/detail_function_payload.yaml"
    "rules/detail_header.yaml"
    "rules/index_event.yaml"
    "rules/index_footer.yaml"
    "rules/index_header.yaml"
    "rules/link.yaml"
    "rules/manifest.yaml"
    "rules/reader.yaml"
    "rules/ring.yaml"
    "rules/session.yaml"
    "rules/writer.yaml"
    "sources/FIELD.yaml"
    "sources/S0.yaml"
    "sources/S1.yaml"
    "sources/S2.yaml"
    "sources/S3.yaml"
    "sources/S4.yaml"
};

/// The maximum size of a YAML file in bytes. Our largest file is about 20 KiB.
const MAX_FILE_SIZE: u64 = 4 << 20;

/// The origin of a spec's files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The files in a folder.
    Folder(PathBuf),
    /// [`BUILT_IN`].
    BuiltIn,
}

impl Origin {
    /// Returns whether there is a file or folder at this path.
    pub(crate) fn has(&self, path: &str) -> bool {
        match self {
            Self::Folder(folder) => folder.join(path).exists(),
            Self::BuiltIn => BUILT_IN.iter().any(|(known, _)| *known == path),
        }
    }

    /// Returns the names of the files in a folder, in no particular order.
    pub(crate) fn names(&self, folder: &str) -> Result<Vec<String>, String> {
        match self {
            Self::Folder(root) => names(&root.join(folder)).map_err(|error| why(&error)),
            Self::BuiltIn => {
                let files = BUILT_IN
                    .iter()
                    .filter_map(|(path, _)| path.rsplit_once('/'));
                let files = files.filter(|(known, _)| *known == folder);
                Ok(files.map(|(_, name)| name.to_owned()).collect())
            }
        }
    }

    pub(crate) fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        match self {
            Self::Folder(folder) => read(&folder.join(path)),
            Self::BuiltIn => BUILT_IN
                .iter()
                .find(|(known, _)| *known == path)
                .map(|(_, text)| text.as_bytes().to_vec())
                .ok_or_else(|| why(&io::ErrorKind::NotFound.into())),
        }
    }
}

fn names(folder: &Path) -> io::Result<Vec<String>> {
    let entries = std::fs::read_dir(folder)?.filter_map(Result::ok);
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    Ok(names.collect())
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    let meta = std::fs::metadata(path).map_err(|error| why(&error))?;
    if !meta.is_file() {
        return Err("not a file".to_owned());
    }
    if meta.len() > MAX_FILE_SIZE {
        let size = meta.len();
        return Err(format!(
            "{size} bytes; the limit for a spec file is {MAX_FILE_SIZE}"
        ));
    }
    std::fs::read(path).map_err(|error| why(&error))
}

/// Describes a read error in the same words on every system.
fn why(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file or folder".to_owned(),
        io::ErrorKind::NotADirectory => "not a folder".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Error, ErrorKind};

    use super::{BUILT_IN, names, why};

    /// Returns the paths of the spec's files in this checkout or package.
    fn paths() -> Vec<String> {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut paths = names(root).expect("the spec's folder");
        for folder in ["behaviour", "grammar", "records", "rules", "sources"] {
            let names = names(&root.join(folder)).expect("a folder of the spec");
            paths.extend(names.into_iter().map(|name| format!("{folder}/{name}")));
        }
        paths.retain(|path| path.ends_with(".yaml"));
        paths.sort();
        paths
    }

    #[test]
    fn all_files_of_the_spec_are_built_in() {
        let mut built_in: Vec<&str> = BUILT_IN.iter().map(|(path, _)| *path).collect();
        built_in.sort_unstable();
        assert_eq!(built_in, paths());
    }

    /// Tests only the error messages, because a test that runs as root is never denied access.
    #[test]
    fn read_errors_have_the_same_text_on_every_system() {
        let said = |kind| why(&Error::from(kind));
        assert_eq!(said(ErrorKind::PermissionDenied), "permission denied");
        assert_eq!(said(ErrorKind::NotFound), "no such file or folder");
        assert_eq!(said(ErrorKind::NotADirectory), "not a folder");
        assert_eq!(why(&Error::other("the disk is gone")), "the disk is gone");
    }
}
