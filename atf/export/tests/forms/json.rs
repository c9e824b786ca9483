//! The JSON forms, parsed by `serde_json`.

use std::collections::BTreeMap;

use atf_analyze::Options;
use atf_export::Form;
use serde_json::{Value, json};

use crate::{ODD_NAME, session, text};

fn parsed(form: Form) -> Value {
    let (_folder, session) = session();
    serde_json::from_str(&text(&session, &Options::default(), form)).unwrap()
}

#[test]
fn chrome_has_begin_and_end_events_of_all_calls_in_order() {
    let events = parsed(Form::Chrome);
    let of_thread = |number: u64| {
        let events = events.as_array().unwrap().iter();
        let events = events.filter(move |event| event["tid"] == number && event["ph"] != "M");
        let event = |event: &Value| {
            assert_eq!(event["pid"], 42);
            json!([
                event["ph"],
                event["ts"],
                event["name"],
                event["args"]["end"]
            ])
        };
        Value::Array(events.map(event).collect())
    };
    let ended_first = "not returned: an enclosing call ended first";
    let none = Value::Null;
    // Times are in microseconds after 1000 ns. The open call has no end.
    assert_eq!(
        of_thread(1),
        json!([
            ["B", 0.0, "main", none],
            ["B", 0.1, ODD_NAME, none],
            ["E", 0.35, ODD_NAME, "exception"],
            ["B", 0.4, ODD_NAME, none],
            ["B", 0.45, "0x100000003", none],
            ["E", 0.5, "0x100000003", ended_first],
            ["E", 0.5, ODD_NAME, none],
            ["i", 0.6, "return without a call: 0x100000003", none],
            ["E", 1.0, "main", none],
            ["B", 1.1, "main", none],
            ["B", 1.345, ODD_NAME, none],
            ["E", 1.345, ODD_NAME, none],
            ["B", 1.4, "main", none],
            ["E", 1.45, "main", none],
            ["i", 1.45, "1 call open at the end", none],
            ["i", 1.45, "1 return without a call", none],
        ])
    );
    assert_eq!(
        of_thread(2),
        json!([
            ["B", 0.2, "main", none],
            ["E", 0.7, "main", none],
            [
                "i",
                0.7,
                "the tracer lost 5 events, from 1800 to 1900 ns",
                none
            ],
        ])
    );
    let events = events.as_array().unwrap().iter();
    let metadata = events.filter(|event| event["ph"] == "M");
    let metadata: Vec<_> = metadata
        .map(|event| json!([event["name"], event["args"]]))
        .collect();
    assert!(metadata.contains(&json!(["process_name", {"name": "pid_42"}])));
    assert!(metadata.contains(&json!(["thread_name", {"name": "thread 0"}])));
    assert!(metadata.contains(&json!(["thread_name", {"name": "worker (thread 7)"}])));
    let start = json!(["atf", {"time 0 in ns of the trace's clock": "1000"}]);
    assert!(metadata.contains(&start));
}

#[test]
fn speedscope_events_nest_and_name_their_frames() {
    let file = parsed(Form::Speedscope);
    let frames = &file["shared"]["frames"];
    let profiles = file["profiles"].as_array().unwrap();
    let names: Vec<_> = profiles.iter().map(|profile| &profile["name"]).collect();
    assert_eq!(
        names,
        [
            "thread 0: 1 call open at the end; 1 return without a call",
            "worker (thread 7): starts at 200 ns; the tracer lost 5 events, from 1800 to 1900 ns"
        ]
    );
    let mut all = Vec::new();
    for profile in profiles {
        assert_eq!(profile["type"], "evented");
        assert_eq!(profile["unit"], "nanoseconds");
        let mut open = Vec::new();
        for event in profile["events"].as_array().unwrap() {
            let frame = event["frame"].as_u64().unwrap();
            match event["type"].as_str() {
                Some("O") => open.push(frame),
                _ => assert_eq!(open.pop(), Some(frame)),
            }
            let name = &frames[usize::try_from(frame).unwrap()]["name"];
            all.push(json!([event["type"], event["at"], name]));
        }
        assert_eq!(open, [0; 0]);
    }
    assert_eq!(
        all[..4],
        [
            json!(["O", 0, "main"]),
            json!(["O", 100, ODD_NAME]),
            json!(["C", 350, ODD_NAME]),
            json!(["O", 400, ODD_NAME])
        ]
    );
    // The open call ends with the last event.
    assert_eq!(all[13], json!(["C", 1450, "main"]));
    let times = profiles.iter();
    let times = times.map(|profile| json!([profile["startValue"], profile["endValue"]]));
    assert_eq!(
        times.collect::<Vec<_>>(),
        [json!([0, 1450]), json!([200, 700])]
    );
}

/// speedscope shows all times from a profile's `startValue` on.
#[test]
fn a_selected_range_fills_the_page_and_is_described() {
    let (folder, _) = session();
    let session = crate::lacking(&folder);
    let options = Options {
        from_ns: 2_000,
        ..Options::default()
    };
    let [speedscope, chrome, firefox] = [Form::Speedscope, Form::Chrome, Form::Firefox]
        .map(|form| serde_json::from_str::<Value>(&text(&session, &options, form)).unwrap());
    let first = &speedscope["profiles"][0];
    assert_eq!(
        (&first["startValue"], &first["endValue"]),
        (&json!(1_000), &json!(1_450))
    );
    let until_the_end = "from 2000 ns to the end";
    let title = speedscope["name"].as_str().unwrap();
    assert!(
        title.contains(&format!(", {until_the_end}, time 0")),
        "{title}"
    );
    let range = json!({"name": "atf", "ph": "M", "pid": 42, "args": {"time range": until_the_end}});
    let events = chrome.as_array().unwrap();
    assert!(events.contains(&range), "{events:?}");
    // A note on the process is also within the range: 1 µs after the first event.
    let notes: Vec<_> = events.iter().filter(|event| event["s"] == "p").collect();
    assert!(!notes.is_empty() && notes.iter().all(|note| note["ts"] == 1.0));
    let extra = &firefox["meta"]["extra"][0]["entries"];
    let range = json!({"label": "time range", "format": "string", "value": until_the_end});
    assert!(extra.as_array().unwrap().contains(&range), "{extra}");
}

#[test]
fn firefox_sample_weights_match_the_self_times() {
    let profile = parsed(Form::Firefox);
    assert_eq!(profile["meta"]["preprocessedProfileVersion"], 55);
    let threads = profile["threads"].as_array().unwrap();
    let mut self_ns = BTreeMap::new();
    for thread in threads {
        for table in [
            "samples",
            "stackTable",
            "frameTable",
            "funcTable",
            "markers",
        ] {
            let table = thread[table].as_object().unwrap();
            let columns = table.values().filter_map(Value::as_array);
            let lengths: Vec<_> = columns.map(|column| json!(column.len())).collect();
            assert!(
                lengths.iter().all(|length| *length == table["length"]),
                "{table:?}"
            );
        }
        let number = |value: &Value| usize::try_from(value.as_u64().unwrap()).unwrap();
        let samples = &thread["samples"];
        let stacks = samples["stack"].as_array().unwrap();
        for (stack, weight) in stacks.iter().zip(samples["weight"].as_array().unwrap()) {
            if stack.is_null() {
                continue;
            }
            let frame = number(&thread["stackTable"]["frame"][number(stack)]);
            let function = number(&thread["frameTable"]["func"][frame]);
            let name = number(&thread["funcTable"]["name"][function]);
            let name = thread["stringArray"][name].as_str().unwrap().to_owned();
            let ns = (weight.as_f64().unwrap() * 1e6).round();
            *self_ns.entry(name).or_insert(0.0) += ns;
        }
    }
    let expected = [("0x100000003", 50.0), (ODD_NAME, 300.0), ("main", 1500.0)];
    let expected = expected.map(|(name, ns)| (name.to_owned(), ns));
    assert_eq!(self_ns, BTreeMap::from(expected));
    let deltas = threads[0]["samples"]["timeDeltas"].as_array().unwrap();
    let deltas: Vec<_> = deltas[..4]
        .iter()
        .map(|delta| delta.as_f64().unwrap())
        .collect();
    assert_eq!(deltas, [0.0, 0.0001, 0.00025, 0.00005]);
    let note = &threads[1]["markers"]["data"][0]["name"];
    assert_eq!(note, "the tracer lost 5 events, from 1800 to 1900 ns");
    assert_eq!(threads[1]["name"], "worker (thread 7)");
}

#[test]
fn a_trace_without_threads_is_valid_in_each_form() {
    let (_folder, session) = crate::write_session(&[]);
    for form in [Form::Chrome, Form::Speedscope, Form::Firefox] {
        let json = text(&session, &Options::default(), form);
        serde_json::from_str::<Value>(&json).unwrap_or_else(|error| panic!("{form:?}: {error}"));
    }
}
