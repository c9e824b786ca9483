//! Damaged files, read by C functions.

use atf_capi::last_error::atf_last_error_rule;

use super::*;

/// A change to the bytes of a file.
type Change = fn(&mut Vec<u8>);

/// Writes a session with one damaged thread.
fn damaged(change: impl FnOnce(&mut Vec<u8>)) -> (TempDir, CString) {
    let folder = TempDir::new().unwrap();
    let thread = folder.path().join("thread_0");
    let options = atf::write::WriteOptions::default();
    let mut writer = atf::write::ThreadWriter::create(&thread, 0, &options).unwrap();
    for timestamp_ns in 0..10 {
        let event = atf::write::Event::new(timestamp_ns, 7, atf::EventKind::CALL, 1);
        writer.write(&event).unwrap();
    }
    writer.finalize().unwrap();
    let path = thread.join("index.atf");
    let mut bytes = std::fs::read(&path).unwrap();
    change(&mut bytes);
    std::fs::write(&path, bytes).unwrap();
    let name = CString::new(folder.path().to_str().unwrap()).unwrap();
    (folder, name)
}

#[test]
fn damage_is_reported_after_the_last_event_by_every_reader() {
    let flipped = |bytes: &mut Vec<u8>| bytes[64 + 8] ^= 1;
    let cut = |bytes: &mut Vec<u8>| bytes.truncate(64 + 32 * 10);
    let changes: [(&str, &str, Change, AtfChecksum); 2] = [
        (
            "CRC-32C of the events is",
            "ATF-IFTR-004",
            flipped,
            AtfChecksum::Unknown,
        ),
        (
            "was truncated",
            "ATF-IFTR-001",
            cut,
            AtfChecksum::NotChecked,
        ),
    ];
    for (message, rule, change, known) in changes {
        let (_folder, path) = damaged(change);
        let session: *mut AtfSessionReader = get!(atf_session_open(path.as_ptr(), 0));
        let mut events = [MaybeUninit::<AtfEvent>::uninit(); 16];
        let (place, size) = (events.as_mut_ptr().cast(), events.len());

        let merge: *mut AtfMerge = get!(atf_merge_open(session, 0, u64::MAX));
        let count: usize = get!(atf_merge_next(merge, place, size));
        assert_eq!(count, 10, "all valid events are returned");
        let mut count = 7;
        let status = call!(atf_merge_next(merge, place, size, &raw mut count));
        assert_eq!((status, count), (AtfStatus::Damaged, 0));
        assert!(text(atf_last_error_message()).contains(message));
        assert_eq!(text(atf_last_error_rule()), rule);
        assert!(call!(atf_merge_problem_count(merge)) >= 1);
        let problem = text(call!(atf_merge_problem(merge, 0)));
        assert!(problem.contains(message) && problem.ends_with(&format!("[{rule}]")));
        assert_eq!(call!(atf_merge_unverified_count(merge)), 0);
        ok!(atf_merge_close(merge));

        let thread: *mut AtfThreadReader = get!(atf_session_open_thread(session, 0));
        let index: *mut AtfIndexReader = get!(atf_thread_index(thread));
        let info = get_sized!(atf_index_info(index) -> AtfFileInfo);
        assert_eq!(info.checksum, known as u8, "nothing was read yet");
        let count: usize = get!(atf_index_read(index, 0, place, size));
        assert_eq!(count, 10);
        let mut none = 7;
        let status = call!(atf_index_read(index, 10, place, size, &raw mut none));
        assert_eq!(status, AtfStatus::Damaged);
        assert!(call!(atf_index_problem_count(index)) >= 1);
        let problem = text(call!(atf_index_problem(index, 0)));
        assert!(problem.contains(message) && problem.ends_with(&format!("[{rule}]")));
        assert!(call!(atf_index_problem(index, 9)).is_null());
        ok!(atf_index_close(index));
        ok!(atf_thread_close(thread));
        ok!(atf_session_close(session));
    }
    let (_folder, path) = damaged(|_| {});
    let session: *mut AtfSessionReader = get!(atf_session_open(path.as_ptr(), 0));
    let merge: *mut AtfMerge = get!(atf_merge_open(session, 3, 4));
    let (status, events) = next(merge);
    assert_eq!((status, events.len()), (AtfStatus::Ok, 2));
    assert_eq!(next(merge).0, AtfStatus::None);
    // Only a part was read.
    assert_eq!(call!(atf_merge_unverified_count(merge)), 1);
    ok!(atf_merge_close(merge));
    ok!(atf_session_close(session));
}
