//! Options for opening files.

use crate::sys::MapPermit;

/// The default size limit for a manifest in bytes.
pub(crate) const MANIFEST_LIMIT: u64 = 64 << 20;

/// Options for opening files, passed to `open_with` of [`IndexReader`](crate::index::IndexReader),
/// [`DetailReader`](crate::detail::DetailReader), [`ThreadReader`](crate::thread::ThreadReader) and
/// [`SessionReader`](crate::session::SessionReader).
///
/// By default, files are read with positioned reads, and symlinks inside a session are not
/// followed. How files are read never changes the results; `follow_links` and `manifest_limit`
/// determine what is read.
///
/// ```
/// use atf::OpenOptions;
/// use atf::thread::ThreadReader;
#[doc = include_str!("../doc_setup/thread.md")]
/// // SAFETY: no process changes these files while the reader exists.
/// let mapped = unsafe { OpenOptions::new().mapped() };
/// let thread = ThreadReader::open_with(folder, mapped)?;
/// assert_eq!(thread.index().event_count(), 2);
/// # Ok::<(), atf::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct OpenOptions {
    pub(crate) map: Option<MapPermit>,
    pub(crate) follow_links: bool,
    pub(crate) manifest_limit: u64,
    /// Whether to first read whole files to find unreadable ranges, which then read as zeros (see
    /// [`Input::unreadable`](super::Input::unreadable)). Must not be set for mapped files.
    pub(crate) around_errors: bool,
    /// Whether `ring.atf` may continue a file whose end was lost later. The missing bytes then
    /// count as unreadable.
    pub(crate) past_missing: bool,
    /// Whether the events in `ring.atf` are read even if its details do not belong to `detail.atf`.
    pub(crate) ring_without_details: bool,
    /// The maximum size in bytes of a `detail.atf` that is read into memory as a whole. This saves
    /// reads, because the file is walked when it is opened and then read again.
    pub(crate) detail_in_memory: u64,
    /// Whether threads are scanned while they are opened.
    pub(crate) scan: bool,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl OpenOptions {
    /// Returns the default options.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            map: None,
            follow_links: false,
            manifest_limit: MANIFEST_LIMIT,
            around_errors: false,
            past_missing: false,
            ring_without_details: false,
            detail_in_memory: 0,
            scan: false,
        }
    }

    /// Sets whether to follow symlinks inside a session, for thread folders and their files. They
    /// can lead anywhere on the machine, so follow them only in sessions that you trust.
    #[must_use]
    pub const fn follow_links(mut self, follow: bool) -> Self {
        self.follow_links = follow;
        self
    }

    /// Sets whether opening a thread with details also scans all events in both of its files;
    /// `false` by default. With `true`, each byte is read only once, and a later
    /// [`IndexReader::scan`](crate::index::IndexReader::scan) or
    /// [`ThreadReader::scan_details`](crate::thread::ThreadReader::scan_details) returns the known
    /// results.
    #[must_use]
    pub const fn scan(mut self, scan: bool) -> Self {
        self.scan = scan;
        self
    }

    /// Sets the size limit for `manifest.json` in bytes; the default is
    /// [`Manifest::LIMIT`](crate::manifest::Manifest::LIMIT). A larger manifest counts as
    /// unreadable: events are read without it, and
    /// [`Manifest::problems`](crate::manifest::Manifest::problems) reports
    /// [`ManifestTooLarge`](crate::ErrorKind::ManifestTooLarge). A manifest can take up to 40
    /// times its size in memory; if the system refuses that much, it also counts as unreadable.
    #[must_use]
    pub const fn manifest_limit(mut self, bytes: u64) -> Self {
        self.manifest_limit = bytes;
        self
    }
}
