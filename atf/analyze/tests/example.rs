//! Runs the program in `examples/` on real data and checks its output.

use std::path::Path;
use std::process::Command;

#[test]
fn hot_functions_prints_totals_of_named_functions() {
    let test = std::env::current_exe().unwrap();
    let built = test.parent().and_then(Path::parent).unwrap();
    let name = format!("hot_functions{}", std::env::consts::EXE_SUFFIX);
    let program = built.join("examples").join(name);
    let session = atf_samples::folder().join("sample-small/session_20260105_101500");
    let output = Command::new(&program).arg(session).output();
    let output = output.unwrap_or_else(|error| panic!("{}: {error}", program.display()));
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{printed}");
    let expected = "      278392      105  _$s4Demo0load0";
    assert!(printed.lines().any(|line| line == expected), "{printed}");
    assert_eq!(printed.lines().count(), 21, "{printed}");
}
