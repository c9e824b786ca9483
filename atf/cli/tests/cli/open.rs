//! `open`: which requests get the trace.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use tempfile::TempDir;

use super::{atf, texts};

const ORIGIN: &str = "Origin: https://ui.perfetto.dev\r\n";

/// Sends a request with a `Host` header and additional header lines, and returns the response.
fn ask(address: &str, request: &str, host: &str, more: &str) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "{request} HTTP/1.1\r\nHost: {host}\r\n{more}\r\n").unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    answer
}

#[test]
fn an_unreadable_trace_is_not_served() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("x.atf"), "").unwrap();
    let output = atf(folder.path(), &["open", "x.atf"]);
    let (status, text, messages) = texts(&output);
    assert_eq!((status, text), (1, ""), "{messages}");
    assert!(messages.contains("x.atf"), "{messages}");
}

#[test]
fn one_page_gets_the_trace_once() {
    let mut open = Command::new(assert_cmd::cargo::cargo_bin("atf"));
    open.args(["open", "--port", "0", "sample-small"]);
    open.current_dir(atf_samples::folder())
        .stdout(Stdio::piped());
    let mut child = open.spawn().unwrap();
    let mut line = String::new();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut line).unwrap();
    let url = line
        .strip_prefix("https://ui.perfetto.dev/#!/?url=http://")
        .unwrap();
    let address = url.strip_suffix("/trace\n").unwrap();

    let status = |request: &str, host: &str, more: &str| {
        let answer = String::from_utf8(ask(address, request, host, more)).unwrap();
        answer[9..12].to_owned()
    };
    // Test a different site that resolves to this machine, a different path, and a preflight
    // request.
    assert_eq!(status("GET /trace", "evil.example", ORIGIN), "403");
    assert_eq!(status("GET /manifest.json", address, ORIGIN), "404");
    assert_eq!(status("OPTIONS /trace", address, ORIGIN), "204");
    assert_eq!(status("", address, ORIGIN), "404");
    // Test other pages. The browser sends no origin for a page that cannot read the response.
    let another = "Origin: https://evil.example\r\n";
    for more in ["", "Origin: null\r\n", another] {
        assert_eq!(status("GET /trace", address, more), "403", "{more}");
    }

    let answer = ask(address, "GET /trace", address, ORIGIN);
    let end = answer
        .windows(4)
        .position(|four| four == b"\r\n\r\n")
        .unwrap();
    let (head, trace) = answer.split_at(end + 4);
    let head = str::from_utf8(head).unwrap();
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    assert!(head.contains("\r\nAccess-Control-Allow-Origin: https://ui.perfetto.dev\r\n"));
    let export = [
        "export",
        "--format",
        "perfetto",
        "--out",
        "-",
        "sample-small",
    ];
    assert!(
        trace == atf(&atf_samples::folder(), &export).stdout,
        "the same bytes"
    );
    assert!(child.wait().unwrap().success(), "it ends by itself");
}
