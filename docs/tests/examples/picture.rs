//! The README's pictures: the terminal output of commands as SVG, and a flame graph.

use std::{env, fs};

use anstyle_svg::{Term, WIN10_CONSOLE};

use crate::sandbox::{Sandbox, root};

/// A session whose tracer was killed.
const FOLDER: &str = "samples/sample-crashed/session_20260105_101500";

const COMMANDS: [&str; 2] = ["atf info pid_4243", "atf recover pid_4243 --out recovered"];

fn prompt(command: &str) -> String {
    format!("\x1b[1m$ {command}\x1b[0m\n")
}

#[test]
fn the_committed_picture_is_current() {
    let sandbox = Sandbox::new();
    let mut screen = prompt(&format!("cd {FOLDER}"));
    for command in COMMANDS {
        let output = sandbox.sh(&format!("cd {FOLDER} && CLICOLOR_FORCE=1 {command}"));
        screen += &prompt(command);
        screen += &String::from_utf8_lossy(&output.stdout);
    }
    let picture = Term::new().palette(WIN10_CONSOLE).render_svg(&screen);
    is_committed("docs/picture.svg", &picture);
}

#[test]
fn the_committed_flame_graph_is_current() {
    let output = Sandbox::new().sh("atf flamegraph --thread 2 samples/sample-small");
    is_committed("docs/flame.svg", &String::from_utf8_lossy(&output.stdout));
}

fn is_committed(file: &str, picture: &str) {
    let path = root().join(file);
    if env::var_os("ATF_BLESS").is_some_and(|value| value == "1") {
        fs::write(&path, picture).expect("the picture can be written");
    }
    let committed = fs::read_to_string(&path).expect("the picture can be read");
    assert!(
        committed == picture,
        "{file} is stale; rewrite it: ATF_BLESS=1 cargo test -p atf-docs picture"
    );
}
