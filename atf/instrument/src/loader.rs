//! Asks the loader for a function's module.
//!
//! `dl_iterate_phdr` waits for one of the loader's locks. In a forked child, a thread that does not
//! exist there may hold that lock forever, so the lock-free `_dl_find_object` is tried first. The C
//! library has had it since version 2.35.

use std::env;
use std::ffi::{CStr, OsStr, c_char, c_int, c_void};
use std::mem::{self, MaybeUninit};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{self, PathBuf};
use std::ptr;
use std::slice;
use std::sync::atomic::{AtomicPtr, Ordering};

#[cfg(target_pointer_width = "32")]
use libc::{Elf32_Ehdr as FileHeader, Elf32_Phdr as ProgramHeader};
#[cfg(target_pointer_width = "64")]
use libc::{Elf64_Ehdr as FileHeader, Elf64_Phdr as ProgramHeader};

/// A module as the loader describes it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Loaded {
    pub(crate) path: PathBuf,
    pub(crate) base: usize,
    pub(crate) size: usize,
    pub(crate) build_id: String,
    /// Start and end of each executable segment.
    pub(crate) code: Vec<(usize, usize)>,
}

impl Loaded {
    pub(crate) fn contains(&self, function: usize) -> bool {
        let mut code = self.code.iter();
        code.any(|(start, end)| (*start..*end).contains(&function))
    }
}

/// Returns the loaded module that contains a function.
pub(crate) fn module(function: usize) -> Option<Loaded> {
    let contains = |module: &Loaded| module.contains(function);
    let found = found_object(function).filter(contains);
    found.or_else(|| loaded_modules().into_iter().find(contains))
}

type FindObject = unsafe extern "C" fn(*mut c_void, *mut Object) -> c_int;

/// The C library's `_dl_find_object`; null if it has none.
static FIND_OBJECT: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

/// Looks up the C library's lock-free function at startup, because `dlsym` takes a lock.
pub(crate) fn prepare() {
    // SAFETY: the name is a NUL-terminated string.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"_dl_find_object".as_ptr()) };
    FIND_OBJECT.store(found, Ordering::Release);
}

/// The result of `_dl_find_object`.
#[repr(C)]
struct Object {
    flags: u64,
    start: *const c_void,
    end: *const c_void,
    link_map: *const LinkMap,
    /// Members that differ between processors. The largest result has fewer.
    rest: [u64; 12],
}

/// The start of the loader's description of a module.
#[repr(C)]
struct LinkMap {
    address: usize,
    name: *const c_char,
}

/// Returns the module that contains a function, without waiting for a lock.
fn found_object(function: usize) -> Option<Loaded> {
    let find = FIND_OBJECT.load(Ordering::Acquire);
    // SAFETY: null is `None`, and any other value is the function of this name and type.
    let find = unsafe { mem::transmute::<*mut c_void, Option<FindObject>>(find) }?;
    let mut object = MaybeUninit::zeroed();
    let place = ptr::without_provenance_mut(function);
    // SAFETY: the call writes its result to the second pointer, and only compares the first.
    if unsafe { find(place, object.as_mut_ptr()) } != 0 {
        return None;
    }
    // SAFETY: zeros are valid for its members, and the call may have replaced them.
    let object: Object = unsafe { object.assume_init() };
    // SAFETY: the loader keeps the description while the module is loaded, and the module stays
    // loaded while one of its functions runs.
    let link_map = unsafe { object.link_map.as_ref() }?;
    let size = object.end.addr().checked_sub(object.start.addr())?;
    let headers = program_headers(object.start.cast(), size)?;
    described(link_map.address, link_map.name, headers)
}

/// Returns the program headers of a module. Linkers place them in the module's first page.
fn program_headers<'a>(start: *const u8, size: usize) -> Option<&'a [ProgramHeader]> {
    /// The loader maps at least one page.
    const PAGE: usize = 4096;
    let page = size.min(PAGE);
    if page < size_of::<FileHeader>() || !start.cast::<FileHeader>().is_aligned() {
        return None;
    }
    // SAFETY: the module's first page is mapped while the module is loaded, and zeros or any other
    // bytes are valid for the header's numbers.
    let header = unsafe { &*start.cast::<FileHeader>() };
    let offset = usize::try_from(header.e_phoff).ok()?;
    let count = usize::from(header.e_phnum);
    let end = count
        .checked_mul(size_of::<ProgramHeader>())?
        .checked_add(offset)?;
    let headers = start.wrapping_add(offset).cast::<ProgramHeader>();
    let is_elf = header.e_ident.starts_with(b"\x7fELF");
    let are_known = usize::from(header.e_phentsize) == size_of::<ProgramHeader>();
    if !is_elf || !are_known || end > page || !headers.is_aligned() {
        return None;
    }
    // SAFETY: the headers are aligned and part of the first page.
    Some(unsafe { slice::from_raw_parts(headers, count) })
}

/// Returns the modules that are currently loaded.
pub(crate) fn loaded_modules() -> Vec<Loaded> {
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
    if let Ok(address) = usize::try_from(info.dlpi_addr) {
        modules.extend(described(address, info.dlpi_name, headers));
    }
    0
}

/// Describes a module that is loaded at an address.
fn described(address: usize, name: *const c_char, headers: &[ProgramHeader]) -> Option<Loaded> {
    let extent = |header: &ProgramHeader| {
        let start = address.wrapping_add(usize::try_from(header.p_vaddr).ok()?);
        Some((
            start,
            start.checked_add(usize::try_from(header.p_memsz).ok()?)?,
        ))
    };
    let is_loaded = |header: &&ProgramHeader| header.p_type == libc::PT_LOAD;
    let segments = || headers.iter().filter(is_loaded);
    let extents = || segments().filter_map(extent);
    let start = extents().map(|(start, _)| start).min()?;
    let end = extents().map(|(_, end)| end).max()?;
    // Where the module's pages begin.
    let base = start & !0xfff;
    let code = segments().filter(|header| header.p_flags & libc::PF_X != 0);
    let notes = headers
        .iter()
        .filter(|header| header.p_type == libc::PT_NOTE);
    let build_id = notes.filter_map(extent).find_map(|(start, end)| {
        let size = end.saturating_sub(start);
        // SAFETY: the segment is mapped while the module is loaded, and the module stays loaded
        // during this call.
        let notes = unsafe { slice::from_raw_parts(ptr::with_exposed_provenance(start), size) };
        build_id(notes)
    });
    Some(Loaded {
        path: path(name),
        base,
        size: end.saturating_sub(base),
        build_id: build_id.unwrap_or_default(),
        code: code.filter_map(extent).collect(),
    })
}

/// Returns a module's path. The loader's name for the executable is empty.
fn path(name: *const c_char) -> PathBuf {
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
