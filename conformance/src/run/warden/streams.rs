//! Reads a process's output in separate threads, so that its pipes never fill up.

use std::io::{self, ErrorKind, Read};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long to wait for the end of a pipe that has no writers left.
const PATIENCE: Duration = Duration::from_secs(5);

/// The number of bytes of standard error to keep from its start, and also from its end.
const KEPT: usize = 8 << 10;

/// The kept bytes of a stream.
pub(super) struct Stream<T> {
    kept: Arc<Mutex<T>>,
    ended: Receiver<()>,
}

impl<T: Default + Send + 'static> Stream<T> {
    /// Reads until `take` has enough or the stream ends.
    ///
    /// # Errors
    ///
    /// Returns an error if the thread cannot be started.
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
    pub(super) fn with<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        change(&mut self.kept.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits for the end of the stream and returns the kept bytes.
    pub(super) fn finish(self, since: Instant) -> T {
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
pub(super) fn bounded(
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
#[derive(Default)]
pub(super) struct Ends {
    first: Vec<u8>,
    last: Vec<u8>,
    left_out: u64,
}

impl Ends {
    fn push(&mut self, bytes: &[u8]) {
        let room = KEPT.saturating_sub(self.first.len()).min(bytes.len());
        let (first, rest) = bytes.split_at(room);
        self.first.extend_from_slice(first);
        self.last.extend_from_slice(rest);
        let over = self.last.len().saturating_sub(KEPT);
        self.last.drain(..over);
        self.left_out = self.left_out.saturating_add(over as u64);
    }

    /// Returns the stream as text, with a note if bytes were omitted.
    pub(super) fn text(&self) -> String {
        let first = String::from_utf8_lossy(&self.first);
        let last = String::from_utf8_lossy(&self.last);
        match self.left_out {
            0 => format!("{first}{last}"),
            left_out => format!("{first}\n[{left_out} bytes omitted]\n{last}"),
        }
    }
}

/// Reads a whole stream and keeps its start and end.
///
/// # Errors
///
/// Returns an error if the thread cannot be started.
pub(super) fn ends(from: impl Read + Send + 'static) -> io::Result<Stream<Ends>> {
    Stream::read(from, |kept: &mut Ends, bytes| {
        kept.push(bytes);
        true
    })
}

#[cfg(test)]
mod tests {
    use std::io::{self, ErrorKind, Read};
    use std::time::Instant;

    use super::{Ends, KEPT, bounded};

    /// A reader that yields its parts and errors from last to first.
    struct Parts(Vec<Result<&'static [u8], ErrorKind>>);

    impl Read for Parts {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            match self.0.pop() {
                None => Ok(0),
                Some(Err(kind)) => Err(kind.into()),
                Some(Ok(bytes)) => {
                    buffer[..bytes.len()].copy_from_slice(bytes);
                    Ok(bytes.len())
                }
            }
        }
    }

    #[test]
    fn an_interrupted_read_is_retried_and_a_failed_one_ends_the_stream() {
        let kept = |failure: ErrorKind| {
            // The parts are yielded in reverse order.
            let parts = vec![Ok(&b"two"[..]), Err(failure), Ok(b"one")];
            let stream = bounded(Parts(parts), || 100, None::<fn()>, || {}).unwrap();
            stream.finish(Instant::now())
        };
        assert_eq!(kept(ErrorKind::Interrupted), b"onetwo");
        assert_eq!(kept(ErrorKind::BrokenPipe), b"one");
    }

    #[test]
    fn a_long_stream_keeps_its_two_ends() {
        let mut ends = Ends::default();
        for chunk in 0..10_u8 {
            ends.push(&vec![b'0' + chunk; KEPT / 4]);
        }
        let text = ends.text();
        assert!(text.starts_with("0000"));
        assert!(text.ends_with("9999"));
        assert!(text.contains(&format!("3333\n[{} bytes omitted]\n6666", KEPT / 2)));
    }

    #[test]
    fn a_short_stream_is_complete_however_it_is_split() {
        let mut ends = Ends::default();
        let text = "x".repeat(KEPT) + &"y".repeat(KEPT);
        for piece in text.as_bytes().chunks(1000) {
            ends.push(piece);
        }
        assert_eq!(ends.text(), text);
    }
}
