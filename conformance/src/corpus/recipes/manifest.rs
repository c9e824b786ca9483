//! Recipes for the rules on manifest.json. Offsets point to the invalid text.

use crate::Verdict::{Accept, Recover};

use crate::corpus::recipe::{Recipe, breaks, holds, meets};
use crate::corpus::trace::{MANIFEST, OTHER, Trace};

pub(super) fn recipes() -> Vec<Recipe> {
    [
        form(),
        types(),
        types_of_additions(),
        losses(),
        threads(),
        numbers(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn form() -> Vec<Recipe> {
    vec![
        meets(
            "ATF-MANI-001",
            "an object with a list of threads and no more",
            |t| {
                t.put(MANIFEST, r#"{"threads":[{"id":7},{"id":9}]}"#);
            },
        )
        .titled("an object with a list of threads and nothing else"),
        breaks("ATF-MANI-001", "none", |t| t.remove(MANIFEST))
            .in_file(MANIFEST, "", Accept)
            .titled("no manifest"),
        meets("ATF-MANI-002", "white space around the object", |t| {
            let text = format!("\t\r\n {} \n", text(t));
            t.put(MANIFEST, text);
        }),
        breaks("ATF-MANI-002", "a byte-order mark", |t| {
            let text = format!("\u{feff}{}", text(t));
            t.put(MANIFEST, text);
        })
        .at(MANIFEST, "", 0, Recover)
        .or_manifest("used"),
        breaks("ATF-MANI-002", "empty", |t| t.put(MANIFEST, "")).at(MANIFEST, "", 0, Recover),
        breaks("ATF-MANI-002", "no JSON", |t| {
            t.put(MANIFEST, "{\"threads\": [}");
        })
        .at(MANIFEST, "", 13, Recover)
        .titled("not JSON"),
        breaks("ATF-MANI-002", "cut", |t| t.cut(MANIFEST, 100))
            .at(MANIFEST, "", 100, Recover)
            .titled("truncated"),
        breaks("ATF-MANI-002", "a byte that is not UTF-8", |t| {
            let offset = text(t).find("load").unwrap();
            t.patch(MANIFEST, offset, &[0xff]);
        })
        .at(MANIFEST, "", 438, Recover)
        .or_manifest("used"),
        breaks("ATF-MANI-002", "something behind the object", |t| {
            t.append(MANIFEST, b"{}");
        })
        .at(MANIFEST, "", 451, Recover)
        .titled("text after the object")
        .or_manifest("used"),
        breaks("ATF-MANI-002", "a key twice", |t| {
            t.replace(
                MANIFEST,
                "\"clock_type\": 3",
                "\"clock_type\": 3, \"clock_type\": 4",
            );
        })
        .at_text(MANIFEST, "clock_type", "4,\n  \"modules\"", Recover)
        .titled("a duplicate key")
        .or_manifest("used"),
        holds("ATF-MANI-012", "2.1 with a symbol"),
        meets("ATF-MANI-012", "2.0 with modules and no symbols", |t| {
            version(t, "2.0");
            without_symbols(t);
        }),
        breaks("ATF-MANI-012", "2.0 with a symbol", |t| version(t, "2.0")).in_file(
            MANIFEST,
            "format_version",
            Accept,
        ),
        breaks("ATF-MANI-012", "2.1 without symbols", without_symbols).in_file(
            MANIFEST,
            "format_version",
            Accept,
        ),
        breaks("ATF-MANI-012", "another version", |t| version(t, "3.0"))
            .in_file(MANIFEST, "format_version", Accept)
            .note("The headers determine how files are read, not this number."),
        holds("ATF-MANI-011", "all keys of the schema")
            .titled("all keys that tracers in the field write"),
        meets("ATF-MANI-011", "names, offsets and anchors", |t| {
            add_to_thread(t, r#""name": "render \u00e9""#);
            add_to_module(t, r#""function_offsets": true"#);
            add_anchors(
                t,
                r#"{"host_time_ns": 0, "media_time": -1, "media_timescale": 600}"#,
            );
        }),
        meets(
            "ATF-MANI-011",
            "the end of the process and the error of the clock",
            |t| {
                add_to_session(t, r#""ended_by": "SIGSEGV", "clock_error_ns": 0"#);
            },
        ),
        meets("ATF-MANI-011", "hexadecimal digits in upper case", |t| {
            t.replace(MANIFEST, r#""0x100""#, r#""0xABCDEF""#);
            add_to_thread(t, r#""name": "render \u00E9\u20AC""#);
        }),
        meets("ATF-MANI-011", "an address of one digit", |t| {
            t.replace(MANIFEST, r#""0x100""#, r#""0x0""#);
        }),
        meets("ATF-MANI-011", "names of all lengths in UTF-8", |t| {
            add_to_thread(t, "\"name\": \"é\u{7ff} €\u{e000}\u{fffd} 😀\u{10ffff}\"");
        }),
        breaks("ATF-MANI-011", "keys that differ in an escape", |t| {
            let keys = [r"\u20ac", r"\u20ad", r"\ud83d\ude00", r"\ud83d\ude01"];
            let keys = keys.map(|key| format!("\"{key}\": 1")).join(", ");
            add_to_session(t, &keys);
        })
        .at_text(MANIFEST, "\u{20ac}", r#"1, "\u20ad""#, Accept)
        .times(4)
        .titled("four keys that differ only in an escape"),
        meets("ATF-MANI-011", "details with fields", |t| {
            add_to_session(t, r#""detail_fields": true"#);
        }),
        breaks("ATF-MANI-011", "another key", |t| {
            t.replace(
                MANIFEST,
                "\"clock_type\"",
                "\"host\": \"build7\", \"clock_type\"",
            );
        })
        .at_text(MANIFEST, "host", "\"build7\"", Accept),
        breaks("ATF-MANI-011", "a priority of a thread", |t| {
            add_to_thread(t, r#""priority": 31"#);
        })
        .at_text(MANIFEST, "threads[1].priority", "31", Accept),
        breaks("ATF-MANI-011", "another key of a loss", |t| {
            add_to_thread(
                t,
                r#""lost_events": {"count": 1, "first_ns": 5, "last_ns": 5, "why": "full"}"#,
            );
        })
        .at_text(MANIFEST, "threads[1].lost_events.why", "\"full\"", Accept)
        .also(MANIFEST, "ATF-MANI-014"),
    ]
}

fn types() -> Vec<Recipe> {
    vec![
        meets("ATF-MANI-003", "the greatest u32", |t| {
            t.replace(MANIFEST, "\"id\": 9", "\"id\": 4294967295");
            t.remove("thread_9");
            t.replace(MANIFEST, "1234566999999000", "1234567000000000");
            t.replace(MANIFEST, "1234567000099000", "1234567000005000");
        })
        .also(MANIFEST, "ATF-MANI-005"),
        breaks("ATF-MANI-003", "an id over the greatest u32", |t| {
            t.replace(MANIFEST, "\"id\": 9", "\"id\": 4294967296");
        })
        .at_text(MANIFEST, "threads[1].id", "4294967296", Recover)
        .also(MANIFEST, "ATF-MANI-006"),
        breaks("ATF-MANI-003", "an id in text", |t| {
            t.replace(MANIFEST, "\"id\": 9", "\"id\": \"9\"");
        })
        .at_text(MANIFEST, "threads[1].id", "\"9\"", Recover)
        .also(MANIFEST, "ATF-MANI-006")
        .titled("an id as a string"),
        breaks("ATF-MANI-003", "a thread without an id", |t| {
            t.replace(MANIFEST, "\"id\": 9, ", "");
        })
        .at_text(
            MANIFEST,
            "threads[1].id",
            "{\"has_detail\": false}",
            Recover,
        )
        .also(MANIFEST, "ATF-MANI-006"),
        breaks("ATF-MANI-003", "no list of threads", |t| {
            t.put(MANIFEST, "{}");
        })
        .at(MANIFEST, "threads", 0, Recover),
        breaks("ATF-MANI-003", "a list", |t| t.put(MANIFEST, " []"))
            .at(MANIFEST, "", 1, Recover)
            .titled("a list instead of an object"),
        breaks("ATF-MANI-003", "a time as a fraction", |t| {
            t.replace(MANIFEST, "1234566999999000", "1.5");
        })
        .at_text(MANIFEST, "time_start_ns", "1.5", Recover),
        breaks("ATF-MANI-003", "a function_id as a number", |t| {
            t.replace(MANIFEST, "\"0x06444fc100000001\"", "5");
        })
        .at_text(
            MANIFEST,
            "symbols[0].function_id",
            "5, \"module_id\"",
            Recover,
        ),
    ]
}

/// Tests the types of keys that no known tracer writes.
fn types_of_additions() -> Vec<Recipe> {
    vec![
        meets(
            "ATF-MANI-003",
            "the least and the greatest media time",
            |t| {
                add_anchors(
                    t,
                    r#"{"host_time_ns": 18446744073709551615, "media_time": -9223372036854775808,
    "media_timescale": 1}, {"host_time_ns": 0, "media_time": 9223372036854775807,
    "media_timescale": 2147483647}"#,
                );
            },
        ),
        breaks("ATF-MANI-003", "a thread's name as a number", |t| {
            add_to_thread(t, r#""name": 31"#);
        })
        .at_text(MANIFEST, "threads[1].name", "31", Recover),
        breaks("ATF-MANI-003", "a loss as a number", |t| {
            add_to_thread(t, r#""lost_events": 31"#);
        })
        .at_text(MANIFEST, "threads[1].lost_events", "31", Recover),
        breaks("ATF-MANI-003", "a loss without its last time", |t| {
            add_to_thread(t, r#""lost_details": {"count": 1, "first_ns": 5}"#);
        })
        .at_text(
            MANIFEST,
            "threads[1].lost_details.last_ns",
            r#"{"count""#,
            Recover,
        ),
        breaks("ATF-MANI-003", "a loss below 0", |t| {
            add_to_thread(
                t,
                r#""lost_events": {"count": -1, "first_ns": 5, "last_ns": 5}"#,
            );
        })
        .at_text(MANIFEST, "threads[1].lost_events.count", "-1", Recover),
        breaks("ATF-MANI-003", "function_offsets as a number", |t| {
            add_to_module(t, r#""function_offsets": 31"#);
        })
        .at_text(MANIFEST, "modules[0].function_offsets", "31", Recover),
        breaks("ATF-MANI-003", "a media time over the greatest i64", |t| {
            add_anchors(
                t,
                r#"{"host_time_ns": 1, "media_time": 9223372036854775808, "media_timescale": 1}"#,
            );
        })
        .at_text(
            MANIFEST,
            "timing_anchors[0].media_time",
            "9223372036854775808",
            Recover,
        ),
        breaks("ATF-MANI-003", "a media time below the least i64", |t| {
            add_anchors(
                t,
                r#"{"host_time_ns": 1, "media_time": -9223372036854775809, "media_timescale": 1}"#,
            );
        })
        .at_text(
            MANIFEST,
            "timing_anchors[0].media_time",
            "-9223372036854775809",
            Recover,
        ),
        breaks("ATF-MANI-003", "a timescale of 0", |t| {
            add_anchors(
                t,
                r#"{"host_time_ns": 1, "media_time": 1, "media_timescale": 0 }"#,
            );
        })
        .at_text(
            MANIFEST,
            "timing_anchors[0].media_timescale",
            "0 }",
            Recover,
        ),
        breaks("ATF-MANI-003", "a timescale over the greatest i32", |t| {
            add_anchors(
                t,
                r#"{"host_time_ns": 1, "media_time": 1, "media_timescale": 2147483648}"#,
            );
        })
        .at_text(
            MANIFEST,
            "timing_anchors[0].media_timescale",
            "2147483648",
            Recover,
        ),
        breaks("ATF-MANI-003", "a loss of the session as a number", |t| {
            add_to_session(t, r#""lost_events": 31"#);
        })
        .at_text(MANIFEST, "lost_events", "31", Recover),
        breaks("ATF-MANI-003", "unwritten events below 0", |t| {
            add_to_session(t, r#""unwritten_events": -31"#);
        })
        .at_text(MANIFEST, "unwritten_events", "-31", Recover),
        breaks("ATF-MANI-003", "dropped events as a number", |t| {
            add_to_session(t, r#""drops_events": 31"#);
        })
        .at_text(MANIFEST, "drops_events", "31", Recover),
        breaks("ATF-MANI-003", "a signal by its number", |t| {
            add_to_session(t, r#""ended_by": 31"#);
        })
        .at_text(MANIFEST, "ended_by", "31", Recover),
        breaks(
            "ATF-MANI-003",
            "the error of a clock in parts of 1 ns",
            |t| {
                add_to_session(t, r#""clock_error_ns": 31.5"#);
            },
        )
        .at_text(MANIFEST, "clock_error_ns", "31.5", Recover),
        breaks("ATF-MANI-003", "fields in a detail", |t| {
            add_to_session(t, r#""detail_fields": 31"#);
        })
        .at_text(MANIFEST, "detail_fields", "31", Recover),
        breaks("ATF-MANI-003", "an anchor without its time", |t| {
            add_anchors(t, r#"{"media_time": 1, "media_timescale": 1}"#);
        })
        .at_text(
            MANIFEST,
            "timing_anchors[0].host_time_ns",
            r#"{"media_time""#,
            Recover,
        ),
    ]
}

fn losses() -> Vec<Recipe> {
    vec![
        holds("ATF-MANI-014", "no loss"),
        breaks("ATF-MANI-014", "lost events and lost details", |t| {
            add_to_thread(
                t,
                r#""lost_events": {"count": 3, "first_ns": 1234567000000000,
    "last_ns": 1234567000000900}, "lost_details": {"count": 18446744073709551615,
    "first_ns": 0, "last_ns": 18446744073709551615}"#,
            );
        })
        .in_file(MANIFEST, "threads[1].lost_events", Accept)
        .times(2),
        breaks("ATF-MANI-014", "lost events of no listed thread", |t| {
            add_to_session(
                t,
                r#""lost_events": {"count": 3, "first_ns": 4, "last_ns": 6}"#,
            );
        })
        .in_file(MANIFEST, "lost_events", Accept),
        breaks("ATF-MANI-015", "a count of 0 for the session", |t| {
            add_to_session(
                t,
                r#""lost_events": {"count": 0, "first_ns": 4, "last_ns": 6}"#,
            );
        })
        .in_file(MANIFEST, "lost_events.count", Accept),
        holds("ATF-MANI-016", "no events in memory"),
        breaks("ATF-MANI-016", "events that were in memory", |t| {
            add_to_session(t, r#""unwritten_events": 69632"#);
        })
        .in_file(MANIFEST, "unwritten_events", Accept)
        .note(
            "As after SIGKILL of a tracer with rings, also once recovery has finalized the files.",
        ),
        meets("ATF-MANI-017", "a recovery that removed a link", |t| {
            let damage = r#"{"what": "a link was removed", "lost": false, "thread": 7}"#;
            add_to_session(t, &format!("\"recovered\": [{damage}]"));
        }),
        breaks("ATF-MANI-017", "a recovery that lost events", |t| {
            let damage = r#"{"what": "5 of 9 events", "lost": true, "thread": 7}"#;
            add_to_session(t, &format!("\"recovered\": [{damage}]"));
        })
        .in_file(MANIFEST, "recovered[0]", Accept),
        breaks("ATF-MANI-016", "a tracer that also drops events", |t| {
            add_to_session(t, r#""unwritten_events": 69632, "drops_events": true"#);
        })
        .in_file(MANIFEST, "unwritten_events", Accept),
        meets(
            "ATF-MANI-016",
            "a tracer that drops events, at its end",
            |t| {
                add_to_session(t, r#""drops_events": true"#);
            },
        ),
        meets("ATF-MANI-015", "one event", |t| lost(t, 1, 5, 5))
            .also(MANIFEST, "ATF-MANI-014")
            .titled("a loss of one event"),
        breaks("ATF-MANI-015", "a count of 0", |t| lost(t, 0, 5, 5)).in_file(
            MANIFEST,
            "threads[1].lost_events.count",
            Accept,
        ),
        breaks("ATF-MANI-015", "an end before its beginning", |t| {
            lost(t, 2, 5, 4);
        })
        .in_file(MANIFEST, "threads[1].lost_events.first_ns", Accept)
        .also(MANIFEST, "ATF-MANI-014"),
    ]
}

fn threads() -> Vec<Recipe> {
    vec![
        holds("ATF-MANI-004", "two threads"),
        breaks("ATF-MANI-004", "thread 7 twice", |t| {
            t.replace(MANIFEST, "{\"id\": 9", "{ \"id\": 7},\n    {\"id\": 9");
        })
        .at_text(MANIFEST, "threads[1]", "{ \"id\"", Accept),
        meets("ATF-MANI-005", "a folder that holds nothing", |t| {
            t.remove("thread_9/index.atf");
            t.folder("thread_9");
            t.replace(MANIFEST, "\"time_start_ns\": 1234566999999000,", "");
            t.replace(MANIFEST, "\"time_end_ns\": 1234567000099000,", "");
        })
        .also("thread_9", "ATF-SESS-002")
        .titled("an empty folder"),
        breaks("ATF-MANI-005", "no folder", |t| {
            t.replace(MANIFEST, "{\"id\": 9", "{\"id\": 8}, {\"id\": 9");
        })
        .in_file(MANIFEST, "threads[1].id", Accept),
        meets("ATF-MANI-006", "an empty list and no thread", |t| {
            t.remove("thread_7");
            t.remove("thread_9");
            t.put(
                MANIFEST,
                "{\"threads\": [], \"time_start_ns\": 0, \"time_end_ns\": 0}",
            );
        }),
        breaks("ATF-MANI-006", "an empty list and two threads", |t| {
            t.put(MANIFEST, "{\"threads\": []}");
        })
        .in_file(MANIFEST, "threads", Accept)
        .times(2),
        holds("ATF-MANI-007", "true and false"),
        meets("ATF-MANI-007", "true of a thread without a folder", |t| {
            t.replace(
                MANIFEST,
                "{\"id\": 9",
                "{\"id\": 8, \"has_detail\": true}, {\"id\": 9",
            );
        })
        .also(MANIFEST, "ATF-MANI-005")
        .titled("true for a thread without a folder"),
        breaks("ATF-MANI-007", "true without the file", |t| {
            t.replace(MANIFEST, "\"has_detail\": false", "\"has_detail\": true");
        })
        .in_file(MANIFEST, "threads[1].has_detail", Accept),
        breaks(
            "ATF-MANI-007",
            "false with the file, behind a thread listed twice",
            |t| {
                t.replace(
                    MANIFEST,
                    "{\"id\": 7, \"has_detail\": true}",
                    "{\"id\": 9}, {\"id\": 9}, {\"id\": 7, \"has_detail\": false}",
                );
            },
        )
        .in_file(MANIFEST, "threads[2].has_detail", Accept)
        .also(MANIFEST, "ATF-MANI-004")
        .titled("false with the file, after a thread listed twice"),
    ]
}

fn numbers() -> Vec<Recipe> {
    vec![
        holds("ATF-MANI-008", "those of the thread with the widest range")
            .titled("the times of the thread with the widest range"),
        meets(
            "ATF-MANI-008",
            "those of a thread that cannot be read",
            |t| {
                t.patch(OTHER, 0, b"none");
            },
        )
        .also(OTHER, "ATF-IHDR-002")
        .titled("the times of an unreadable thread"),
        breaks("ATF-MANI-008", "a nanosecond early", |t| {
            t.replace(MANIFEST, "1234566999999000", "1234566999998999");
        })
        .in_file(MANIFEST, "time_start_ns", Accept),
        breaks("ATF-MANI-008", "a nanosecond late", |t| {
            t.replace(MANIFEST, "1234567000099000", "1234567000099001");
        })
        .in_file(MANIFEST, "time_end_ns", Accept),
        breaks("ATF-MANI-008", "0 and 0", |t| {
            t.replace(MANIFEST, "1234566999999000", "0");
            t.replace(MANIFEST, "1234567000099000", "0");
        })
        .in_file(MANIFEST, "time_start_ns", Accept)
        .times(2),
        holds("ATF-MANI-009", "3"),
        breaks("ATF-MANI-009", "1", |t| {
            t.replace(MANIFEST, "\"clock_type\": 3", "\"clock_type\": 1");
        })
        .in_file(MANIFEST, "clock_type", Accept),
        meets("ATF-MANI-013", "a name of one space", |t| name(t, " ")),
        meets("ATF-MANI-013", "no name", |t| {
            t.replace(MANIFEST, ", \"name\": \"load\"", "");
        })
        .may(&[Recover])
        .or_manifest("ignored")
        .note("No source has a schema, and all known tracers write names."),
        breaks("ATF-MANI-013", "an empty name", |t| name(t, "")).at_text(
            MANIFEST,
            "symbols[0].name",
            "\"\"",
            Accept,
        ),
        breaks("ATF-MANI-013", "an empty name of a thread", |t| {
            add_to_thread(t, r#""name": """#);
        })
        .at_text(MANIFEST, "threads[1].name", "\"\"", Accept),
        holds("ATF-MANI-010", "both halves"),
        meets("ATF-MANI-010", "neither half given", |t| {
            t.replace(
                MANIFEST,
                "\"module_id\": 105140161, \"symbol_index\": 1, ",
                "",
            );
        })
        .may(&[Recover])
        .or_manifest("ignored")
        .note("No source has a schema, and all known tracers write both halves."),
        breaks("ATF-MANI-010", "another symbol_index", |t| {
            t.replace(MANIFEST, "\"symbol_index\": 1", "\"symbol_index\": 2");
        })
        .in_file(MANIFEST, "symbols[0].symbol_index", Accept),
        breaks("ATF-MANI-010", "another module_id", |t| {
            t.replace(
                MANIFEST,
                "\"module_id\": 105140161, \"symbol_index\"",
                "\"module_id\": 105140160, \"symbol_index\"",
            );
        })
        .in_file(MANIFEST, "symbols[0].module_id", Accept),
    ]
}

fn text(trace: &Trace) -> String {
    String::from_utf8(trace.file(MANIFEST).to_vec()).unwrap()
}

/// Adds members to thread 9.
fn add_to_thread(trace: &mut Trace, members: &str) {
    trace.replace(MANIFEST, "{\"id\": 9", &format!("{{{members}, \"id\": 9"));
}

/// Adds members to the manifest itself.
fn add_to_session(trace: &mut Trace, members: &str) {
    trace.replace(
        MANIFEST,
        "\"modules\"",
        &format!("{members},\n  \"modules\""),
    );
}

/// Adds members to the module.
fn add_to_module(trace: &mut Trace, members: &str) {
    trace.replace(MANIFEST, "\"path\"", &format!("{members}, \"path\""));
}

/// Adds timing anchors to the manifest.
fn add_anchors(trace: &mut Trace, anchors: &str) {
    let list = format!("\"timing_anchors\": [{anchors}],\n  \"modules\"");
    trace.replace(MANIFEST, "\"modules\"", &list);
}

/// Adds lost events to thread 9.
fn lost(trace: &mut Trace, count: u64, first_ns: u64, last_ns: u64) {
    let members = format!("\"count\": {count}, \"first_ns\": {first_ns}, \"last_ns\": {last_ns}");
    add_to_thread(trace, &format!("\"lost_events\": {{{members}}}"));
}

/// Renames the only function.
fn name(trace: &mut Trace, name: &str) {
    trace.replace(MANIFEST, "\"load\"", &format!("\"{name}\""));
}

/// Sets the manifest's version.
fn version(trace: &mut Trace, version: &str) {
    trace.replace(MANIFEST, "\"2.1\"", &format!("\"{version}\""));
}

/// Removes the list of symbols.
fn without_symbols(trace: &mut Trace) {
    let text = text(trace);
    let start = text.find(",\n  \"symbols\"").unwrap();
    trace.put(MANIFEST, format!("{}\n}}\n", &text[..start]));
}
