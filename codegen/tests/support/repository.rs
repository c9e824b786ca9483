//! This repository's files.

#![allow(dead_code, reason = "no test program uses all of it")]

use std::fs;
use std::path::Path;

pub(crate) fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// Returns the text of a file, whose path may be relative to the root.
pub(crate) fn text(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the folders of the workspace's packages.
pub(crate) fn members() -> Vec<String> {
    let manifest = text("Cargo.toml");
    let (_, members) = manifest.split_once("members = [").expect("a list");
    let (members, _) = members.split_once(']').expect("the end of the list");
    let members = members.split('"').skip(1).step_by(2);
    members.map(str::to_owned).collect()
}
