//! This process: its CPU time, its memory, and how many files it may open.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// CPU time of all its threads so far.
pub fn cpu_s() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Memory in use now; 0 where the system does not say.
pub fn memory_bytes() -> u64 {
    status_bytes("VmRSS:")
}

/// The most memory that was ever in use; 0 where the system does not say.
pub fn peak_memory_bytes() -> u64 {
    status_bytes("VmHWM:")
}

fn status_bytes(key: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let value = status.lines().find_map(|line| line.strip_prefix(key)?.trim().strip_suffix(" kB"));
    value.and_then(|value| value.parse().ok()).map_or(0, |kilobytes: u64| kilobytes << 10)
}

/// Raises the limit of open files, as far as the system lets this process; returns how many it may open.
pub fn allow_files(files: u64) -> u64 {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let wanted = maximum.map_or(files, |maximum| maximum.min(files));
    let Some(current) = current.filter(|&current| current < wanted) else { return current.unwrap_or(files) };
    match setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum }) {
        Ok(()) => wanted,
        Err(_) => current,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_has_memory_and_used_a_cpu() {
        let block = vec![1_u8; 32 << 20];
        assert!(memory_bytes() >= block.len() as u64 && peak_memory_bytes() >= memory_bytes() / 2);
        assert!(cpu_s() > 0.0);
    }
}
