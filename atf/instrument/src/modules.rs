//! Finds the module that a function belongs to.

use std::env;
use std::ffi::{CStr, OsStr, c_int, c_void};
use std::mem;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{self, PathBuf};
use std::ptr;
use std::slice;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock};

use atf::manifest::Module;
use atf::record::Recording;
#[cfg(target_pointer_width = "32")]
use libc::Elf32_Phdr as ProgramHeader;
#[cfg(target_pointer_width = "64")]
use libc::Elf64_Phdr as ProgramHeader;

use crate::functions;
use crate::guest::lock;
use crate::marks::{Functions, Marks};
use crate::settings::Settings;

/// The address range of a module's code.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Range {
    start: usize,
    end: usize,
    /// The module's load address.
    base: usize,
    /// The module's id; 0 for code without a module.
    module_id: u32,
    /// `None` if the module is not recorded.
    functions: Option<Functions>,
    /// How many modules had been unloaded when this one was looked up.
    unloaded: u32,
}

impl Range {
    /// A range that contains no address.
    pub(crate) const NONE: Self = Self {
        start: 0,
        end: 0,
        base: 0,
        module_id: 0,
        functions: Some(Functions::Alike),
        unloaded: 0,
    };

    pub(crate) fn contains(&self, function: usize) -> bool {
        (self.start..self.end).contains(&function)
            && self.unloaded == UNLOADED.load(Ordering::Relaxed)
    }

    /// Returns a function's marks and its id, composed of the module's id and the function's offset
    /// from the load address. `None` if the function is not recorded.
    #[inline]
    pub(crate) fn function(&self, function: usize) -> Option<(u64, Marks)> {
        #[allow(clippy::cast_possible_truncation, reason = "ids have 32 bits of it")]
        let offset = function.wrapping_sub(self.base) as u32;
        let marks = match self.functions? {
            Functions::Alike => Marks::NONE,
            Functions::Marked(table) => table.marks(offset),
        };
        let id = u64::from(self.module_id) << 32 | u64::from(offset);
        (!marks.contains(Marks::LEFT_OUT)).then_some((id, marks))
    }
}

/// How many times `dlclose` was called.
static UNLOADED: AtomicU32 = AtomicU32::new(0);

/// The modules of the process.
pub(crate) struct Modules {
    /// The code of modules whose functions have been called, ordered by address. The vector is only
    /// ever replaced as a whole and never freed, because threads search it without a lock.
    ranges: AtomicPtr<Vec<Range>>,
    /// Modules whose functions have been called, including unloaded ones, in id order.
    known: Mutex<Vec<Known>>,
}

/// A module with an id.
#[derive(Debug)]
struct Known {
    loaded: Loaded,
    /// `None` if the module is not recorded.
    functions: Option<Functions>,
}

/// A module as the loader describes it.
#[derive(Debug, PartialEq, Eq)]
struct Loaded {
    path: PathBuf,
    base: usize,
    size: usize,
    build_id: String,
    /// Start and end of each executable segment.
    code: Vec<(usize, usize)>,
}

impl Modules {
    pub(crate) fn new() -> Self {
        Self {
            ranges: AtomicPtr::new(ptr::null_mut()),
            known: Mutex::default(),
        }
    }

    /// Returns the module of a function, asking the loader if the function is not in a known
    /// module.
    #[cold]
    pub(crate) fn find(
        &self,
        function: usize,
        settings: &'static Settings,
        recording: &Mutex<Option<Recording>>,
    ) -> Range {
        let unloaded = UNLOADED.load(Ordering::Acquire);
        let search = || {
            let ranges = self.ranges();
            let next = ranges.partition_point(|range| range.start <= function);
            let range = ranges.get(next.checked_sub(1)?)?;
            (function < range.end && range.unloaded == unloaded).then_some(*range)
        };
        search().unwrap_or_else(|| {
            self.add_module(function, unloaded, settings, recording);
            // This code is not in any loaded module. It may come from a JIT compiler.
            search().unwrap_or(Range {
                start: function,
                end: function.saturating_add(1),
                unloaded,
                ..Range::NONE
            })
        })
    }

    fn ranges(&self) -> &[Range] {
        // SAFETY: null, or a leaked box.
        let ranges = unsafe { self.ranges.load(Ordering::Acquire).as_ref() };
        ranges.map_or(&[], Vec::as_slice)
    }

    /// Asks the loader for a function's module. Gives a new module an id and adds it to the
    /// manifest.
    fn add_module(
        &self,
        function: usize,
        unloaded: u32,
        settings: &'static Settings,
        recording: &Mutex<Option<Recording>>,
    ) {
        let contains = |loaded: &Loaded| {
            let mut code = loaded.code.iter();
            code.any(|(start, end)| (*start..*end).contains(&function))
        };
        let Some(module) = loaded_modules().into_iter().find(contains) else {
            return;
        };
        let mut known = lock(&self.known);
        let place = known.iter().position(|known| known.loaded == module);
        let module_id = module_id(place.unwrap_or(known.len()));
        let functions = match place.and_then(|place| known.get(place)) {
            Some(known) => known.functions,
            None => functions::of(&module.path, &module.build_id, settings),
        };
        let mut ranges = self.ranges().to_vec();
        ranges.retain(|range| range.unloaded == unloaded && range.module_id != module_id);
        ranges.extend(module.code.iter().map(|(start, end)| Range {
            start: *start,
            end: *end,
            base: module.base,
            module_id,
            functions,
            unloaded,
        }));
        ranges.sort_by_key(|range| range.start);
        self.ranges
            .store(Box::into_raw(Box::new(ranges)), Ordering::Release);
        if place.is_none() {
            known.push(Known {
                loaded: module,
                functions,
            });
            let modules = known.iter().enumerate().map(described).collect();
            if let Some(recording) = &*lock(recording) {
                recording.session().set_modules(modules);
                // Write the manifest right away, because functions cannot be identified without the
                // modules. Any error is reported at the end.
                let _ = recording.write_manifest();
            }
        }
    }
}

/// Describes a module for the manifest.
fn described((place, known): (usize, &Known)) -> Module {
    let loaded = &known.loaded;
    let module = Module::new(module_id(place))
        .path(loaded.path.to_string_lossy())
        .base_address(loaded.base as u64)
        .size(loaded.size as u64)
        .function_offsets(true);
    match loaded.build_id.as_str() {
        "" => module,
        build_id => module.uuid(build_id),
    }
}

/// Returns a module's id. Modules are numbered from 1; 0 means code without a module.
fn module_id(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX).saturating_add(1)
}

/// Returns the modules that are currently loaded.
fn loaded_modules() -> Vec<Loaded> {
    let mut modules = Vec::new();
    // SAFETY: the callback gets only this pointer, which is valid during the call.
    unsafe { libc::dl_iterate_phdr(Some(add), (&raw mut modules).cast()) };
    modules
}

/// Adds a module to the vector of [`loaded_modules`].
unsafe extern "C" fn add(
    info: *mut libc::dl_phdr_info,
    _size: usize,
    modules: *mut c_void,
) -> c_int {
    // SAFETY: `loaded_modules` passes a pointer to its vector.
    let modules = unsafe { &mut *modules.cast::<Vec<Loaded>>() };
    // SAFETY: the loader passes a valid pointer.
    let info = unsafe { &*info };
    if info.dlpi_phdr.is_null() {
        return 0;
    }
    // SAFETY: the loader keeps the module's program headers in memory.
    let headers = unsafe { slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
    let address =
        |header: &ProgramHeader| usize::try_from(info.dlpi_addr.wrapping_add(header.p_vaddr));
    let extent = |header: &ProgramHeader| {
        let start = address(header).ok()?;
        Some((
            start,
            start.checked_add(usize::try_from(header.p_memsz).ok()?)?,
        ))
    };
    let segments = || {
        headers
            .iter()
            .filter(|header| header.p_type == libc::PT_LOAD)
    };
    let start = segments().filter_map(extent).map(|(start, _)| start).min();
    let end = segments().filter_map(extent).map(|(_, end)| end).max();
    let (Some(start), Some(end)) = (start, end) else {
        return 0;
    };
    // Where the module's pages begin.
    let base = start & !0xfff;
    let code = segments().filter(|header| header.p_flags & libc::PF_X != 0);
    let notes = headers
        .iter()
        .filter(|header| header.p_type == libc::PT_NOTE);
    let build_id = notes.filter_map(extent).find_map(|(start, end)| {
        let size = end.saturating_sub(start);
        // SAFETY: the segment is mapped while the module is loaded, and the module stays loaded
        // during the callback.
        let notes = unsafe { slice::from_raw_parts(ptr::with_exposed_provenance(start), size) };
        build_id(notes)
    });
    modules.push(Loaded {
        path: path(info.dlpi_name),
        base,
        size: end.saturating_sub(base),
        build_id: build_id.unwrap_or_default(),
        code: code.filter_map(extent).collect(),
    });
    0
}

/// Returns a module's path. The loader's name for the executable is empty.
fn path(name: *const libc::c_char) -> PathBuf {
    if name.is_null() {
        return PathBuf::new();
    }
    // SAFETY: the loader passes a valid string.
    let name = unsafe { CStr::from_ptr(name) };
    if name.is_empty() {
        return env::current_exe().unwrap_or_default();
    }
    let path = PathBuf::from(OsStr::from_bytes(name.to_bytes()));
    // The program may change its working directory before the file is opened.
    path::absolute(&path).unwrap_or(path)
}

/// Finds the build id among a module's notes. Each note consists of the sizes of its name and
/// contents, a type, and the name and contents, each padded to 4 bytes.
fn build_id(notes: &[u8]) -> Option<String> {
    const GNU_BUILD_ID: u32 = 3;
    let mut rest = notes;
    loop {
        let (head, tail) = rest.split_first_chunk::<12>()?;
        let (words, _) = head.as_chunks();
        let [name_size, size, kind] =
            [0, 1, 2].map(|word: usize| words.get(word).copied().map(u32::from_ne_bytes));
        let (name_size, size) = (
            usize::try_from(name_size?).ok()?,
            usize::try_from(size?).ok()?,
        );
        let contents = tail.get(name_size.next_multiple_of(4)..)?;
        if kind? == GNU_BUILD_ID && tail.starts_with(b"GNU\0") {
            let id = contents.get(..size)?;
            return Some(id.iter().map(|byte| format!("{byte:02x}")).collect());
        }
        rest = contents.get(size.next_multiple_of(4)..)?;
    }
}

type Dlclose = unsafe extern "C" fn(*mut c_void) -> c_int;

/// Unloads a module. Its addresses may later belong to another module.
///
/// # Safety
///
/// The caller must meet the requirements of the loader's `dlclose`, which this function calls.
#[unsafe(export_name = "dlclose")]
pub(crate) unsafe extern "C" fn dlclose(handle: *mut c_void) -> c_int {
    static NEXT: OnceLock<Option<Dlclose>> = OnceLock::new();
    let next = NEXT.get_or_init(|| {
        // SAFETY: the name is a NUL-terminated string.
        let next = unsafe { libc::dlsym(libc::RTLD_NEXT, c"dlclose".as_ptr()) };
        // SAFETY: null is `None`, and any other value is the function of this name and type.
        unsafe { mem::transmute::<*mut c_void, Option<Dlclose>>(next) }
    });
    // SAFETY: the caller meets the requirements of `dlclose`.
    let status = next.map_or(-1, |next| unsafe { next(handle) });
    UNLOADED.fetch_add(1, Ordering::Release);
    status
}
