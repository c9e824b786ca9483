//! Tests sources that change and reads that fail.

use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use atf::detail::DetailReader;
use atf::index::IndexReader;
use atf::{ErrorKind, FileKind, FileSource, OpenOptions, ReadAt, Seekable};
use tempfile::TempDir;

use crate::ways::{self, mapped};
use crate::{Source, details, events, expected};
use atf_samples::files::{DetailFile, IndexFile};

/// Creates a source that reads one byte at a time and whose every other read is interrupted.
fn stuttering(bytes: Vec<u8>) -> Source {
    let reads = AtomicU64::new(0);
    Source::new(bytes, move |bytes, offset, buffer| {
        if reads.fetch_add(1, Ordering::Relaxed).is_multiple_of(2) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let one = buffer.len().min(1);
        bytes.read_at(offset, &mut buffer[..one])
    })
}

/// Creates a source whose reads all fail after the first `good` ones.
fn failing(bytes: Vec<u8>, good: u64) -> Source {
    let reads = AtomicU64::new(0);
    Source::new(bytes, move |bytes, offset, buffer| {
        if reads.fetch_add(1, Ordering::Relaxed) < good {
            bytes.read_at(offset, buffer)
        } else {
            Err(io::ErrorKind::PermissionDenied.into())
        }
    })
}

/// A source with a wrong size, or with a view that begins after its first byte.
struct Lying {
    bytes: Vec<u8>,
    size: u64,
    view_start: usize,
}

impl ReadAt for Lying {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.bytes.read_at(offset, buffer)
    }

    fn as_bytes(&self) -> Option<&[u8]> {
        self.bytes.get(self.view_start..)
    }
}

#[test]
fn bytes_in_memory_are_a_source() {
    fn check(source: &impl ReadAt) {
        let mut buffer = [0; 4];
        assert_eq!((source.size(), source.as_bytes()), (5, Some(&b"abcde"[..])));
        assert_eq!(source.read_at(3, &mut buffer).unwrap(), 2);
        assert_eq!(&buffer, b"de\0\0");
        assert_eq!(source.read_at(5, &mut buffer).unwrap(), 0);
        assert_eq!(source.read_at(u64::MAX, &mut buffer).unwrap(), 0);
    }
    check(&&b"abcde"[..]);
    check(&b"abcde".to_vec());
}

#[test]
fn short_and_interrupted_reads_change_nothing() {
    let file = IndexFile::finalized(1, 300);
    let index = IndexReader::from_source(stuttering(file.bytes())).unwrap();
    assert_eq!(events(&index), expected(&file));
    let file = DetailFile::finalized(1, 300);
    let detail = DetailReader::from_source(stuttering(file.bytes())).unwrap();
    assert_eq!(details(&detail), file.events);
}

#[test]
fn each_read_may_fail() {
    let read = |reads: u64| -> atf::Result<usize> {
        let bytes = IndexFile::finalized(1, 2000).placeholder().without_footer();
        let index = IndexReader::from_source(failing(bytes, reads))?;
        let count = index.events_in(..).collect::<Result<Vec<_>, _>>()?.len();
        index.get(7)?;
        index.checksum()?;
        index.holes().collect::<Result<Vec<_>, _>>()?;
        Ok(count)
    };
    let denied = ErrorKind::Io(io::ErrorKind::PermissionDenied);
    let mut failed = 0;
    let count = loop {
        match read(failed) {
            Ok(count) => break count,
            Err(error) => assert_eq!(error.kind(), &denied),
        }
        failed += 1;
    };
    assert_eq!(count, 2000);
    assert!(failed > 10);
}

#[test]
fn a_wrong_size_is_an_error_and_allocates_nothing() {
    for size in [500, 1 << 40, u64::MAX] {
        let source = Lying {
            bytes: IndexFile::finalized(1, 3).placeholder().bytes(),
            size,
            view_start: 0,
        };
        let error = IndexReader::from_source(source).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::UnexpectedEnd { .. }));
    }
}

#[test]
fn events_beyond_4_gib_are_read() {
    // On a 32-bit machine, an offset in such a file exceeds the address space.
    const COUNT: u64 = (1 << 27) + 3;
    const END: u64 = 64 + 32 * COUNT;
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("index.atf");
    // The hole between the first event and the other two takes no disk space.
    let short = IndexFile::finalized(1, 3);
    let mut bytes = short.bytes();
    let mut footer = bytes.split_off(64 + 3 * 32);
    bytes[28..32].copy_from_slice(&u32::try_from(COUNT).unwrap().to_le_bytes());
    bytes[40..48].copy_from_slice(&END.to_le_bytes());
    footer[8..16].copy_from_slice(&COUNT.to_le_bytes());
    footer[32..40].copy_from_slice(&(32 * COUNT).to_le_bytes());
    let mut file = File::create(&path).unwrap();
    let mut put = |offset, bytes: &[u8]| {
        file.seek(SeekFrom::Start(offset)).unwrap();
        file.write_all(bytes).unwrap();
    };
    put(0, &bytes[..96]);
    put(END - 64, &bytes[96..]);
    put(END, &footer);

    let expected = expected(&short);
    let index = IndexReader::open(&path).unwrap();
    assert_eq!(index.event_count(), COUNT);
    assert_eq!(index.file_size(), END + 64);
    for (seq, event) in [(0, 0), (COUNT - 2, 1), (COUNT - 1, 2)] {
        assert_eq!(index.get(seq).unwrap().as_ref(), Some(&expected[event]));
    }
    assert_eq!(index.get(COUNT).unwrap(), None);
    let last = index.events_in(COUNT - 2..).map(Result::unwrap);
    assert!(last.eq(expected[1..].iter().cloned()));
    let back = index.events_in(..).rev().take(2).map(Result::unwrap);
    assert!(back.eq(expected[1..].iter().rev().cloned()));
    let fits = usize::try_from(END).is_ok();
    assert_eq!(IndexReader::open_with(&path, mapped()).is_ok(), fits);
}

#[test]
fn a_shrinking_file_is_an_error_and_growth_is_ignored() {
    let file = IndexFile::finalized(1, 20_000);
    let (_folder, path) = ways::file(&file.bytes());
    let index = IndexReader::open(&path).unwrap();
    let unscanned = IndexReader::open(&path).unwrap();
    let handle = File::options().append(true).open(&path).unwrap();
    io::Write::write_all(&mut &handle, &[1; 1000]).unwrap();
    assert_eq!(events(&index), expected(&file));
    handle.set_len(64 + 32 * 10_000 + 7).unwrap();
    assert!(index.get(9_999).unwrap().is_some());
    for seq in [10_000, 19_999] {
        let error = index.get(seq).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::UnexpectedEnd { .. }));
        assert_eq!(error.offset(), Some(64 + 32 * seq));
        assert_eq!(error.path(), Some(path.as_path()));
    }
    let read: Vec<_> = index.events_in(..).collect();
    // The remaining events, one error, then the end.
    assert_eq!(read.len(), 10_001);
    assert!(read[..10_000].iter().all(Result::is_ok) && read[10_000].is_err());
    assert!(unscanned.checksum().is_err());
}

/// Linux truncates a file in two steps: it reduces the size, then clears the rest of the last page.
/// A read that began earlier returns the cleared bytes.
#[test]
fn a_truncation_during_a_read_never_yields_zeros() {
    const SIZE: usize = 128 << 10;
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("index.atf");
    let mut buffer = vec![0; SIZE];
    for round in 0..300 {
        fs::write(&path, vec![0xff; SIZE]).unwrap();
        let source = FileSource::open(&path).unwrap();
        let writer = File::options().write(true).open(&path).unwrap();
        thread::scope(|scope| {
            let truncating = scope.spawn(|| writer.set_len(round * 12_345 % SIZE as u64));
            while !truncating.is_finished() {
                let read = source.read_at(0, &mut buffer).unwrap();
                assert!(!buffer[..read].contains(&0), "round {round}");
            }
            truncating.join().unwrap().unwrap();
        });
    }
}

#[test]
fn an_event_whose_length_changed_is_an_error() {
    let file = DetailFile::finalized(1, 3);
    let (_folder, path) = ways::file(&file.bytes());
    let detail = DetailReader::open(&path).unwrap();
    let mut bytes = file.bytes();
    bytes[64] += 1;
    fs::write(&path, bytes).unwrap();
    let error = detail.get(0).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::BadTotalLength { .. }));
}

#[test]
fn only_regular_files_are_opened_and_empty_ones_are_reported() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("index.atf");
    fs::write(&path, b"").unwrap();
    for options in [OpenOptions::new(), mapped()] {
        let open = |path: &Path| IndexReader::open_with(path, options).unwrap_err();
        let kind = ErrorKind::NotRegular { found: "folder" };
        assert_eq!(open(folder.path()).kind(), &kind);
        let error = open(&folder.path().join("none"));
        assert_eq!(error.kind(), &ErrorKind::Io(io::ErrorKind::NotFound));
        assert!(std::error::Error::source(&error).is_some());
        let error = open(&path);
        assert_eq!(error.kind(), &ErrorKind::NothingWritten);
        assert_eq!(error.path(), Some(path.as_path()));
    }
}

#[test]
fn a_seekable_source_is_returned() {
    let bytes = IndexFile::finalized(1, 3).bytes();
    let source = Seekable::new(io::Cursor::new(bytes.clone())).unwrap();
    let mut buffer = [0; 4];
    assert_eq!(source.read_at(0, &mut buffer).unwrap(), 4);
    assert_eq!((source.size(), &buffer), (64 + 96 + 64, b"ATI2"));
    assert_eq!(source.read_at(u64::MAX, &mut buffer).unwrap(), 0);
    assert_eq!(source.into_inner().into_inner(), bytes);
}

#[cfg(unix)]
#[test]
fn a_fifo_a_socket_or_a_device_does_not_block() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("index.atf");
    let made = std::process::Command::new("mkfifo")
        .arg(&path)
        .status()
        .unwrap();
    assert!(made.success());
    let kind = |found| ErrorKind::NotRegular { found };
    let error = IndexReader::open(&path).unwrap_err();
    assert_eq!(error.kind(), &kind("FIFO"));
    let path = folder.path().join("socket");
    let _socket = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let error = IndexReader::open(&path).unwrap_err();
    assert_eq!(error.kind(), &kind("socket"));
    let error = DetailReader::open("/dev/zero").unwrap_err();
    assert_eq!(error.kind(), &kind("character device"));
}

#[test]
fn a_file_is_recognized_by_its_magic() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("trace.ati2");
    for (bytes, kind) in [
        (IndexFile::finalized(1, 0).bytes(), Some(FileKind::Index)),
        (DetailFile::finalized(2, 0).bytes(), Some(FileKind::Detail)),
        (b"ATI".to_vec(), None),
        (b"2ITA".to_vec(), None),
        (vec![], None),
    ] {
        fs::write(&path, bytes).unwrap();
        assert_eq!(FileKind::detect(&path).unwrap(), kind);
    }
}

#[test]
fn an_error_is_one_word() {
    assert_eq!(size_of::<atf::Error>(), size_of::<usize>());
    assert_eq!(size_of::<atf::Result<()>>(), size_of::<usize>());
}

/// Demonstrates the risk of mapping a file. The test starts itself as a child process, which maps
/// the file and is killed.
#[test]
#[cfg(target_os = "linux")]
fn a_mapped_file_that_shrinks_kills_the_process_that_mapped_it() {
    use std::os::unix::process::ExitStatusExt;
    const FILE: &str = "ATF_TEST_MAPPED_FILE";
    const SIGBUS: i32 = 7;
    if let Some(path) = std::env::var_os(FILE) {
        let index = IndexReader::open_with(&path, mapped()).unwrap();
        let file = File::options().write(true).open(&path).unwrap();
        file.set_len(0).unwrap();
        let _ = index.get(0);
        return;
    }
    let (_folder, path) = ways::file(&IndexFile::finalized(1, 9).bytes());
    let name = "source::a_mapped_file_that_shrinks_kills_the_process_that_mapped_it";
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name])
        .env(FILE, &path)
        .output()
        .unwrap();
    assert_eq!(child.status.signal(), Some(SIGBUS));
}

#[test]
fn bytes_that_are_only_part_of_a_source_are_not_used() {
    let file = IndexFile::finalized(1, 9);
    let bytes = file.bytes();
    let source = Lying {
        size: bytes.len() as u64,
        bytes,
        view_start: 1,
    };
    let index = IndexReader::from_source(source).unwrap();
    assert!(index.slice(..).is_none());
    assert_eq!(events(&index), expected(&file));
}

/// A file of 1 TiB and one byte with few stored parts, and a counter of the bytes read.
struct Sparse {
    /// The offset and the bytes of each part.
    parts: Vec<(u64, Vec<u8>)>,
    read: Arc<AtomicU64>,
}

impl ReadAt for Sparse {
    fn size(&self) -> u64 {
        (1 << 40) + 1
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.size() - offset).unwrap();
        let size = left.min(buffer.len());
        let buffer = &mut buffer[..size];
        let read = self.read.fetch_add(size as u64, Ordering::Relaxed);
        if read > 8 << 20 {
            return Err(io::Error::other("it reads the hole"));
        }
        buffer.fill(0);
        for (start, part) in &self.parts {
            let place = usize::try_from(start.saturating_sub(offset)).unwrap();
            if let Some(rest) = buffer.get_mut(place..) {
                (&part[..]).read_at(offset.saturating_sub(*start), rest)?;
            }
        }
        Ok(size)
    }

    fn next_data(&self, offset: u64) -> io::Result<Option<u64>> {
        let mut parts = self.parts.iter();
        let next = parts.find(|(start, part)| start + part.len() as u64 > offset);
        Ok(next.map(|(start, _)| offset.max(*start)))
    }
}

#[test]
fn the_holes_of_a_sparse_file_are_not_read() {
    let files = [1, 2].map(|version| IndexFile::finalized(version, 3).placeholder());
    let at_its_end = vec![];
    let before_a_byte = vec![(1 << 40, b"x".to_vec())];
    let around_zeros = vec![(1 << 38, vec![0; 1 << 20]), (1 << 39, vec![0; 9])];
    let all = [&around_zeros[..], &before_a_byte].concat();
    let cases = [at_its_end, before_a_byte, around_zeros, all];
    for (file, parts) in files
        .iter()
        .flat_map(|file| cases.iter().map(move |case| (file, case)))
    {
        let counter = Arc::new(AtomicU64::new(0));
        let read = Arc::clone(&counter);
        let parts = [&[(0, file.without_footer())], &parts[..]].concat();
        let index = IndexReader::from_source(Sparse { parts, read }).unwrap();
        assert_eq!(index.event_count(), 3);
        let read = counter.load(Ordering::Relaxed);
        assert!(read <= 4 << 20, "{read} bytes");
    }
}
