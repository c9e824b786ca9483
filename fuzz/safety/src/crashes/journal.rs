//! In-memory storage that records all operations, and the states in which a power loss can leave a
//! file.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use atf::write::{Memory, StorageFile};

/// A step that changes or synchronizes a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Op {
    /// Bytes were written at an offset.
    Write(usize, Vec<u8>),
    /// The file was truncated or extended.
    SetSize(usize),
    /// All earlier steps became durable.
    Sync,
    /// A call that guarantees this number of durable events has returned.
    Promise(u64),
}

/// The operations on files in memory.
#[derive(Debug, Clone, Default)]
pub struct Journal {
    ops: Arc<Mutex<BTreeMap<PathBuf, Vec<Op>>>>,
}

impl Journal {
    /// Returns files in memory whose operations go to this journal.
    pub(super) fn memory(&self) -> Memory {
        let (memory, journal) = (Memory::new(), self.clone());
        memory.wrap(move |path, file| {
            let (path, journal) = (path.to_path_buf(), journal.clone());
            Box::new(File {
                file,
                path,
                journal,
            })
        });
        memory
    }

    /// Returns the operations on a file, in order.
    #[must_use]
    pub fn ops(&self, path: &Path) -> Vec<Op> {
        lock(&self.ops).get(path).cloned().unwrap_or_default()
    }

    /// Records that a call that guarantees this number of durable events in a file has returned.
    pub(super) fn promise(&self, path: &Path, count: u64) {
        self.note(path, Op::Promise(count));
    }

    fn note(&self, path: &Path, op: Op) {
        let mut ops = lock(&self.ops);
        ops.entry(path.to_path_buf()).or_default().push(op);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Debug)]
struct File {
    file: Box<dyn StorageFile>,
    path: PathBuf,
    journal: Journal,
}

impl File {
    fn note(&self, op: Op) {
        self.journal.note(&self.path, op);
    }
}

impl StorageFile for File {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write_at(offset, bytes)?;
        let offset = usize::try_from(offset).map_err(io::Error::other)?;
        self.note(Op::Write(offset, bytes[..written].to_vec()));
        Ok(written)
    }

    fn set_size(&mut self, size: u64) -> io::Result<()> {
        self.file.set_size(size)?;
        self.note(Op::SetSize(
            usize::try_from(size).map_err(io::Error::other)?,
        ));
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.sync()?;
        self.note(Op::Sync);
        Ok(())
    }
}

/// The states in which power loss can leave a file: all synchronized data, plus any part of later
/// writes.
///
/// Each sector contains either what was last synchronized, or the data of any later write to it.
/// The file has any size that it has had since the last synchronization. Sectors are chosen
/// independently of each other, whatever the order of the writes.
#[derive(Debug)]
pub struct States {
    sector: usize,
    /// The content of the file at the last synchronization.
    lasting: Vec<u8>,
    /// The possible contents of each sector, starting with the synchronized content.
    sectors: Vec<Vec<Vec<u8>>>,
    /// The possible sizes of the file, starting with the synchronized size.
    sizes: Vec<usize>,
}

impl States {
    /// Returns the states after these steps, with sectors of `sector` bytes.
    #[must_use]
    pub fn after(ops: &[Op], sector: usize) -> Self {
        let last = ops.iter().rposition(|op| *op == Op::Sync);
        let synced = last.map_or(0, |at| at + 1);
        let mut bytes = Vec::new();
        for op in &ops[..synced] {
            apply(&mut bytes, op);
        }
        let mut states = Self {
            sector,
            sizes: vec![bytes.len()],
            sectors: Vec::new(),
            lasting: bytes.clone(),
        };
        for op in &ops[synced..] {
            apply(&mut bytes, op);
            states.sizes.push(bytes.len());
            states.note(&bytes, op);
        }
        states.sizes.dedup();
        states
    }

    /// Returns the synchronized size.
    #[must_use]
    pub fn lasting(&self) -> usize {
        self.lasting.len()
    }

    fn note(&mut self, bytes: &[u8], op: &Op) {
        let Op::Write(offset, written) = op else {
            return;
        };
        let end = offset + written.len();
        for at in offset / self.sector..end.div_ceil(self.sector) {
            while self.sectors.len() <= at {
                let lasting = part(&self.lasting, self.sectors.len(), self.sector);
                self.sectors.push(vec![lasting]);
            }
            self.sectors[at].push(part(bytes, at, self.sector));
        }
    }

    /// Returns the number of states.
    #[must_use]
    pub fn count(&self) -> u64 {
        let choices = self.sectors.iter().map(|sector| sector.len() as u64);
        choices.fold(self.sizes.len() as u64, u64::saturating_mul)
    }

    /// Returns state `number`, counted from 0.
    #[must_use]
    pub fn state(&self, mut number: u64) -> Vec<u8> {
        let mut choose = |count: usize| {
            let chosen = number % count as u64;
            number /= count as u64;
            usize::try_from(chosen).unwrap_or(0)
        };
        let size = self.sizes[choose(self.sizes.len())];
        let mut bytes: Vec<u8> = Vec::new();
        for sector in &self.sectors {
            bytes.extend(&sector[choose(sector.len())]);
        }
        if let Some(rest) = self.lasting.get(bytes.len()..) {
            bytes.extend(rest);
        }
        bytes.resize(size, 0);
        bytes
    }
}

/// Returns a sector of a file, padded with zeros.
fn part(bytes: &[u8], at: usize, size: usize) -> Vec<u8> {
    let start = bytes.len().min(at * size);
    let end = bytes.len().min((at + 1) * size);
    let mut part = bytes[start..end].to_vec();
    part.resize(size, 0);
    part
}

fn apply(bytes: &mut Vec<u8>, op: &Op) {
    match op {
        Op::Write(offset, written) => {
            let end = offset + written.len();
            bytes.resize(bytes.len().max(end), 0);
            bytes[*offset..end].copy_from_slice(written);
        }
        Op::SetSize(size) => bytes.resize(*size, 0),
        Op::Sync | Op::Promise(_) => {}
    }
}
