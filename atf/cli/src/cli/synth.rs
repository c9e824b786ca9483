//! `synth`: generates a trace from a seed.

use std::io::Write;
use std::path::PathBuf;

use atf::Wire;
use atf_synth::{Shape, Synth};

use super::convert::wire;
use crate::output::{Outcome, State, progress_bar, stdout};
use crate::text::counted;

const AFTER_HELP: &str = "\
The same options give the same bytes on every machine. The traced program is imaginary: it has
modules and functions, a few of them called often; calls nest, recur and throw, and some never end.

SHAPE is how the threads share time: independent; random, any thread next; interleave, one event of
each thread in turn; runs=MIN..MAX, one thread at a time for that many events; active=N, that many
threads at a time.

Exit status: 0; 2 usage, or a folder that could not be written: files written so far stay.

Example:
  $ atf synth --threads 8 --events 100000 --shape runs=10..1000 --out trace";

/// Options of `synth`.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Options {
    /// The new session's folder; must not contain a session yet
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// The seed of all random numbers
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// The number of threads
    #[arg(long, value_name = "COUNT", default_value_t = 4)]
    threads: u32,
    /// The number of events per thread
    #[arg(long, value_name = "COUNT", default_value_t = 10_000)]
    events: u64,
    /// The number of events per thousand that have details
    #[arg(long, value_name = "COUNT", default_value_t = 100)]
    #[arg(value_parser = clap::value_parser!(u32).range(..=1000))]
    details: u32,
    /// The number of functions in the program
    #[arg(long, value_name = "COUNT", default_value_t = 2_000)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    functions: u32,
    /// How the threads share time
    #[arg(long, default_value = "independent", value_parser = shape)]
    shape: Shape,
    /// The wire version: 1 or 2
    #[arg(long, value_name = "VERSION", default_value = "1", value_parser = wire)]
    wire: Wire,
}

pub(super) fn run(options: &Options) -> Outcome {
    let synth = Synth {
        seed: options.seed,
        threads: options.threads,
        events_per_thread: options.events,
        detail_per_mille: options.details,
        functions: options.functions,
        shape: options.shape,
        wire: options.wire,
    };
    let total = options.events.saturating_mul(options.threads.into());
    let bar = progress_bar(Some(total), "{bar:40} {pos} of {len} events, {eta} left");
    let written = synth.write_observed(&options.out, |events| bar.set_position(events));
    bar.finish_and_clear();
    let written = written?;
    let mut out = stdout();
    writeln!(
        out,
        "{}, {}, {}",
        counted(written.threads, "thread"),
        counted(written.index_events, "event"),
        counted(written.detail_events, "detail"),
    )?;
    out.flush()?;
    Ok(State::Fine)
}

/// Parses how threads share time.
fn shape(text: &str) -> Result<Shape, String> {
    let number = |text: &str| {
        let number = text.parse::<u32>().ok().filter(|number| *number > 0);
        number.ok_or_else(|| format!("`{text}` is not a number greater than 0"))
    };
    Ok(match text.split_once('=') {
        None if text == "independent" => Shape::Independent,
        None if text == "random" => Shape::Random,
        None if text == "interleave" => Shape::Interleave,
        Some(("active", count)) => Shape::FewActive(number(count)?),
        Some(("runs", range)) => {
            let (min, max) = range.split_once("..").unwrap_or((range, range));
            let (min, max) = (number(min)?, number(max)?);
            if min > max {
                return Err(format!("MIN {min} is greater than MAX {max}"));
            }
            Shape::Runs { min, max }
        }
        _ => {
            let names = "independent, random, interleave, runs=MIN..MAX or active=N";
            return Err(format!("expected {names}"));
        }
    })
}
