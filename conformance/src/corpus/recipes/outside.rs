//! Tests paths that lead outside the session, and ids that a careless conversion turns into other
//! ids. Readers must not read anything outside the session.
//!
//! The session is in the folder `session`, and all files next to it are decoys. The decoys' events
//! call functions of [`CANARY`], which must not appear in an answer. The kit also notices if a
//! decoy is opened.

use crate::Verdict::Recover;

use crate::corpus::recipe::{Recipe, breaks};
use crate::corpus::trace::{CANARY, MANIFEST, T, Trace, record, thread};
use atf_samples::files::{DetailFile, EventRecord};

const SESSION: &str = "session";
const OUTER_MANIFEST: &str = "session/manifest.json";

pub(super) fn recipes() -> Vec<Recipe> {
    [paths(), links(), ids(), lists()]
        .into_iter()
        .flatten()
        .collect()
}

fn paths() -> Vec<Recipe> {
    vec![
        path("a path to the folder above", r#""../x""#, |t| {
            leads_to(t, r#""../x""#);
        })
        .titled("a path to the parent folder"),
        path("a path from the root", r#""/x""#, |t| {
            leads_to(t, r#""/x""#);
        })
        .titled("an absolute path"),
        path("two dots", r#""..""#, |t| leads_to(t, r#""..""#)),
        path(
            "a path to a thread elsewhere",
            r#""../outside/thread_1""#,
            |t| {
                leads_to(t, r#""../outside/thread_1""#);
            },
        ),
        path(
            "a path through a thread's folder",
            r#""9/../../outside/thread_1""#,
            |t| {
                leads_to(t, r#""9/../../outside/thread_1""#);
            },
        )
        .note("Prefixed with \"thread_\", this path exists."),
        path(
            "a path through a thread's folder and up",
            r#""9/../..""#,
            |t| {
                leads_to(t, r#""9/../..""#);
            },
        )
        .note("Prefixed with \"thread_\", this path exists."),
    ]
}

fn links() -> Vec<Recipe> {
    vec![
        link("a link to a folder outside", "session/thread_8", |t| {
            outside(t, r#"{"id": 7}, {"id": 8}, {"id": 9}"#);
            t.symlink("session/thread_8", "../outside/thread_1");
        })
        .titled("a symlink to a folder outside"),
        link(
            "a link to an index file outside",
            "session/thread_8/index.atf",
            |t| {
                outside(t, r#"{"id": 7}, {"id": 8}, {"id": 9}"#);
                t.symlink(
                    "session/thread_8/index.atf",
                    "../../outside/thread_1/index.atf",
                );
            },
        )
        .titled("a symlink to an index file outside"),
        link(
            "a link to a detail file outside",
            "session/thread_9/detail.atf",
            |t| {
                outside(t, r#"{"id": 7}, {"id": 9}"#);
                t.symlink(
                    "session/thread_9/detail.atf",
                    "../../outside/thread_1/detail.atf",
                );
            },
        )
        .also("session/thread_9/index.atf", "ATF-IHDR-018")
        .titled("a symlink to a detail file outside"),
        link("a link to a manifest outside", OUTER_MANIFEST, |t| {
            outside(t, r#"{"id": 7}, {"id": 9}"#);
            t.rename(OUTER_MANIFEST, "outside/manifest.json");
            t.symlink(OUTER_MANIFEST, "../outside/manifest.json");
        })
        .titled("a symlink to a manifest outside"),
    ]
}

/// Makes recipes with ids that a careless conversion turns into 9, and with ids that every
/// conversion must reject.
fn ids() -> Vec<Recipe> {
    vec![
        id("an id below zero", "-9", |t| instead_of_9(t, "-9")).titled("a negative id"),
        id("an id that is 9 in 32 bits", "4294967305", |t| {
            instead_of_9(t, "4294967305");
        })
        .titled("an id that wraps to 9 in 32 bits"),
        id("an id that is 9 in 64 bits", "18446744073709551625", |t| {
            instead_of_9(t, "18446744073709551625");
        })
        .titled("an id that wraps to 9 in 64 bits"),
        id(
            "an id below zero that is 9 in 32 bits",
            "-4294967287",
            |t| {
                instead_of_9(t, "-4294967287");
            },
        )
        .titled("a negative id that wraps to 9 in 32 bits"),
        id("an id of null", "null", |t| instead_of_9(t, "null")).titled("null as an id"),
        id("an id of true", "true, \"has_detail\": false", |t| {
            instead_of_9(t, "true");
        })
        .titled("true as an id"),
        id("an id in a list", "[9]", |t| instead_of_9(t, "[9]")),
    ]
}

fn lists() -> Vec<Recipe> {
    vec![
        breaks("ATF-MANI-003", "0 in place of a thread", |t| {
            t.put(MANIFEST, r#"{"threads": [0]}"#);
        })
        .at(MANIFEST, "threads[0]", 13, Recover)
        .also(MANIFEST, "ATF-MANI-006")
        .flag("broken-manifest"),
        breaks("ATF-MANI-003", "threads that are numbers", |t| {
            t.put(MANIFEST, r#"{"threads": [7, 9]}"#);
        })
        .at(MANIFEST, "threads[0]", 13, Recover)
        .times(2)
        .also(MANIFEST, "ATF-MANI-006")
        .flag("broken-manifest"),
        breaks("ATF-MANI-003", "threads by their ids", |t| {
            t.put(MANIFEST, r#"{"threads": {"7": {}, "9": {}}}"#);
        })
        .at(MANIFEST, "threads", 12, Recover)
        .flag("broken-manifest")
        .titled("threads as an object keyed by id"),
        breaks("ATF-MANI-003", "null in place of the threads", |t| {
            t.put(MANIFEST, r#"{"threads": null}"#);
        })
        .at(MANIFEST, "threads", 12, Recover)
        .flag("broken-manifest"),
    ]
}

/// Makes a recipe in which the manifest's first id leads outside the session.
fn path(name: &'static str, text: &'static str, edit: fn(&mut Trace)) -> Recipe {
    breaks("ATF-MANI-003", name, edit)
        .at_text(OUTER_MANIFEST, "threads[0].id", text, Recover)
        .of(SESSION)
        .flag("path-in-id")
}

fn link(name: &'static str, place: &'static str, edit: fn(&mut Trace)) -> Recipe {
    breaks("ATF-SESS-003", name, edit)
        .in_file(place, "", Recover)
        .of(SESSION)
}

fn id(name: &'static str, text: &'static str, edit: fn(&mut Trace)) -> Recipe {
    breaks("ATF-MANI-003", name, edit)
        .at_text(MANIFEST, "threads[1].id", text, Recover)
        .also(MANIFEST, "ATF-MANI-006")
        .flag("id-that-wraps")
}

fn instead_of_9(trace: &mut Trace, id: &str) {
    trace.replace(MANIFEST, "\"id\": 9", &format!("\"id\": {id}"));
}

fn leads_to(trace: &mut Trace, id: &str) {
    outside(
        trace,
        &format!(r#"{{"id": {id}}}, {{"id": 7}}, {{"id": 9}}"#),
    );
}

/// Moves the session into its own folder, with decoys next to it, and lists `threads` in its
/// manifest.
fn outside(trace: &mut Trace, threads: &str) {
    for part in ["thread_7", "thread_9"] {
        trace.rename(part, &format!("{SESSION}/{part}"));
    }
    trace.remove(MANIFEST);
    trace.put(OUTER_MANIFEST, format!(r#"{{"threads": [{threads}]}}"#));
    let event = EventRecord {
        timestamp_ns: T,
        function_id: CANARY + 1,
        kind: 1,
        depth: 1,
        detail_seq: None,
    };
    let index = thread(trace.version, 1, vec![event]);
    for folder in ["", "x/", "outside/thread_1/"] {
        trace.put_index(&format!("{folder}index.atf"), &index);
    }
    let mut detail = record(3, 0, T, 1, 0);
    let function = (CANARY + 1).to_le_bytes();
    detail.payload.splice(..function.len(), function);
    let details = DetailFile::of(trace.version, vec![detail]);
    trace.put_detail("outside/thread_1/detail.atf", &details);
}
