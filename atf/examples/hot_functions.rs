//! Prints the 20 functions of a session that took the most time, with their calls in all threads.
//! A function's time includes that of the functions it called.
//!
//! ```sh
//! cargo run --release --example hot_functions -- SESSION
//! ```

use std::cmp::Reverse;
use std::collections::HashMap;
use std::error::Error;

use atf::session::SessionReader;
use atf::spans::{CallStack, Paired};

#[derive(Default)]
struct Total {
    calls: u64,
    ns: u64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1);
    let session = SessionReader::open(path.ok_or("usage: hot_functions SESSION")?)?;

    let mut totals: HashMap<u64, Total> = HashMap::new();
    let mut add = |paired| {
        if let Paired::Span(span) = paired {
            let total = totals.entry(span.function_id).or_default();
            total.calls += 1;
            // A call that nothing ended, for example because of a crash, has no duration.
            total.ns += span.duration_ns().unwrap_or(0);
        }
    };
    let mut stacks: HashMap<u32, CallStack> = HashMap::new();
    for event in session.merge().events() {
        match event {
            Ok(event) => {
                let stack = stacks.entry(event.thread).or_default();
                stack.push(event.seq, &event.event, &mut add);
            }
            // The readable events count even if others are missing.
            Err(problem) => eprintln!("problem: {problem}"),
        }
    }
    let open = stacks.into_values();
    open.for_each(|mut stack| stack.finish(&mut add));

    let mut totals: Vec<(u64, Total)> = totals.into_iter().collect();
    totals.sort_by_key(|(id, total)| (Reverse(total.ns), *id));
    println!("{:>12} {:>8}  function", "time in ns", "calls");
    for (id, total) in totals.iter().take(20) {
        // A name may contain anything, including a terminal's control characters.
        let name = session.symbols().function(*id).to_string();
        println!(
            "{:>12} {:>8}  {}",
            total.ns,
            total.calls,
            name.escape_debug()
        );
    }
    Ok(())
}
