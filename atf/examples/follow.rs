//! Prints the events of a session while it is being written, until each of its threads is
//! finalized. A killed writer never finalizes its threads: pass the number of seconds to wait
//! without new events, or press Ctrl-C. `atf record` replaces the session of a killed program with
//! a recovered copy, whose remaining events are printed.
//!
//! ```sh
//! cargo run --example follow -- PID_FOLDER [SECONDS]
//! ```

use std::error::Error;
use std::thread::sleep;
use std::time::{Duration, Instant};

use atf::ErrorKind;
use atf::follow::{FollowedThread, Polled, SessionFollower};
use atf::index::IndexEvent;
use atf::thread::ThreadReader;

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
        let follow = |new: FollowedThread| (new.follow_index(), new, false);
        threads.extend(new.into_iter().map(follow));
        let print = |id, event: &IndexEvent| {
            let kind = event.event_kind.name().unwrap_or("unknown");
            let function = session.symbols().function(event.function_id).to_string();
            let function = function.escape_debug();
            println!("{id} {} {kind} {function}", event.timestamp_ns);
        };
        for (thread, folder, is_finalized) in &mut threads {
            // `poll_event` never waits.
            while !*is_finalized {
                match thread.poll_event() {
                    Ok(Polled::New(event)) => {
                        last_news = Instant::now();
                        print(folder.id(), &event);
                    }
                    Ok(Polled::NotYet) => break,
                    Ok(Polled::Finalized) => *is_finalized = true,
                    Err(error) if *error.kind() == ErrorKind::Replaced => {
                        let copy = ThreadReader::open(folder.path())?;
                        for event in copy.index().events_in(thread.next_seq()..) {
                            print(folder.id(), &event?);
                        }
                        *is_finalized = true;
                    }
                    Err(error) => return Err(error.into()),
                }
            }
        }
        if !threads.is_empty() && threads.iter().all(|(_, _, is_finalized)| *is_finalized) {
            println!("every thread is finalized");
            return Ok(());
        }
        if last_news.elapsed() > patience {
            return Err("no new events, and not every thread is finalized".into());
        }
        sleep(Duration::from_millis(100));
    }
}
