//! `open`: serves the trace only to the intended page.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::atf;

const ORIGIN: &str = "Origin: https://ui.perfetto.dev\r\n";

/// Sends a request with a `Host` header and additional header lines, and returns the response.
fn ask(address: &str, request: &str, host: &str, more: &str) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "{request} HTTP/1.1\r\nHost: {host}\r\n{more}\r\n").unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    answer
}

/// A running `atf open`.
struct Server {
    child: Child,
    /// The host and port, such as `127.0.0.1:9001`.
    address: String,
    /// The path with the random number.
    path: String,
}

fn serve(timeout: &str) -> Server {
    let mut open = Command::new(assert_cmd::cargo::cargo_bin("atf"));
    open.args(["open", "--port", "0", "--timeout", timeout, "sample-small"]);
    open.current_dir(atf_samples::folder())
        .stdout(Stdio::piped());
    let mut child = open.spawn().unwrap();
    let mut line = String::new();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut line).unwrap();
    let url = line
        .strip_prefix("https://ui.perfetto.dev/#!/?url=http://")
        .unwrap();
    let (address, path) = url.trim_end().split_once('/').unwrap();
    Server {
        child,
        address: address.to_owned(),
        path: format!("/{path}"),
    }
}

impl Server {
    fn get(&self, more: &str) -> Vec<u8> {
        let request = format!("GET {}", self.path);
        ask(&self.address, &request, &self.address, more)
    }
}

#[test]
fn only_the_page_with_the_address_gets_the_trace_and_can_reload_it() {
    let mut server = serve("2s");
    let (address, path) = (&*server.address, &*server.path);
    let status = |request: &str, host: &str, more: &str| {
        let answer = String::from_utf8(ask(address, request, host, more)).unwrap();
        answer[9..12].to_owned()
    };
    // Test a different site that resolves to this machine, different paths, and a preflight
    // request.
    assert_eq!(
        status(&format!("GET {path}"), "evil.example", ORIGIN),
        "403"
    );
    let zeros = format!("GET /{}/trace", "0".repeat(32));
    for guess in ["GET /trace", "GET /manifest.json", "OPTIONS /trace", &zeros] {
        assert_eq!(status(guess, address, ORIGIN), "404", "{guess}");
    }
    assert_eq!(status(&format!("OPTIONS {path}"), address, ORIGIN), "204");
    assert_eq!(status("", address, ORIGIN), "404");
    // Test other pages. The browser sends no origin for a page that cannot read the response.
    let another = "Origin: https://evil.example\r\n";
    for more in ["", "Origin: null\r\n", another] {
        let answer = String::from_utf8(server.get(more)).unwrap();
        assert_eq!(&answer[9..12], "403", "{more}");
    }

    let answer = server.get(ORIGIN);
    let end = answer
        .windows(4)
        .position(|four| four == b"\r\n\r\n")
        .unwrap();
    let (head, trace) = answer.split_at(end + 4);
    let head = str::from_utf8(head).unwrap();
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    assert!(head.contains("\r\nAccess-Control-Allow-Origin: https://ui.perfetto.dev\r\n"));
    let export: Vec<_> = "export --format perfetto --out - sample-small"
        .split(' ')
        .collect();
    let exported = atf(&atf_samples::folder(), &export).stdout;
    assert!(trace == exported, "the same bytes");
    assert!(server.get(ORIGIN) == answer, "the page was loaded again");
    assert!(server.child.wait().unwrap().success(), "exits by itself");
}

#[test]
fn the_address_has_128_random_bits() {
    let mut servers = [serve("1ms"), serve("1ms")];
    let secrets = servers.each_ref().map(|server| {
        let secret = server.path.strip_prefix('/').unwrap();
        let secret = secret.strip_suffix("/trace").unwrap();
        assert_eq!(secret.len(), 32, "{secret}");
        u128::from_str_radix(secret, 16).unwrap()
    });
    assert_ne!(secrets[0], secrets[1]);
    for server in &mut servers {
        assert!(server.child.wait().unwrap().success());
    }
}

/// Opens more connections than the server keeps.
#[test]
fn idle_connections_do_not_delay_the_page() {
    let mut server = serve("2s");
    let idle: Vec<_> = (0..200)
        .map(|_| TcpStream::connect(&server.address).unwrap())
        .collect();
    let start = Instant::now();
    let answer = server.get(ORIGIN);
    assert!(answer.starts_with(b"HTTP/1.1 200 OK\r\n"));
    assert!(start.elapsed() < Duration::from_secs(5));
    drop(idle);
    assert!(server.child.wait().unwrap().success());
}
