//! Prints the events of a session while it is being written, until each of its threads is
//! finalized. A killed writer never finalizes its threads: pass the number of seconds to wait
//! without new events, or press Ctrl-C.
//!
//! ```sh
//! cargo run --example follow -- PID_FOLDER [SECONDS]
//! ```

use std::error::Error;
use std::thread::sleep;
use std::time::{Duration, Instant};

use atf::follow::{FollowedThread, Polled, SessionFollower};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let usage = "usage: follow PID_FOLDER [SECONDS]";
    let folder = arguments.next().ok_or(usage)?;
    let patience = match arguments.next() {
        Some(seconds) => Duration::from_secs(seconds.parse()?),
        None => Duration::MAX,
    };

    // The folder need not exist yet.
    let mut session = SessionFollower::new(folder);
    let mut threads = Vec::new();
    let mut last_news = Instant::now();
    loop {
        session.poll_manifest()?;
        let new = session.poll_threads()?;
        let follow = |new: &FollowedThread| (new.id(), new.follow_index(), false);
        threads.extend(new.iter().map(follow));
        for (id, thread, is_finalized) in &mut threads {
            // `poll_event` never waits.
            while !*is_finalized {
                match thread.poll_event()? {
                    Polled::New(event) => {
                        last_news = Instant::now();
                        let kind = event.event_kind.name().unwrap_or("unknown");
                        let function = session.symbols().function(event.function_id).to_string();
                        let function = function.escape_debug();
                        println!("{id} {} {kind} {function}", event.timestamp_ns);
                    }
                    Polled::NotYet => break,
                    Polled::Finalized => *is_finalized = true,
                }
            }
        }
        if !threads.is_empty() && threads.iter().all(|(_, _, is_finalized)| *is_finalized) {
            println!("every thread is finalized");
            return Ok(());
        }
        if last_news.elapsed() > patience {
            return Err("no news, and not every thread is finalized".into());
        }
        sleep(Duration::from_millis(100));
    }
}
