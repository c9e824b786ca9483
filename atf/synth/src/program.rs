//! A fictitious program: its modules, its functions and their call graph.

use atf::manifest::{Module, Symbol};

use crate::random::Random;

/// How many different functions each function can call.
const CALLEES: usize = 8;
/// The size of each function's code in bytes, which determines the functions' addresses.
const CODE_SIZE: u64 = 64;
/// One in this many functions calls itself.
const RECURSIVE: u32 = 24;

/// The modules' paths, and the names from which their functions' names are derived.
const MODULES: [(&str, &str); 6] = [
    ("/usr/bin/demo", "demo"),
    ("/usr/lib/libdemo_core.so", "core"),
    ("/usr/lib/libdemo_render.so", "render"),
    ("/usr/lib/libdemo_net.so", "net"),
    ("/usr/lib/libcodec.so.3", "codec"),
    ("/usr/lib/libc.so.6", "c"),
];
const BASE_ADDRESS: u64 = 0x5500_0000_0000;
const MODULE_SPACING: u64 = 0x1000_0000;

const VERBS: [&str; 16] = [
    "load", "parse", "render", "fetch", "commit", "decode", "layout", "flush", "open", "hash",
    "merge", "visit", "copy", "find", "insert", "release",
];
const NOUNS: [&str; 12] = [
    "frame", "node", "buffer", "request", "glyph", "tile", "index", "packet", "tree", "table",
    "cache", "region",
];

/// The functions by popularity: the first is called most often.
#[derive(Debug)]
pub(crate) struct Program {
    functions: Vec<Function>,
    /// The number of functions in each module.
    counts: [u32; MODULES.len()],
}

/// One function.
#[derive(Debug)]
pub(crate) struct Function {
    module: u32,
    symbol: u32,
    callees: [u32; CALLEES],
    /// The typical time in nanoseconds between two events in the function.
    pub(crate) cost_ns: u32,
    pub(crate) is_recursive: bool,
}

impl Program {
    /// Generates a program with this many functions, at least one.
    pub(crate) fn new(mut random: Random, functions: u32) -> Self {
        let count = functions.max(1);
        let mut counts = [0; MODULES.len()];
        let mut function = || {
            let module = random.zipf(MODULES.len() as u32);
            let symbol = &mut counts[module as usize];
            *symbol += 1;
            Function {
                module,
                symbol: *symbol,
                callees: std::array::from_fn(|_| random.zipf(count)),
                cost_ns: 8 << random.below(8),
                is_recursive: random.one_in(RECURSIVE),
            }
        };
        let functions = (0..count).map(|_| function()).collect();
        Self { functions, counts }
    }

    /// Returns the number of functions.
    pub(crate) fn len(&self) -> u32 {
        self.functions.len() as u32
    }

    #[inline]
    pub(crate) fn function(&self, function: u32) -> &Function {
        &self.functions[function as usize]
    }

    /// Returns the function in which a thread begins.
    pub(crate) fn entry(&self, thread: u32) -> u32 {
        self.len() - 1 - thread % self.len()
    }

    /// Returns the modules for a manifest.
    pub(crate) fn modules(&self) -> Vec<Module> {
        let module = |(id, (path, _)): (u32, &(&str, &str))| {
            Module::new(id)
                .path((*path).to_owned())
                .base_address(base_address(id))
                .size(u64::from(self.counts[id as usize] + 1) * CODE_SIZE)
                .uuid(format!("{id:08X}-0000-4000-8000-{:012X}", self.len()))
        };
        (0..).zip(&MODULES).map(module).collect()
    }

    /// Returns the function names for a manifest.
    pub(crate) fn symbols(&self) -> Vec<Symbol> {
        let symbol = |function: &Function| Symbol::new(function.id(), function.name());
        self.functions.iter().map(symbol).collect()
    }
}

impl Function {
    /// Returns the id as in events: the module in the upper half, the symbol in the lower half.
    #[inline]
    pub(crate) fn id(&self) -> u64 {
        u64::from(self.module) << 32 | u64::from(self.symbol)
    }

    /// Returns the address of the function's code.
    #[inline]
    pub(crate) fn address(&self) -> u64 {
        base_address(self.module) + u64::from(self.symbol) * CODE_SIZE
    }

    /// Picks one of the functions that this function calls.
    #[inline]
    pub(crate) fn callee(&self, random: &mut Random) -> u32 {
        self.callees[random.below(CALLEES as u32) as usize]
    }

    fn name(&self) -> String {
        let prefix = MODULES[self.module as usize].1;
        let symbol = self.symbol as usize;
        let verb = VERBS[symbol % VERBS.len()];
        let noun = NOUNS[symbol / VERBS.len() % NOUNS.len()];
        match symbol / (VERBS.len() * NOUNS.len()) {
            0 => format!("{prefix}::{verb}_{noun}"),
            more => format!("{prefix}::{verb}_{noun}_{more}"),
        }
    }
}

fn base_address(module: u32) -> u64 {
    BASE_ADDRESS + u64::from(module) * MODULE_SPACING
}
