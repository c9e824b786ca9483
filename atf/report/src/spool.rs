//! Stores data that arrives before the report can use it.

use std::io::{self, BufWriter, Seek, Write};

use tempfile::{SpooledTempFile, spooled_tempfile};

/// The maximum number of bytes to keep in memory. The rest goes to an unnamed file.
const IN_MEMORY: usize = 64 << 10;

/// Bytes that are written to a report later.
#[derive(Debug)]
pub(crate) struct Spool(BufWriter<SpooledTempFile>);

impl Spool {
    pub(crate) fn new() -> Self {
        Self(BufWriter::new(spooled_tempfile(IN_MEMORY)))
    }

    /// Moves everything written so far to `out`.
    pub(crate) fn pour(&mut self, out: &mut dyn Write) -> io::Result<()> {
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
