//! Reads a session, which is a folder with thread folders and a `manifest.json`.

use std::fs::{self, FileType};
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::document::{Decoded, Event};
use crate::{Kind, decode, manifest, rejected};

/// The state of a thread's file.
enum File {
    Absent,
    /// A symlink, which is not followed because it may lead outside the session.
    Link,
    Refused,
    Read(Decoded),
}

/// A thread of a session.
struct Thread {
    id: u32,
    index: File,
    detail: File,
    /// Whether all files that the thread should have are present and accepted.
    is_whole: bool,
    document: Value,
}

/// Returns the document of a session folder.
pub(crate) fn read(folder: &Path) -> io::Result<Value> {
    let folder = process_folder(folder)?;
    let mut threads = Vec::new();
    for (id, name) in numbered(&folder, "thread_")? {
        threads.push(Thread::read(id, &folder.join(name)));
    }
    let manifest = manifest::state(&folder.join("manifest.json"));
    let mut merged: Vec<_> = threads.iter().flat_map(Thread::moments).collect();
    merged.sort_unstable();
    let is_lost = !threads.is_empty() && threads.iter().all(|thread| thread.index.read().is_none());
    let is_whole = threads.iter().all(|thread| thread.is_whole) && manifest != "ignored";
    let verdict = match (is_lost, is_whole) {
        (true, _) => "reject",
        (false, true) => "accept",
        (false, false) => "recover",
    };
    let events = threads.iter().filter_map(|thread| thread.index.read());
    let details = threads.iter().filter_map(|thread| thread.detail.read());
    let time = |moment: Option<&(u64, u32, usize)>| moment.map(|(time, ..)| time.to_string());
    let derived = json!({
        "manifest": manifest,
        "event_count": events.map(|index| index.events.len()).sum::<usize>().to_string(),
        "detail_count": details.map(|detail| detail.events.len()).sum::<usize>().to_string(),
        "time_start_ns": time(merged.first()),
        "time_end_ns": time(merged.last()),
        "merged": merged
            .iter()
            .map(|(_, thread, seq)| json!([thread, seq.to_string()]))
            .collect::<Vec<_>>(),
    });
    let threads = threads.into_iter().map(|thread| thread.document);
    Ok(json!({
        "kind": "session",
        "verdict": verdict,
        "threads": threads.collect::<Vec<_>>(),
        "derived": derived,
    }))
}

/// Returns the folder that contains the threads: the only `pid_N` folder in this folder if this
/// folder has neither threads nor a manifest, and this folder otherwise.
fn process_folder(folder: &Path) -> io::Result<PathBuf> {
    let is_session = folder.join("manifest.json").symlink_metadata().is_ok()
        || !numbered(folder, "thread_")?.is_empty();
    let processes = numbered(folder, "pid_")?;
    match processes.as_slice() {
        [(_, name)] if !is_session && is_folder(&folder.join(name)) => Ok(folder.join(name)),
        _ => Ok(folder.to_owned()),
    }
}

/// Lists the entries of a folder whose names consist of the prefix and a 32-bit number, in
/// ascending order. The names come from the folder, never from the manifest.
fn numbered(folder: &Path, prefix: &str) -> io::Result<Vec<(u32, String)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        let digits = name.to_str().and_then(|name| name.strip_prefix(prefix));
        let is_decimal = |digits: &&str| digits.bytes().all(|byte| byte.is_ascii_digit());
        let number = digits
            .filter(is_decimal)
            .and_then(|digits| digits.parse().ok());
        found.extend(number.zip(name.into_string().ok()));
    }
    found.sort();
    Ok(found)
}

fn is_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|meta| meta.is_dir())
}

impl File {
    fn read(&self) -> Option<&Decoded> {
        match self {
            Self::Read(file) => Some(file),
            _ => None,
        }
    }

    /// Reads a thread's file without following symlinks.
    fn open(kind: Kind, folder: &Path) -> Self {
        if !is_folder(folder) {
            return Self::Absent;
        }
        let path = folder.join(format!("{}.atf", kind.name()));
        let meta = path.symlink_metadata().map(|meta| meta.file_type());
        if meta.as_ref().is_ok_and(FileType::is_symlink) {
            return Self::Link;
        }
        match fs::read(path) {
            Ok(bytes) => decode(kind, &bytes).map_or(Self::Refused, Self::Read),
            Err(_) => Self::Absent,
        }
    }

    fn document(&self, kind: Kind) -> Value {
        match self {
            Self::Absent | Self::Link => Value::Null,
            Self::Refused => rejected(kind),
            Self::Read(file) => file.document.clone(),
        }
    }
}

impl Thread {
    fn read(id: u32, folder: &Path) -> Self {
        let index = File::open(Kind::Index, folder);
        let mut detail = File::open(Kind::Detail, folder);
        // A detail file of the other wire version cannot belong to this thread.
        if let (Some(of_index), Some(of_detail)) = (index.read(), detail.read())
            && of_index.wire != of_detail.wire
        {
            detail = File::Refused;
        }
        let index_document = index.document(Kind::Index);
        let detail_document = detail.document(Kind::Detail);
        let links = Links::between(index.read(), detail.read());
        let is_accepted = |document: &Value| document["verdict"] == "accept";
        Self {
            id,
            is_whole: is_accepted(&index_document)
                && (is_accepted(&detail_document) || matches!(detail, File::Absent)),
            document: json!({
                "thread_id": id,
                "index": index_document,
                "detail": detail_document,
                "derived": {
                    "dangling_links": links.dangling().to_string(),
                    "orphan_details": links.orphans().to_string(),
                },
            }),
            index,
            detail,
        }
    }

    /// Returns the time, thread and position of each event that is not a hole.
    fn moments(&self) -> impl Iterator<Item = (u64, u32, usize)> {
        let index = self.index.read().into_iter();
        let events = index.flat_map(|index| &index.events).enumerate();
        events.filter_map(|(seq, event)| Some((event.as_ref()?.timestamp_ns, self.id, seq)))
    }
}

/// The links between a thread's two files, in both directions. An unreadable file has no links.
struct Links {
    /// For each index event, the detail event that it links to. Holes have no link.
    forward: Vec<Option<u64>>,
    /// For each detail event, the index event that it links to.
    back: Vec<u64>,
}

impl Links {
    fn between(index: Option<&Decoded>, detail: Option<&Decoded>) -> Self {
        let link = |event: &Option<Event>| event.as_ref().and_then(|event| event.link);
        let events = index.iter().flat_map(|index| &index.events);
        let details = detail.iter().flat_map(|detail| &detail.events);
        Self {
            forward: events.map(link).collect(),
            back: details.filter_map(link).collect(),
        }
    }

    /// Counts the links in the index that have no matching link back.
    fn dangling(&self) -> usize {
        let links = (0..).zip(&self.forward);
        let links = links.filter_map(|(seq, to)| Some((seq, (*to)?)));
        let loose = links.filter(|(seq, to)| at(&self.back, *to) != Some(seq));
        loose.count()
    }

    /// Counts the links in the details that have no matching link back.
    fn orphans(&self) -> usize {
        let links = (0..).zip(&self.back);
        let loose = links.filter(|(seq, to)| at(&self.forward, **to) != Some(&Some(*seq)));
        loose.count()
    }
}

fn at<T>(values: &[T], seq: u64) -> Option<&T> {
    values.get(usize::try_from(seq).ok()?)
}
