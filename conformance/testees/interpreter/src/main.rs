//! Reads a file or a session for the conformance kit: `atf-interpreter PATH`. With `--serve`, it
//! answers one request per line: a path as a JSON string.
//!
//! Exit status: 0 if it was read, 1 if it was rejected, 2 for a usage error, 3 if the path cannot
//! be opened.

use std::path::Path;
use std::process::ExitCode;
use std::{env, io};

fn main() -> ExitCode {
    let arguments: Vec<_> = env::args_os().skip(1).collect();
    let [path] = arguments.as_slice() else {
        eprintln!("usage: atf-interpreter PATH | --serve");
        return ExitCode::from(2);
    };
    if path == "--serve" {
        return match serve() {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("atf-interpreter: {error}");
                ExitCode::from(3)
            }
        };
    }
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

fn serve() -> io::Result<()> {
    for line in io::stdin().lines() {
        let path: String = serde_json::from_str(&line?)?;
        println!("{}", atf_interpreter::read_path(Path::new(&path))?);
    }
    Ok(())
}
