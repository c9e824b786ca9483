//! Follows the two files of a thread.

use std::path::{Path, PathBuf};

use super::growing::Growing;
use super::{DetailFollower, IndexFollower, Polled};
use crate::detail::DetailEvent;
use crate::error::Result;
use crate::files::DETAIL_FILE;
use crate::index::IndexEvent;

/// A follower of a thread's folder while it is being written, which returns each event with its
/// detail.
///
/// An event whose detail is not yet certain is held back. If its link turns out to be dangling, the
/// event is returned without a detail once `detail.atf` is finalized, or once `index.atf` is
/// finalized and there is no `detail.atf`. Details without an event are skipped.
///
/// ```
/// use atf::follow::{Polled, ThreadFollower};
/// use atf::write::{Detail, Event, ThreadWriter, WriteOptions};
/// # let folder = tempfile::tempdir().unwrap();
/// # let folder = folder.path().join("thread_0");
///
/// let mut follower = ThreadFollower::new(&folder);
/// # let mut writer = ThreadWriter::create(&folder, 0, &WriteOptions::default())?;
/// # let event_kind = atf::EventKind::CALL;
/// # let call = Event::new(1, 7, event_kind, 1);
/// # let event_type = atf::DetailEventType::FUNCTION_CALL;
/// # let detail = Detail::new(event_type, b"any bytes");
/// # writer.write_with_detail(&call, &detail)?;
/// # writer.finalize()?;
/// loop {
///     match follower.poll()? {
///         Polled::New(new) => {
///             println!("{}: {:#x}", new.seq, new.event.function_id);
///             if let Some(detail) = &new.detail {
///                 let payload = follower.detail().function_payload(detail)?;
///                 println!("  {payload:?}");
///             }
///         }
///         Polled::NotYet => std::thread::sleep(std::time::Duration::from_millis(100)),
///         Polled::Finalized => break,
///     }
/// }
/// # assert_eq!(follower.next_seq(), 1);
/// # Ok::<(), atf::Error>(())
/// ```
#[derive(Debug)]
pub struct ThreadFollower {
    path: PathBuf,
    index: IndexFollower,
    detail: DetailFollower,
    /// The last detail that was read, until its event is reached.
    seen: Option<DetailEvent>,
    /// An event waiting for its detail.
    waiting: Option<IndexEvent>,
    ignores_details: bool,
}

/// An event with its detail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ThreadEvent {
    /// Its position, counted from 0.
    pub seq: u64,
    /// The event.
    pub event: IndexEvent,
    /// Its detail, if it has one.
    pub detail: Option<DetailEvent>,
}

impl ThreadEvent {
    /// Creates an event without a detail.
    #[must_use]
    pub const fn new(seq: u64, event: IndexEvent) -> Self {
        Self {
            seq,
            event,
            detail: None,
        }
    }
}

impl ThreadFollower {
    /// Follows the files in this folder, which need not exist yet. Ignores symlinks in the folder.
    pub fn new(folder: impl AsRef<Path>) -> Self {
        let path = folder.as_ref().to_path_buf();
        Self {
            index: IndexFollower::in_thread(&path),
            detail: DetailFollower::with_file(Growing::new(path.join(DETAIL_FILE), false)),
            path,
            seen: None,
            waiting: None,
            ignores_details: false,
        }
    }

    /// Returns the path passed to [`new`](Self::new).
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the follower of `index.atf`.
    #[must_use]
    pub fn index(&self) -> &IndexFollower {
        &self.index
    }

    /// Returns the follower of `detail.atf`, which reads payloads.
    #[must_use]
    pub fn detail(&self) -> &DetailFollower {
        &self.detail
    }

    /// Makes later polls return events without details, for callers that continue after an error in
    /// `detail.atf`.
    pub fn ignore_details(&mut self) {
        self.ignores_details = true;
    }

    /// Returns the position of the next event, which is the number of events returned so far.
    #[must_use]
    pub fn next_seq(&self) -> u64 {
        let waiting = u64::from(self.waiting.is_some());
        self.index.next_seq().saturating_sub(waiting)
    }

    /// Returns the next event that has become certain.
    ///
    /// # Errors
    ///
    /// The errors of [`IndexFollower::poll`] and [`DetailFollower::poll`].
    pub fn poll(&mut self) -> Result<Polled<ThreadEvent>> {
        let event = match self.waiting.take() {
            Some(event) => event,
            None => match self.index.poll_event()? {
                Polled::New(event) => event,
                Polled::NotYet => return Ok(Polled::NotYet),
                Polled::Finalized => return self.over(),
            },
        };
        let Some(detail_seq) = event.detail_seq.filter(|_| !self.ignores_details) else {
            return Ok(Polled::New(self.with(event, None)));
        };
        self.waiting = Some(event);
        match self.find(detail_seq, &event)? {
            // A finalized thread that has no detail file will never get one.
            None if self.index.footer().is_none() || self.detail.header().is_some() => {
                Ok(Polled::NotYet)
            }
            found => {
                self.waiting = None;
                Ok(Polled::New(self.with(event, found.flatten())))
            }
        }
    }

    /// Reports problems with the details, once all events have been returned.
    fn over(&mut self) -> Result<Polled<ThreadEvent>> {
        while !self.ignores_details {
            match self.detail.poll()? {
                Polled::New(event) => self.seen = Some(event),
                Polled::Finalized | Polled::NotYet => break,
            }
        }
        Ok(Polled::Finalized)
    }

    fn with(&self, event: IndexEvent, detail: Option<DetailEvent>) -> ThreadEvent {
        ThreadEvent {
            seq: self.index.next_seq().saturating_sub(1),
            event,
            detail,
        }
    }

    /// Advances to detail `seq`. The detail must link back to `event`, which is the last one received,
    /// and have its timestamp. Returns `None` while it is uncertain whether that detail exists.
    fn find(&mut self, seq: u64, event: &IndexEvent) -> Result<Option<Option<DetailEvent>>> {
        let back = (self.next_seq(), event.timestamp_ns);
        loop {
            if let Some(seen) = self.seen.filter(|seen| seen.seq >= seq) {
                let leads_back = (seen.header.index_seq, seen.header.timestamp) == back;
                return Ok(Some((seen.seq == seq && leads_back).then_some(seen)));
            }
            match self.detail.poll()? {
                Polled::New(event) => self.seen = Some(event),
                Polled::Finalized => return Ok(Some(None)),
                Polled::NotYet => return Ok(None),
            }
        }
    }
}
