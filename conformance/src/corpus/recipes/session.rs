//! Recipes for the rules on the session folder.

use crate::Verdict::{Accept, Recover};

use crate::corpus::recipe::{Recipe, breaks, holds, meets};
use crate::corpus::trace::{DETAIL, INDEX, MANIFEST, OTHER, Trace};

pub(super) fn recipes() -> Vec<Recipe> {
    vec![
        holds("ATF-SESS-001", "7 and 9"),
        holds("ATF-RDER-009", "a folder of any name"),
        breaks("ATF-SESS-001", "8 in thread_7", |t| {
            t.index(|file| file.thread_id = 8);
            t.patch_event(64 + 8, &[1]);
            t.detail(|file| file.thread_id = 8);
            t.patch_detail(64, &[124]);
        })
        .at(INDEX, "header.thread_id", 12, Accept),
        holds("ATF-SESS-002", "index.atf and no detail.atf"),
        breaks("ATF-SESS-002", "an empty folder", |t| {
            t.folder("thread_8");
            list(t, 8);
        })
        .in_file("thread_8", "", Recover),
        breaks("ATF-SESS-002", "detail.atf only", |t| {
            t.remove(INDEX);
        })
        .in_file("thread_7", "", Recover)
        .titled("only detail.atf"),
        breaks("ATF-SESS-002", "a file in the folder's place", |t| {
            t.put("thread_8", "");
            list(t, 8);
        })
        .in_file("thread_8", "", Recover),
        holds("ATF-SESS-003", "folders"),
        breaks("ATF-SESS-003", "a link to a thread's folder", |t| {
            t.symlink("thread_8", "thread_9");
            list(t, 8);
        })
        .in_file("thread_8", "", Recover)
        .titled("a symlink to a thread's folder"),
        breaks("ATF-SESS-003", "a link to nothing", |t| {
            t.symlink("thread_8", "thread_1");
            list(t, 8);
        })
        .in_file("thread_8", "", Recover)
        .titled("a dangling symlink"),
        breaks("ATF-SESS-003", "a link to an index file", |t| {
            t.symlink("thread_8/index.atf", "../thread_9/index.atf");
            list(t, 8);
        })
        .in_file("thread_8/index.atf", "", Recover)
        .titled("a symlink to an index file"),
        breaks("ATF-SESS-003", "a link to a detail file", |t| {
            t.symlink("thread_9/detail.atf", "../thread_7/detail.atf");
            t.patch(OTHER, 8, &[1]);
            t.replace(MANIFEST, "\"has_detail\": false", "\"has_detail\": true");
        })
        .in_file("thread_9/detail.atf", "", Recover)
        .titled("a symlink to a detail file"),
        breaks("ATF-SESS-003", "a link to the details of its events", |t| {
            t.rename(DETAIL, "elsewhere");
            t.symlink(DETAIL, "../elsewhere");
        })
        .in_file("thread_7/detail.atf", "", Recover)
        .or_read(|t| {
            t.remove(DETAIL);
            t.rename("elsewhere", DETAIL);
        })
        .titled("a symlink to the details of its events")
        .note("A file that is not read proves no link of index.atf wrong."),
        breaks("ATF-SESS-003", "a link to a manifest", |t| {
            t.rename(MANIFEST, "elsewhere");
            t.symlink(MANIFEST, "elsewhere");
        })
        .in_file(MANIFEST, "", Recover)
        .titled("a symlink to a manifest"),
        meets("ATF-SESS-004", "the greatest u32", |t| {
            t.rename("thread_9", "thread_4294967295");
            t.patch(OTHER_RENAMED, 12, &[0xff; 4]);
            t.replace(MANIFEST, "\"id\": 9", "\"id\": 4294967295");
        })
        .also(OTHER_RENAMED, "ATF-IEVT-003")
        .only(&[1]),
        meets("ATF-SESS-004", "the greatest u32", |t| {
            t.rename("thread_9", "thread_4294967295");
            t.patch(OTHER_RENAMED, 12, &[0xff; 4]);
            t.replace(MANIFEST, "\"id\": 9", "\"id\": 4294967295");
        })
        .only(&[2]),
        breaks("ATF-SESS-004", "one more", |t| {
            t.folder("thread_4294967296");
        })
        .in_file("thread_4294967296", "", Accept)
        .titled("one more than the greatest u32"),
        breaks("ATF-SESS-004", "a leading zero", |t| {
            t.rename("thread_7", "thread_07");
        })
        .in_file("thread_07", "", Accept),
        breaks("ATF-SESS-004", "no number", |t| t.folder("thread_")).in_file("thread_", "", Accept),
        breaks("ATF-SESS-004", "a sign", |t| t.folder("thread_+1")).in_file(
            "thread_+1",
            "",
            Accept,
        ),
        breaks("ATF-SESS-002", "index.ati2 only", |t| {
            t.rename("thread_9/index.atf", "thread_9/index.ati2");
        })
        .in_file("thread_9", "", Recover)
        .titled("only index.ati2")
        .note("A heading of S2 uses this extension, but its folders contain index.atf."),
        holds("ATF-SESS-005", "3 in both threads"),
        breaks("ATF-SESS-005", "1 on macos beside 3 on linux", |t| {
            t.patch(OTHER, 7, &[3]);
            t.patch(OTHER, 16, &[1]);
        })
        .at(OTHER, "header.clock_type", 16, Accept)
        .also(MANIFEST, "ATF-MANI-009")
        .titled("1 on macOS next to 3 on Linux"),
        breaks("ATF-SESS-005", "another clock, and no manifest", |t| {
            t.patch(OTHER, 7, &[5]);
            t.patch(OTHER, 16, &[2]);
            t.remove(MANIFEST);
        })
        .at(OTHER, "header.clock_type", 16, Accept)
        .also(MANIFEST, "ATF-MANI-001"),
    ]
}

const OTHER_RENAMED: &str = "thread_4294967295/index.atf";

/// Lists a thread in the manifest.
fn list(trace: &mut Trace, id: u32) {
    trace.replace(
        MANIFEST,
        "{\"id\": 9",
        &format!("{{\"id\": {id}}}, {{\"id\": 9"),
    );
}
