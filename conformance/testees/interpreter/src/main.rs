//! Reads a file for the conformance kit: `atf-interpreter PATH`.
//!
//! Exit status 0: read; 1: rejected; 2: usage; 3: the file cannot be opened; 77: a session.

use std::path::Path;
use std::process::ExitCode;
use std::{env, fs};

use atf_interpreter::Kind;

fn main() -> ExitCode {
    let arguments: Vec<_> = env::args_os().skip(1).collect();
    let [path] = arguments.as_slice() else {
        eprintln!("usage: atf-interpreter PATH");
        return ExitCode::from(2);
    };
    let path = Path::new(path);
    if path.is_dir() {
        return ExitCode::from(77);
    }
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) => {
            eprintln!("{}: {error}", path.display());
            return ExitCode::from(3);
        }
    };
    let kind = match path.ends_with("detail.atf") {
        true => Kind::Detail,
        false => Kind::of(&bytes),
    };
    let document = atf_interpreter::read_as(kind, &bytes);
    println!("{document}");
    ExitCode::from(u8::from(document["verdict"] == "reject"))
}
