//! What a report has to say later than it is known.

use std::io::{self, BufWriter, Seek, Write};

use tempfile::{SpooledTempFile, spooled_tempfile};

/// How many bytes stay in memory; more go to an unnamed file, so that memory is bounded.
const IN_MEMORY: usize = 64 << 10;

/// Bytes that wait for their place in a report.
#[derive(Debug)]
pub(super) struct Spool(BufWriter<SpooledTempFile>);

impl Spool {
    pub(super) fn new() -> Self {
        Self(BufWriter::new(spooled_tempfile(IN_MEMORY)))
    }

    /// Gives `out` all that was written, and is empty again.
    pub(super) fn pour(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.0.flush()?;
        let file = self.0.get_mut();
        file.rewind()?;
        io::copy(file, out)?;
        file.rewind()?;
        file.set_len(0)
    }
}

impl Write for Spool {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
