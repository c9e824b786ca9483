//! The machine that the benchmarks run on, and its memory use.

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

/// Returns how many threads can run at a time.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Returns the system's load average over the last minute.
pub(crate) fn load() -> Option<f64> {
    let text = fs::read_to_string("/proc/loadavg").ok()?;
    text.split_whitespace().next()?.parse().ok()
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

/// Returns the system's folder for temporary files and the type of its file system, if it is known
/// to be on a disk.
pub(crate) fn disk_folder() -> Option<(PathBuf, String)> {
    let folder = std::env::temp_dir().canonicalize().ok()?;
    let mounts = fs::read_to_string("/proc/self/mounts").ok()?;
    let mounts = mounts.lines().filter_map(|line| {
        let mut fields = line.split(' ').skip(1);
        Some((Path::new(fields.next()?), fields.next()?))
    });
    let above = mounts.filter(|(path, _)| folder.starts_with(path));
    let (_, kind) = above.max_by_key(|(path, _)| path.components().count())?;
    let in_memory = matches!(kind, "tmpfs" | "ramfs");
    (!in_memory).then(|| (folder.clone(), kind.to_owned()))
}

/// Returns the peak memory use of this process in bytes.
pub(crate) fn peak_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}
