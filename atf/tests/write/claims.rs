//! Tests statements about writers that no file can demonstrate. `held_by` in the spec refers to
//! these tests.

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

use atf::Wire;
use atf::write::{Memory, StorageFile, ThreadWriter, WriteOptions};

use super::put;

/// The log of writes: file name, offset and number of bytes.
type Log = Arc<Mutex<Vec<(String, u64, u64)>>>;

/// A file, and the log of the writes to it.
#[derive(Debug)]
struct LoggedFile(Box<dyn StorageFile>, String, Log);

impl StorageFile for LoggedFile {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        let written = self.0.write_at(offset, bytes)?;
        let entry = (self.1.clone(), offset, written as u64);
        self.2.lock().unwrap().push(entry);
        Ok(written)
    }
    fn set_size(&mut self, size: u64) -> io::Result<()> {
        self.0.set_size(size)
    }
    fn sync(&mut self) -> io::Result<()> {
        self.0.sync()
    }
}

/// S0, S1, S3 and S4 say that a writer only appends, except that it rewrites the header at the end.
#[test]
fn a_writer_appends_and_then_rewrites_the_headers() {
    for wire in [Wire::V1, Wire::V2] {
        let (memory, log) = (Memory::new(), Log::default());
        let logs = Arc::clone(&log);
        memory.wrap(move |path, file| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            Box::new(LoggedFile(file, name, Arc::clone(&logs)))
        });
        let options = WriteOptions::default().wire(wire).buffer_size(4096);
        let storage = Arc::new(memory.clone());
        let mut writer = ThreadWriter::create_on(storage, "thread_0", 0, &options).unwrap();
        for seq in 0..2000 {
            put(&mut writer, seq, Some(&[7; 100])).unwrap();
        }
        writer.finalize().unwrap();

        for name in ["index.atf", "detail.atf"] {
            let log = log.lock().unwrap();
            let writes: Vec<_> = log.iter().filter(|(file, ..)| file == name).collect();
            let ((_, offset, size), appends) = writes.split_last().unwrap();
            assert_eq!((*offset, *size), (0, 64), "{name}: the header comes last");
            assert!(appends.len() > 10, "{name}: {} writes", appends.len());
            let mut end = 0;
            for (_, offset, size) in appends {
                assert_eq!(*offset, end, "{name}: a write that does not append");
                end += size;
            }
            let bytes = memory.bytes(Path::new("thread_0").join(name)).unwrap();
            assert_eq!(bytes.len() as u64, end, "{name}");
        }
    }
}

/// S1 and S4 say that a link is stored in bytes that every event contains anyway.
#[test]
fn links_take_no_space_in_the_index() {
    for wire in [Wire::V1, Wire::V2] {
        let folder = tempfile::tempdir().unwrap();
        let size = |name: &str, is_linked: bool| {
            let folder = folder.path().join(name);
            let options = WriteOptions::default().wire(wire);
            let mut writer = ThreadWriter::create(&folder, 0, &options).unwrap();
            for seq in 0..100 {
                put(&mut writer, seq, is_linked.then_some(&[])).unwrap();
            }
            writer.finalize().unwrap();
            std::fs::metadata(folder.join("index.atf")).unwrap().len()
        };
        // The file contains a header, events and a footer.
        assert_eq!(size("with", true), 64 + 100 * 32 + 64);
        assert_eq!(size("without", false), 64 + 100 * 32 + 64);
    }
}
