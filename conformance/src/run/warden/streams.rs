//! Reads a process's output in separate threads, so that its pipes never fill up.

use std::io::{self, ErrorKind, Read};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long to wait for the end of a pipe that has no writers left.
const PATIENCE: Duration = Duration::from_secs(5);

/// The number of bytes of standard error to keep from its start, and also from its end.
pub const KEPT: usize = 8 << 10;

/// The kept bytes of a stream.
#[derive(Debug)]
pub struct Stream<T> {
    kept: Arc<Mutex<T>>,
    ended: Receiver<()>,
}

impl<T: Default + Send + 'static> Stream<T> {
    /// Reads until `take` has enough or the stream ends.
    fn read(
        mut from: impl Read + Send + 'static,
        mut take: impl FnMut(&mut T, &[u8]) -> bool + Send + 'static,
    ) -> io::Result<Self> {
        let kept = Arc::new(Mutex::new(T::default()));
        let (end, ended): (Sender<()>, _) = channel();
        let place = Arc::clone(&kept);
        thread::Builder::new().spawn(move || {
            let _end = end;
            let mut buffer = vec![0; 64 << 10];
            loop {
                match from.read(&mut buffer) {
                    Ok(0) => return,
                    Ok(size) => {
                        let bytes = buffer.get(..size).unwrap_or_default();
                        let mut kept = place.lock().unwrap_or_else(PoisonError::into_inner);
                        if !take(&mut kept, bytes) {
                            return;
                        }
                    }
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(_) => return,
                }
            }
        })?;
        Ok(Self { kept, ended })
    }

    /// Changes the bytes kept so far.
    pub fn with<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        change(&mut self.kept.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits for the end of the stream and returns the kept bytes.
    pub fn finish(self, since: Instant) -> T {
        let _ = self
            .ended
            .recv_timeout(PATIENCE.saturating_sub(since.elapsed()));
        self.with(std::mem::take)
    }
}

/// Keeps a stream up to a limit, and calls `line` after each end of a line. Once the kept bytes
/// exceed the limit, calls `exceeded` and stops reading.
///
/// # Errors
///
/// Returns an error if the thread cannot be started.
pub fn bounded(
    from: impl Read + Send + 'static,
    limit: impl Fn() -> u64 + Send + 'static,
    line: Option<impl Fn() + Send + 'static>,
    exceeded: impl Fn() + Send + 'static,
) -> io::Result<Stream<Vec<u8>>> {
    Stream::read(from, move |kept: &mut Vec<u8>, bytes| {
        kept.extend_from_slice(bytes);
        let fits = kept.len() as u64 <= limit();
        if let Some(line) = line.as_ref().filter(|_| bytes.contains(&b'\n')) {
            line();
        }
        if !fits {
            exceeded();
        }
        fits
    })
}

/// The start and the end of a stream.
#[derive(Debug, Default)]
pub struct Ends {
    first: Vec<u8>,
    last: Vec<u8>,
    omitted: u64,
}

impl Ends {
    /// Adds bytes at the end.
    pub fn push(&mut self, bytes: &[u8]) {
        let room = KEPT.saturating_sub(self.first.len()).min(bytes.len());
        let (first, rest) = bytes.split_at(room);
        self.first.extend_from_slice(first);
        self.last.extend_from_slice(rest);
        let over = self.last.len().saturating_sub(KEPT);
        self.last.drain(..over);
        self.omitted = self.omitted.saturating_add(over as u64);
    }

    /// Returns the stream as text, with a note if bytes were omitted.
    #[must_use]
    pub fn text(&self) -> String {
        let first = String::from_utf8_lossy(&self.first);
        let last = String::from_utf8_lossy(&self.last);
        match self.omitted {
            0 => format!("{first}{last}"),
            omitted => format!("{first}\n[{omitted} bytes omitted]\n{last}"),
        }
    }
}

/// Reads an entire stream and keeps its start and end.
///
/// # Errors
///
/// Returns an error if the thread cannot be started.
pub fn ends(from: impl Read + Send + 'static) -> io::Result<Stream<Ends>> {
    Stream::read(from, |kept: &mut Ends, bytes| {
        kept.push(bytes);
        true
    })
}
