//! Finds the module that a function belongs to.

use std::ffi::{c_int, c_void};
use std::mem;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock};

use atf::manifest::Module;
use atf::record::Recording;

use crate::functions::{self, Found};
use crate::guest::lock;
use crate::loader::{self, Loaded};
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
    /// Modules whose symbols were read when the recording started, and whose functions have not
    /// been called.
    read: Mutex<Vec<(Loaded, Found)>>,
}

/// A module with an id.
#[derive(Debug)]
struct Known {
    loaded: Loaded,
    /// `None` if the module is not recorded.
    functions: Option<Functions>,
}

impl Modules {
    pub(crate) fn new() -> Self {
        Self {
            ranges: AtomicPtr::new(ptr::null_mut()),
            known: Mutex::default(),
            read: Mutex::default(),
        }
    }

    /// Reads the symbols of all loaded modules if they are needed, so that no recorded call has to
    /// wait for them. Even a module without hooks may be needed: a C++ function that several
    /// modules define has the same address in all of them.
    pub(crate) fn read_ahead(&self, settings: &'static Settings) {
        if !settings.marks_functions() {
            return;
        }
        let own = (dlclose as Dlclose as *const ()).addr();
        let mut read = lock(&self.read);
        for (place, module) in loader::loaded_modules().into_iter().enumerate() {
            // The first module is the program, which may contain this library.
            if place == 0 || !module.contains(own) {
                let found = functions::of(&module.path, &module.build_id, settings);
                read.push((module, found));
            }
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
        let Some(module) = loader::module(function) else {
            return;
        };
        let mut known = lock(&self.known);
        let place = known.iter().position(|known| known.loaded == module);
        let module_id = module_id(place.unwrap_or(known.len()));
        let functions = match place.and_then(|place| known.get(place)) {
            Some(known) => known.functions,
            None => {
                let mut read = lock(&self.read);
                let place = read.iter().position(|(read, _)| *read == module);
                let found = place.map(|place| read.swap_remove(place).1);
                drop(read);
                let read = || functions::of(&module.path, &module.build_id, settings);
                found.unwrap_or_else(read).told()
            }
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
