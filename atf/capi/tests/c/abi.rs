//! Compares the binary interface with `abi.txt`, which lists everything that compiled programs
//! depend on.

use std::env;
use std::fs;

use crate::header::{declarations, header, layouts};
use crate::support::package;

/// Lists the sizes, offsets, values and functions, one per line.
fn interface() -> String {
    let layouts = layouts();
    let layouts = layouts.lines().filter_map(|line| {
        let (assertion, _) = line.strip_prefix("CHECK(")?.split_once(", \"")?;
        Some(assertion.to_owned())
    });
    let header = header();
    let values = header.lines().filter_map(|line| {
        let line = line.trim().trim_end_matches(',');
        let is_value = line.starts_with("ATF_") && line.contains(" = ");
        let is_macro = line.starts_with("#define ATF_") && !line.starts_with("#define ATF_VERSION");
        (is_value || is_macro && !line.ends_with('\\') && line.matches(' ').count() == 2)
            .then(|| line.to_owned())
    });
    let functions = declarations(&header);
    let mut lines: Vec<String> = layouts.chain(values).chain(functions).collect();
    lines.push(String::new());
    lines.join("\n")
}

#[test]
fn the_binary_interface_matches_the_recorded_one() {
    let path = package("abi.txt");
    let (interface, recorded) = (interface(), fs::read_to_string(&path).unwrap_or_default());
    if env::var_os("ATF_BLESS").is_some() {
        return fs::write(path, interface).unwrap();
    }
    let is_lost = |old: &&str| !interface.lines().any(|new| new == *old);
    let lost: Vec<_> = recorded.lines().filter(is_lost).collect();
    assert!(
        lost.is_empty(),
        "compiled programs may break: raise the major version, unless these structs only grew as \
         atf.h allows it; then run with ATF_BLESS=1:\n{}",
        lost.join("\n")
    );
    assert_eq!(interface, recorded, "new: run with ATF_BLESS=1");
}
