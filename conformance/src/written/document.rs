//! Builds the expected documents of correctly written files from the script and the hand-typed
//! tables.

use std::fs;
use std::path::Path;

use atf::session::MANIFEST_FILE;
use serde_json::{Value, json};

use super::compare::Found;
use super::{DETAIL_SIZE, END_SIZE, EVENT_SIZE, Wrong, folder};
use crate::Verdict;
use crate::corpus::derive_session;
use crate::corpus::document::readable;
use crate::corpus::shape::Shape;
use crate::scripts::{Script, Thread};

/// The documents of a session that passed grading.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Documents {
    /// The session's document; `None` if no thread has a file yet.
    pub session: Option<Value>,
    /// The documents of the files, with their paths in the folder.
    pub files: Vec<(String, Value)>,
}

impl Documents {
    /// Decodes the files in the folder `out`, which must have passed [`grade`](super::grade).
    ///
    /// # Errors
    ///
    /// Returns a message if a file is no longer readable.
    pub fn read(script: &Script, out: &Path) -> Result<Self, String> {
        Self::decode(script, out).map_err(|wrong| wrong.message)
    }

    fn decode(script: &Script, out: &Path) -> Result<Self, Wrong> {
        let mut this = Self::default();
        let (mut threads, mut is_whole) = (Vec::new(), true);
        for (id, thread) in script.threads() {
            let Some(found) = folder::index(out, id)? else {
                continue;
            };
            let index = index(&found, &thread)?;
            let detail = match folder::detail(out, id)? {
                Some(found) => {
                    let document = detail(&found, &thread)?;
                    this.files.push((found.file, document.clone()));
                    document
                }
                None => Value::Null,
            };
            this.files.push((found.file, index.clone()));
            is_whole &= thread.is_finalized;
            threads.push(json!({
                "thread_id": id,
                "index": index,
                "detail": detail,
                "derived": {"dangling_links": "0", "orphan_details": "0"},
            }));
        }
        let verdict = if is_whole { "accept" } else { "recover" };
        // Readers do not follow a symlink.
        let manifest = match fs::symlink_metadata(out.join(MANIFEST_FILE)) {
            Ok(found) if found.is_file() => "used",
            _ => "absent",
        };
        this.session = (!threads.is_empty()).then(|| {
            let derived = derive_session(&threads, manifest);
            json!({"kind": "session", "verdict": verdict, "threads": threads, "derived": derived})
        });
        Ok(this)
    }
}

/// Returns a file's document. Fails if the file was not read completely.
fn document(
    found: &Found,
    thread: &Thread<'_>,
    is_detail: bool,
    events: Vec<usize>,
) -> Result<Value, Wrong> {
    let start = folder::start(found, thread);
    let end = start + events.iter().sum::<usize>();
    let (own, verdict) = if thread.is_finalized {
        (end + END_SIZE, Verdict::Accept)
    } else {
        (end, Verdict::Recover)
    };
    let shape = Shape {
        is_detail,
        wire: thread.open.wire,
        start,
        events,
        own,
        framed: None,
    };
    if found.bytes.len() < own {
        return Err(Wrong::new(format!("{}: truncated", found.file)));
    }
    Ok(readable(&shape, &found.bytes, verdict))
}

fn index(found: &Found, thread: &Thread<'_>) -> Result<Value, Wrong> {
    let events = vec![EVENT_SIZE; thread.events.len()];
    document(found, thread, false, events)
}

fn detail(found: &Found, thread: &Thread<'_>) -> Result<Value, Wrong> {
    let sizes = thread.details.iter();
    let events = sizes.map(|detail| DETAIL_SIZE + detail.payload.len());
    document(found, thread, true, events.collect())
}
