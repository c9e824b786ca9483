//! Tests `atf-conformance scripts`.

use std::fs;

use assert_cmd::Command;
use atf_conformance::scripts::{Script, scripts};

fn scripts_command(arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("atf-conformance").unwrap();
    command.arg("scripts").args(arguments);
    command
}

#[test]
fn show_prints_the_script() {
    let first = scripts(2).remove(0);
    let shown = scripts_command(&["show", &first.name]).assert().success();
    let text = String::from_utf8(shown.get_output().stdout.clone()).unwrap();
    assert_eq!(text.parse::<Script>().unwrap(), first.script);
    let unknown = scripts_command(&["show", "v1/none"]).assert().code(2);
    let error = String::from_utf8_lossy(&unknown.get_output().stderr).into_owned();
    assert_eq!(error, "atf-conformance: v1/none: no such script\n");
}

#[test]
fn all_scripts_are_listed_and_copied() {
    let listed = scripts_command(&["list"]).assert().success();
    let list = String::from_utf8(listed.get_output().stdout.clone()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    scripts_command(&["copy", path]).assert().success();
    for scripted in [1, 2].into_iter().flat_map(scripts) {
        assert!(list.lines().any(|line| line == scripted.name));
        let file = folder.path().join(format!("{}.txt", scripted.name));
        assert_eq!(fs::read_to_string(file).unwrap(), scripted.to_string());
    }
}

#[test]
fn a_closed_stdout_is_not_an_error() {
    for arguments in [["scripts", "list"], ["corpus", "list"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_atf-conformance"));
        command
            .args(arguments)
            .stdout(writer)
            .stderr(std::process::Stdio::piped());
        let output = command.spawn().unwrap().wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        assert_eq!(output.stderr, b"", "{arguments:?}");
    }
}
