//! What `mpiscope_fuzz::layouts` says, led by which code inputs reach.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| mpiscope_fuzz::layouts(bytes));
