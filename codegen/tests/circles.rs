//! Checks that modules depend on each other in only one direction.
//!
//! The files and subfolders of a folder must not use each other in a cycle. A `mod.rs` and its
//! children may use each other, because they form one module.

#[path = "support/repository.rs"]
mod repository;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use proc_macro2::{Spacing, TokenStream, TokenTree};
use quote::ToTokens;
use repository::{members, root, text};
use syn::{Attribute, Item, UseTree};

/// Uses that are allowed even though they close a cycle: the file, the module that it uses, and the
/// reason.
const ALLOWED: [(&str, &str, &str); 4] = [
    (
        "atf/src/sys/map.rs",
        "source",
        "unsafe code is in `sys`, and `OpenOptions::mapped` is an unsafe function",
    ),
    (
        "atf/src/sys/ring.rs",
        "platform",
        "unsafe code is in `sys`, and a ring's mapping relies on how its file was created",
    ),
    (
        "atf/src/manifest/generated.rs",
        "read",
        "generated code calls the hand-written readers of some values",
    ),
    (
        "atf/record/src/shared.rs",
        "thread",
        "stores the recorders that no thread has claimed yet",
    ),
];

/// A path from the root of a package: modules, possibly followed by an item.
type Names = Vec<String>;

/// The uses between the modules in a folder. A key is a pair of a module and a module that it uses.
/// The value lists the files of the first one and the paths that they use.
type Edges = BTreeMap<(String, String), BTreeSet<(String, Names)>>;

/// A module's source file.
#[derive(Default)]
struct Module {
    file: String,
    /// The paths that the code uses, from the root of the package.
    uses: BTreeSet<Names>,
    /// The names that the module imports, with their paths. Other modules may refer to them through
    /// this module.
    imports: BTreeMap<String, Names>,
}

/// The modules of a package by path.
#[derive(Default)]
struct Package {
    modules: BTreeMap<Names, Module>,
    /// Modules that exist only in tests.
    of_tests: BTreeSet<Names>,
}

impl Package {
    fn read(name: &str) -> Self {
        let mut this = Self::default();
        this.collect(&format!("{name}/src"), &[]);
        let files = this.modules.iter();
        let files: Vec<_> = files.map(|(m, it)| (m.clone(), it.file.clone())).collect();
        for (module, file) in files {
            let parsed =
                syn::parse_file(&text(&file)).unwrap_or_else(|error| panic!("{file}: {error}"));
            this.add_items(&module, &parsed.items);
        }
        for tests in &this.of_tests {
            this.modules.retain(|module, _| !module.starts_with(tests));
        }
        this
    }

    fn collect(&mut self, folder: &str, module: &[String]) {
        for entry in fs::read_dir(root().join(folder)).expect("a folder") {
            let entry = entry.expect("an entry");
            let name = entry.file_name().to_string_lossy().into_owned();
            let file = format!("{folder}/{name}");
            let mut own = module.to_vec();
            if entry.path().is_dir() {
                own.push(name);
                self.collect(&file, &own);
            } else if let Some(name) = name.strip_suffix(".rs") {
                if !matches!(name, "lib" | "main" | "mod") {
                    own.push(name.to_owned());
                }
                self.modules.entry(own).or_default().file = file;
            }
        }
    }

    fn add_items(&mut self, module: &Names, items: &[Item]) {
        for item in items {
            match item {
                Item::Use(item) if is_built(&item.attrs) => {
                    let mut paths = Vec::new();
                    tree_paths(&item.tree, &[], &mut paths);
                    for (name, path) in paths {
                        self.add(module, &path, Some(name));
                    }
                }
                Item::Mod(item) => match &item.content {
                    _ if !is_built(&item.attrs) => {
                        let name = item.ident.to_string();
                        self.of_tests.insert([&module[..], &[name]].concat());
                    }
                    Some((_, items)) => self.add_items(module, items),
                    None => {}
                },
                Item::Use(_) => {}
                item => {
                    let mut paths = Vec::new();
                    token_paths(item.to_token_stream(), &mut paths);
                    for path in paths {
                        self.add(module, &path, None);
                    }
                }
            }
        }
    }

    /// Adds a path that a module uses, unless it leads to another package.
    fn add(&mut self, module: &Names, path: &[String], import: Option<String>) {
        let supers = path.iter().take_while(|name| *name == "super").count();
        let path = match path {
            [first, rest @ ..] if first == "crate" => rest.to_vec(),
            [first, rest @ ..] if first == "self" => [module, rest].concat(),
            [..] if supers > 0 => {
                let above = &module[..module.len().saturating_sub(supers)];
                [above, &path[supers..]].concat()
            }
            [first, ..]
                if self
                    .modules
                    .contains_key(&[&module[..], std::slice::from_ref(first)].concat()) =>
            {
                [module, path].concat()
            }
            _ => return,
        };
        let own = self.modules.get_mut(module).expect("a module");
        if let Some(name) = import {
            own.imports.insert(name, path.clone());
        }
        own.uses.insert(path);
    }

    /// Returns the module that defines the item at a path, following imports.
    fn definer(&self, path: &[String]) -> Option<&Names> {
        let mut path = path.to_vec();
        // Imports are never cyclic. The limit only guards against a mistake in this test.
        for _ in 0..8 {
            let ends = (0..=path.len()).rev();
            let (module, own) = ends
                .filter_map(|end| self.modules.get_key_value(&path[..end]))
                .next()?;
            let import = path
                .get(module.len())
                .and_then(|name| own.imports.get(name));
            match import {
                Some(import) if !path.starts_with(import) => {
                    path = [import, &path[module.len() + 1..]].concat();
                }
                _ => return Some(module),
            }
        }
        None
    }

    /// Returns the uses between modules, by folder.
    fn edges(&self) -> BTreeMap<Names, Edges> {
        let mut folders: BTreeMap<Names, Edges> = BTreeMap::new();
        for (module, own) in &self.modules {
            for path in &own.uses {
                let Some(other) = self.definer(path) else {
                    continue;
                };
                let same = module.iter().zip(other).take_while(|(a, b)| a == b).count();
                if let (Some(from), Some(to)) = (module.get(same), other.get(same)) {
                    let edges = folders.entry(module[..same].to_vec()).or_default();
                    let uses = edges.entry((from.clone(), to.clone())).or_default();
                    uses.insert((own.file.clone(), path.clone()));
                }
            }
        }
        folders
    }
}

/// Returns whether an item is part of the library rather than of its tests or documentation.
fn is_built(attributes: &[Attribute]) -> bool {
    attributes.iter().all(|attribute| {
        let text = attribute.meta.to_token_stream().to_string();
        !matches!(text.as_str(), "cfg (test)" | "cfg (doc)")
    })
}

/// Lists the paths of a `use`, each with the name that it brings into scope.
fn tree_paths(tree: &UseTree, before: &[String], out: &mut Vec<(String, Names)>) {
    let with = |name: &dyn ToString| [before, &[name.to_string()]].concat();
    match tree {
        UseTree::Path(path) => tree_paths(&path.tree, &with(&path.ident), out),
        UseTree::Name(name) if name.ident == "self" => {
            out.push((before.last().cloned().unwrap_or_default(), before.to_vec()));
        }
        UseTree::Name(name) => out.push((name.ident.to_string(), with(&name.ident))),
        UseTree::Rename(rename) => out.push((rename.rename.to_string(), with(&rename.ident))),
        UseTree::Glob(_) => out.push(("*".to_owned(), before.to_vec())),
        UseTree::Group(group) => {
            for tree in &group.items {
                tree_paths(tree, before, out);
            }
        }
    }
}

/// Lists the paths in code that consist of more than one name.
fn token_paths(tokens: TokenStream, out: &mut Vec<Names>) {
    let mut path = Names::new();
    let mut colons = 0;
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => {
                if colons != 2 {
                    path.clear();
                }
                path.push(ident.to_string());
                if path.len() > 1 {
                    out.push(path.clone());
                }
                colons = 0;
            }
            TokenTree::Punct(punct) if punct.as_char() == ':' => {
                let is_first = colons == 0 && punct.spacing() == Spacing::Joint;
                colons = if is_first { 1 } else { colons * 2 };
            }
            token => {
                path.clear();
                colons = 0;
                if let TokenTree::Group(group) = token {
                    token_paths(group.stream(), out);
                }
            }
        }
    }
}

/// Keeps only edges that are part of a cycle, or that lie on a path between cycles.
fn reduce<T>(edges: &mut BTreeMap<(String, String), T>) {
    loop {
        let users: BTreeSet<_> = edges.keys().map(|(from, _)| from.clone()).collect();
        let used: BTreeSet<_> = edges.keys().map(|(_, to)| to.clone()).collect();
        let before = edges.len();
        edges.retain(|(from, to), _| used.contains(from) && users.contains(to));
        if edges.len() == before {
            return;
        }
    }
}

#[test]
fn modules_use_each_other_in_one_direction() {
    let mut circles = Vec::new();
    let mut closing = BTreeSet::new();
    let mut packages = members();
    packages.extend(["python", "python/tables"].map(str::to_owned));
    for package in packages.iter().map(|name| Package::read(name)) {
        for mut edges in package.edges().into_values() {
            let mut all = edges.clone();
            reduce(&mut all);
            for ((_, to), uses) in &all {
                let files = uses.iter().map(|(file, _)| (file.clone(), to.clone()));
                closing.extend(files);
            }
            edges.retain(|(_, to), uses| {
                let is_allowed = |file: &str| {
                    let mut allowed = ALLOWED.iter();
                    allowed.any(|(from, other, _)| *from == file && other == to)
                };
                uses.retain(|(file, _)| !is_allowed(file));
                !uses.is_empty()
            });
            reduce(&mut edges);
            for ((from, to), uses) in edges {
                let uses = uses.iter();
                let uses = uses.map(|(file, path)| format!("{file}: {}", path.join("::")));
                let uses = uses.collect::<Vec<_>>().join(", ");
                circles.push(format!("{from} uses {to}: {uses}"));
            }
        }
    }
    assert_eq!(circles, [""; 0], "modules in circles");
    for (file, used, _) in ALLOWED {
        let is_closing = closing.contains(&(file.to_owned(), used.to_owned()));
        assert!(is_closing, "{file} may use {used} without an exception");
    }
}
