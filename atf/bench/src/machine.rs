//! The machine that the benchmarks run on.

use std::fs;
use std::path::{Path, PathBuf};

/// Returns the CPU's name and the number of cores, for the table's caption.
pub(crate) fn name() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        let line = info.lines().find(|line| line.starts_with(name))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let model = field("model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    let generation = match (field("cpu family"), field("model\t")) {
        (Some(family), Some(number)) => format!(" (family {family}, model {number})"),
        _ => String::new(),
    };
    let cores = cores();
    let os = std::env::consts::OS;
    format!("{model}{generation}, {cores} cores, {os}")
}

/// Returns how many threads can run at once.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Returns the default folder for the benchmarks, which is in memory if the system has such a
/// folder.
pub(crate) fn memory_folder() -> PathBuf {
    let shm = Path::new("/dev/shm");
    if shm.is_dir() {
        shm.to_path_buf()
    } else {
        std::env::temp_dir()
    }
}
