//! Serves a trace to Perfetto UI, which fetches it once from 127.0.0.1; see
//! <https://perfetto.dev/docs/visualization/deep-linking-to-perfetto-ui>.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use atf_export::Form;

use crate::export::{Selection, to_temporary_file};
use crate::output::{Failure, Outcome, stdout};

/// The only page that may read the trace.
const PAGE: &str = "https://ui.perfetto.dev";
/// The maximum size of a request in bytes.
const LONGEST: u64 = 16 << 10;
/// The timeout for the whole request, and for each write of the response.
const PATIENCE: Duration = Duration::from_secs(10);

/// Exports a trace and serves it for one request.
pub(crate) fn run(paths: &[PathBuf], port: u16, selection: &Selection<'_>) -> Outcome {
    let at = |error: io::Error| Failure::Usage(format!("127.0.0.1:{port}: {error}"));
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(at)?;
    let host = listener.local_addr().map_err(at)?.to_string();
    let (mut file, state) = match to_temporary_file(Form::Perfetto, paths, selection)? {
        Ok(written) => written,
        Err(unreadable) => return Ok(unreadable),
    };
    let mut out = stdout();
    writeln!(out, "{PAGE}/#!/?url=http://{host}/trace")?;
    out.flush()?;
    loop {
        let (client, _) = listener.accept().map_err(at)?;
        // Continue after a client fails or disconnects early: the page may repeat its request.
        if serve(&client, &host, &mut file).unwrap_or(false) {
            return Ok(state);
        }
    }
}

/// Answers a request. Returns whether the client got the trace.
fn serve(client: &TcpStream, host: &str, trace: &mut File) -> io::Result<bool> {
    client.set_write_timeout(Some(PATIENCE))?;
    let head = Head {
        client,
        end: Instant::now() + PATIENCE,
    };
    let mut lines = BufReader::new(head.take(LONGEST)).lines();
    let request = lines.next().transpose()?.unwrap_or_default();
    let (mut is_for_us, mut is_from_page) = (false, false);
    for line in lines {
        let line = line?;
        if line.is_empty() {
            break;
        }
        // A page from another host is a different site even if its host name resolves to this
        // machine.
        if let Some((name, value)) = line.split_once(':') {
            is_for_us |= name.eq_ignore_ascii_case("host") && value.trim() == host;
            is_from_page |= name.eq_ignore_ascii_case("origin") && value.trim() == PAGE;
        }
    }
    let mut words = request.split(' ');
    let mut client = client;
    match (words.next(), words.next()) {
        _ if !is_for_us => answer(&mut client, "403 Forbidden", 0)?,
        // Browsers first send an `OPTIONS` request to ask whether a public page may read from this
        // machine.
        (Some("OPTIONS"), Some("/trace")) => answer(&mut client, "204 No Content", 0)?,
        // Another page cannot read the trace, but its request could use up the only response.
        (Some("GET"), Some("/trace")) if !is_from_page => answer(&mut client, "403 Forbidden", 0)?,
        (Some("GET"), Some("/trace")) => {
            trace.rewind()?;
            answer(&mut client, "200 OK", trace.metadata()?.len())?;
            io::copy(trace, &mut client)?;
            client.flush()?;
            return Ok(true);
        }
        _ => answer(&mut client, "404 Not Found", 0)?,
    }
    Ok(false)
}

/// A reader with one deadline for a whole request, so that a slow client cannot extend it.
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

    /// Returns a client that has sent a request, and the server's end of the connection.
    fn connection(request: &[u8]) -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        client.write_all(request).unwrap();
        (client, listener.accept().unwrap().0)
    }

    #[test]
    fn a_client_that_reads_nothing_does_not_hold_the_server() {
        let (_client, server) = connection(b"GET / HTTP/1.1\r\n\r\n");
        let mut trace = tempfile::tempfile().unwrap();
        assert!(!serve(&server, "localhost", &mut trace).unwrap());
        assert_eq!(server.write_timeout().unwrap(), Some(PATIENCE));
    }

    #[test]
    fn a_request_has_one_end_for_all_its_bytes() {
        let (_client, server) = connection(b"GET /");
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
