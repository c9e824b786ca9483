//! Truncates a file while an implementation reads it.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use atf_samples::files::IndexFile;

use super::Graded;
use super::pool::{Pool, Work};
use super::task::{About, Task};
use super::warden::Ended;
use crate::protocol::{Feature, Manifest};
use crate::results::{CaseResult, Failure, Outcome, Role};

/// The number of events of the file, which is 2 MiB long.
const EVENTS: u64 = 65_536;
/// The size after the truncation: only the header is left.
const REST: u64 = 64;

/// A task to read a file that is truncated after a delay.
#[derive(Debug)]
struct Shrinking {
    bytes: Vec<u8>,
    wire: u8,
    after: Option<Duration>,
    written: OnceLock<Instant>,
    /// The time from writing the file to the program's end.
    took: OnceLock<Duration>,
}

impl Task for Shrinking {
    fn about(&self) -> About<'_> {
        About {
            role: Role::Read,
            name: "shrink",
            wire: self.wire,
            needs: &[Feature::Index],
            rules: &[],
            note: "",
        }
    }

    fn is_served(&self) -> bool {
        false
    }

    fn prepare(&self, place: &Path) -> io::Result<Vec<(&'static str, PathBuf)>> {
        let path = place.join("index.atf");
        fs::write(&path, &self.bytes)?;
        let file = File::options().write(true).open(&path)?;
        if let Some(after) = self.after {
            thread::spawn(move || {
                thread::sleep(after);
                file.set_len(REST)
            });
        }
        self.written.get_or_init(Instant::now);
        Ok(vec![("path", path)])
    }

    fn grade(&self, _manifest: &Manifest, ended: &Ended, _place: &Path) -> Graded {
        self.took
            .get_or_init(|| self.written.get().map_or(Duration::ZERO, Instant::elapsed));
        // The answer may be wrong, but a program must not die of it.
        match ended.exit_code() {
            Err(broken) => Outcome::failed(broken.class, broken.message).into(),
            Ok(_) => Outcome::Passed.into(),
        }
    }
}

/// Lets a reader read a file `rounds` times, and truncates the file at another moment each time.
/// Returns why it crashed, for each crash; `None` if it does not read single files.
///
/// # Errors
///
/// Returns an error if the run is interrupted.
pub fn shrink(
    pool: &Pool<'_>,
    manifest: &Manifest,
    rounds: u32,
) -> io::Result<Option<Vec<String>>> {
    let wire = manifest.wire.first().copied().unwrap_or(1);
    let bytes = IndexFile::finalized(wire, EVENTS).bytes();
    let shrinking = |after| Shrinking {
        bytes: bytes.clone(),
        wire,
        after,
        written: OnceLock::new(),
        took: OnceLock::new(),
    };
    let whole = shrinking(None);
    if !pool.asks(manifest, &whole) {
        return Ok(None);
    }
    let read = |task: &Shrinking| -> io::Result<CaseResult> {
        let work = Work {
            testee: 0,
            manifest,
            task,
        };
        Ok(pool.run(&[work], &|_, _| {})?.remove(0))
    };
    // The first run also starts the supervising process.
    read(&whole)?;
    let whole = shrinking(None);
    read(&whole)?;
    let time = whole.took.get().copied().unwrap_or_default();
    let mut crashes = Vec::new();
    for round in 0..rounds {
        let task = shrinking(Some(time * round / rounds));
        if let Outcome::Failed { class, message, .. } = read(&task)?.outcome
            && class == Failure::Crash
        {
            crashes.push(message);
        }
    }
    Ok(Some(crashes))
}
