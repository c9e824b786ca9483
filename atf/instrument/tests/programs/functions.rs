//! Tests the selection of functions by name and by size.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use atf::EventKind;
use atf_symbolize::SymbolTable;

use crate::support::{Program, Run, source, succeed};
use atf_samples::tools::has;

/// Counts each function's calls at each depth. Names come from the program's symbol table.
fn calls(program: &Program, run: &Run) -> BTreeMap<(String, u32), u64> {
    let table = SymbolTable::read(program.path()).unwrap();
    let mut calls = BTreeMap::new();
    for (_, events) in run.session().accepted().threads() {
        for event in events {
            if event.event_kind == EventKind::CALL {
                let name = table.name_at(event.function_id & 0xffff_ffff).unwrap();
                *calls.entry((name, event.call_depth.unwrap())).or_default() += 1;
            }
        }
    }
    calls
}

fn expected(calls: &[(&str, u32, u64)]) -> BTreeMap<(String, u32), u64> {
    let calls = calls.iter();
    calls
        .map(|(name, depth, count)| ((name.to_string(), *depth), *count))
        .collect()
}

#[test]
fn static_functions_are_chosen_by_name_and_depths_count_recorded_calls() {
    Program::each("life.c", |program| {
        for (globs, calls_by_depth) in [
            ("leaf", &[("leaf", 1, 768)][..]),
            ("leaf,work", &[("leaf", 2, 768), ("work", 1, 3)]),
            (
                "!tree",
                &[
                    ("early", 1, 1),
                    ("late", 1, 1),
                    ("leaf", 2, 768),
                    ("work", 1, 3),
                ],
            ),
            ("*,!*,[ew]*", &[("early", 1, 1), ("work", 1, 3)]),
        ] {
            let run = program.run_with(&["threads"], &[("ATF_FUNCTIONS", globs)]);
            assert_eq!(calls(program, &run), expected(calls_by_depth), "{globs}");
            assert_eq!(run.messages(), "");
        }
    });
}

#[test]
fn cpp_functions_are_chosen_by_demangled_and_by_raw_names() {
    Program::with("throws.cpp", |program| {
        for globs in ["thrown(int)", "thrown", "_ZL6thrown*"] {
            let run = program.run_with(&[], &[("ATF_FUNCTIONS", globs)]);
            let depths = [1, 2, 3, 4].map(|depth| ("thrown(int)", depth, 2));
            assert_eq!(calls(program, &run), expected(&depths), "{globs}");
        }
    });
}

#[test]
fn a_function_whose_name_takes_hours_to_demangle_is_recorded_and_the_others_are_chosen() {
    Program::with("slow_name.c", |program| {
        let run = program.run_with(&[], &[("ATF_FUNCTIONS", "f")]);
        assert_eq!(run.session().event_count(), 2);
        let reason =
            "has C++ names that could not be demangled in time; these functions are recorded\n";
        assert!(run.messages().ends_with(reason), "{}", run.messages());
    });
}

#[test]
fn functions_smaller_than_a_size_are_left_out() {
    Program::with("life.c", |program| {
        let table = SymbolTable::read(program.path()).unwrap();
        let size = |name| {
            let mut functions = table.functions();
            let function = functions.find(|function| function.raw_name == name);
            function.unwrap().size
        };
        let leaf = size("leaf");
        assert!(leaf < size("tree"));
        for (least, is_recorded) in [(leaf, true), (leaf + 1, false)] {
            let run = program.run_with(&["threads"], &[("ATF_MIN_SIZE", &least.to_string())]);
            let calls = calls(program, &run);
            let leaves = calls.keys().any(|(name, _)| name == "leaf");
            assert_eq!(leaves, is_recorded);
            assert!(calls.keys().any(|(name, _)| name == "tree"));
        }
    });
}

#[test]
fn the_symbols_of_loaded_modules_are_read_before_the_first_event() {
    Program::with("life.c", |program| {
        let library = program.library("ahead_library.c", "library.so", &[]);
        let mut command = Command::new("gcc");
        command.args(["-O1", "-finstrument-functions"]);
        let command = command.arg(source("ahead.c")).arg(&library);
        succeed(command.arg("-o").arg(program.path()));
        let run = program.succeeds(&[&library], &[("ATF_FUNCTIONS", "chosen")]);
        // Without their names, both functions would be recorded.
        assert_eq!(run.session().accepted().event_count(), 2);
        assert_eq!(run.messages(), "");
    });
}

#[test]
fn a_library_s_constructor_is_chosen_while_the_loader_s_lock_is_held() {
    Program::with("life.c", |program| {
        let library = program.library("constructor.c", "library.so", &[]);
        let run = program.run_with(
            &["plugins", &library, &library],
            &[("ATF_FUNCTIONS", "hidden")],
        );
        // The library was loaded and unloaded four times.
        assert_eq!(run.session().accepted().event_count(), 8);
        assert_eq!(run.messages(), "");
    });
}

#[test]
fn all_functions_of_a_stripped_program_are_recorded_unless_its_symbols_are_found() {
    Program::with("life.c", |program| {
        if !has("strip") {
            return;
        }
        let debug = program.folder.path().join("debug");
        fs::create_dir(&debug).unwrap();
        fs::copy(program.path(), debug.join("program")).unwrap();
        succeed(Command::new("strip").arg(program.path()));
        let leaf = ("ATF_FUNCTIONS", "leaf");
        let whole = program.run_with(&["threads"], &[leaf]);
        assert_eq!(whole.session().event_count(), 2 * whole.counted());
        let path = fs::canonicalize(program.path()).unwrap();
        let path = path.display();
        let message = format!(
            "atf: {path}: all its functions are recorded, as their names are not known: {path}: no function symbols\n"
        );
        assert_eq!(whole.messages(), message);
        let debug = ("ATF_DEBUG_DIRS", debug.to_str().unwrap());
        let found = program.run_with(&["threads"], &[leaf, debug]);
        assert_eq!(found.session().event_count(), 2 * 768);
        assert_eq!(found.messages(), "");
    });
}

#[test]
fn missing_names_are_reported_only_if_settings_leave_out_functions() {
    Program::with("life.c", |program| {
        let path = program.library("constructor.c", "library.so", &["-s"]);
        let path = fs::canonicalize(path).unwrap();
        let path = path.to_str().unwrap();
        let messages = |variables: &[(&str, &str)]| {
            let run = program.run_with(&["plugins", path, path], variables);
            run.messages().to_owned()
        };
        let note = "has no names for functions that it does not export; these are recorded";
        let details = ("ATF_DETAILS", "all");
        let found = messages(&[details, ("ATF_DETAIL_FUNCTIONS", "leaf")]);
        assert!(!found.contains(note), "{found}");
        let found = messages(&[("ATF_FUNCTIONS", "leaf")]);
        assert!(found.contains(&format!("atf: {path} {note}\n")), "{found}");
    });
}
