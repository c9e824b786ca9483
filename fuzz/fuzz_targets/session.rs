//! Feeds arbitrary bytes to [`atf_fuzz::session`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| atf_fuzz::session(data));
