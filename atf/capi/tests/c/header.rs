//! Compares `atf.h` and `atf_record.h` with the crate: functions, numbers and layouts.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::mem::offset_of;
use std::process::Command;

use atf_capi::clock::{AtfMediaTime, AtfTimingAnchor};
use atf_capi::event::{AtfDetailEvent, AtfEvent};
use atf_capi::options::AtfWriteOptions;
use atf_capi::reader::AtfFileInfo;
use atf_capi::record_options::{AtfRecordOptions, AtfRecordSummary};
use atf_capi::recover::AtfRecoverOptions;
use atf_capi::session::{AtfCut, AtfThreadInfo};
use atf_capi::session_facts::AtfSessionFacts;
use atf_capi::session_writer::{AtfLoss, AtfModule, AtfSessionTotals, AtfSymbol};
use atf_capi::writer::{AtfDetail, AtfLink, AtfThreadSummary};
use tempfile::TempDir;

use crate::support::{Link, compile, package, present, run};

/// Returns the text of the headers without their comments.
pub(crate) fn header() -> String {
    let text = |name: &str| fs::read_to_string(package("include").join(name)).unwrap();
    let mut text = text("ada_timing.h") + &text("atf.h") + &text("atf_record.h");
    while let Some(start) = text.find("/*") {
        let end = start + text[start..].find("*/").unwrap() + 2;
        text.replace_range(start..end, "");
    }
    text
}

/// Returns the last word of `text`.
fn last_word(text: &str) -> &str {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    &text[text.rfind(|c| !is_word(c)).map_or(0, |at| at + 1)..]
}

/// Returns the header's declarations of functions and of types of functions.
pub(crate) fn declarations(header: &str) -> Vec<String> {
    let code = header.lines().filter(|line| !line.starts_with('#'));
    let code = code.collect::<Vec<_>>().join(" ");
    let declarations = code.split([';', '{', '}']).map(|declaration| {
        let words: Vec<_> = declaration.split_whitespace().collect();
        words.join(" ")
    });
    declarations.filter(|it| it.ends_with(')')).collect()
}

/// Returns the functions that the header declares.
fn declared() -> BTreeSet<String> {
    let declarations = declarations(&header());
    let names = declarations.iter().filter_map(|it| it.split('(').next());
    let names = names.map(|it| last_word(it).to_owned());
    names.filter(|name| !name.is_empty()).collect()
}

/// Returns the functions that the crate exports, found in its source.
fn exported() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for file in fs::read_dir(package("src")).unwrap() {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        let parts = text.split("extern \"C\" fn ").skip(1);
        let written = parts.map(|part| &part[..part.find('(').unwrap()]);
        // The macro `reader_functions` takes the names of its functions, one per line.
        let words = text
            .lines()
            .filter_map(|line| line.trim().strip_suffix(','));
        let passed = words.filter(|word| word.starts_with("atf_") && last_word(word) == *word);
        let all = written.filter(|name| !name.starts_with('$')).chain(passed);
        names.extend(all.map(str::to_owned));
    }
    names
}

#[test]
fn the_headers_declare_exactly_the_functions_that_the_crate_exports() {
    assert_eq!(declared(), exported());
    assert!(declared().len() > 60);
}

/// Asserts in C that a struct's size and member offsets match Rust's.
macro_rules! layout {
    ($text:ident: $($type:ident { $($field:ident),* })*) => {
        $(
            assert_size(&mut $text, stringify!($type), size_of::<$type>());
            $(
                let offset = offset_of!($type, $field);
                writeln!(
                    $text,
                    "CHECK(offsetof({0}, {1}) == {offset}, \"{0}.{1}\");",
                    stringify!($type),
                    stringify!($field),
                )
                .unwrap();
            )*
        )*
    };
}

fn assert_size(text: &mut String, name: &str, size: usize) {
    writeln!(text, "CHECK(sizeof({name}) == {size}, \"{name}\");").unwrap();
}

/// Returns an assertion in C for each struct's size and each member's offset.
pub(crate) fn layouts() -> String {
    let mut text = String::new();
    layout!(text:
        AtfMediaTime { value, timescale, reserved }
        AtfTimingAnchor { host_time_ns, media_time }
        AtfWriteOptions { struct_size, wire, arch, os, clock_type, durability, survive_kill,
            verbatim, reserved, buffer_size }
        AtfDetail { event_type, flags, reserved, payload, payload_size, reserved2 }
        AtfLink { index_seq, detail_seq, reserved }
        AtfThreadSummary { event_count, detail_count, time_start_ns, time_end_ns, thread_id,
            reserved, dropped_details }
        AtfModule { module_id, function_offsets, base_address, size, path, uuid, reserved2 }
        AtfSymbol { function_id, name, reserved }
        AtfLoss { count, first_ns, last_ns }
        AtfSessionTotals { threads, finalized_or_unreadable, event_count, detail_count,
            time_start_ns, time_end_ns }
        AtfEvent { timestamp_ns, function_id, index_seq, detail_seq, thread_id, thread,
            event_kind, call_depth, reserved }
        AtfDetailEvent { timestamp_ns, detail_seq, index_seq, offset, payload_size, thread_id,
            event_type, flags, reserved }
        AtfFileInfo { event_count, file_size, events_offset, events_end, footer_offset,
            bytes_after_footer, trailing_bytes, zero_tail_bytes, thread_id, flags, wire, arch, os,
            clock_type, completeness, count_source, reserved }
        AtfThreadInfo { path, id, presence, is_listed, reserved, name, lost_events,
            lost_details, cut, is_cut, reserved2 }
        AtfCut { from_ns, to_ns, calls, returns }
        AtfSessionFacts { lost_events, unwritten_events, clock_error_ns, ended_by, has_clock_error,
            has_detail_fields, drops_events, reserved }
        AtfRecoverOptions { struct_size, salvage, durability, reserved, symbols_path }
        AtfRecordOptions { struct_size, overflow, window, trigger_on_stop, clock, ring_events,
            ring_payload_size, interval_ns, max_threads, pre_roll_ns, post_roll_ns, segment_size,
            segment_duration_ns, segment_keep, ring_memory }
        AtfRecordSummary { threads, finalized, event_count, detail_count, time_start_ns,
            time_end_ns, lost_events, lost_details, segments, smaller_rings }
    );
    text
}

/// Returns a statement in C that passes null for each pointer and 0 for each number to a function
/// that returns a status, and checks the status.
fn null_call(declaration: &str) -> Option<String> {
    let (name, parameters) = declaration.strip_prefix("AtfStatus ")?.split_once('(')?;
    if parameters == "void)" {
        return None;
    }
    let arguments = parameters.split(", ").map(|parameter| match parameter {
        "AtfMediaTime media_time" => "media_time",
        _ => "0",
    });
    let arguments = arguments.collect::<Vec<_>>().join(", ");
    let takes_null = ["_close", "_abandon", "_set_default_options"];
    let status = if takes_null.iter().any(|end| name.ends_with(end)) {
        "ATF_OK"
    } else {
        "ATF_ERROR_ARGUMENT"
    };
    let call = format!("{name}({arguments})");
    Some(format!(
        "    if ({call} != {status}) wrong++, puts(\"{call}\");\n"
    ))
}

/// Returns a program that refers to every function, compares every layout and number with Rust's,
/// and passes null to every function that returns a status.
fn program() -> String {
    let mut text = "#include <stdio.h>\n#include <string.h>\n#include \"atf_record.h\"\n\
        #ifdef __cplusplus\n#define CHECK(is, what) static_assert(is, what)\n\
        #else\n#define CHECK(is, what) _Static_assert(is, what)\n#endif\n"
        .to_owned();
    text.push_str(&layouts());
    text.push_str("typedef void (*Function)(void);\nint main(void) {\n    Function all[] = {\n");
    for name in declared() {
        writeln!(text, "        (Function){name},").unwrap();
    }
    text.push_str(
        "    };\n    int wrong = 0;\n\
         \x20   const AtfMediaTime media_time = { 0, 1, 0 };\n\
         \x20   const AtfRecordOptions options = ATF_RECORD_OPTIONS_INIT;\n\
         \x20   wrong += options.struct_size != sizeof options || options.max_threads != 0;\n",
    );
    let header = header();
    let declarations = declarations(&header);
    text.extend(declarations.iter().filter_map(|it| null_call(it)));
    let statuses = header
        .split_whitespace()
        .map(|word| word.trim_end_matches(','))
        .filter(|word| {
            let one = ["ATF_OK", "ATF_NONE", "ATF_TIMEOUT"];
            word.starts_with("ATF_ERROR_") || word.starts_with("ATF_LOST_") || one.contains(word)
        });
    for status in statuses {
        writeln!(
            text,
            "    wrong += strcmp(atf_status_name({status}), \"{status}\") != 0;"
        )
        .unwrap();
    }
    text.push_str(
        "    wrong += strcmp(atf_version(), ATF_VERSION) != 0;\n\
         \x20   wrong += strcmp(atf_status_name(-1), \"unknown status\") != 0;\n\
         \x20   for (size_t n = 0; n < sizeof all / sizeof all[0]; n++) wrong += !all[n];\n\
         \x20   printf(\"%u functions\\n\", (unsigned)(sizeof all / sizeof all[0]));\n\
         \x20   return wrong;\n}\n",
    );
    text
}

#[test]
fn every_function_links_and_every_layout_matches_rust() {
    let folder = TempDir::new().unwrap();
    let text = program();
    for (extension, compilers) in [("c", ["gcc", "clang"]), ("cpp", ["g++", "clang++"])] {
        let source = folder.path().join(format!("all.{extension}"));
        fs::write(&source, &text).unwrap();
        for compiler in present(&compilers) {
            for link in [Link::Static, Link::Shared] {
                let program = folder.path().join(format!("all_{compiler}_{link:?}"));
                compile(compiler, &source, link, &["-pedantic"], &program);
                let printed = run(&mut Command::new(program));
                assert_eq!(printed, format!("{} functions\n", exported().len()));
            }
        }
    }
}
