//! The identity of the file at a path.

use std::fs::Metadata;

/// Metadata that identifies a file and stays the same for its lifetime.
///
/// The inode number of a deleted file is reused, often immediately. The creation time distinguishes
/// the two files, if the file system records it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    #[cfg(unix)]
    device_and_inode: (u64, u64),
    created: Option<std::time::SystemTime>,
}

impl Identity {
    pub(crate) fn new(metadata: &Metadata) -> Self {
        Self {
            #[cfg(unix)]
            device_and_inode: {
                use std::os::unix::fs::MetadataExt;
                (metadata.dev(), metadata.ino())
            },
            created: metadata.created().ok(),
        }
    }
}
