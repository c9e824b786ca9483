//! What `cargo fuzz` does not do: `atf-fuzz seed`, `atf-fuzz replay TARGET FILE…`.

use std::path::Path;
use std::process::ExitCode;
use std::{env, fs};

use atf_fuzz::{TARGETS, seeds};

const USAGE: &str = "\
usage: atf-fuzz COMMAND, in the folder fuzz/
  seed                   write the files of the conformance corpus into corpus/TARGET
  targets                name the targets
  replay TARGET FILE...  do what the target does with each file; a panic is what was found";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments.as_slice() {
        ["seed"] => seed(),
        ["targets"] => {
            TARGETS
                .iter()
                .for_each(|target| println!("{}", target.name));
            Ok(())
        }
        ["replay", target, files @ ..] => replay(target, files),
        _ => Err(USAGE.to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::from(2)
        }
    }
}

fn seed() -> Result<(), String> {
    let seeds = seeds::seeds(Path::new("..")).map_err(|error| error.to_string())?;
    let count = seeds::write(&seeds, Path::new("corpus")).map_err(|error| error.to_string())?;
    println!("{count} seeds in corpus/");
    Ok(())
}

fn replay(name: &str, files: &[&str]) -> Result<(), String> {
    let target = TARGETS.iter().find(|target| target.name == name);
    let target = target.ok_or(format!("{name}: no target"))?;
    for file in files {
        let bytes = fs::read(file).map_err(|error| format!("{file}: {error}"))?;
        (target.body)(&bytes);
        println!("{file}: nothing found");
    }
    Ok(())
}
