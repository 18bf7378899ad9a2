//! What `mpiscope_fuzz::requests` says, led by which code inputs reach.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| mpiscope_fuzz::requests(bytes));
