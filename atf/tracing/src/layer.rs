//! The layer that gets a program's spans.

use std::sync::Arc;

use atf::EventKind;
use atf::record::RecordOptions;
use atf::write::SessionWriter;
use tracing_core::{Subscriber, span};
use tracing_subscriber::layer::{Context, Layer};
use tracing_subscriber::registry::LookupSpan;

use crate::Guard;
use crate::shared::Shared;
use crate::thread;

/// Records the spans that it gets: see the [crate](crate).
#[derive(Debug)]
pub struct AtfLayer {
    shared: Arc<Shared>,
}

impl AtfLayer {
    /// Starts to record into this session, whose modules and symbols it sets. The recording ends
    /// with the guard.
    ///
    /// # Errors
    ///
    /// Those of [`Recording::start`](atf::record::Recording::start).
    pub fn new(session: SessionWriter, options: &RecordOptions) -> atf::Result<(Self, Guard)> {
        let shared = Arc::new(Shared::start(session, options)?);
        let guard = Guard {
            shared: Arc::clone(&shared),
        };
        Ok((Self { shared }, guard))
    }
}

impl<S> Layer<S> for AtfLayer
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    fn on_enter(&self, id: &span::Id, ctx: Context<'_, S>) {
        thread::record(&self.shared, EventKind::CALL, id, || ctx.metadata(id));
    }

    fn on_exit(&self, id: &span::Id, ctx: Context<'_, S>) {
        thread::record(&self.shared, EventKind::RETURN, id, || ctx.metadata(id));
    }
}
