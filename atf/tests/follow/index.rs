//! Follows `index.atf`.

use atf::follow::{IndexFollower, Polled};
use atf::index::IndexReader;
use atf::{Checksum, ErrorKind};

use crate::FollowedIndex;
use crate::support_events::expected;
use atf_samples::files::IndexFile;

#[test]
fn an_ordinary_event_is_returned_once_its_last_byte_is_written() {
    for version in [1, 2] {
        let file = IndexFile::finalized(version, 9).placeholder();
        let mut followed = FollowedIndex::new();
        for (size, byte) in file.without_footer().iter().enumerate() {
            followed.written.append(&[*byte]);
            assert_eq!(followed.drain(), Polled::NotYet);
            assert_eq!(followed.events.len(), (size + 1).saturating_sub(64) / 32);
        }
        assert_eq!(followed.events, expected(&file));
        assert!(!followed.follower.has_footer());
        let whole = IndexFile::finalized(version, 9);
        followed.written.append(&whole.footer());
        // The header is rewritten in steps of any size.
        for (offset, byte) in whole.header().iter().enumerate() {
            followed.written.patch(offset as u64, &[*byte]);
            followed.drain();
            assert_eq!(followed.events, expected(&file));
        }
        assert_eq!(followed.drain(), Polled::Finalized);
        let header = followed.follower.header().unwrap();
        assert_eq!(header.thread_id, whole.thread_id);
        let reader = IndexReader::from_bytes(followed.written.bytes()).unwrap();
        assert_eq!(followed.follower.footer(), reader.footer());
        assert_eq!(followed.follower.checksum(), reader.checksum().unwrap());
    }
}

#[test]
fn a_file_that_appears_late_is_awaited() {
    let file = IndexFile::finalized(1, 3);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("not/yet/index.atf");
    let mut followed = FollowedIndex {
        follower: IndexFollower::new(&path),
        ..FollowedIndex::new()
    };
    assert_eq!(followed.drain(), Polled::NotYet);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    assert_eq!(followed.drain(), Polled::NotYet);
    std::fs::write(&path, file.bytes()).unwrap();
    assert_eq!(followed.drain(), Polled::Finalized);
    assert_eq!(followed.events, expected(&file));
    assert_eq!(followed.follower.checksum(), Checksum::Good);
}

/// Damages the footer's magic, its count or its size. A reader recognizes a footer at the end of
/// the file with a wrong magic and a wrong time by its count and size.
#[test]
fn a_damaged_footer_is_never_an_event() {
    for version in [1, 2] {
        for (offsets, piece) in [(&[0][..], 1), (&[8], 1), (&[32], 1), (&[0, 16], 64)] {
            let file = IndexFile::finalized(version, 9).placeholder();
            let mut footer = file.footer();
            offsets.iter().for_each(|offset| footer[*offset] ^= 1);
            let mut followed = FollowedIndex::new().with(&file.without_footer());
            for bytes in footer.chunks(piece) {
                followed.written.append(bytes);
                assert_eq!(followed.drain(), Polled::NotYet);
                assert_eq!(followed.events, expected(&file));
            }
            assert!(!followed.follower.has_footer());
        }
    }
}

/// The header states this footer's offset, although both counts are wrong.
#[test]
fn a_stated_footer_with_a_wrong_count_is_never_an_event_whatever_follows_it() {
    for version in [1, 2] {
        let mut file = IndexFile::finalized(version, 9);
        file.header_count += 1;
        file.footer_count += 2;
        let mut followed = FollowedIndex::new().with(&[file.bytes(), vec![0xee; 200]].concat());
        assert_eq!(followed.drain(), Polled::NotYet);
        assert_eq!(followed.events, expected(&file));
    }
}

/// Its last bytes may be those of a footer with the correct count and a wrong magic.
#[test]
fn an_event_whose_function_id_is_its_position_waits_for_the_bytes_after_it() {
    for version in [1, 2] {
        let mut events = IndexFile::finalized(version, 9).events;
        for (seq, event) in (0..).zip(&mut events) {
            event.function_id = seq;
        }
        let file = IndexFile::new(version, events);
        let bytes = file.clone().placeholder().without_footer();
        let mut followed = FollowedIndex::new().with(&bytes);
        assert_eq!(followed.drain(), Polled::NotYet);
        assert_eq!(followed.events, expected(&file)[..8]);
        followed.written.append(&file.bytes()[bytes.len()..]);
        assert_eq!(followed.drain(), Polled::NotYet);
        assert_eq!(followed.events, expected(&file));
    }
}

/// A hole may still be filled until the file is finalized.
#[test]
fn events_after_zeros_wait_for_the_footer() {
    for version in [1, 2] {
        let file = IndexFile::finalized(version, 9);
        let mut bytes = file.clone().placeholder().without_footer();
        bytes[64 + 32 * 4..64 + 32 * 6].fill(0);
        let mut followed = FollowedIndex::new().with(&bytes);
        assert_eq!(followed.drain(), Polled::NotYet);
        assert_eq!(followed.events, expected(&file)[..3]);
        followed.written.append(&file.footer());
        followed.written.patch(0, &file.header());
        let error = followed.try_drain().unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::ChecksumMismatch { .. }));
        assert_eq!(followed.drain(), Polled::Finalized);
        let reader = IndexReader::from_bytes(followed.written.bytes()).unwrap();
        let read: Vec<_> = reader.events_in(..).map(Result::unwrap).collect();
        assert_eq!(followed.events, read);
        assert_eq!(followed.events.len(), 9);
        assert!(matches!(followed.follower.checksum(), Checksum::Bad { .. }));
    }
}

#[test]
fn events_at_an_unusual_offset_wait_for_the_footer_that_proves_it() {
    let mut file = IndexFile::finalized(2, 5);
    file.events_offset = 128;
    file.footer_offset = 128 + 32 * 5;
    let mut placeholder = file.clone().placeholder();
    placeholder.footer_offset = 0;
    let mut followed = FollowedIndex::new();
    let pieces = [
        placeholder.header(),
        vec![9; 64],
        file.section(),
        file.footer(),
    ];
    for piece in pieces {
        followed.written.append(&piece);
        assert_eq!(followed.drain(), Polled::NotYet);
        assert!(followed.events.is_empty());
    }
    followed.written.patch(0, &file.header());
    assert_eq!(followed.drain(), Polled::Finalized);
    assert_eq!(followed.events, expected(&file));
}

/// The file has more events than one poll can return.
#[test]
fn a_long_file_is_returned_in_pieces_of_bounded_size() {
    let file = IndexFile::finalized(1, 20_000);
    let mut followed = FollowedIndex::new().with(&file.clone().placeholder().bytes());
    while let Polled::New(new) = followed.follower.poll().unwrap() {
        assert!(new.len() <= 4096);
        followed.events.extend(new.iter());
    }
    assert_eq!(followed.events, expected(&file));
    followed.written.patch(0, &file.header());
    assert_eq!(followed.drain(), Polled::Finalized);
    assert_eq!(followed.follower.checksum(), Checksum::Good);
    let mut from_the_end = FollowedIndex {
        follower: IndexFollower::new(followed.written.path()),
        ..FollowedIndex::new()
    };
    assert_eq!(from_the_end.drain(), Polled::Finalized);
    assert_eq!(from_the_end.events, followed.events);
}

/// The tracer writes its header, with a wrong count, before its footer.
#[test]
fn a_header_that_disagrees_with_the_footer_ends_the_file_once_it_is_stable() {
    let file = IndexFile::finalized(1, 5);
    let mut header = file.clone();
    header.header_count = 4;
    let mut followed = FollowedIndex::new().with(&file.clone().placeholder().without_footer());
    followed.written.patch(0, &header.header());
    assert_eq!(followed.drain(), Polled::NotYet);
    followed.written.append(&file.footer()[..40]);
    assert_eq!(followed.drain(), Polled::NotYet);
    followed.written.append(&file.footer()[40..]);
    assert_eq!(followed.drain(), Polled::Finalized);
    assert_eq!(followed.events, expected(&file));
}

#[test]
fn an_empty_file_is_finalized_even_if_its_footer_is_seen_before_its_header() {
    for version in [1, 2] {
        let file = IndexFile::new(version, vec![]);
        let mut bytes = file.bytes();
        // The header is a placeholder with neither flags nor a footer offset. Later, only the
        // offset is written.
        bytes[8..12].fill(0);
        bytes[40..48].fill(0);
        let mut followed = FollowedIndex::new().with(&bytes);
        assert_eq!(followed.drain(), Polled::NotYet);
        followed.written.patch(40, &64_u64.to_le_bytes());
        assert_eq!(followed.drain(), Polled::Finalized);
        assert_eq!(followed.follower.next_seq(), 0);
    }
}

#[test]
fn an_empty_file_is_finalized_once_its_preallocated_space_is_removed() {
    for version in [1, 2] {
        let mut bytes = IndexFile::new(version, vec![]).bytes();
        bytes[8..12].fill(0);
        let mut followed = FollowedIndex::new();
        followed.written.resize(600);
        assert_eq!(followed.drain(), Polled::NotYet);
        followed.written.patch(0, &bytes);
        assert_eq!(followed.drain(), Polled::NotYet);
        followed.written.resize(bytes.len() as u64);
        assert_eq!(followed.drain(), Polled::Finalized);
    }
}

/// In preallocated space, what looks like the footer of an empty file may be a half-written first
/// event.
#[test]
fn a_footer_in_preallocated_space_counts_once_something_else_confirms_it() {
    for (version, size) in [(1, 128), (1, 600), (2, 128), (2, 600)] {
        let file = IndexFile::new(version, vec![]).placeholder();
        let mut followed = FollowedIndex::new().with(&file.header());
        followed.written.resize(size);
        assert_eq!(followed.drain(), Polled::NotYet);
        followed.written.patch(64, &file.footer());
        assert_eq!(followed.drain(), Polled::NotYet);
        assert!(followed.events.is_empty());
    }
}

#[test]
fn events_that_begin_past_the_end_of_the_file_are_awaited() {
    let file = IndexFile {
        events_offset: 4096,
        ..IndexFile::finalized(1, 3).placeholder()
    };
    let mut followed = FollowedIndex::new().with(&file.header());
    assert_eq!(followed.drain(), Polled::NotYet);
}
