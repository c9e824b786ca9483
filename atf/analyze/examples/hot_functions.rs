//! Prints the 20 functions of a session that took the most time, with their calls in all threads. A
//! function's time includes the time of the functions that it called.
//!
//! ```sh
//! cargo run --release --example hot_functions -- SESSION
//! ```

use std::cmp::Reverse;
use std::error::Error;

use atf::session::SessionReader;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1);
    let session = SessionReader::open(path.ok_or("usage: hot_functions SESSION")?)?;

    let mut found = atf_analyze::functions(&session, &atf_analyze::Options::default());
    // Count the readable events even if others are missing.
    for problem in &found.problems {
        eprintln!("problem: {}", problem.error);
    }
    let functions = &mut found.functions;
    functions.sort_by_key(|function| Reverse(function.times.total_ns));
    println!("{:>12} {:>8}  function", "time in ns", "calls");
    for function in functions.iter().take(20) {
        // A name may contain anything, including a terminal's control characters.
        let name = session.symbols().function(function.function_id).to_string();
        println!(
            "{:>12} {:>8}  {}",
            function.times.total_ns,
            function.times.calls,
            name.escape_debug()
        );
    }
    Ok(())
}
