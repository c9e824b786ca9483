//! Records the spans of a Rust program that uses [`tracing`](https://docs.rs/tracing) as an ATF
//! trace: entering a span becomes a CALL, and exiting it a RETURN.
//!
//! Tracing's own attribute turns functions into spans, and a single line starts recording them:
//!
//! ```
//! # let root = tempfile::tempdir()?;
//! # std::env::set_current_dir(root.path())?;
//! use tracing::instrument;
//!
//! #[instrument(skip_all)]
//! fn parse(text: &str) -> usize {
//!     text.len()
//! }
//!
//! let recording = atf_tracing::init("traces")?; // Before the first span; ends when it is dropped.
//! parse("…");
//! # let summary = recording.stop()?;
//! # assert_eq!((summary.totals.event_count, summary.lost_events), (2, 0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Then `atf dump --spans traces` shows the calls. Each run adds a session to the folder; if there
//! is more than one, pass a session's path, as returned by [`Guard::path`]. The example
//! [`record_itself`](https://docs.rs/crate/atf-tracing/latest/source/examples/record_itself.rs)
//! prints the functions, ordered by time.
//!
//! # With other layers and filters
//!
//! [`AtfLayer`] is a layer like any other. A filter decides which spans it records; disabled spans
//! cost almost nothing.
//!
//! ```
//! # let root = tempfile::tempdir()?;
//! # let root = root.path();
//! use atf_record::RecordOptions;
//! use atf::write::{SessionWriter, WriteOptions};
//! use tracing::Level;
//! use tracing_subscriber::filter::Targets;
//! use tracing_subscriber::prelude::*;
//!
//! // Nothing is lost if the process is killed.
//! let options = WriteOptions::default().survive_kill(true);
//! let session = SessionWriter::create_in(root, &options)?;
//! let (layer, recording) = atf_tracing::AtfLayer::new(session, &RecordOptions::default())?;
//! let only = Targets::new().with_target("parser", Level::DEBUG);
//! let subscriber = tracing_subscriber::registry().with(layer.with_filter(only));
//! # let _on = tracing::subscriber::set_default(subscriber);
//! tracing::info_span!(target: "parser", "parse").in_scope(|| {});
//! tracing::info_span!(target: "http", "fetch").in_scope(|| {});
//! let summary = recording.stop()?;
//! assert_eq!(summary.totals.event_count, 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is recorded
//!
//! | in the program | in the trace |
//! |---|---|
//! | a callsite: an `#[instrument]`, a `span!` | a function, `target::name`; the target is the module's path by default. The function is in the manifest once it has an event |
//! | a span is entered, exited | CALL, RETURN, on the thread where it happens |
//! | a span of an `async` function or of `Instrument` | a CALL and a RETURN for each poll, on the thread that polls it, and one more when the future is dropped |
//! | a span is entered on one thread and exited on another | a CALL on the first thread, and on the second a RETURN without a call. On the first thread, later calls are one level deeper |
//! | a panic unwinds through a span | RETURN |
//! | spans that exit out of order | RETURN of the correct function with its call's depth; [`atf::spans`] then shows the calls inside it as not returned |
//! | a thread | a thread with its [`std::thread`] name, from its first span to its end |
//! | fields of a span | nothing, or the detail of its CALL: see [below](#fields) |
//! | events such as `info!`, and those of `#[instrument(err, ret)]` | nothing |
//! | a span that is never entered; the parent of a span, unless the parent is entered when the span is | nothing |
//!
//! The program is the only module, with id 1. Its functions are numbered in the order of their
//! first calls, so ids differ from run to run. Their names are in the manifest within about a
//! second, or, with [`survive_kill`](atf::write::WriteOptions::survive_kill), before their first
//! event.
//!
//! # Fields
//!
//! Fields of spans are recorded only on request: with [`init_with_fields`] or
//! [`AtfLayer::record_fields`].
//!
//! ```
//! # let root = tempfile::tempdir()?;
//! # std::env::set_current_dir(root.path())?;
//! let recording = atf_tracing::init_with_fields("traces")?;
//! tracing::info_span!("fetch", path = "a.txt", tries = 2).in_scope(|| {});
//! # let summary = recording.stop()?;
//! # assert_eq!(summary.totals.detail_count, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! If a span's fields have values, its CALL's detail contains them as a JSON object:
//! `{"path":"a.txt","tries":2}`. A RETURN has such a detail if values were recorded since the CALL.
//! `atf dump --details` shows the fields, and `atf export --format perfetto` adds them to the
//! slices as arguments.
//!
//! Values are text, except for booleans and finite numbers of at most 64 bits. Text of more than
//! 1,024 bytes is truncated and ends with `…`. If the object, with its escapes, would exceed 4,096
//! bytes, the last fields are left out, and the member `"…"` contains their number. If a ring has
//! no room for a detail, [`Overflow`](atf_record::Overflow) decides; by default, the event is
//! recorded without it, and the manifest counts the loss.
//!
//! `#[instrument]` turns all arguments into fields. This takes time even if nothing records them;
//! `#[instrument(skip_all)]` avoids this cost.
//!
//! # What it costs
//!
//! A lock is taken or memory allocated only for a thread's first span, for a function's first span
//! in a thread, and when a stack grows deeper than before. With fields, each span also formats its
//! values, allocates memory for them, and locks its extensions. The project's benchmark compares
//! the layer, without fields, with other layers.
//!
//! # Losses
//!
//! Recording never harms the program: events that cannot be recorded are lost, and the losses are
//! counted in the manifest and in the summary from [`Guard::stop`]. [`Guard::lost_events`] returns
//! the number of events lost so far. Events are lost if a ring is full (see
//! [`Overflow`](atf_record::Overflow)), in a thread beyond
//! [`max_threads`](atf_record::RecordOptions::max_threads), in a signal handler that interrupts
//! the recording of another event, in a thread's last destructors, and after the recording has
//! ended. If the program is killed or aborts, the events in its rings are lost, unless it records
//! with `survive_kill`. A forked child records nothing and never waits
//! for its parent's threads.

// A tracer must not crash the traced program.
#![warn(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]

mod fields;
mod init;
mod layer;
mod shared;
mod thread;

pub use init::{InitError, init, init_with_fields};
pub use layer::AtfLayer;
pub use shared::Guard;
