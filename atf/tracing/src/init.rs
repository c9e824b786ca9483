//! Records a whole program with one line of code.

use std::fmt;
use std::path::Path;

use atf::write::{SessionWriter, WriteOptions};
use atf_record::{Overflow, RecordOptions};
use tracing_core::Metadata;
use tracing_core::dispatcher::{self, Dispatch};
use tracing_core::subscriber::NoSubscriber;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::SubscriberExt as _;

use crate::{AtfLayer, Guard};

/// The reason why the program is not recorded.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum InitError {
    /// The session cannot be created or recorded.
    Recording(atf::Error),
    /// The program, or this thread, already has a subscriber. [`AtfLayer`] can record next to its
    /// other layers.
    HasSubscriber,
}

impl fmt::Display for InitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Recording(error) => error.fmt(f),
            Self::HasSubscriber => {
                f.write_str("the program already has a tracing subscriber: add an AtfLayer to it")
            }
        }
    }
}

impl std::error::Error for InitError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Recording(error) => Some(error),
            Self::HasSubscriber => None,
        }
    }
}

/// Records all spans of the program, in a new session below `root` ([`SessionWriter::create_in`]).
/// Sets the global subscriber, which handles only spans: events such as `info!` are disabled. The
/// recording ends when the guard is dropped, so bind it to a name: `let _ =` drops it at once.
///
/// A thread whose ring is full waits for the drain, so nothing is lost for lack of room. To drop
/// events instead, create an [`AtfLayer`] with other options.
///
/// # Errors
///
/// Returns [`InitError::Recording`] or [`InitError::HasSubscriber`].
pub fn init(root: impl AsRef<Path>) -> Result<Guard, InitError> {
    init_as(root.as_ref(), |layer| layer)
}

/// Like [`init`], and also records the fields of spans ([`AtfLayer::record_fields`]).
///
/// # Errors
///
/// Returns the errors of [`init`].
pub fn init_with_fields(root: impl AsRef<Path>) -> Result<Guard, InitError> {
    init_as(root.as_ref(), AtfLayer::record_fields)
}

fn init_as(root: &Path, set: impl FnOnce(AtfLayer) -> AtfLayer) -> Result<Guard, InitError> {
    if dispatcher::get_default(|dispatch| !dispatch.is::<NoSubscriber>()) {
        return Err(InitError::HasSubscriber);
    }
    let session = SessionWriter::create_in(root, &WriteOptions::default());
    let options = RecordOptions::default().overflow(Overflow::Block);
    let made = session.and_then(|session| AtfLayer::new(session, &options));
    let (layer, guard) = made.map_err(InitError::Recording)?;
    let subscriber = tracing_subscriber::registry()
        .with(set(layer))
        .with(filter_fn(is_span));
    // If another thread has set a subscriber since the check above, an empty session is left
    // behind.
    dispatcher::set_global_default(Dispatch::new(subscriber))
        .map_err(|_| InitError::HasSubscriber)?;
    Ok(guard)
}

fn is_span(metadata: &Metadata<'_>) -> bool {
    metadata.is_span()
}
