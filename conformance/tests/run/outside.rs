//! Tests that reads outside the session are detected.

use serde_json::json;

use atf_conformance::corpus::trace::CANARY;
use atf_conformance::run::outside::has_canary;
#[cfg(target_os = "linux")]
use atf_conformance::run::outside::watch;

#[test]
fn a_canary_is_found_only_in_events_and_details() {
    let function = (CANARY + 1).to_string();
    let other = (CANARY + (1 << 32)).to_string();
    let payload = "01000000fecaad0b00";
    #[rustfmt::skip]
    let documents = [
        (json!({"threads": [{"index": {"events": [{"function_id": function}]}}]}), true),
        (json!({"threads": [{"detail": {"events": [{"payload": payload}]}}]}), true),
        (json!({"events": [{"function_id": other, "timestamp_ns": function}]}), false),
        (json!({"events": [{"payload": "fecaad0b01000000"}, {"payload": "01"}]}), false),
    ];
    for (document, is_found) in documents {
        assert_eq!(has_canary(&document), is_found, "{document}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn opening_a_decoy_is_detected_even_through_a_symlink() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name);
    for name in ["one", "two"] {
        std::fs::write(path(name), name).unwrap();
    }
    std::os::unix::fs::symlink("one", path("link")).unwrap();
    let watch = |files: &[&str]| watch(files.iter().map(|name| path(name)).collect());
    let untouched = watch(&["one", "two"]);
    assert!(path("one").exists());
    assert_eq!(untouched(), Ok(vec![]));
    let opened = watch(&["one", "two"]);
    for _ in 0..2 {
        drop(std::fs::File::open(path("link")).unwrap());
    }
    assert_eq!(opened(), Ok(vec![path("one")]));
    assert!(watch(&["none"])().is_err());
}
