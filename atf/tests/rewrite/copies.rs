//! Tests file modes, holes and long paths in copies, and what a killed run leaves behind.

use std::fs;
use std::io::{Seek, SeekFrom};
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::path::Path;

use atf::rewrite;
use atf::session::SessionReader;

use crate::{Places, files, without_details};
use atf_samples::files::{DetailFile, IndexFile};

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o777
}

#[test]
fn only_users_who_can_read_the_trace_can_read_its_copy() {
    let places = Places::new();
    let unfinished = IndexFile::finalized(1, 9).placeholder().without_footer();
    places.put("in/a/thread_7/index.atf", &unfinished);
    // The three details have no index events, so they are set aside.
    places.put(
        "in/a/thread_7/detail.atf",
        DetailFile::finalized(1, 3).bytes(),
    );
    places.put("in/a/thread_8/index.atf", "what cannot be read");
    places.put("in/a/manifest.json", "{\"threads\": []}");
    let all = files(&places.path("in"));
    for name in all.keys() {
        set_mode(&places.path("in").join(name), 0o600);
    }
    set_mode(&places.path("in/a/manifest.json"), 0o644);
    set_mode(&places.path("in/a/thread_7"), 0o750);
    set_mode(&places.path("in/a"), 0o700);
    places.recover();
    let out = places.path("out");
    let written = files(&out);
    for name in ["a/recovery.json", "a/unreadable/thread_8/index.atf"] {
        assert!(written.contains_key(name), "{:?}", written.keys());
    }
    for name in written.keys() {
        let expected = if name == "a/manifest.json" {
            0o644
        } else {
            0o600
        };
        assert_eq!(mode(&out.join(name)), expected, "{name}");
    }
    assert_eq!(mode(&out.join("a")), 0o700);
    assert_eq!(mode(&out.join("a/thread_7")) & 0o027, 0);
    // Files that everybody can read remain readable, as far as the umask allows.
    assert_eq!(mode(&out), mode(&places.path("in")));
}

#[test]
fn no_folder_of_a_copy_allows_more_than_the_original() {
    let places = Places::new();
    let index = IndexFile::finalized(1, 9).bytes();
    places.put("in/a/b/thread_7/index.atf", &index);
    places.put("in/a/b/thread_7/detail.atf", "what cannot be read");
    for folder in ["in/a", "in/a/b/thread_7"] {
        set_mode(&places.path(folder), 0o700);
    }
    places.recover();
    for folder in ["a", "a/b/thread_7", "a/b/unreadable/thread_7"] {
        assert_eq!(mode(&places.path("out").join(folder)), 0o700, "{folder}");
    }
    assert_ne!(mode(&places.path("out/a/b")), 0o700);
}

#[test]
fn a_copy_belongs_to_the_group_of_the_original() {
    let places = Places::with_index(IndexFile::finalized(1, 9).bytes());
    let own = fs::metadata(places.path("in")).unwrap().gid();
    let other = own + 1;
    for name in ["in/thread_7/index.atf", "in/thread_7"] {
        if std::os::unix::fs::chown(places.path(name), None, Some(other)).is_err() {
            atf_samples::tools::skip("only root may change a file's group");
            return;
        }
    }
    places.recover();
    for (name, group) in [
        ("thread_7/index.atf", other),
        ("thread_7", other),
        ("", own),
    ] {
        let metadata = fs::metadata(places.path("out").join(name)).unwrap();
        assert_eq!(metadata.gid(), group, "{name}");
        assert_eq!(metadata.mode() & 0o040, 0o040, "{name}");
    }
}

#[test]
fn holes_are_copied_as_holes() {
    let places = Places::with_index(without_details(1));
    places.put("in/thread_8/index.atf", "what cannot be read");
    let sparse = places.path("in/thread_8/index.atf");
    let file = fs::File::options().write(true).open(&sparse).unwrap();
    file.write_all_at(b"end", (4 << 30) - 3).unwrap();
    if fs::metadata(&sparse).unwrap().blocks() * 512 > 1 << 20 {
        atf_samples::tools::skip("the file system has no sparse files");
        return;
    }
    places.recover();
    let copy = places.path("out/unreadable/thread_8/index.atf");
    let metadata = fs::metadata(&copy).unwrap();
    assert_eq!(metadata.len(), 4 << 30);
    assert!(
        metadata.blocks() * 512 <= 1 << 20,
        "{} blocks",
        metadata.blocks()
    );
    let mut end = fs::File::open(copy).unwrap();
    end.seek(SeekFrom::End(-4)).unwrap();
    assert_eq!(std::io::read_to_string(end).unwrap(), "\0end");
}

#[test]
fn a_name_without_room_for_a_number_is_shortened() {
    let places = Places::with_index(without_details(1));
    let thread = format!("thread_{:0248}", 8);
    places.put(&format!("in/{thread}/index.atf"), "what cannot be read");
    places.put(
        &format!("in/unreadable/{thread}/x"),
        "of an earlier recovery",
    );
    let report = places.recover();
    assert_eq!(report.events(), 9, "{report}");
    let unreadable = files(&places.path("out/unreadable"));
    let shortened = format!("thread_{}-2/index.atf", "0".repeat(246));
    assert!(unreadable.contains_key(&shortened), "{unreadable:?}");
    assert_eq!(unreadable.len(), 2);
}

#[test]
fn an_unfinished_copy_is_not_a_session() {
    let places = Places::new();
    for folder in [
        "session",
        "session/.atf-9-1",
        ".atf-123-0",
        ".atf-123-0/below",
    ] {
        let name = format!("in/{folder}/thread_7/index.atf");
        places.put(&name, without_details(1));
    }
    let report = places.recover();
    assert_eq!((report.events(), report.losses()), (9, 0), "{report}");
    assert!(report.to_string().contains("delete it"), "{report}");
    let only = SessionReader::open(places.path("in")).unwrap();
    assert_eq!(only.path(), places.path("in/session"));
    // The leftover folder can still be opened directly.
    let session = SessionReader::open(places.path("in/.atf-123-0")).unwrap();
    assert_eq!(session.summary().index_events, 9);
    for name in [".atf-1", ".atf-x-0", "atf-1-2", ".atf-1-2-3", ".atf--"] {
        assert!(!rewrite::is_unfinished(name.as_ref()), "{name}");
    }
}
