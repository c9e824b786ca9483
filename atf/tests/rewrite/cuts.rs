//! Recovers indexes truncated within their header. `atf-safety exhaustive` recovers files truncated
//! after it.

use atf::rewrite::{RecoverOptions, recover};

use crate::{Places, files, thread_of};
use atf_samples::files::{DetailFile, IndexFile};

const EVENTS: u64 = 9;
const DETAILS: u64 = 3;

#[test]
fn an_index_with_a_truncated_header_is_kept_unchanged() {
    let detail = DetailFile::finalized(1, DETAILS).bytes();
    let index = IndexFile::finalized(1, EVENTS).bytes();
    for size in 0..64 {
        let places = Places::new();
        places.put_thread("thread_7", &index[..size], &detail);
        let out = places.path("out");
        let report = recover(places.path("in"), &out, &RecoverOptions::default()).unwrap();
        assert!(thread_of(&report).get("not_recovered").is_some());
        let files = files(&out);
        assert_eq!(files["unreadable/thread_7/index.atf"], index[..size]);
        assert_eq!(files["unreadable/thread_7/detail.atf"], detail);
        assert!(!out.join("thread_7").exists());
    }
}
