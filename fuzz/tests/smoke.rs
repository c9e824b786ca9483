//! Runs every target's body on real and damaged files. A panic fails the test.

use std::fs;
use std::path::{Path, PathBuf};

use atf::thread::ThreadReader;
use atf_conformance::corpus::{self, edition};
use atf_fuzz::{found, packed, seeds};
use atf_samples::random::Random;

type Body = fn(&[u8]);

/// Runs a body on bytes. If the body panics, saves the input for `atf-fuzz replay`.
fn try_input(body: Body, bytes: &[u8]) {
    if let Err(panic) = std::panic::catch_unwind(|| body(bytes)) {
        let name = std::thread::current().name().unwrap_or("input").to_owned();
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::write(&path, bytes).expect("cargo created the folder");
        eprintln!("the input is in {}", path.display());
        std::panic::resume_unwind(panic);
    }
}

/// Runs a body on a file: unchanged, truncated after each of about `count` pieces, and with a bit
/// flipped in each piece and in each of the first `count` bytes.
fn feed(body: Body, path: &Path, count: usize) {
    let bytes = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    try_input(body, &bytes);
    let step = (bytes.len() / count).max(1);
    for end in (0..bytes.len()).step_by(step) {
        try_input(body, &bytes[..end]);
    }
    let mut damaged = bytes.clone();
    for at in (0..bytes.len())
        .step_by(step)
        .chain(0..bytes.len().min(count))
    {
        damaged[at] ^= 1 << (at % 8);
        try_input(body, &damaged);
        damaged[at] = bytes[at];
    }
}

/// Returns all files below a folder whose names end with `ending`.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = seeds::files(folder).expect("our own folder");
    found.retain(|path| path.to_string_lossy().ends_with(ending));
    assert!(!found.is_empty(), "no {ending} below {}", folder.display());
    found
}

#[test]
fn files_never_panic() {
    let bodies: [(Body, &str, &str); 6] = [
        (atf_fuzz::index, "samples", "index.atf"),
        (atf_fuzz::detail, "samples", "detail.atf"),
        (atf_fuzz::manifest, "samples", "manifest.json"),
        (atf_fuzz::spec_yaml, "spec/records", ".yaml"),
        (atf_fuzz::capi, "samples", "index.atf"),
        (atf_fuzz::capi, "samples", "detail.atf"),
    ];
    for (body, folder, ending) in bodies {
        for path in files(&Path::new("..").join(folder), ending) {
            feed(body, &path, 64);
        }
    }
}

/// Runs a body on inputs of many sizes, generated from a seed.
fn feed_generated(body: Body, rounds: u64) {
    for seed in 0..rounds {
        let mut random = Random::new(seed);
        let bytes: Vec<u8> = (0..16 + seed % 700)
            .map(|_| {
                // Make small numbers frequent, as in the inputs that a fuzzer finds.
                let [byte, choice, ..] = random.number().to_le_bytes();
                if choice < 128 { byte & 3 } else { byte }
            })
            .collect();
        try_input(body, &bytes);
    }
}

#[test]
fn writers_take_any_sequence_of_operations() {
    feed_generated(atf_fuzz::writer, 3000);
}

#[test]
fn any_session_can_be_recovered() {
    feed_generated(atf_fuzz::recover, 700);
}

#[test]
fn every_way_of_reading_a_session_agrees() {
    feed_generated(atf_fuzz::session, 500);
}

#[test]
fn the_kit_grades_any_answer() {
    feed_generated(atf_fuzz::answers, 3000);
}

#[test]
fn any_session_can_be_checked() {
    feed_generated(atf_fuzz::checker, 300);
}

#[test]
fn two_decoders_agree() {
    let corpus = tempfile::tempdir().expect("a place");
    edition::copy(corpus.path(), &corpus::cases()).expect("we own this folder");
    for folder in [Path::new("../samples"), corpus.path()] {
        for ending in ["index.atf", "detail.atf"] {
            let files = files(folder, ending);
            // Neighbouring files are similar, so only some are needed.
            let some = files.iter().step_by(files.len() / 25 + 1);
            // This body writes files, which takes longer.
            some.for_each(|path| feed(atf_fuzz::differential, path, 6));
        }
    }
}

#[test]
fn files_are_followed_as_they_grow_by_any_amount() {
    feed_generated(atf_fuzz::follow, 700);
}

#[test]
fn threads_are_read_with_any_ring() {
    feed_generated(atf_fuzz::ring, 700);
}

/// Every seed has its target's input format, and no target panics on its seeds.
#[test]
fn corpus_seeds_cause_no_panics() {
    let seeds = seeds::seeds(Path::new("..")).expect("the repository's own folders");
    for target in atf_fuzz::TARGETS {
        let seeds = &seeds[target.name];
        assert!(seeds.len() > 10, "{}: {} seeds", target.name, seeds.len());
        // Neighbouring seeds are similar, so only some are needed.
        for bytes in seeds.values().step_by(seeds.len() / 20 + 1) {
            try_input(target.body, bytes);
        }
    }
}

/// The journal of most killed threads belongs to their files. Others are from corpus cases with
/// damaged files.
#[test]
fn killed_threads_are_read_with_their_journals() {
    let seeds = seeds::seeds(Path::new("..")).expect("the repository's own folders");
    let is_used = |seed: &Vec<u8>| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        assert!(packed::unpack(seed, folder.path()));
        let thread = ThreadReader::open(folder.path().join("thread_0"));
        let ring = thread.ok().and_then(|thread| thread.ring());
        ring.is_some_and(|ring| ring.index_bytes > 0)
    };
    let seeds = &seeds["ring"];
    let used = seeds.values().filter(|seed| is_used(seed)).count();
    assert!(used > seeds.len() / 2, "{used} of {}", seeds.len());
}

/// The table, the manifest and the folder must contain the same targets.
#[test]
fn all_lists_of_targets_agree() {
    let manifest = fs::read_to_string("Cargo.toml").expect("our own");
    let nightly = fs::read_to_string("../.github/workflows/nightly.yml").expect("our own");
    let names = atf_fuzz::TARGETS.map(|target| target.name).join(", ");
    assert!(nightly.contains(&format!("target: [{names}]\n")));
    let bodies = files(Path::new("fuzz_targets"), ".rs");
    assert_eq!(bodies.len(), atf_fuzz::TARGETS.len());
    // cargo-fuzz treats every binary as a target.
    assert_eq!(manifest.matches("[[bin]]").count(), atf_fuzz::TARGETS.len());
    assert!(!Path::new("src/main.rs").exists() && !Path::new("src/bin").exists());
    for target in atf_fuzz::TARGETS {
        let name = target.name;
        assert!(manifest.contains(&format!("name = \"{name}\"\n")), "{name}");
        let body = fs::read_to_string(format!("fuzz_targets/{name}.rs")).expect(name);
        assert!(body.contains(&format!("atf_fuzz::{name}(data)")), "{name}");
    }
}

/// Bugs found by fuzzing must stay fixed, and their cases must still match the checker's findings.
#[test]
fn found_bugs_stay_fixed() {
    let mut count = 0;
    for target in atf_fuzz::TARGETS {
        let Ok(cases) = fs::read_dir(Path::new("found").join(target.name)) else {
            continue;
        };
        for case in cases {
            let folder = case.expect("the repository's own folder").path();
            let input = fs::read(folder.join(found::INPUT)).expect("as above");
            try_input(target.body, &input);
            let name = folder.file_name().expect("a name").to_string_lossy();
            let about = found::about(target, &name, &input);
            let text = fs::read(folder.join(found::ABOUT)).expect("as above");
            let known: serde_json::Value = serde_json::from_slice(&text).expect("JSON");
            assert_eq!(about, known, "{}", folder.display());
            count += 1;
        }
    }
    assert!(count >= 2, "{count} cases");
}

/// A reader with a planted bug.
fn trusts_the_count(data: &[u8]) {
    if let Ok(index) = atf::index::IndexReader::from_bytes(data) {
        let stated = index.header().event_count;
        assert!(stated <= index.event_count(), "a count was trusted");
    }
}

#[test]
fn a_crash_becomes_a_small_case_that_names_the_rule() {
    let planted = atf_fuzz::Target {
        name: "index",
        body: trusts_the_count,
    };
    let case = corpus::find("v1/iftr-002-a-billion").expect("the case exists");
    let mut input = case.files["index.atf"].clone();
    // The header also states a billion events, and the footer is missing.
    input[28..32].copy_from_slice(&1_000_000_000_u32.to_le_bytes());
    input.truncate(64 + 5 * 32 + 9);
    let folder = tempfile::tempdir().expect("a place");
    let about = found::propose(folder.path(), planted, "count-is-trusted", &input);
    let about = about.expect("it is found");
    let kept = fs::read(folder.path().join("index/count-is-trusted/input")).expect("it is kept");
    assert!(kept.len() <= 64, "{} bytes of {}", kept.len(), input.len());
    assert!(std::panic::catch_unwind(|| trusts_the_count(&kept)).is_err());
    let rules = about["rules"].to_string();
    assert!(rules.contains("ATF-IHDR-"), "{about:#}");
    let again = found::propose(folder.path(), planted, "count-is-trusted", &input);
    assert!(again.is_err(), "a name can be used only once");
}
