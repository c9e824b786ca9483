//! Finds the module that a function belongs to.

use std::ffi::{c_int, c_void};
use std::iter;
use std::mem;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock};

use atf::manifest::Module;
use atf_record::Recording;

use crate::functions::{self, Found};
use crate::guest::lock;
use crate::loader::{self, Loaded};
use crate::marks::{Functions, Marks};
use crate::settings::Settings;
use crate::tsan;

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

/// A range in a [`Level`].
#[derive(Debug)]
struct Listed {
    range: Range,
    /// How many modules had been unloaded when this one was last looked up, instead of the number
    /// in `range`.
    unloaded: AtomicU32,
}

/// Some of the ranges that all threads share, ordered by address.
#[derive(Debug)]
struct Level {
    ranges: Vec<Listed>,
    /// The next level, which is larger.
    next: Option<&'static Level>,
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

impl Listed {
    fn new(range: Range, unloaded: u32) -> Self {
        let unloaded = AtomicU32::new(unloaded);
        Self { range, unloaded }
    }

    fn unloaded(&self) -> u32 {
        self.unloaded.load(Ordering::Acquire)
    }
}

impl Level {
    /// Returns the range of a function. Ranges of unloaded modules may contain it too.
    fn find(&self, function: usize, unloaded: u32) -> Option<Range> {
        let next = self
            .ranges
            .partition_point(|listed| listed.range.start <= function);
        let mut before = self.ranges.get(..next)?.iter().rev();
        let is_found =
            |listed: &&Listed| function < listed.range.end && listed.unloaded() == unloaded;
        before.find(is_found).map(|listed| Range {
            unloaded,
            ..listed.range
        })
    }
}

/// How many times `dlclose` was called.
static UNLOADED: AtomicU32 = AtomicU32::new(0);

pub(crate) struct Modules {
    /// The code of modules whose functions have been called, including unloaded ones. Levels are
    /// never freed, because threads search them without a lock. A new module's level replaces all
    /// that are not larger, so each range is copied only a few times, and there are few levels.
    levels: AtomicPtr<Level>,
    /// Modules whose functions have been called, including unloaded ones, in id order.
    known: Mutex<Vec<Loaded>>,
    /// Modules whose symbols were read when the recording started, and whose functions have not
    /// been called.
    read: Mutex<Vec<(Loaded, Found)>>,
}

impl Modules {
    pub(crate) fn new() -> Self {
        Self {
            levels: AtomicPtr::new(ptr::null_mut()),
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
                let found = functions::find_marked(&module.path, &module.build_id, settings);
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
            let mut levels = self.levels();
            levels.find_map(|level| level.find(function, unloaded))
        };
        search().unwrap_or_else(|| {
            tsan::unseen(|| self.add_module(function, unloaded, settings, recording));
            // This code is not in any loaded module. It may come from a JIT compiler.
            search().unwrap_or(Range {
                start: function,
                end: function.saturating_add(1),
                unloaded,
                ..Range::NONE
            })
        })
    }

    fn levels(&self) -> impl Iterator<Item = &'static Level> {
        // SAFETY: null, or a leaked box.
        let first = unsafe { self.levels.load(Ordering::Acquire).as_ref() };
        iter::successors(first, |level| level.next)
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
        if let Some(place) = known.iter().position(|known| *known == module) {
            let module_id = module_id(place);
            let ranges = self.levels().flat_map(|level| &level.ranges);
            for listed in ranges.filter(|listed| listed.range.module_id == module_id) {
                listed.unloaded.store(unloaded, Ordering::Release);
            }
            return;
        }
        let mut read = lock(&self.read);
        let place = read.iter().position(|(read, _)| *read == module);
        let found = place.map(|place| read.swap_remove(place).1);
        drop(read);
        let read = || functions::find_marked(&module.path, &module.build_id, settings);
        let functions = found.unwrap_or_else(read).report();
        let module_id = module_id(known.len());
        let ranges = module.code.iter().map(|(start, end)| Range {
            start: *start,
            end: *end,
            base: module.base,
            module_id,
            functions,
            unloaded,
        });
        self.add(ranges.map(|range| Listed::new(range, unloaded)).collect());
        known.push(module);
        let modules = known.iter().enumerate().map(described).collect();
        if let Some(recording) = &*lock(recording) {
            recording.session().set_modules(modules);
            // Write the manifest right away, because functions cannot be identified without the
            // modules. Any error is reported at the end.
            let _ = recording.write_manifest();
        }
    }

    /// Adds a module's ranges. The caller holds the lock of the known modules.
    fn add(&self, mut ranges: Vec<Listed>) {
        let mut next = self.levels().next();
        while let Some(level) = next.filter(|level| level.ranges.len() <= ranges.len()) {
            let copies = level.ranges.iter();
            ranges.extend(copies.map(|listed| Listed::new(listed.range, listed.unloaded())));
            next = level.next;
        }
        ranges.sort_by_key(|listed| (listed.range.start, listed.range.module_id));
        let level = Box::into_raw(Box::new(Level { ranges, next }));
        self.levels.store(level, Ordering::Release);
    }
}

/// Describes a module for the manifest.
fn described((place, loaded): (usize, &Loaded)) -> Module {
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
