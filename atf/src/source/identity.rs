//! Which file it is that stands at a path.

use std::fs::Metadata;

/// What stays the same as long as it is one file.
///
/// The number of a file that was removed is given to a new one, often at once; the time at which
/// it was made tells them apart where the file system keeps that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    #[cfg(unix)]
    device_and_inode: (u64, u64),
    created: Option<std::time::SystemTime>,
}

impl Identity {
    pub(crate) fn of(metadata: &Metadata) -> Self {
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
