//! Reads a file or a session for the conformance kit: `atf-interpreter PATH`.
//!
//! Exit status: 0 if it was read, 1 if it was rejected, 2 for a usage error, 3 if the path cannot
//! be opened.

use std::env;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<_> = env::args_os().skip(1).collect();
    let [path] = arguments.as_slice() else {
        eprintln!("usage: atf-interpreter PATH");
        return ExitCode::from(2);
    };
    let path = Path::new(path);
    match atf_interpreter::read_path(path) {
        Ok(document) => {
            println!("{document}");
            ExitCode::from(u8::from(document["verdict"] == "reject"))
        }
        Err(error) => {
            eprintln!("{}: {error}", path.display());
            ExitCode::from(3)
        }
    }
}
