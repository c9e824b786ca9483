//! Mistakes that real implementations make across files: links, ids, threads, the manifest.

use crate::Verdict::{Accept, Recover, Reject};

use crate::corpus::recipe::{Recipe, breaks, meets};
use crate::corpus::trace::{DETAIL, INDEX, MANIFEST, OTHER, T, thread};

pub(super) fn recipes() -> Vec<Recipe> {
    let tables = [links(), threads(), manifests()];
    tables.into_iter().flatten().collect()
}

fn links() -> Vec<Recipe> {
    vec![
        breaks("ATF-LINK-001", "two links crossed", |t| {
            t.events(|events| {
                events[2].detail_seq = Some(2);
                events[3].detail_seq = Some(1);
            });
        })
        .at_field(INDEX, "events[2].detail_seq", Accept)
        .times(2)
        .also(INDEX, "ATF-LINK-005")
        .also(DETAIL, "ATF-LINK-003")
        .flag("links-crossed"),
        breaks("ATF-LINK-001", "to the greatest position", |t| {
            t.events(|events| events[3].detail_seq = Some(u64::from(u32::MAX) - 1));
        })
        .at_field(INDEX, "events[3].detail_seq", Accept)
        .also(INDEX, "ATF-LINK-005")
        .also(DETAIL, "ATF-LINK-003")
        .flag("links-dangling"),
        breaks("ATF-LINK-003", "to the greatest position", |t| {
            t.details(|details| details[2].index_seq = u32::MAX.into());
        })
        .at(DETAIL, "events[2].index_seq", 329 + 8, Accept)
        .also(INDEX, "ATF-LINK-001")
        .flag("links-dangling"),
        breaks(
            "ATF-SESS-001",
            "8 in the index header, 6 in the detail header",
            |t| {
                t.patch(INDEX, 12, &[8]);
                t.patch(DETAIL, 12, &[6]);
            },
        )
        .at(INDEX, "header.thread_id", 12, Accept)
        .also(INDEX, "ATF-IEVT-003")
        .also(DETAIL, "ATF-DEVT-004")
        .also(DETAIL, "ATF-LINK-009")
        .only(&[1])
        .flag("thread-ids-disagree"),
        breaks(
            "ATF-SESS-001",
            "8 in the index header, 6 in the detail header",
            |t| {
                t.patch(INDEX, 12, &[8]);
                t.patch(DETAIL, 12, &[6]);
            },
        )
        .at(INDEX, "header.thread_id", 12, Accept)
        .also(DETAIL, "ATF-LINK-009")
        .only(&[2])
        .flag("thread-ids-disagree"),
    ]
}

fn threads() -> Vec<Recipe> {
    vec![
        breaks("ATF-IHDR-002", "nonsense in one thread of two", |t| {
            t.put(INDEX, "nonsense".repeat(8));
        })
        .at(INDEX, "header.magic", 0, Reject)
        .of("")
        .flag("one-corrupt-thread")
        .note("The other thread is intact, and so are this thread's details.")
        .asks("ATF-RDER-003"),
        breaks("ATF-IFTR-002", "a billion in one thread of two", |t| {
            t.index(|file| file.footer_count = 1_000_000_000);
        })
        .at(INDEX, "footer.event_count", 264, Reject)
        .of("")
        .flag("one-corrupt-thread")
        .asks("ATF-RDER-003"),
        breaks(
            "ATF-DHDR-002",
            "nonsense in the details of one thread",
            |t| {
                t.put(DETAIL, "nonsense".repeat(8));
            },
        )
        .at(DETAIL, "header.magic", 0, Reject)
        .of("")
        .flag("one-corrupt-thread")
        .note("All events are intact, and so is the other thread.")
        .asks("ATF-RDER-003"),
        breaks("ATF-IHDR-002", "nonsense in the only thread", |t| {
            t.remove("thread_9");
            t.remove(DETAIL);
            t.put(INDEX, "nonsense".repeat(8));
            t.put(MANIFEST, r#"{"threads": [{"id": 7}]}"#);
        })
        .at(INDEX, "header.magic", 0, Reject)
        .of(""),
        breaks("ATF-IHDR-002", "nonsense in each thread", |t| {
            for file in [INDEX, OTHER] {
                t.put(file, "nonsense".repeat(8));
            }
        })
        .at(INDEX, "header.magic", 0, Reject)
        .also(OTHER, "ATF-IHDR-002")
        .of("")
        .flag("one-corrupt-thread")
        .titled("nonsense in each of two threads"),
        breaks(
            "ATF-IHDR-016",
            "a time before all others in one thread",
            |t| {
                t.index(|file| file.header_times = (T - 5000, T + 200_000));
            },
        )
        .at(INDEX, "header.time_start_ns", 48, Accept)
        .times(2)
        .of("")
        .titled("times outside those of all events, in one thread")
        .note("The session's times are those of its events.")
        .asks("ATF-RDER-013"),
        breaks("ATF-IFTR-001", "no bytes in one thread of two", |t| {
            t.cut(OTHER, 0);
        })
        .at(OTHER, "footer", 0, Recover)
        .of("")
        .flag("no-bytes")
        .titled("an empty index file in one thread of two")
        .note("The other thread is not affected."),
        breaks(
            "ATF-SESS-003",
            "a link to a folder in the place of a thread",
            |t| {
                t.rename("thread_9", "elsewhere");
                t.symlink("thread_9", "elsewhere");
            },
        )
        .in_file("thread_9", "", Recover)
        .or_read(|t| {
            t.remove("thread_9");
            t.rename("elsewhere", "thread_9");
        })
        .flag("symbolic-link")
        .titled("a symlink to a folder in place of a thread's folder"),
        meets(
            "ATF-MANI-008",
            "a thread without events beside others",
            |t| {
                t.put_index("thread_8/index.atf", &thread(t.version, 8, Vec::new()));
                t.replace(MANIFEST, "{\"id\": 9", "{\"id\": 8}, {\"id\": 9");
            },
        )
        .flag("empty-thread")
        .asks("ATF-RDER-013"),
    ]
}

fn manifests() -> Vec<Recipe> {
    vec![
        meets(
            "ATF-MANI-003",
            "ids in another order than the folders",
            |t| {
                t.replace(MANIFEST, "{\"id\": 7, \"has_detail\": true},\n    ", "");
                t.replace(
                    MANIFEST,
                    "{\"id\": 9, \"has_detail\": false}",
                    "{\"id\": 9, \"has_detail\": false}, {\"id\": 7, \"has_detail\": true}",
                );
            },
        ),
        breaks("ATF-MANI-002", "a mark and nothing else", |t| {
            t.put(MANIFEST, "\u{feff}");
        })
        .at(MANIFEST, "", 0, Recover)
        .times(2)
        .flag("broken-manifest")
        .titled("a byte-order mark and nothing else"),
        breaks("ATF-MANI-002", "lists in lists, 20000 deep", |t| {
            t.put(MANIFEST, "[".repeat(20_000));
        })
        .at(MANIFEST, "", 20_000, Recover)
        .only(&[1])
        .flag("broken-manifest")
        .titled("20000 nested lists")
        .note("A reader that recurses without a limit overflows its stack."),
        breaks("ATF-IFTR-001", "in one thread, and no manifest", |t| {
            t.remove(MANIFEST);
            t.unfinalize_index();
            t.unfinalize_detail();
        })
        .at(INDEX, "footer", 256, Recover)
        .also(DETAIL, "ATF-DFTR-001")
        .also(MANIFEST, "ATF-MANI-001")
        .of("")
        .flag("broken-manifest")
        .titled("missing in one thread, and no manifest")
        .note("A killed tracer leaves such a session behind."),
    ]
}
