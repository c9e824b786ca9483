//! Feeds arbitrary bytes to [`atf_fuzz::spec_yaml`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| atf_fuzz::spec_yaml(data));
