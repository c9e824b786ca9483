//! Measures what it costs to enter and exit a span.
//!
//! ```sh
//! cargo run --release -p atf-tracing --example cost -- FOLDER
//! ```

use std::error::Error;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use atf::record::RecordOptions;
use atf::write::{SessionWriter, WriteOptions};
use atf_tracing::{AtfLayer, Guard};
use tracing::Dispatch;
use tracing_subscriber::prelude::*;

/// Half of the spans that fit into a ring. The ring is drained between runs.
const SPANS: u32 = 16_000;

/// Prints the median over several runs, in nanoseconds per span.
fn measure(what: &str, work: impl Fn()) {
    let once = || {
        thread::sleep(Duration::from_millis(20));
        let start = Instant::now();
        for _ in 0..SPANS {
            work();
        }
        start.elapsed().as_secs_f64() * 1e9 / f64::from(SPANS)
    };
    let mut runs: Vec<_> = (0..41).map(|_| once()).collect();
    runs.sort_by(f64::total_cmp);
    println!("{:>7.1} ns  {what}", runs[runs.len() / 2]);
}

/// Enters and exits an existing span, and a new span each time.
fn spans(what: &str, dispatch: &Dispatch) {
    tracing::dispatcher::with_default(dispatch, || {
        let span = tracing::info_span!("span");
        measure(&format!("{what}, enter and exit"), || drop(span.enter()));
        measure(&format!("{what}, with a new span each time"), || {
            tracing::info_span!("span").in_scope(|| {});
        });
    });
}

fn layer(path: PathBuf, survive_kill: bool) -> atf::Result<(AtfLayer, Guard)> {
    let options = WriteOptions::default().survive_kill(survive_kill);
    let session = SessionWriter::create(path, &options)?;
    AtfLayer::new(session, &RecordOptions::default())
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args_os().nth(1).ok_or("usage: cost FOLDER")?;
    let folder = PathBuf::from(folder);
    measure("two readings of the clock", || {
        std::hint::black_box((atf::clock::now_ns(), atf::clock::now_ns()));
    });
    spans("no layer", &tracing_subscriber::registry().into());
    for (name, survive_kill) in [("ring", false), ("survive_kill", true)] {
        let (layer, recording) = layer(folder.join(name), survive_kill)?;
        spans(name, &tracing_subscriber::registry().with(layer).into());
        let summary = recording.stop()?;
        assert_eq!(summary.lost_events, 0, "events were lost");
    }
    Ok(())
}
