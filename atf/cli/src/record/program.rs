//! Determines from a program's file whether the library can be preloaded into it.

use std::env;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use object::Endianness;
use object::elf::{FileHeader32, FileHeader64, PT_INTERP};
use object::read::elf::{FileHeader, ProgramHeader as _};
use object::read::{FileKind, ReadCache};

/// The maximum length of a loader's path that the system accepts.
const MOST_PATH: u64 = 4096;

/// Why the library cannot be preloaded into a program.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Obstacle {
    /// The program has no loader.
    Static,
    /// The program uses musl's loader, with this path, but the library is for glibc. The loader
    /// would exit with status 127 instead of running the program.
    Musl(String),
}

impl Obstacle {
    /// Determines why a program cannot be recorded. Searches for its file as the system would.
    /// Returns `None` if there is no obstacle, or if the program is not an ELF file, such as a script.
    pub(super) fn find(program: &OsStr, library: &Path) -> Option<Self> {
        let data = ReadCache::new(File::open(file(program)?).ok()?);
        let found = match FileKind::parse(&data).ok()? {
            FileKind::Elf32 => read::<FileHeader32<Endianness>>(&data),
            FileKind::Elf64 => read::<FileHeader64<Endianness>>(&data),
            _ => None,
        };
        found.filter(|it| *it == Self::Static || needs_glibc(library))
    }

    /// Describes the obstacle in text that follows the program's name.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Static => {
                "is linked statically: link it with libatf_instrument.a, or dynamically".to_owned()
            }
            Self::Musl(loader) => format!(
                "is a musl program, which {loader} loads, and the library is for glibc: build the program for glibc"
            ),
        }
    }
}

/// Reads the loader's path from an ELF file.
fn read<Elf: FileHeader<Endian = Endianness>>(data: &ReadCache<File>) -> Option<Obstacle> {
    let header = Elf::parse(data).ok()?;
    let endian = header.endian().ok()?;
    let mut segments = header.program_headers(endian, data).ok()?.iter();
    let Some(segment) = segments.find(|it| it.p_type(endian) == PT_INTERP) else {
        return Some(Obstacle::Static);
    };
    if segment.p_filesz(endian).into() > MOST_PATH {
        return None;
    }
    let path = segment.interpreter(endian, data).ok()??;
    let path = String::from_utf8_lossy(path);
    let is_musl = path.rsplit('/').next()?.starts_with("ld-musl-");
    is_musl.then(|| Obstacle::Musl(path.into_owned()))
}

/// Returns whether the library was built for glibc.
fn needs_glibc(library: &Path) -> bool {
    let name = b"\0libc.so.6\0";
    let bytes = fs::read(library).unwrap_or_default();
    bytes.windows(name.len()).any(|window| window == name)
}

/// Finds the program's file. A name without a slash is looked up in the folders of `PATH`.
fn file(program: &OsStr) -> Option<PathBuf> {
    if program.as_bytes().contains(&b'/') {
        return Some(program.into());
    }
    let folders = env::var_os("PATH")?;
    let mut files = env::split_paths(&folders).map(|folder| folder.join(program));
    files.find(|file| file.is_file())
}
