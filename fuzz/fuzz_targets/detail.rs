//! Feeds arbitrary bytes to [`atf_fuzz::detail`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| atf_fuzz::detail(data));
