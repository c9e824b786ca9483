//! The layer that receives a program's spans.

use std::sync::Arc;

use atf::EventKind;
use atf::write::SessionWriter;
use atf_record::RecordOptions;
use tracing_core::{Subscriber, span};
use tracing_subscriber::layer::{Context, Layer};
use tracing_subscriber::registry::{LookupSpan, SpanRef};

use crate::fields::{Fields, Values};
use crate::shared::{Guard, Shared};
use crate::thread;

/// A layer that records the spans that it receives: see the [crate](crate).
#[derive(Debug)]
pub struct AtfLayer {
    shared: Arc<Shared>,
    records_fields: bool,
}

impl AtfLayer {
    /// Starts recording into this session, and sets its modules and symbols. The recording ends
    /// when the guard is dropped.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Recording::start`](atf_record::Recording::start).
    pub fn new(session: SessionWriter, options: &RecordOptions) -> atf::Result<(Self, Guard)> {
        let shared = Arc::new(Shared::start(session, options)?);
        let guard = Guard {
            shared: Arc::clone(&shared),
        };
        let layer = Self {
            shared,
            records_fields: false,
        };
        Ok((layer, guard))
    }

    /// Also records the fields of spans: see [what is recorded](crate#what-is-recorded).
    #[must_use]
    pub fn record_fields(mut self) -> Self {
        self.shared.set_detail_fields();
        self.records_fields = true;
        self
    }

    fn record<S>(&self, kind: EventKind, id: &span::Id, ctx: &Context<'_, S>)
    where
        S: Subscriber + for<'a> LookupSpan<'a>,
    {
        let span = self.records_fields.then(|| ctx.span(id)).flatten();
        let extensions = span.as_ref().map(SpanRef::extensions);
        let fields = extensions.as_ref().and_then(|found| found.get::<Fields>());
        thread::record(&self.shared, kind, id, fields, || ctx.metadata(id));
    }
}

impl<S> Layer<S> for AtfLayer
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    fn on_new_span(&self, attributes: &span::Attributes<'_>, id: &span::Id, ctx: Context<'_, S>) {
        let Some(span) = ctx.span(id).filter(|_| self.records_fields) else {
            return;
        };
        // The program's own code formats the values and may panic, so do this outside the lock.
        let mut values = Values::default();
        attributes.record(&mut values);
        let mut fields = Fields::default();
        fields.record(values);
        // Another layer of this type may have stored the same fields.
        span.extensions_mut().replace(fields);
    }

    fn on_record(&self, id: &span::Id, values: &span::Record<'_>, ctx: Context<'_, S>) {
        let Some(span) = ctx.span(id).filter(|_| self.records_fields) else {
            return;
        };
        let mut new = Values::default();
        values.record(&mut new);
        if let Some(fields) = span.extensions_mut().get_mut::<Fields>() {
            fields.record(new);
        }
    }

    fn on_enter(&self, id: &span::Id, ctx: Context<'_, S>) {
        self.record(EventKind::CALL, id, &ctx);
    }

    fn on_exit(&self, id: &span::Id, ctx: Context<'_, S>) {
        self.record(EventKind::RETURN, id, &ctx);
    }
}
