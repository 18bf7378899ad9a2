//! Which signals this process was started to ignore.

/// The bit of a signal in a mask.
pub fn bit(signal: i32) -> u64 {
    1 << (signal - 1)
}

/// The signals that whoever started us has set to be ignored.
pub fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default()
}
