//! Tests that no batch is larger than Arrow allows, even with long names.

use atf::manifest::Symbol;
use atf::write::{Event, SessionWriter};
use atf_tables::{Options, Session, Table};

/// The size of the name in bytes.
const NAME: usize = 32 << 10;

/// Creates a session with `calls` open calls of one function with a long name.
fn session(calls: u64) -> (tempfile::TempDir, Session) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pid_42");
    let writer = SessionWriter::create(&path, &Default::default()).unwrap();
    let mut thread = writer.thread(0).unwrap();
    for at in 0..calls {
        let event = Event::new(at, 7, atf::EventKind::CALL, 1);
        thread.write(&event).unwrap();
    }
    thread.finalize().unwrap();
    writer.set_symbols(vec![Symbol::new(7, "n".repeat(NAME))]);
    writer.finalize().unwrap();
    (folder, Session::open(path).unwrap())
}

fn without_dictionaries() -> Options {
    let mut options = Options::default();
    options.dictionaries = false;
    options
}

#[test]
fn plain_text_names_count_towards_the_batch_size() {
    let (_folder, session) = session(1000);
    let rows = |options: &Options| -> Vec<usize> {
        let stream = session.stream(Table::Events, options).unwrap();
        stream.map(|batch| batch.unwrap().num_rows()).collect()
    };
    // A batch of 16 MiB holds 512 names of 32 KiB.
    assert_eq!(rows(&without_dictionaries()), [512, 488]);
    assert_eq!(rows(&Options::default()), [1000]);
}

#[test]
fn a_batch_that_arrow_cannot_hold_is_an_error() {
    // At the end of the thread, all its calls end at once, and their names take 2 GiB.
    let (_folder, session) = session(65_536);
    let options = without_dictionaries();
    let mut stream = session.stream(Table::Calls, &options).unwrap();
    let error = stream.next().unwrap().unwrap_err().to_string();
    assert!(error.contains("2,147,483,647 bytes"), "{error}");
    assert!(stream.next().is_none());
}
