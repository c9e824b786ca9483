//! Compares runs.

use atf::manifest::{Manifest, Module, Symbol};
use atf::symbols::{Function, SymbolTable};
use atf_analyze::{Diff, Options, Run, Spread, Subject};

use crate::{CALL, RETURN, Short, session};

/// Creates a run of consecutive calls, given as pairs of a function and its self time.
fn run(calls: &[(u64, u64)], names: &SymbolTable) -> Run {
    let mut now_ns = 0;
    let mut events: Vec<Short> = Vec::new();
    for (id, ns) in calls {
        events.push((now_ns, CALL, *id));
        now_ns += ns;
        events.push((now_ns, RETURN, *id));
    }
    let (_folder, session) = session(&[events]);
    let functions = atf_analyze::functions(&session, &Options::default());
    let mut run = Run::default();
    run.add(&functions, |id| names.symbols().function(id));
    run
}

fn names(modules: &[(u32, &str)], symbols: &[(u64, &str)]) -> SymbolTable {
    let mut manifest = Manifest::default();
    let modules = modules.iter();
    manifest.modules = modules
        .map(|(id, path)| Module::new(*id).path(*path))
        .collect();
    let symbols = symbols.iter();
    manifest.symbols = symbols.map(|(id, name)| Symbol::new(*id, *name)).collect();
    SymbolTable::from(manifest)
}

fn none() -> SymbolTable {
    names(&[], &[])
}

/// Returns each function's name or id, its change in nanoseconds, and whether the change is noise.
fn rows(diff: &Diff) -> Vec<(String, i128, bool)> {
    let row = |it: &atf_analyze::Change| (it.subject.to_string(), it.change_ns(), it.is_noise);
    diff.changes.iter().map(row).collect()
}

#[test]
fn functions_are_matched_by_name_and_module_file_name() {
    const A: u64 = 1 << 32;
    const B: u64 = 2 << 32;
    // The second build has different ids, and its modules have different paths and a different
    // order.
    let before = names(
        &[(1, "/old/liba.so"), (2, "/old/libb.so")],
        &[(A | 7, "init"), (B | 7, "init"), (A | 9, "gone")],
    );
    let after = names(
        &[(1, "/new/libb.so"), (2, "/new/liba.so")],
        &[(A | 1, "init"), (B | 2, "init"), (B | 3, "new")],
    );
    let calls = [(A | 7, 10), (B | 7, 20), (A | 9, 5), (A | 5, 1), (3, 1)];
    let before = run(&calls, &before);
    let calls = [(A | 1, 920), (B | 2, 110), (B | 3, 6), (A | 5, 2), (3, 4)];
    let after = run(&calls, &after);
    let diff = atf_analyze::diff(&[before], &[after], 0);
    let found: Vec<_> = diff
        .changes
        .iter()
        .map(|it| (it.subject.to_string(), it.subject.module(), it.change_ns()))
        .collect();
    // Function 5 has no name, and id 1 is a different module in the second build.
    assert_eq!(
        found,
        [
            ("init".to_owned(), Some("libb.so"), 900),
            ("init".to_owned(), Some("liba.so"), 100),
            ("new".to_owned(), Some("liba.so"), 6),
            ("gone".to_owned(), Some("liba.so"), -5),
            ("0x3".to_owned(), None, 3),
            ("libb.so#5".to_owned(), Some("libb.so"), 2),
            ("liba.so#5".to_owned(), Some("liba.so"), -1),
        ]
    );
    let [appeared, vanished] = [2, 3].map(|at| &diff.changes[at]);
    assert!(appeared.appeared() && !appeared.vanished());
    assert!(vanished.vanished() && !vanished.appeared());
    assert_eq!((diff.before[0].calls, diff.after[0].busy_ns), (5, 1042));
}

#[test]
fn figures_are_summed_over_functions_with_one_name_and_over_sessions() {
    let names = names(&[(0, "/bin/p")], &[(1, "parse"), (2, "parse")]);
    let mut one = run(&[(1, 10), (2, 20), (2, 30)], &names);
    let other = {
        let (_folder, session) = session(&[vec![(0, CALL, 1), (5, RETURN, 1)]]);
        atf_analyze::functions(&session, &Options::default())
    };
    one.add(&other, |id| names.symbols().function(id));
    let diff = atf_analyze::diff(&[one], &[Run::default()], 0);
    let [parse] = &diff.changes[..] else {
        panic!("{diff:?}")
    };
    assert_eq!((parse.before.calls.min, parse.before.self_ns.max), (4, 65));
    assert_eq!((diff.before[0].threads, diff.before[0].events), (2, 8));
}

#[test]
fn between_single_runs_a_small_percentage_is_noise() {
    let before = |ns| run(&[(1, ns)], &none());
    for (ns, percent, is_noise) in [
        (100, 0, true),
        (101, 0, false),
        (125, 20, true),
        (126, 20, false),
        (80, 20, true),
        (79, 20, false),
    ] {
        let diff = atf_analyze::diff(&[before(100)], &[before(ns)], percent);
        assert_eq!(rows(&diff)[0].2, is_noise, "{ns}");
    }
    // The times are equal, but the call counts differ.
    let diff = atf_analyze::diff(&[before(100)], &[run(&[(1, 50), (1, 50)], &none())], 20);
    assert_eq!(rows(&diff), [("0x1".to_owned(), 0, false)]);
}

#[test]
fn between_several_runs_overlapping_ranges_are_noise() {
    let runs =
        |all: &[u64]| -> Vec<Run> { all.iter().map(|ns| run(&[(1, *ns)], &none())).collect() };
    for (before, after, change_ns, is_noise) in [
        (&[100, 120, 110][..], &[121, 130, 140][..], 20, false),
        (&[100, 120, 110], &[120, 130, 140], 20, true),
        (&[121, 140], &[100, 120, 110], -11, false),
        (&[100], &[101, 103], 1, false),
        (&[102], &[101, 103], -1, true),
        (&[100, 100], &[900], 800, false),
    ] {
        let diff = atf_analyze::diff(&runs(before), &runs(after), 99);
        assert_eq!(rows(&diff), [("0x1".to_owned(), change_ns, is_noise)]);
    }
    let diff = atf_analyze::diff(&runs(&[30, 10, 20]), &runs(&[4, 1, 3, 2]), 0);
    let [before, after] = [diff.changes[0].before, diff.changes[0].after].map(|it| it.self_ns);
    let spread = |it: Spread| (it.min, it.median, it.max);
    assert_eq!((spread(before), spread(after)), ((10, 20, 30), (1, 2, 4)));
    // The function is missing from one of the runs.
    let mut before = runs(&[10, 10]);
    before.push(Run::default());
    let diff = atf_analyze::diff(&before, &[Run::default()], 0);
    assert_eq!(rows(&diff), [("0x1".to_owned(), -10, true)]);
}

#[test]
fn the_chance_of_disjoint_ranges_matches_a_count() {
    for (before, after) in [(1, 1), (1, 3), (2, 2), (3, 2), (4, 4), (5, 5)] {
        let mut found = (0, 0);
        for choice in 0_u32..1 << (before + after) {
            if choice.count_ones() == before {
                // Count the choices in which one side gets all of the smallest or all of the
                // largest values.
                let least = (1 << before) - 1;
                found.0 += u64::from(choice == least || choice == least << after);
                found.1 += 1;
            }
        }
        let runs = |count| (0..count).map(|_| Run::default()).collect::<Vec<_>>();
        let diff = atf_analyze::diff(&runs(before), &runs(after), 0);
        assert_eq!(diff.luck(), found, "{before} {after}");
    }
    let many: Vec<_> = (0..80).map(|_| Run::default()).collect();
    assert_eq!(atf_analyze::diff(&many, &many, 0).luck(), (2, u64::MAX));
}

#[test]
fn functions_beyond_the_limit_are_compared_together() {
    let (_folder, session) = session(&[vec![
        (0, CALL, 1),
        (5, CALL, 2),
        (6, CALL, 3),
        (16, RETURN, 3),
    ]]);
    let options = Options {
        max_functions: 1,
        ..Options::default()
    };
    let functions = atf_analyze::functions(&session, &options);
    let others = functions.others.as_ref().unwrap();
    assert_eq!(others.times.self_ns, 11);
    let mut run = Run::default();
    run.add(&functions, |id| Function::new(id, None));
    let diff = atf_analyze::diff(&[Run::default()], &[run], 0);
    assert_eq!(diff.changes[0].subject, Subject::Others);
    assert_eq!(diff.changes[0].change_ns(), 11);
}
