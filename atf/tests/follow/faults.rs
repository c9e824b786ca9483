//! Follows files that contradict the events already returned.

use std::fs;

use atf::follow::{DetailFollower, IndexFollower, Polled};
use atf::{Error, ErrorKind};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::{FollowedDetail, FollowedIndex, Written};
use atf_samples::files::{DetailFile, IndexFile};

fn followed(file: &IndexFile) -> (Written, IndexFollower) {
    let bytes = file.clone().placeholder().without_footer();
    let mut followed = FollowedIndex::new().with(&bytes);
    assert_eq!(followed.drain(), Polled::NotYet);
    assert_eq!(followed.events.len(), file.events.len());
    (followed.written, followed.follower)
}

fn followed_details(file: &DetailFile) -> (Written, DetailFollower) {
    let bytes = file.clone().placeholder().without_footer();
    let mut followed = FollowedDetail::new().with(&bytes);
    assert_eq!(followed.drain(), Polled::NotYet);
    assert_eq!(followed.events.len(), file.events.len());
    (followed.written, followed.follower)
}

/// Replaces a followed file with another one.
fn replace(written: &Written, bytes: &[u8]) {
    let other = Written::new();
    other.append(bytes);
    other.0.persist(written.path()).unwrap();
}

/// Asserts what an error is about.
#[track_caller]
fn assert_error(error: &Error, kind: &ErrorKind, field: Option<&str>, offset: u64) {
    assert_eq!(
        (error.kind(), error.field(), error.offset()),
        (kind, field, Some(offset))
    );
}

#[test]
fn a_file_truncated_below_the_returned_events_is_an_error_at_its_end() {
    let file = IndexFile::finalized(1, 9);
    let (written, mut follower) = followed(&file);
    // Bytes that were never returned as events may disappear.
    written.append(&[1; 20]);
    follower.poll().unwrap();
    written.resize(64 + 32 * 9);
    follower.poll().unwrap();
    written.resize(64 + 32 * 9 - 1);
    let error = follower.poll().unwrap_err();
    let kind = ErrorKind::UnexpectedEnd { missing: 1 };
    assert_error(&error, &kind, None, 64 + 32 * 9 - 1);
    assert_eq!(error.path(), Some(written.path()));
    written.resize(10);
    let error = follower.poll().unwrap_err();
    assert!(matches!(
        error.kind(),
        ErrorKind::TooShort { found: 10, .. }
    ));

    let file = DetailFile::finalized(1, 9);
    let (written, mut follower) = followed_details(&file);
    let end = written.size();
    written.resize(end - 3);
    let kind = ErrorKind::UnexpectedEnd { missing: 3 };
    assert_error(&follower.poll().unwrap_err(), &kind, None, end - 3);
}

#[test]
fn another_file_at_the_path_is_an_error() {
    let file = IndexFile::finalized(1, 9);
    let (written, mut follower) = followed(&file);
    replace(&written, &file.bytes());
    assert_eq!(follower.poll().unwrap_err().kind(), &ErrorKind::Replaced);
    fs::remove_file(written.path()).unwrap();
    let error = follower.poll().unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Io(std::io::ErrorKind::NotFound));

    let file = DetailFile::finalized(1, 9);
    let (written, mut follower) = followed_details(&file);
    replace(&written, &file.bytes());
    assert_eq!(follower.poll().unwrap_err().kind(), &ErrorKind::Replaced);
}

#[test]
fn a_changed_constant_field_of_the_header_is_an_error_at_the_field() {
    /// Changes the byte at `offset`, polls, and asserts that the error is about the field there.
    fn change(written: &Written, offset: u64, field: &str, poll: impl FnOnce() -> Error) {
        let before = written.bytes()[usize::try_from(offset).unwrap()];
        written.patch(offset, &[before + 1]);
        let kind = ErrorKind::Changed {
            found: u64::from(before) + 1,
            before: before.into(),
        };
        assert_error(&poll(), &kind, Some(field), offset);
    }
    for (offset, field) in [
        (6, "header.arch"),
        (7, "header.os"),
        (12, "header.thread_id"),
        (16, "header.clock_type"),
        (32, "header.events_offset"),
    ] {
        let (written, mut follower) = followed(&IndexFile::finalized(1, 9));
        change(&written, offset, field, || follower.poll().unwrap_err());
    }
    for (offset, field) in [
        (5, "header.version"),
        (6, "header.arch"),
        (12, "header.thread_id"),
        (20, "header.events_offset"),
    ] {
        let (written, mut follower) = followed_details(&DetailFile::finalized(1, 9));
        change(&written, offset, field, || follower.poll().unwrap_err());
    }
    let (written, mut follower) = followed(&IndexFile::finalized(1, 9));
    written.patch(0, b"x");
    let error = follower.poll().unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::BadMagic { .. }));
}

/// A tracer starts over in the same file. The sizes match, but the events do not.
#[test]
fn a_returned_event_that_changes_is_an_error_at_its_offset() {
    let (written, mut follower) = followed(&IndexFile::finalized(1, 9));
    written.patch(64 + 32 * 8 + 10, b"x");
    written.append(&[1; 64]);
    let error = follower.poll().unwrap_err();
    let (kind, field) = (ErrorKind::Overwritten, Some("events[8]"));
    assert_error(&error, &kind, field, 64 + 32 * 8);

    let file = DetailFile::finalized(2, 9);
    let (written, mut follower) = followed_details(&file);
    written.patch(file.places()[8] + 10, b"x");
    let error = follower.poll().unwrap_err();
    assert_error(&error, &kind, field, file.places()[8]);
}

#[test]
fn a_footer_before_the_returned_events_is_an_error_at_its_count() {
    let file = IndexFile::finalized(2, 9);
    let (written, mut follower) = followed(&file);
    let short = IndexFile::finalized(2, 4);
    written.patch(0, &short.header());
    written.patch(64 + 32 * 4, &short.footer());
    let error = follower.poll().unwrap_err();
    let disagrees = |found, expected| ErrorKind::Disagrees {
        found,
        expected,
        by: "the follower",
    };
    let field = Some("footer.event_count");
    assert_error(&error, &disagrees(4, 9), field, 64 + 32 * 4 + 8);

    let file = DetailFile::finalized(2, 9);
    let (written, mut follower) = followed_details(&file);
    let short = DetailFile::finalized(2, 4);
    written.patch(0, &short.header());
    written.patch(short.places()[4], &short.footer());
    let error = follower.poll().unwrap_err();
    assert_eq!(error.field(), Some("footer.bytes_length"));
    let kind = disagrees(short.footer_bytes, file.footer_bytes);
    assert_eq!(error.kind(), &kind);
}

#[test]
fn a_footer_with_a_different_detail_count_is_an_error() {
    let mut file = DetailFile::finalized(1, 9);
    file.footer_count = 8;
    file.header_count = 8;
    let mut followed = FollowedDetail::new().with(&file.bytes());
    let error = followed.try_drain().unwrap_err();
    assert_eq!(error.field(), Some("footer.event_count"));
    assert_eq!(followed.events.len(), 9);
}

#[test]
fn a_file_of_another_kind_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let error = IndexFollower::new(folder.path()).poll().unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::NotRegular { found: "folder" });
    let written = Written::new();
    written.append(&DetailFile::finalized(1, 1).bytes());
    let error = IndexFollower::new(written.path()).poll().unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::BadMagic { .. }));
}

/// An attacker's change to a file between two polls.
#[derive(Debug, Clone)]
enum Step {
    Append(Vec<u8>),
    Patch(prop::sample::Index, Vec<u8>),
    Resize(prop::sample::Index),
    Restore(u8),
}

fn step() -> impl Strategy<Value = Step> {
    let bytes = || {
        prop_oneof![
            vec(any::<u8>(), 1..70),
            vec(Just(0_u8), 1..70),
            Just(IndexFile::finalized(1, 3).footer()),
            Just(DetailFile::finalized(1, 3).footer()),
        ]
    };
    prop_oneof![
        bytes().prop_map(Step::Append),
        (any::<prop::sample::Index>(), bytes())
            .prop_map(|(place, bytes)| Step::Patch(place, bytes)),
        any::<prop::sample::Index>().prop_map(Step::Resize),
        (0..6_u8).prop_map(Step::Restore),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn no_change_makes_a_follower_panic_or_return_more_than_the_file_could_hold(
        steps in vec(step(), 1..20),
        version in 1..=2_u8,
    ) {
        let (mut index, mut detail) = (FollowedIndex::new(), FollowedDetail::new());
        let files = [
            (IndexFile::finalized(version, 6).bytes(), DetailFile::finalized(version, 6).bytes()),
            (IndexFile::finalized(version, 6).placeholder().bytes(),
             DetailFile::finalized(version, 6).placeholder().bytes()),
        ];
        index.written.append(&files[1].0[..150]);
        detail.written.append(&files[1].1[..150]);
        let mut largest = (0, 0);
        for step in steps {
            for (written, which) in [(&index.written, 0), (&detail.written, 1)] {
                let size = usize::try_from(written.size()).unwrap();
                match &step {
                    Step::Append(bytes) => written.append(bytes),
                    Step::Patch(place, bytes) => written.patch(place.index(size + 1) as u64, bytes),
                    Step::Resize(place) => written.resize(place.index(size + 200) as u64),
                    Step::Restore(number) => {
                        let (a, b) = &files[usize::from(number % 2)];
                        let bytes = [a, b][which];
                        let end = bytes.len() * usize::from(number / 2 + 1) / 3;
                        written.patch(0, &bytes[..end]);
                    }
                }
            }
            let sizes = (index.written.size(), detail.written.size());
            largest = (largest.0.max(sizes.0), largest.1.max(sizes.1));
            let _ = index.try_drain();
            let _ = detail.try_drain();
            prop_assert!(index.events.len() as u64 * 32 <= largest.0);
            prop_assert!(detail.events.len() as u64 * 24 <= largest.1);
        }
    }
}
