//! Serves a trace to Perfetto UI, which fetches it from 127.0.0.1; see
//! <https://perfetto.dev/docs/visualization/deep-linking-to-perfetto-ui>.
//!
//! All users of the machine can reach the port and send any header. Only a client that knows the
//! trace's path, which contains 128 random bits, receives the trace.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use atf_export::Form;

use crate::export::{Selection, to_temporary_file};
use crate::output::{Failure, Outcome, complain, stdout};
use crate::time::parse_span;

const AFTER_HELP: &str = "\
Writes the trace to a temporary file like `atf export --format perfetto`, prints an address, and
serves the file to the page at that address until the page has fetched nothing for the time of
--timeout. Open the address in a browser on this machine. The page comes from ui.perfetto.dev; the
trace does not leave this machine. Other pages cannot read it, nor can other users of this machine:
the address contains a random number, so treat it like a password.
Perfetto UI fetches traces from port 9001 only; another port is for other tools.

Exit status: 0; 1 something is damaged or missing, such as the end of an unfinalized file, but not
for events that the manifest counts as lost or unwritten; 2 usage, a path that could not be read, or
a port that is in use.

Example:
  $ atf open samples/sample-small";

/// The only page that may read the trace.
const PAGE: &str = "https://ui.perfetto.dev";
/// The maximum size of a request in bytes.
const LONGEST: u64 = 16 << 10;
/// The timeout for the entire request, and for each write of the response.
const PATIENCE: Duration = Duration::from_secs(10);
/// The maximum number of connections without a complete request.
const MOST_WAITING: usize = 64;
/// The number of bytes of the trace that are read at a time.
const PIECE: usize = 256 << 10;

/// The options of `open`.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Options {
    /// The port on 127.0.0.1; 0 for any
    #[arg(long, default_value_t = 9001)]
    port: u16,
    /// Exit once no page has fetched anything for this long
    #[arg(long, value_name = "TIME", default_value = "300s", value_parser = parse_span)]
    timeout: Duration,
    #[command(flatten)]
    selection: Selection,
}

impl Options {
    /// Exports a trace, and serves it until no client has fetched any of it for the timeout.
    pub(crate) fn run(&self) -> Outcome {
        let (port, timeout) = (self.port, self.timeout);
        let paths = self.selection.paths()?;
        let at = |error: io::Error| Failure::Usage(format!("127.0.0.1:{port}: {error}"));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(at)?;
        let host = listener.local_addr().map_err(at)?.to_string();
        let (trace, state) = to_temporary_file(Form::Perfetto, &paths, &self.selection)?;
        let server = Arc::new(Server::new(host, trace)?);
        let mut out = stdout();
        writeln!(out, "{PAGE}/#!/?url=http://{}{}", server.host, server.path)?;
        out.flush()?;
        let (sender, sent) = channel();
        thread::spawn(move || server.listen(&listener, &sender));
        let mut is_fetched = false;
        while sent.recv_timeout(timeout).is_ok() {
            is_fetched = true;
        }
        if !is_fetched {
            complain(format_args!("no page fetched the trace within {timeout:?}"));
        }
        Ok(state)
    }
}

struct Server {
    host: String,
    /// The trace's path.
    path: String,
    trace: Mutex<File>,
    /// The connections without a complete request, oldest first.
    waiting: Mutex<VecDeque<Arc<TcpStream>>>,
}

impl Server {
    fn new(host: String, trace: File) -> Result<Self, Failure> {
        let mut secret = [0; 16];
        let random = getrandom::fill(&mut secret);
        random.map_err(|error| Failure::Usage(format!("random numbers: {error}")))?;
        Ok(Self {
            host,
            path: format!("/{:032x}/trace", u128::from_be_bytes(secret)),
            trace: Mutex::new(trace),
            waiting: Mutex::default(),
        })
    }

    /// Serves each client in a separate thread. `sent` receives a message for each piece of the
    /// trace that was sent to a client.
    fn listen(self: Arc<Self>, listener: &TcpListener, sent: &Sender<()>) {
        loop {
            let Ok((client, _)) = listener.accept() else {
                // There may be too many open files.
                self.close_oldest(0);
                thread::sleep(Duration::from_millis(10));
                continue;
            };
            let client = Arc::new(client);
            lock(&self.waiting).push_back(Arc::clone(&client));
            self.close_oldest(MOST_WAITING);
            let (server, sent) = (Arc::clone(&self), sent.clone());
            // If there is no thread for a client, or its response is incomplete, it can retry.
            let _ = thread::Builder::new().spawn(move || server.serve(&client, &sent));
        }
    }

    /// Closes the oldest connection without a complete request if there are more than `most`, so
    /// that idle connections do not block others.
    fn close_oldest(&self, most: usize) {
        let mut waiting = lock(&self.waiting);
        if waiting.len() > most
            && let Some(client) = waiting.pop_front()
        {
            // The client may have disconnected.
            let _ = client.shutdown(Shutdown::Both);
        }
    }

    /// Answers a request.
    fn serve(&self, client: &Arc<TcpStream>, sent: &Sender<()>) -> io::Result<()> {
        let request = Request::read(client, &self.host);
        lock(&self.waiting).retain(|other| !Arc::ptr_eq(other, client));
        let request = request?;
        let mut client: &TcpStream = client;
        client.set_write_timeout(Some(PATIENCE))?;
        let mut words = request.line.split(' ');
        let (method, is_trace) = (words.next(), words.next() == Some(&self.path));
        match method {
            // A page from another host is a different site even if its host name resolves to this
            // machine.
            _ if !request.is_for_us => answer(&mut client, "403 Forbidden", 0),
            // Browsers first send an `OPTIONS` request to ask whether a public page may read from
            // this machine.
            Some("OPTIONS") if is_trace => answer(&mut client, "204 No Content", 0),
            Some("GET") if is_trace && !request.is_from_page => {
                answer(&mut client, "403 Forbidden", 0)
            }
            Some("GET") if is_trace => self.send(client, sent),
            _ => answer(&mut client, "404 Not Found", 0),
        }
    }

    fn send(&self, mut client: &TcpStream, sent: &Sender<()>) -> io::Result<()> {
        let size = lock(&self.trace).metadata()?.len();
        answer(&mut client, "200 OK", size)?;
        let mut piece = vec![0; PIECE];
        let mut offset = 0;
        while offset < size {
            let count = {
                let mut trace = lock(&self.trace);
                trace.seek(SeekFrom::Start(offset))?;
                trace.read(&mut piece)?
            };
            if count == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            client.write_all(&piece[..count])?;
            offset += count as u64;
            // If the command is exiting, the message has no receiver.
            let _ = sent.send(());
        }
        client.flush()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A client's request.
struct Request {
    /// The method, the path and the version.
    line: String,
    is_for_us: bool,
    is_from_page: bool,
}

impl Request {
    fn read(client: &TcpStream, host: &str) -> io::Result<Self> {
        let head = Head {
            client,
            end: Instant::now() + PATIENCE,
        };
        let mut lines = BufReader::new(head.take(LONGEST)).lines();
        let line = lines.next().transpose()?.unwrap_or_default();
        let (mut is_for_us, mut is_from_page) = (false, false);
        for line in lines {
            let line = line?;
            if line.is_empty() {
                break;
            }
            if let Some((name, value)) = line.split_once(':') {
                is_for_us |= name.eq_ignore_ascii_case("host") && value.trim() == host;
                is_from_page |= name.eq_ignore_ascii_case("origin") && value.trim() == PAGE;
            }
        }
        Ok(Self {
            line,
            is_for_us,
            is_from_page,
        })
    }
}

/// A reader with one deadline for the entire request, which a slow client cannot extend.
struct Head<'a> {
    client: &'a TcpStream,
    end: Instant,
}

impl Read for Head<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let left = self.end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.client.set_read_timeout(Some(left))?;
        self.client.read(bytes)
    }
}

fn answer(client: &mut impl Write, status: &str, size: u64) -> io::Result<()> {
    write!(
        client,
        "HTTP/1.1 {status}\r\nAccess-Control-Allow-Origin: {PAGE}\r\n\
         Access-Control-Allow-Private-Network: true\r\nVary: Origin\r\nCache-Control: no-store\r\n\
         Content-Type: application/octet-stream\r\nContent-Length: {size}\r\nConnection: close\r\n\r\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_has_a_single_deadline_for_all_bytes() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        client.write_all(b"GET /").unwrap();
        let server = listener.accept().unwrap().0;
        let mut head = Head {
            client: &server,
            end: Instant::now() + PATIENCE / 2,
        };
        let mut byte = [0];
        assert_eq!(head.read(&mut byte).unwrap(), 1);
        let left = server.read_timeout().unwrap().unwrap();
        assert!(left < PATIENCE, "the time limit is for all reads");
        head.end = Instant::now();
        let error = head.read(&mut byte).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
