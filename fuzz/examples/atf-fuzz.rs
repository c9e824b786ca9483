//! Commands that `cargo fuzz` does not have. This program is an example because `cargo fuzz build`
//! treats every binary as a target.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;
use std::{env, fs, panic};

use atf_fuzz::{TARGETS, Target, found, mutate, seeds};

const USAGE: &str = "\
usage, in the folder fuzz/: cargo run --example atf-fuzz -- COMMAND
  seed                   write the files of the conformance corpus to corpus/TARGET
  targets                list the targets
  mutate SECONDS [TARGET...]
                         mutate seeds at random, without cargo-fuzz; a crashing input goes to
                         artifacts/TARGET
  minimize TARGET FILE OUT
                         remove the bytes that the panic does not need
  propose TARGET FILE NAME
                         minimize an input and keep it as the case found/TARGET/NAME, tagged with
                         the rules that it breaks
  about TARGET NAME      rewrite found/TARGET/NAME/case.json
  replay TARGET FILE...  run the target on each file; a panic is the bug";

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
        ["mutate", seconds, targets @ ..] => mutate(seconds, targets),
        ["minimize", target, file, out] => minimize(target, file, out),
        ["propose", target, file, name] => propose(target, file, name),
        ["about", target, name] => about(target, name),
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

fn target(name: &str) -> Result<Target, String> {
    let target = TARGETS.iter().find(|target| target.name == name);
    target.copied().ok_or(format!("unknown target: {name}"))
}

fn mutate(seconds: &str, names: &[&str]) -> Result<(), String> {
    let time = seconds.parse().map(Duration::from_secs);
    let time = time.map_err(|error| format!("{seconds}: {error}"))?;
    let targets = match names {
        [] => TARGETS.to_vec(),
        names => names
            .iter()
            .map(|name| target(name))
            .collect::<Result<_, _>>()?,
    };
    let seeds = seeds::seeds(Path::new("..")).map_err(|error| error.to_string())?;
    let mut has_found = false;
    for target in targets {
        let outcome = mutate::mutate(target, &seeds[target.name], time, 1);
        let (name, inputs) = (target.name, outcome.inputs);
        match outcome.found {
            None => println!("{name}: {inputs} inputs, no panic"),
            Some(input) => {
                has_found = true;
                let folder = Path::new("artifacts").join(name);
                let path = folder.join("mutated");
                let written = fs::create_dir_all(&folder).and_then(|()| fs::write(&path, input));
                written.map_err(|error| format!("{}: {error}", path.display()))?;
                println!("{name}: {inputs} inputs, panic: {}", path.display());
            }
        }
    }
    if has_found {
        Err("a target panicked".to_owned())
    } else {
        Ok(())
    }
}

fn minimize(name: &str, file: &str, out: &str) -> Result<(), String> {
    let target = target(name)?;
    let bytes = fs::read(file).map_err(|error| format!("{file}: {error}"))?;
    // Suppress panic messages while inputs are tried.
    panic::set_hook(Box::new(|_| {}));
    let least = mutate::minimize(target, &bytes);
    let _ = panic::take_hook();
    if panic::catch_unwind(|| (target.body)(&least)).is_ok() {
        return Err(format!("{file}: no panic"));
    }
    println!("{} of {} bytes are left", least.len(), bytes.len());
    fs::write(out, least).map_err(|error| format!("{out}: {error}"))
}

fn propose(target_name: &str, file: &str, name: &str) -> Result<(), String> {
    let target = target(target_name)?;
    let bytes = fs::read(file).map_err(|error| format!("{file}: {error}"))?;
    // Suppress panic messages while inputs are tried.
    panic::set_hook(Box::new(|_| {}));
    let about = found::propose(Path::new("found"), target, name, &bytes);
    let _ = panic::take_hook();
    let about = about.map_err(|error| format!("{file}: {error}"))?;
    println!("found/{target_name}/{name}: {about:#}");
    Ok(())
}

fn about(target_name: &str, name: &str) -> Result<(), String> {
    let target = target(target_name)?;
    let folder = Path::new("found").join(target_name).join(name);
    let input = fs::read(folder.join(found::INPUT));
    let written = input.and_then(|input| {
        let about = found::about(target, name, &input);
        fs::write(folder.join(found::ABOUT), format!("{about:#}\n"))
    });
    written.map_err(|error| format!("{}: {error}", folder.display()))
}

fn replay(name: &str, files: &[&str]) -> Result<(), String> {
    let target = target(name)?;
    for file in files {
        let bytes = fs::read(file).map_err(|error| format!("{file}: {error}"))?;
        (target.body)(&bytes);
        println!("{file}: no panic");
    }
    Ok(())
}
