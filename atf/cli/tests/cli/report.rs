//! `report`: its numbers can be computed from the calls that `dump --spans` lists.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{expected, lines, number, of_samples};

/// A function's calls, open calls, self time and total time.
type Numbers = [u64; 4];

/// Computes a session's functions from its spans. Time never goes backwards in the samples.
fn from_spans(path: &str) -> BTreeMap<u64, Numbers> {
    let text = of_samples(&format!("dump --spans --json {path}"));
    let mut threads: BTreeMap<u64, Vec<(u64, u64, u64, bool)>> = BTreeMap::new();
    let ends = lines(&of_samples(&format!("last --json {path}")));
    let ends = ends[0]["threads"].as_array().unwrap();
    let end = |thread: &Value| {
        (
            thread["thread"].as_u64().unwrap(),
            number(&thread["end_ns"]),
        )
    };
    let end_ns: BTreeMap<u64, u64> = ends.iter().map(end).collect();
    for span in lines(&text) {
        let thread = span["thread"].as_u64().unwrap();
        let is_open = span["end"] == "open";
        let end_ns = if is_open {
            end_ns[&thread]
        } else {
            number(&span["end_ns"])
        };
        let id = number(&span["function_id"]);
        let span = (number(&span["start_ns"]), end_ns, id, is_open);
        threads.entry(thread).or_default().push(span);
    }
    let mut functions: BTreeMap<u64, Numbers> = BTreeMap::new();
    for spans in threads.values() {
        // Spans are ordered by end time, so the spans inside a span come right before it.
        for (place, (start_ns, end_ns, id, is_open)) in spans.iter().enumerate() {
            let before = spans[..place].iter().rev();
            let (mut inner_ns, mut reach_ns) = (0, *end_ns);
            for (inner_start_ns, inner_end_ns, ..) in before {
                if inner_start_ns < start_ns {
                    break;
                }
                if *inner_end_ns <= reach_ns {
                    inner_ns += inner_end_ns - inner_start_ns;
                    reach_ns = *inner_start_ns;
                }
            }
            let numbers = functions.entry(*id).or_default();
            numbers[0] += 1;
            numbers[1] += u64::from(*is_open);
            numbers[2] += end_ns - start_ns - inner_ns;
            let mut after = spans[place + 1..].iter();
            let is_inner = after.any(|(outer_start_ns, outer_end_ns, outer, _)| {
                outer == id && outer_start_ns <= start_ns && outer_end_ns >= end_ns
            });
            if !is_inner {
                numbers[3] += end_ns - start_ns;
            }
        }
    }
    functions
}

fn numbers(row: &Value) -> Numbers {
    ["calls", "open", "self_ns", "total_ns"].map(|key| number(&row[key]))
}

#[test]
fn each_function_has_the_numbers_of_its_spans() {
    for (path, _) in expected() {
        let text = of_samples(&format!("report --json --limit 0 {path}"));
        let [report] = &lines(&text)[..] else {
            panic!("{text}")
        };
        let functions = report["functions"].as_array().unwrap();
        let found: BTreeMap<u64, Numbers> = functions
            .iter()
            .map(|row| (number(&row["function_id"]), numbers(row)))
            .collect();
        assert_eq!(found, from_spans(&path), "{path}");
        let own: Vec<u64> = functions
            .iter()
            .map(|row| number(&row["self_ns"]))
            .collect();
        assert!(own.is_sorted_by(|a, b| a >= b));
        assert_eq!(
            number(&report["totals"]["busy_ns"]),
            own.iter().sum::<u64>()
        );
        for (key, sum) in [("calls", 0), ("open", 1)] {
            let all = found.values().map(|numbers| numbers[sum]);
            assert_eq!(number(&report["totals"][key]), all.sum::<u64>());
        }
    }
}

#[test]
fn the_tree_adds_up() {
    let report = "report --json --tree --min-percent 0 sample-crashed";
    let report = lines(&of_samples(report)).remove(0);
    let nodes = report["tree"].as_array().unwrap();
    assert_eq!(report["not_shown"], "0");
    for (place, node) in nodes.iter().enumerate() {
        let below = nodes[place + 1..].iter();
        let depth = |node: &Value| node["depth"].as_u64().unwrap();
        let below = below.take_while(|other| depth(other) > depth(node));
        let children = below.filter(|other| depth(other) == depth(node) + 1);
        let children_ns: u64 = children.map(|child| number(&child["total_ns"])).sum();
        assert_eq!(
            number(&node["total_ns"]),
            number(&node["self_ns"]) + children_ns
        );
    }
    let cut = "report --json --tree --depth 1 --min-percent 0 sample-crashed";
    let cut = lines(&of_samples(cut)).remove(0);
    let outermost: Vec<_> = nodes.iter().filter(|node| node["depth"] == 0).collect();
    assert_eq!(
        cut["tree"].as_array().unwrap().iter().collect::<Vec<_>>(),
        outermost
    );
    assert_eq!(
        number(&cut["not_shown"]),
        (nodes.len() - outermost.len()) as u64
    );
}

#[test]
fn a_histogram_counts_the_durations_of_the_spans() {
    let path = "sample-crashed";
    let spans = of_samples(&format!("dump --spans --json {path}"));
    let mut durations: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for span in lines(&spans).iter().filter(|span| span["end"] != "open") {
        let of = durations.entry(number(&span["function_id"])).or_default();
        of.push(number(&span["duration_ns"]));
    }
    let options = format!("report --histogram * --limit 0 {path}");
    let text = of_samples(&format!("{options} --json"));
    let histograms = lines(&text)[0]["histograms"].as_array().unwrap().clone();
    let mut rows = Vec::new();
    for histogram in &histograms {
        let id = number(&histogram["function_id"]);
        let of = durations.remove(&id).unwrap_or_default();
        let buckets = histogram["buckets"].as_array().unwrap();
        for bucket in buckets {
            let [from_ns, to_ns, calls] =
                ["from_ns", "to_ns", "calls"].map(|key| number(&bucket[key]));
            let within = of.iter().filter(|ns| (from_ns..=to_ns).contains(*ns));
            assert_eq!(within.count() as u64, calls, "{histogram}");
            rows.push(format!("{from_ns},{to_ns},{calls}"));
        }
        let calls: u64 = buckets.iter().map(|bucket| number(&bucket["calls"])).sum();
        assert_eq!(calls, of.len() as u64, "{histogram}");
    }
    assert!(rows.len() > 100 && durations.is_empty(), "{durations:?}");
    let text = of_samples(&format!("{options} --csv"));
    let (found, notes): (Vec<_>, Vec<_>) =
        text.lines().skip(1).partition(|line| line.ends_with(','));
    for (line, row) in found.iter().zip(&rows) {
        assert!(line.ends_with(&format!("{row},")), "{line} {row}");
    }
    assert_eq!((found.len(), notes.len()), (rows.len(), 4));
}
