//! Computes the derived values of a session's document from its files' documents. These values are
//! needed for the corpus, and for grading readers that reject a file where rejection is allowed.

use serde_json::{Value, json};

/// Updates the counts of unmatched links in a thread's entry, but does not add missing counts.
pub(crate) fn derive_thread(thread: &mut Value) {
    let links = links(&thread["index"]);
    let back: Vec<Option<u64>> = events(&thread["detail"])
        .map(|event| number(&event["index_seq"]))
        .collect();
    let at = |links: &[Option<u64>], seq: u64| {
        let place = usize::try_from(seq).ok();
        place.and_then(|place| links.get(place).copied().flatten())
    };
    let loose = |from: &[Option<u64>], to: &[Option<u64>]| {
        let links = (0..).zip(from);
        let links = links.filter_map(|(seq, link)| link.map(|link| (seq, link)));
        let loose = links.filter(|(seq, link)| at(to, *link) != Some(*seq));
        loose.count().to_string()
    };
    let (dangling, orphans) = (loose(&links, &back), loose(&back, &links));
    for (name, count) in [("dangling_links", dangling), ("orphan_details", orphans)] {
        if let Some(value) = thread["derived"].get_mut(name) {
            *value = count.into();
        }
    }
}

/// Returns the values derived from all threads: counts, times and merged order.
pub(crate) fn derive_session(threads: &[Value], manifest: &str) -> Value {
    let mut merged: Vec<(u64, u64, usize)> = Vec::new();
    for thread in threads {
        let id = thread["thread_id"].as_u64().unwrap_or_default();
        for (seq, event) in events(&thread["index"]).enumerate() {
            if !is_hole(&thread["index"], event) {
                merged.push((number(&event["timestamp_ns"]).unwrap_or_default(), id, seq));
            }
        }
    }
    merged.sort_unstable();
    let count = |file: &str| -> usize { threads.iter().map(|it| events(&it[file]).count()).sum() };
    json!({
        "manifest": manifest,
        "event_count": count("index").to_string(),
        "detail_count": count("detail").to_string(),
        "time_start_ns": merged.first().map(|(time, _, _)| time.to_string()),
        "time_end_ns": merged.last().map(|(time, _, _)| time.to_string()),
        "merged": (merged.iter())
            .map(|(_, thread, seq)| json!([thread, seq.to_string()]))
            .collect::<Vec<_>>(),
    })
}

fn events(file: &Value) -> impl Iterator<Item = &Value> {
    file["events"].as_array().into_iter().flatten()
}

/// Returns the link of each index event.
fn links(index: &Value) -> Vec<Option<u64>> {
    let link = |event| {
        if is_hole(index, event) {
            None
        } else {
            number(&event["detail_seq"])
        }
    };
    events(index).map(link).collect()
}

/// Returns whether an event is a hole: all zeros, with no valid checksum to prove that the zeros
/// were written.
fn is_hole(index: &Value, event: &Value) -> bool {
    let fields = event.as_object().into_iter().flatten();
    let is_zero = |value: &Value| *value == 0 || *value == "0";
    index["derived"]["checksum"] != "good" && fields.map(|(_, value)| value).all(is_zero)
}

/// Parses a 64-bit field.
pub(crate) fn number(value: &Value) -> Option<u64> {
    value.as_str()?.parse().ok()
}
