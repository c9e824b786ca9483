//! The layer that receives a program's spans.

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

/// Records the spans that it receives: see the [crate](crate).
#[derive(Debug)]
pub struct AtfLayer {
    shared: Arc<Shared>,
}

impl AtfLayer {
    /// Starts recording into this session, and sets its modules and symbols. The recording ends
    /// when the guard is dropped.
    ///
    /// # Errors
    ///
    /// As for [`Recording::start`](atf::record::Recording::start).
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
