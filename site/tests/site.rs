//! Builds the site with the results of two implementations, and checks its pages as files and in a
//! browser.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use atf_conformance::{corpus, rules, scripts};
use atf_samples::tools::browsed;
use atf_samples::tree;
use atf_site::{Options, build, build_with};
use serde_json::{Value, json};
use tempfile::TempDir;

const CASE: &str = "v1/iftr-004-one-bit-off";

/// An address that an older edition had.
const WITHDRAWN: &str = "rules/ATF-IFTR-999/";

/// Returns the kit's report on two implementations. The first fails two cases. The second
/// fails one of them, too.
fn report(version: &str, at: &str) -> Value {
    let testee = |name: &str| {
        json!({"name": name, "version": version, "url": null, "roles": ["read"], "wire": [1],
            "features": ["index"], "lacks": [], "refused": null})
    };
    let failed = |testee: usize, case: &str| {
        json!({"testee": testee, "role": "read", "case": case, "outcome": "failed",
            "class": "wrong-accept", "message": "accept, expected <recover> or reject",
            "listed": null, "differences": [{"grade": "data", "place": "verdict",
            "expected": "recover or reject", "got": "accept", "rule": "ATF-IFTR-004"}]})
    };
    let passed = |testee: usize, case: &str| json!({"testee": testee, "role": "read", "case": case, "outcome": "passed", "listed": null});
    json!({
        "format": 2,
        "editions": {"kit": "0.1.0", "spec": "1", "rules": "1", "corpus": "1"},
        "testees": [testee("ada c"), testee("ada-zig")],
        "made": {"at": at, "system": "linux", "command": "run"},
        "cases": [failed(0, CASE), failed(0, "v1/clean-index"), failed(0, "v1/gone"),
            passed(1, CASE), failed(1, "v1/clean-index")],
        "cross": [{"writer": 0, "reader": 1, "passed": 3, "failed": [["v1/write-one-detail", "no event"]],
            "known": 0, "skipped": 1}],
    })
}

struct Built {
    folder: TempDir,
    files: BTreeMap<String, Vec<u8>>,
}

impl Built {
    fn page(&self, address: &str) -> &str {
        let page = self.files.get(&format!("{address}index.html"));
        let page = page.unwrap_or_else(|| panic!("no page {address}"));
        str::from_utf8(page).unwrap()
    }
}

static SITE: LazyLock<Built> = LazyLock::new(|| {
    let folder = TempDir::new().unwrap();
    let results = folder.path().join("results");
    for (version, at) in [
        ("1.0", "2026-01-05T10:15:00Z"),
        ("0.9", "2025-12-24T10:15:00Z"),
    ] {
        let own = results.join("ada").join(version);
        fs::create_dir_all(&own).unwrap();
        fs::write(own.join("results.json"), report(version, at).to_string()).unwrap();
    }
    let options = Options {
        out: folder.path().join("site"),
        results: Some(results),
        source: Some("https://example.org/blob/main/".to_owned()),
    };
    build_with(&options, &format!("{WITHDRAWN}\n")).unwrap();
    let files = tree(&options.out).unwrap();
    Built { folder, files }
});

/// Returns the values of an attribute.
fn values<'a>(page: &'a str, attribute: &str) -> Vec<&'a str> {
    let start = format!(" {attribute}=\"");
    let parts = page.split(start.as_str()).skip(1);
    parts.filter_map(|part| part.split('"').next()).collect()
}

/// Resolves a relative link on a page.
fn target(page: &str, link: &str) -> String {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in link.split('/') {
        match part {
            ".." => assert!(parts.pop().is_some(), "{page}: {link} leaves the site"),
            "." => {}
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[test]
fn every_link_leads_to_a_file_and_an_anchor_of_the_site() {
    let is_page = |path: &&String| path.ends_with(".html");
    let pages = SITE.files.keys().filter(is_page);
    let text = |path: &str| str::from_utf8(&SITE.files[path]).unwrap();
    let mut ids: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for path in pages.clone() {
        let own = values(text(path), "id");
        let set: BTreeSet<&str> = own.iter().copied().collect();
        assert_eq!(set.len(), own.len(), "{path}: an id occurs twice: {own:?}");
        ids.insert(path, set);
    }
    let is_there = |path: &str, link: &str| {
        let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
        let file = match file {
            "" => path.to_owned(),
            file => target(path, file),
        };
        match ids.get(file.as_str()) {
            Some(ids) => anchor.is_empty() || anchor.starts_with('?') || ids.contains(anchor),
            None => anchor.is_empty() && SITE.files.contains_key(&file),
        }
    };
    let mut dead = Vec::new();
    for path in pages {
        let page = text(path);
        let styles = page.split("<link ").skip(1);
        let styles = styles.flat_map(|tag| values(tag.split('>').next().unwrap(), "href"));
        let loaded: BTreeSet<&str> = values(page, "src").into_iter().chain(styles).collect();
        let links = [values(page, "href"), values(page, "action")].concat();
        for link in links.iter().chain(&loaded) {
            if link.starts_with("https://") || link.starts_with("http://") {
                assert!(!loaded.contains(link), "{path} loads {link}");
            } else if !is_there(path, link) {
                dead.push(format!("{path}: {link}"));
            }
        }
    }
    let search = text("search.js").strip_prefix("const ATF_SEARCH = ");
    let search = search.unwrap().trim_end_matches(";\n");
    let search: Vec<[String; 4]> = serde_json::from_str(search).unwrap();
    let is_part = |[kind, name, ..]: &[String; 4]| kind == "document" && name == "How to object";
    assert!(search.iter().any(is_part), "the search finds headings");
    for [_, name, _, link] in &search {
        if !is_there("index.html", link) {
            dead.push(format!("search for {name}: {link}"));
        }
    }
    let first = &dead[..dead.len().min(20)];
    assert!(first.is_empty(), "{} dead links: {first:#?}", dead.len());
}

#[test]
fn every_page_has_its_documented_address() {
    let document = include_str!("../../docs/conformance/site.md");
    let rows = document.lines().filter(|line| line.starts_with("| `"));
    for row in rows {
        let cell = row.split('|').nth(1).unwrap();
        for address in cell.split('`').skip(1).step_by(2) {
            let address = address.replace("NAME", "ada-c");
            let file = match address.strip_suffix('/') {
                Some(_) => format!("{address}index.html"),
                None => address,
            };
            assert!(SITE.files.contains_key(&file), "{file}");
        }
    }
    for rule in rules::ALL {
        let page = SITE.page(&format!("rules/{}/", rule.id));
        assert!(page.contains(rule.severity.name()));
    }
    let cases = corpus::cases().into_iter().map(|case| case.name);
    for name in cases.chain(scripts::all().into_iter().map(|script| script.name)) {
        SITE.page(&format!("cases/{name}/"));
    }
    for decision in rules::DECISIONS {
        SITE.page(&format!("decisions/{}/", decision.topic));
        for source in decision.sources {
            SITE.page(&format!("claims/{source}/{}/", decision.topic));
        }
    }
}

/// `ATF_BLESS=1` adds the addresses of this edition, as part of a release.
#[test]
fn published_addresses_have_pages_and_withdrawn_pages_are_marked() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("addresses.txt");
    let list = fs::read_to_string(&path).unwrap();
    let all = list.lines().filter(|line| line.ends_with('/'));
    let mut all: BTreeSet<&str> = all.collect();
    for address in &all {
        SITE.page(address);
    }
    assert!(SITE.page(WITHDRAWN).contains("Withdrawn"));
    if std::env::var_os("ATF_BLESS").is_some_and(|value| value == "1") {
        let own = SITE.files.keys();
        let own = own.filter_map(|path| path.strip_suffix("index.html"));
        let kinds = ["rules/", "cases/", "decisions/", "claims/"];
        let is_kept = |own: &&str| {
            kinds
                .iter()
                .any(|kind| own.starts_with(kind) && own != kind)
        };
        all.extend(own.filter(is_kept).filter(|own| *own != WITHDRAWN));
        let head = "# @generated by `ATF_BLESS=1 cargo test -p atf-site published`; do not edit\n";
        let text: String = all.iter().map(|address| format!("{address}\n")).collect();
        fs::write(path, head.to_owned() + &text).unwrap();
    }
}

#[test]
fn pages_show_failures_and_escape_answers() {
    let case = SITE.page(&format!("cases/{CASE}/"));
    for text in [
        "accept, expected &lt;recover&gt; or reject",
        "results/ada-c/index.html",
        "S2:106-107",
        "732444439 0x2ba83717",
    ] {
        assert!(case.contains(text), "{text}");
    }
    let row = case.split("<tr class=\"here\"").nth(1).unwrap();
    let row = row.split("<tr>").next().unwrap();
    assert!(row.contains("footer.checksum"));
    let rule = SITE.page("rules/ATF-IFTR-004/");
    assert!(rule.contains("results/ada-c/index.html#?rule=ATF-IFTR-004"));
    assert!(rule.contains("claims/S2/checksum.algorithm/index.html"));
    let one = SITE.page("results/ada-c/");
    assert!(one.contains("1 of 3: only ada c fails them.") && one.contains("0 fixed, 0 broken"));
    let start = SITE.page("start/");
    assert!(start.contains("\"https://example.org/blob/main/codegen/tests/c/s1_tracer.c\""));
    assert!(SITE.page("").contains("uvx adatrace run TESTEE.toml"));
    let matrix = SITE.page("results/");
    assert!(matrix.contains("✗ 3 of 4") && matrix.contains("no event"));
}

#[test]
fn the_site_is_small() {
    let pages = SITE.files.keys();
    let pages = pages.filter(|path| path.ends_with("index.html"));
    let size: usize = SITE.files.values().map(Vec::len).sum();
    let (pages, megabytes) = (pages.count(), size / 1_000_000);
    let is_small = (1_500..4_000).contains(&pages) && megabytes <= 40;
    assert!(is_small, "{pages} pages, {megabytes} MB");
}

#[test]
fn errors_about_bad_results_name_the_file() {
    let folder = TempDir::new().unwrap();
    let results = folder.path().join("results");
    let options = Options {
        out: folder.path().join("site"),
        results: Some(results.clone()),
        source: None,
    };
    let error = || build(&options).unwrap_err().to_string();
    let (missing, start) = (error(), format!("{}: ", results.display()));
    assert!(missing.starts_with(&start), "{missing}");
    let own = results.join("ada/1.0");
    fs::create_dir_all(&own).unwrap();
    let why = "expected a results.json here or in a folder below";
    assert_eq!(error(), format!("{}: {why}", own.display()));
    let assert_error = |text: &str, why: &str| {
        let file = own.join("results.json");
        fs::write(&file, text).unwrap();
        let (error, start) = (error(), format!("{}: {why}", file.display()));
        assert!(error.starts_with(&start), "{error}\n{start}");
    };
    let whole = report("1.0", "").to_string();
    for (text, why) in [
        (&whole[..200], ""),
        ("{\"results\": []}", "missing field `format`"),
        ("{\"format\": 2}", "missing field `editions`"),
    ] {
        let expected = "expected the JSON report of a run (atf-conformance run --report json)";
        assert_error(text, &format!("{expected}: {why}"));
    }
    #[rustfmt::skip]
    let changes = [
        ("/format", json!(3), "expected format 2, found 3"),
        ("/cases/1/testee", json!(2), "cases[1].testee: 2, of 2 testees"),
        ("/testees/1/name", json!("ada c"), "ada c 1.0 is also in "),
        ("/testees/1/name", json!("Ada-C"), "ada c and Ada-C have the same address"),
    ];
    for (place, value, why) in changes {
        let mut bad = report("1.0", "");
        *bad.pointer_mut(place).unwrap() = value;
        assert_error(&bad.to_string(), why);
    }
    // Nothing was written.
    let entries = fs::read_dir(folder.path()).unwrap();
    let names: Vec<_> = entries.map(|it| it.unwrap().file_name()).collect();
    assert_eq!(names, ["results"]);
}

#[test]
fn only_a_site_is_replaced() {
    let folder = TempDir::new().unwrap();
    let options = Options {
        out: folder.path().join("site"),
        ..Options::default()
    };
    fs::create_dir(&options.out).unwrap();
    let own = options.out.join("thesis.txt");
    fs::write(&own, "mine").unwrap();
    let error = build(&options).unwrap_err().to_string();
    assert!(error.contains("exists and is not a site"), "{error}");
    assert_eq!(fs::read_to_string(&own).unwrap(), "mine");
    // An older site has this file.
    fs::write(options.out.join("addresses.txt"), "").unwrap();
    build(&options).unwrap();
    assert!(!own.exists());
    let entries = fs::read_dir(folder.path()).unwrap();
    let names: Vec<PathBuf> = entries.map(|it| it.unwrap().path()).collect();
    assert_eq!(names, std::slice::from_ref(&options.out));
    // Without results, no page mentions them.
    let rule = fs::read_to_string(options.out.join("rules/ATF-IFTR-004/index.html")).unwrap();
    assert!(!rule.contains("Who breaks it"));
}

/// Opens a page of the site and asserts that the console stays empty.
fn opened(address: &str) -> Option<String> {
    let profile = TempDir::new().unwrap();
    let site = SITE.folder.path().join("site");
    let file = format!("file://{}/{address}", site.display());
    let (page, said) = browsed(&file, profile.path())?;
    assert_eq!(said, [""; 0], "{address}");
    Some(page)
}

#[test]
fn a_browser_finds_rules_cases_and_fields() {
    for (words, first) in [
        ("atf-iftr-004", "rules/ATF-IFTR-004/index.html"),
        (
            "footer+nonzero+checksum+index",
            "rules/ATF-IFTR-004/index.html",
        ),
        (
            "v1/iftr-004-one-bit-off",
            "cases/v1/iftr-004-one-bit-off/index.html",
        ),
        (
            "index_footer.checksum",
            "docs/reference/index_footer/index.html#field-checksum",
        ),
    ] {
        let Some(page) = opened(&format!("search/index.html?q={words}")) else {
            return;
        };
        let found = page.split("id=\"found\"").nth(1).unwrap();
        let link = values(found, "href")[0];
        assert!(link.ends_with(&format!("/site/{first}")), "{words}: {link}");
    }
}

#[test]
fn a_browser_filters_by_words_of_an_entry_and_of_its_heading() {
    let Some(page) = opened("rules/index.html#?text=nonzero+index+footer") else {
        return;
    };
    let rows = |id: &str| {
        let row = page.split("<li").find(|row| row.contains(id));
        row.unwrap().split('>').next().unwrap().to_owned()
    };
    assert!(!rows(">ATF-IFTR-004<").contains("hidden"));
    assert!(rows(">ATF-DFTR-004<").contains("hidden"));
}

#[test]
fn a_browser_opens_the_target_of_a_matrix_cell() {
    let cell = values(SITE.page("results/"), "href");
    let cell = cell.iter().find(|link| link.starts_with("#pair-")).unwrap();
    let Some(page) = opened(&format!("results/index.html{cell}")) else {
        return;
    };
    let section = format!("<details id=\"{}\" open=\"\">", &cell[1..]);
    assert!(page.contains(&section), "{section}");
}

#[test]
fn a_browser_shows_your_own_results() {
    let site = SITE.folder.path().join("site");
    let script = "<script src=\"drop.js\"></script></body>";
    let page = SITE.page("yours/").replace("</body>", script);
    fs::write(site.join("yours/drop.html"), page).unwrap();
    let drop = |text: &str| {
        let text = json!(text);
        let script = format!(
            // The file is read asynchronously. Until then, an unfinished frame delays the page's load
            // event.
            "const held = document.body.appendChild(document.createElement('iframe'));\n\
             const frame = held.contentDocument;\n\
             frame.open();\n\
             const answered = () => {{ frame.close(); held.remove(); }};\n\
             new MutationObserver(answered)\n\
             .observe(document.getElementById('answer'), {{childList: true}});\n\
             const data = new DataTransfer();\n\
             data.items.add(new File([{text}], 'results.json'));\n\
             document.getElementById('drop').dispatchEvent(\n\
             new DragEvent('drop', {{bubbles: true, cancelable: true, dataTransfer: data}}));"
        );
        fs::write(site.join("yours/drop.js"), script).unwrap();
        opened("yours/drop.html")
    };
    let own = report("2", "").to_string();
    let own = own.replace("ada c", "<b>me</b>");
    let Some(page) = drop(&own.replace("v1/gone", "v1/new")) else {
        return;
    };
    let answer = page.split("id=\"answer\"").nth(1).unwrap();
    for text in [
        "<h2>&lt;b&gt;me&lt;/b&gt; 2</h2>",
        "0 passed, 3 failed; only you fail 0 of them.",
        "/cases/v1/iftr-004-one-bit-off/index.html",
        "ada c, ada-zig",
        "not graded there",
    ] {
        assert!(answer.contains(text), "{text}: {answer:.400}");
    }
    let second = answer.split("<h2>ada-zig 2</h2>").nth(1).unwrap();
    assert!(second.contains("1 passed, 1 failed; only you fail 0 of them."));
    let page = drop("{\"format\": 1}").unwrap();
    let why = "results.json: expected the JSON report of a run";
    assert!(page.contains(why), "{page}");
}
