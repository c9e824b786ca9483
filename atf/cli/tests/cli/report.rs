//! `report`: its histograms count the durations of the calls that `dump --spans` lists.

use std::collections::BTreeMap;

use super::{lines, number, of_samples};

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
