//! The site's files: renders pages, and replaces the folder as a whole.

use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

use atf_report::{Editions, html};
use minijinja::Environment;
use minijinja::value::Serde;
use serde_json::{Value, json};

use crate::markdown::root;

/// The file that marks a folder as a site, so that no other folder is replaced.
const MARK: &str = "addresses.txt";

/// The files by path.
pub(crate) struct Output {
    environment: Environment<'static>,
    editions: Value,
    files: BTreeMap<String, Vec<u8>>,
    /// The entries of the search.
    search: Vec<Value>,
}

const TEMPLATES: [(&str, &str); 11] = [
    ("base.html", include_str!("../templates/base.html")),
    ("macros.html", include_str!("../templates/macros.html")),
    ("home.html", include_str!("../templates/home.html")),
    ("text.html", include_str!("../templates/text.html")),
    ("list.html", include_str!("../templates/list.html")),
    ("rule.html", include_str!("../templates/rule.html")),
    ("case.html", include_str!("../templates/case.html")),
    ("claim.html", include_str!("../templates/claim.html")),
    ("results.html", include_str!("../templates/results.html")),
    (
        "implementation.html",
        include_str!("../templates/implementation.html"),
    ),
    ("yours.html", include_str!("../templates/yours.html")),
];

impl Output {
    pub(crate) fn new() -> io::Result<Self> {
        let mut environment = html::environment().map_err(io::Error::other)?;
        for (name, text) in TEMPLATES {
            let added = environment.add_template(name, text);
            added.map_err(io::Error::other)?;
        }
        let mut output = Self {
            environment,
            editions: json!(Editions::current().all()),
            files: BTreeMap::new(),
            search: Vec::new(),
        };
        output.file("report.css", html::STYLE);
        output.file("report.js", html::SCRIPT);
        output.file("site.css", include_str!("../assets/site.css"));
        output.file("site.js", include_str!("../assets/site.js"));
        Ok(output)
    }

    /// Adds a file.
    pub(crate) fn file(&mut self, path: &str, bytes: impl Into<Vec<u8>>) {
        self.files.insert(path.to_owned(), bytes.into());
    }

    /// Renders the page at an address, which is empty or ends with a slash. `page` is an object.
    pub(crate) fn page(
        &mut self,
        address: &str,
        template: &str,
        title: &str,
        mut page: Value,
    ) -> io::Result<()> {
        page["root"] = json!(root(address));
        page["title"] = json!(title);
        let is_reference = address.starts_with("docs/reference/");
        let section = address.split('/').take(1 + usize::from(is_reference));
        page["section"] = json!(section.collect::<Vec<_>>().join("/"));
        page["editions"] = self.editions.clone();
        let template = self.environment.get_template(template);
        let text = template.and_then(|template| template.render(Serde(page)));
        let text = text.map_err(|error| io::Error::other(format!("{address}: {error}")))?;
        // The template engine escapes slashes, which is only needed in scripts.
        self.file(&format!("{address}index.html"), text.replace("&#x2f;", "/"));
        Ok(())
    }

    /// Adds an entry to the search: kind, name, text, and the address of a page or of a part of one.
    pub(crate) fn index(&mut self, kind: &str, name: &str, text: &str, address: &str) {
        let page = if address.ends_with('/') {
            "index.html"
        } else {
            ""
        };
        self.search
            .push(json!([kind, name, text, format!("{address}{page}")]));
    }

    pub(crate) fn has(&self, address: &str) -> bool {
        self.files.contains_key(&format!("{address}index.html"))
    }

    /// Adds the files that depend on all pages: the search, and the list of addresses.
    pub(crate) fn finish(&mut self) {
        let search = json!(self.search);
        self.file("search.js", format!("const ATF_SEARCH = {search};\n"));
        let list = self.addresses().map(|address| format!("{address}\n"));
        self.file(MARK, list.collect::<String>());
    }

    /// Returns the number of pages and the size of all files.
    pub(crate) fn size(&self) -> (usize, usize) {
        let pages = self.addresses().count();
        (pages, self.files.values().map(Vec::len).sum())
    }

    /// Returns the addresses of all pages, in order.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = &str> {
        let paths = self.files.keys();
        paths.filter_map(|path| path.strip_suffix("index.html"))
    }

    /// Writes the files into a new folder next to `out`, and then replaces `out` with it.
    pub(crate) fn write(&self, out: &Path) -> io::Result<()> {
        let at = |path: &Path, error: io::Error| {
            io::Error::new(error.kind(), format!("{}: {error}", path.display()))
        };
        let is_free = match fs::read_dir(out) {
            Ok(mut entries) => entries.next().is_none() || out.join(MARK).is_file(),
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        };
        if !is_free {
            let why = "exists and is not a site; expected a new or empty folder, or an older site";
            return Err(at(out, io::Error::other(why)));
        }
        let beside = match out.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        fs::create_dir_all(beside).map_err(|error| at(beside, error))?;
        let new = tempfile::Builder::new().prefix(".site").tempdir_in(beside);
        let new = new.map_err(|error| at(beside, error))?;
        let whole = new.path().join("new");
        for (path, bytes) in &self.files {
            let path = whole.join(path);
            let written = fs::create_dir_all(path.parent().unwrap_or(&whole));
            let written = written.and_then(|()| fs::write(&path, bytes));
            written.map_err(|error| at(&path, error))?;
        }
        let old = new.path().join("old");
        if out.exists() {
            fs::rename(out, &old).map_err(|error| at(out, error))?;
        }
        fs::rename(&whole, out).map_err(|error| {
            // Restore the older site.
            let _ = fs::rename(&old, out);
            at(out, error)
        })
    }
}
