//! Packs each session into a single byte string. The fuzz corpus contains sessions in this form.
//!
//! The format is `ATFS`, followed by each file's kind (0 manifest, 1 index, 2 detail, 3 ring),
//! thread number, size as a little-endian u16, and bytes. The last file may be truncated.

use std::fs;
use std::path::Path;

use atf::session::MANIFEST_FILE;
use atf::thread::{DETAIL_FILE, INDEX_FILE, RING_FILE};

use crate::scratch::put;

const MAGIC: &[u8] = b"ATFS";
/// File names by kind.
const NAMES: [&str; 4] = [MANIFEST_FILE, INDEX_FILE, DETAIL_FILE, RING_FILE];
/// The maximum number of files. More threads would test nothing new.
const MOST_FILES: usize = 24;

/// Writes the files of a packed session into a folder. Returns `false` if the bytes are not a
/// packed session.
pub fn unpack(data: &[u8], folder: &Path) -> bool {
    let Some(mut rest) = data.strip_prefix(MAGIC) else {
        return false;
    };
    for _ in 0..MOST_FILES {
        let Some(([kind, thread, low, high], left)) = rest.split_first_chunk() else {
            break;
        };
        let size = usize::from(u16::from_le_bytes([*low, *high])).min(left.len());
        let (bytes, left) = left.split_at(size);
        rest = left;
        let name = NAMES[usize::from(*kind) % NAMES.len()];
        let folder = match name {
            MANIFEST_FILE => folder.to_path_buf(),
            _ => folder.join(format!("thread_{thread}")),
        };
        fs::create_dir_all(&folder).expect("we own this folder");
        put(&folder.join(name), bytes);
    }
    true
}

/// Packs the files of a session folder. Returns `None` if no file fits.
#[must_use]
pub fn pack(folder: &Path) -> Option<Vec<u8>> {
    let mut files = vec![(0_usize, 0_u8, folder.join(MANIFEST_FILE))];
    for thread in 0..=u8::MAX {
        let folder = folder.join(format!("thread_{thread}"));
        let names = NAMES.iter().enumerate().skip(1);
        files.extend(names.map(|(kind, name)| (kind, thread, folder.join(name))));
    }
    let read = files.into_iter().filter_map(|(kind, thread, path)| {
        let kind = u8::try_from(kind).ok()?;
        Some((kind, thread, fs::read(path).ok()?))
    });
    let read: Vec<_> = read.collect();
    (!read.is_empty()).then(|| pack_files(&read))
}

/// Packs files, each given with its kind and thread. Skips files that are too large.
pub(crate) fn pack_files(files: &[(u8, u8, impl AsRef<[u8]>)]) -> Vec<u8> {
    let mut packed = MAGIC.to_vec();
    for (kind, thread, bytes) in files {
        let bytes = bytes.as_ref();
        if let Ok(size) = u16::try_from(bytes.len()) {
            let [low, high] = size.to_le_bytes();
            packed.extend([*kind, *thread, low, high]);
            packed.extend(bytes);
        }
    }
    packed
}
