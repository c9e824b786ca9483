//! A thread's two files and the links between their events.

use std::path::{Path, PathBuf};

use crate::checksum::Checksum;
use crate::completeness::Completeness;
use crate::detail::{self, BothScans, DetailEvent, DetailHeader, DetailReader};
use crate::error::{Error, ErrorKind, Result};
use crate::files::thread_id;
pub use crate::files::{DETAIL_FILE, INDEX_FILE, RING_FILE};
use crate::index::{IndexEvent, IndexReader};
use crate::reader::FileReader as _;
pub use crate::ring::Ring;
use crate::ring::{self, Snapshot};
use crate::rules::of_file::{DETAIL, FileRules, INDEX, dangling as rule_of_dangling};
use crate::rules::table as rules;
use crate::source::{Input, OpenOptions};
use crate::wire::{HEADER_SIZE, offset};

/// A reader for a thread's folder: `index.atf`, and `detail.atf` if it exists.
///
/// Looks for details regardless of the header's flag, because the flag is meaningless in an
/// unfinalized file. If a detail file cannot be opened, the index can still be read.
///
/// ```
/// use atf::thread::{Linked, ThreadReader};
#[doc = include_str!("doc_setup/detail.md")]
/// let thread = ThreadReader::open(folder)?;
/// for event in thread.index().events() {
///     let event = event?;
///     match thread.detail_of(&event)? {
///         Linked::To(detail) => assert_eq!(thread.event_of(&detail)?, Linked::To(event)),
///         Linked::NoLink => {}
///         Linked::Dangling { seq } => eprintln!("detail {seq} is lost"),
///     }
/// }
/// # Ok::<(), atf::Error>(())
/// ```
#[derive(Debug)]
pub struct ThreadReader {
    path: PathBuf,
    index: IndexReader,
    detail: Option<Result<DetailReader>>,
    ring: Option<Ring>,
    ring_error: Option<Error>,
    /// Whether only a recovery uses the ring.
    pub(crate) is_ring_salvaged: bool,
    /// The result of scanning the details, if they were scanned while they were being opened.
    detail_scan: Option<detail::Scan>,
}

/// A function that receives the details in order, with the thread's index, the header of the
/// details and, if it may be that of a call or a return, each detail's payload.
pub(crate) type Tap<'a> =
    &'a mut dyn FnMut(&IndexReader, &DetailHeader, &DetailEvent, Option<&[u8]>);

/// The target of a link between the two files. This enum is exhaustive: an event has no link, its
/// link leads to an event, or its link dangles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Linked<T> {
    /// The event that the link leads to.
    To(T),
    /// The event has no link.
    NoLink,
    /// The event has a link, but its target does not exist or belongs to another event, because of
    /// a crash or damage.
    Dangling {
        /// The position that the link contains.
        seq: u64,
    },
}

impl<T> Linked<T> {
    /// Returns the event, treating a dangling link as no link.
    pub fn found(self) -> Option<T> {
        match self {
            Self::To(event) => Some(event),
            Self::NoLink | Self::Dangling { .. } => None,
        }
    }
}

impl ThreadReader {
    /// Opens the files of a thread's folder.
    ///
    /// # Errors
    ///
    /// The errors of [`IndexReader::open`], and [`ErrorKind::SymbolicLink`] if `index.atf` is a
    /// symlink. An empty file is [`ErrorKind::TooShort`] if the thread's other file is finalized.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(folder, OpenOptions::new())
    }

    /// Opens the files of a thread's folder with `options`.
    ///
    /// # Errors
    ///
    /// The errors of [`open`](Self::open).
    pub fn open_with(folder: impl AsRef<Path>, options: OpenOptions) -> Result<Self> {
        let folder = folder.as_ref();
        if !options.scan {
            return Self::tapped(folder, options, None);
        }
        let mut scans = BothScans::default();
        let mut tap = |index: &_, _: &_, event: &_, _: Option<&_>| scans.add(index, event);
        let mut thread = Self::tapped(folder, options, Some(&mut tap))?;
        if thread.detail().is_some() {
            thread.detail_scan = scans.finish(&thread.index);
        }
        Ok(thread)
    }

    /// Opens the files of a thread's folder. If the details have a verified footer, passes them to
    /// `tap` as they are read.
    pub(crate) fn tapped(
        folder: &Path,
        options: OpenOptions,
        tap: Option<Tap<'_>>,
    ) -> Result<Self> {
        // Read the ring first: any events that leave it later are already in the files when those
        // are opened.
        let ring = ring::read(folder, options).transpose();
        let index = Input::open_in_session(&folder.join(INDEX_FILE), options)?;
        let is_finalized = || has_finalized_details(folder, options);
        let index =
            IndexReader::new(index).map_err(|it| opening_error(it, &INDEX, is_finalized))?;
        Self::around(folder, ring, index, options, tap)
    }

    /// Opens the files next to an opened index.
    pub(crate) fn with_index(
        folder: &Path,
        index: IndexReader,
        options: OpenOptions,
    ) -> Result<Self> {
        let ring = ring::read(folder, options).transpose();
        Self::around(folder, ring, index, options, None)
    }

    fn around(
        folder: &Path,
        ring: Option<Result<Snapshot>>,
        mut index: IndexReader,
        options: OpenOptions,
        tap: Option<Tap<'_>>,
    ) -> Result<Self> {
        let path = folder.to_path_buf();
        let mut detail = match Input::open_detail(&path.join(DETAIL_FILE), options) {
            Ok(input) => Some(Ok(input)),
            Err(error) if error.is_not_found() => None,
            Err(error) => Some(Err(error)),
        };
        // A finalized index is complete.
        let tails = ring.filter(|_| index.footer().is_none()).map(|ring| {
            let details = detail.as_ref().and_then(|input| input.as_ref().ok());
            ring?.tails(&index, details)
        });
        let is_ring_salvaged = matches!(&tails, Some(Ok(tails)) if tails.are_salvaged());
        let (ring, ring_error) = match tails {
            Some(Ok(tails)) => {
                let added = tails.added();
                if added.index_bytes > 0 {
                    index = IndexReader::new(index.input.followed_by(tails.index))?;
                }
                if added.detail_bytes > 0 {
                    detail = detail.map(|input| Ok(input?.followed_by(tails.detail)));
                }
                (Some(added), tails.detail_error)
            }
            Some(Err(error)) => (None, Some(error)),
            None => (None, None),
        };
        let is_finalized = || matches!(index.completeness(), Completeness::Finalized);
        let detail = detail.map(|input| {
            let input = input?;
            let opened = match tap {
                Some(tap) => {
                    let mut tap = |header: &_, event: &_, payload: Option<&_>| {
                        tap(&index, header, event, payload);
                    };
                    DetailReader::tapped(input, Some(&mut tap))
                }
                None => DetailReader::new(input),
            };
            opened.map_err(|error| opening_error(error, &DETAIL, is_finalized))
        });
        Ok(Self {
            path,
            index,
            detail,
            ring,
            ring_error,
            is_ring_salvaged,
            detail_scan: None,
        })
    }

    /// Returns the contents of `ring.atf` next to unfinalized files: events that a killed writer
    /// had accepted but not yet written. They follow the events of the files.
    #[must_use]
    pub fn ring(&self) -> Option<Ring> {
        self.ring
    }

    /// Returns why the `ring.atf` next to unfinalized files was ignored.
    #[must_use]
    pub fn ring_error(&self) -> Option<&Error> {
        self.ring_error.as_ref()
    }

    /// Returns only the index and closes the details.
    #[must_use]
    pub fn into_index(self) -> IndexReader {
        self.index
    }

    /// Returns the thread's id: the one in the folder's name or, if it contains none, in the header
    /// of the index.
    #[must_use]
    pub fn id(&self) -> u32 {
        let id_in = |folder: &Path| thread_id(&folder.file_name()?.to_string_lossy());
        let in_name = || id_in(&self.path).or_else(|| id_in(&self.path.canonicalize().ok()?));
        in_name().unwrap_or(self.index.header().thread_id)
    }

    /// Returns the folder's path as it was opened.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the index, with all events.
    #[must_use]
    pub fn index(&self) -> &IndexReader {
        &self.index
    }

    /// Returns the details, if the folder has them and they could be opened.
    #[must_use]
    pub fn detail(&self) -> Option<&DetailReader> {
        self.detail.as_ref()?.as_ref().ok()
    }

    /// Returns why the details could not be opened.
    #[must_use]
    pub fn detail_error(&self) -> Option<&Error> {
        self.detail.as_ref()?.as_ref().err()
    }

    /// Scans all details and follows their links to the index. Returns `None` if there are no
    /// readable details. With [`OpenOptions::scan`], the scan was done when the thread was opened,
    /// unless the details have no verified footer.
    ///
    /// # Errors
    ///
    /// The errors of [`DetailReader::get`] and [`IndexReader::get`].
    pub fn scan_details(&self) -> Result<Option<detail::Scan>> {
        match (&self.detail_scan, self.detail()) {
            (Some(known), _) => Ok(Some(known.clone())),
            (None, Some(detail)) => detail::Scan::read(detail, Some(&self.index)).map(Some),
            (None, None) => Ok(None),
        }
    }

    /// Returns whether the folder has a `detail.atf`, readable or not.
    #[must_use]
    pub fn has_detail_file(&self) -> bool {
        self.detail.is_some()
    }

    /// Returns the detail event that an index event links to. If the detail is missing or has
    /// another timestamp, returns [`Linked::Dangling`].
    ///
    /// # Errors
    ///
    /// The errors of [`DetailReader::get`].
    #[inline]
    pub fn detail_of(&self, event: &IndexEvent) -> Result<Linked<DetailEvent>> {
        match event.detail_seq {
            Some(seq) => self.linked_detail(seq, event.timestamp_ns),
            None => Ok(Linked::NoLink),
        }
    }

    fn linked_detail(&self, seq: u64, timestamp_ns: u64) -> Result<Linked<DetailEvent>> {
        match self.detail().map(|detail| detail.get(seq)) {
            Some(Ok(Some(found))) if found.header.timestamp == timestamp_ns => {
                Ok(Linked::To(found))
            }
            Some(Err(error)) => Err(error),
            _ => Ok(Linked::Dangling { seq }),
        }
    }

    /// Returns the index event that a detail event links to. If the event is missing or does not
    /// link back, returns [`Linked::Dangling`].
    ///
    /// # Errors
    ///
    /// The errors of [`IndexReader::get`].
    pub fn event_of(&self, event: &DetailEvent) -> Result<Linked<IndexEvent>> {
        let seq = event.header.index_seq;
        Ok(match self.index.get(seq)? {
            Some(found) if found.detail_seq == Some(event.seq) => Linked::To(found),
            _ => Linked::Dangling { seq },
        })
    }

    /// Returns an error for each disagreement between the two files: [`ErrorKind::Disagrees`] at
    /// the detail file's field if the wire version, `thread_id`, `arch` or `os` differs;
    /// [`ErrorKind::WrongDetailFlag`] if a finalized index's flag `has_detail_file` is wrong.
    ///
    /// In wire version 2, such a disagreement is the only sign of a misplaced detail file.
    #[must_use]
    pub fn disagreements(&self) -> Vec<Error> {
        self.wrong_flag()
            .into_iter()
            .chain(self.wrong_headers())
            .collect()
    }

    /// Returns every known reason why the readable events may differ from what was written: the
    /// problems in the [index](IndexReader::problems) and in the [details](DetailReader::problems),
    /// details that cannot be opened, an ignored `ring.atf`, files that do not belong together, and
    /// [`ErrorKind::DanglingLinks`]. Dangling links are known only once all events have been read,
    /// and only if the details could be opened.
    ///
    /// # Errors
    ///
    /// The errors of [`DetailReader::problems`].
    pub fn problems(&self) -> Result<Vec<Error>> {
        let mut problems = self.index.problems();
        problems.extend(self.problems_beside(&self.index)?);
        Ok(problems)
    }

    /// Returns all problems except those in the index. `index` is a reader of this index that has
    /// read the events and therefore knows the links.
    pub(crate) fn problems_beside(&self, index: &IndexReader) -> Result<Vec<Error>> {
        let mut problems = Vec::new();
        problems.extend(self.ring_error().cloned());
        problems.extend(self.detail_error().cloned());
        if let Some(detail) = self.detail() {
            problems.extend(detail.problems()?);
        }
        problems.extend(self.disagreements());
        problems.extend(self.dangling(index)?);
        Ok(problems)
    }

    /// Returns the error for links to missing details. Details that cannot be opened are reported
    /// as a separate problem, and prove nothing about links.
    fn dangling(&self, index: &IndexReader) -> Result<Option<Error>> {
        let count = self.detail().map_or(0, DetailReader::event_count);
        let may_be_lost = may_be_lost(index, self.detail());
        let is_proof = self.detail_error().is_none() && !have_changed(index, self.detail())?;
        Ok(dangling(index, count, may_be_lost).filter(|_| is_proof))
    }

    /// Returns whether a checksum shows that events of either file changed after they were written.
    /// Such a file proves nothing about links.
    ///
    /// # Errors
    ///
    /// The errors of [`DetailReader::checksum`].
    pub fn has_changed(&self) -> Result<bool> {
        have_changed(&self.index, self.detail())
    }

    fn wrong_flag(&self) -> Option<Error> {
        let header = self.index.header();
        let (flag, file) = (header.has_detail_file(), self.has_detail_file());
        // The header of a finalized file without events may be the placeholder.
        let is_finalized = matches!(self.index.completeness(), Completeness::Finalized);
        if flag == file || !is_finalized || header.is_placeholder() {
            return None;
        }
        let kind = ErrorKind::WrongDetailFlag { flag, file };
        let error = self.index.input.error(kind).with_field("header.flags");
        let offset = offset!(header.wire, IndexHeader.flags) as u64;
        Some(error.with_offset(offset).with_rule(&rules::ATF_IHDR_018))
    }

    fn wrong_headers(&self) -> Vec<Error> {
        let Some(detail) = self.detail() else {
            return Vec::new();
        };
        let index = self.index.header();
        let (same_wire, same_id) = (&rules::ATF_LINK_008, &rules::ATF_LINK_009);
        let same_machine = &rules::ATF_LINK_010;
        let version = index.wire.version().into();
        detail.differing(&[
            ("version", same_wire, version, INDEX_FILE),
            ("thread_id", same_id, index.thread_id.into(), INDEX_FILE),
            ("arch", same_machine, index.arch.0.into(), INDEX_FILE),
            ("os", same_machine, index.os.0.into(), INDEX_FILE),
        ])
    }
}

/// Returns the error for a file that cannot be opened. An empty file normally means that nothing
/// was written. But if the thread's other file is finalized, bytes were lost, so the error is that
/// the empty file is too short.
fn opening_error(
    error: Error,
    rules: &FileRules,
    other_is_finalized: impl FnOnce() -> bool,
) -> Error {
    if *error.kind() != ErrorKind::NothingWritten || !other_is_finalized() {
        return error;
    }
    let (found, needed) = (0, HEADER_SIZE as u64);
    let lost = Error::new(ErrorKind::TooShort { found, needed }).with_path(error.path());
    let lost = lost.with_field("header").with_offset(found);
    lost.with_rule(rules.header)
}

/// Returns whether the detail file is finalized. Writers finalize it together with its index.
fn has_finalized_details(folder: &Path, options: OpenOptions) -> bool {
    Input::open_detail(&folder.join(DETAIL_FILE), options)
        .and_then(DetailReader::new)
        .is_ok_and(|detail| matches!(detail.completeness(), Completeness::Finalized))
}

/// Returns whether a known checksum of either file is wrong.
fn have_changed(index: &IndexReader, detail: Option<&DetailReader>) -> Result<bool> {
    let detail = detail.map(DetailReader::checksum).transpose()?;
    Ok(is_bad(index.known_checksum()) || is_bad(detail))
}

fn is_bad(checksum: Option<Checksum>) -> bool {
    matches!(checksum, Some(Checksum::Bad { .. }))
}

/// Returns the error for links to missing details, if the largest link is known from a pass over
/// all events.
fn dangling(index: &IndexReader, count: u64, may_be_lost: bool) -> Option<Error> {
    let greatest = index.known_scan()?.greatest_link?;
    let kind = ErrorKind::DanglingLinks {
        greatest,
        count,
        may_be_lost,
    };
    let error = || index.input.error(kind).with_field("events");
    (greatest >= count).then(|| error().with_rule(rule_of_dangling(may_be_lost)))
}

/// Returns whether one end of a link may have been lost, because a file is unfinalized or damaged.
pub(crate) fn may_be_lost(index: &IndexReader, detail: Option<&DetailReader>) -> bool {
    let is_whole_detail = detail.is_none_or(|detail| {
        detail.completeness().has_verified_footer() && detail.framing_problem().is_none()
    });
    !(index.completeness().has_verified_footer() && is_whole_detail)
}

/// Returns the problems with a thread's details and the links to them, for an index that was opened
/// on its own and read to the end. If both files are finalized, takes the number of details from the
/// detail footer and does not read the details.
pub(crate) fn problems_beside(
    index: &IndexReader,
    folder: &Path,
    options: OpenOptions,
) -> Vec<Error> {
    let stated = match index.footer() {
        Some(_) => detail::stated_count(&folder.join(DETAIL_FILE), options),
        None => Ok(None),
    };
    if let Ok(Some(count)) = stated {
        let has_changed = is_bad(index.known_checksum());
        let dangling = dangling(index, count, false).filter(|_| !has_changed);
        return dangling.into_iter().collect();
    }
    ThreadReader::open_with(folder, options)
        .and_then(|thread| thread.problems_beside(index))
        .unwrap_or_else(|error| vec![error])
}

/// Opens the events of a thread's folder as [`ThreadReader`] does, including those in `ring.atf`,
/// but does not search for the start of the details. `open` opens `index.atf`.
pub(crate) fn open_index(
    folder: &Path,
    options: OpenOptions,
    open: impl FnOnce(&Path, OpenOptions) -> Result<Input>,
) -> Result<IndexReader> {
    // Read the ring first: any events that leave it later are already in the files when those are
    // opened.
    let ring = ring::read(folder, options).ok().flatten();
    let index = IndexReader::new(open(&folder.join(INDEX_FILE), options)?);
    let index =
        index.map_err(|it| opening_error(it, &INDEX, || has_finalized_details(folder, options)))?;
    let Some(ring) = ring.filter(|_| index.footer().is_none()) else {
        return Ok(index);
    };
    let detail = Input::open_in_session(&folder.join(DETAIL_FILE), options).ok();
    match ring.tails(&index, detail.as_ref()) {
        Ok(tails) if tails.added().index_bytes > 0 => {
            IndexReader::new(index.input.followed_by(tails.index))
        }
        // Ignore a ring that does not belong to the files.
        _ => Ok(index),
    }
}
