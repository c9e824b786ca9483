//! The example, which records itself.

use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::is_clean;

#[test]
fn the_example_records_itself_and_names_its_functions() {
    let test = std::env::current_exe().unwrap();
    let built = test.parent().and_then(Path::parent).unwrap();
    let program = built.join("examples/record_itself");
    let program = program.with_extension(std::env::consts::EXE_EXTENSION);
    assert!(
        program.exists(),
        "{} is missing: run cargo build -p atf-tracing --examples",
        program.display()
    );
    let folder = TempDir::new().unwrap();
    let output = Command::new(program).arg(folder.path()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let (path, first) = text.lines().next().unwrap().split_once(": ").unwrap();
    // Per request, `parse` calls `hash` up to 6 times, and `load` calls it once.
    let words: u64 = (0..1000).chain(0..500).map(|request| request % 7).sum();
    let calls = [
        ("answer", 2),
        ("hash", words + 1500),
        ("load", 1500),
        ("parse", 1500),
    ];
    let events = 2 * calls.iter().map(|(_, calls)| calls).sum::<u64>();
    assert_eq!(first, format!("{events} events, 0 lost"));
    is_clean(Path::new(path));
    for (function, calls) in calls {
        let is_it = |line: &&str| line.ends_with(&format!("::{function}"));
        let line = text.lines().find(is_it).expect(&text);
        let found = line.split_whitespace().nth(1).unwrap();
        assert_eq!(found, calls.to_string(), "{line}");
    }
}
