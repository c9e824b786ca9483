//! Runs two decoders that share no code on the same bytes, and compares the results.

use atf::thread::{DETAIL_FILE, INDEX_FILE};
use atf_conformance::reference;
use atf_interpreter::{Kind, read_as};
use serde_json::Value;

use crate::scratch::{put, scratch};

/// Reads a file with the library and with the layout interpreter.
///
/// If the file has a verified footer, the decoders must agree on everything: the verdict, all
/// events and all derived values. Otherwise, the decoders may interpret a damaged end differently.
/// One may reject a file that the other recovers, or may miss the last two events, which are as
/// long as a footer. One may interpret zeros as a gap and the other as free space after the events.
/// Headers and all earlier events must still be the same.
pub fn differential(data: &[u8]) {
    let kind = Kind::of(data);
    let name = match kind {
        Kind::Index => INDEX_FILE,
        Kind::Detail => DETAIL_FILE,
    };
    let scratch = scratch();
    let path = scratch.path().join(name);
    put(&path, data);
    let read = reference::read(&path);
    let interpreted = read_as(kind, data);
    if !is_same(&read, &interpreted) {
        panic!("the library reads\n{read:#}\nthe interpreter\n{interpreted:#}");
    }
}

fn is_same(read: &Value, interpreted: &Value) -> bool {
    if read == interpreted {
        return true;
    }
    let is_refused = |document: &Value| document["verdict"] == "reject";
    let is_guessed = |document: &Value| {
        is_refused(document) || (document["verdict"] == "recover" && document["footer"].is_null())
    };
    if !is_guessed(read) || !is_guessed(interpreted) {
        return false;
    }
    if is_refused(read) || is_refused(interpreted) {
        return true;
    }
    let events = [read, interpreted].map(|document| document["events"].as_array());
    let [Some(events), Some(others)] = events else {
        return false;
    };
    read["header"] == interpreted["header"]
        && (is_nearly_same(events, others)
            || is_nearly_same(without_zeros(events), without_zeros(others)))
}

/// Returns whether two lists of events are equal, except that one of them may have up to two more
/// events at the end.
fn is_nearly_same(events: &[Value], others: &[Value]) -> bool {
    let common = events.len().min(others.len());
    events[..common] == others[..common] && events.len().abs_diff(others.len()) <= 2
}

/// Returns the index events without all-zero events at the end.
fn without_zeros(events: &[Value]) -> &[Value] {
    let is_zero = |event: &&Value| {
        let [time, function] = ["timestamp_ns", "function_id"].map(|field| &event[field]);
        *time == "0" && *function == "0" && event["event_kind"] == 0
    };
    let zeros = events.iter().rev().take_while(is_zero).count();
    &events[..events.len() - zeros]
}
