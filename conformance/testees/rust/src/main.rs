//! Writes and reads for the conformance kit with the library `atf`.
//!
//! ```text
//! atf-testee read PATH
//! atf-testee write SCRIPT OUT
//! ```

mod read;
mod write;

use std::path::Path;
use std::process::ExitCode;
use std::{env, error};

/// The exit code for "unsupported".
const UNSUPPORTED: u8 = 77;

fn main() -> ExitCode {
    let arguments: Vec<_> = env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let done = match arguments.as_slice() {
        ["read", path] if Path::new(path).is_dir() => Ok(UNSUPPORTED),
        ["read", path] => read(Path::new(path)),
        ["write", script, out] => write::write(Path::new(script), Path::new(out)).map(|()| 0),
        _ => Err("usage: atf-testee read PATH | write SCRIPT OUT".into()),
    };
    match done {
        Ok(status) => ExitCode::from(status),
        Err(error) => {
            eprintln!("atf-testee: {error}");
            ExitCode::from(3)
        }
    }
}

fn read(path: &Path) -> Result<u8, Box<dyn error::Error>> {
    let document = read::read(path)?;
    println!("{document}");
    Ok(u8::from(document["verdict"] == "reject"))
}
