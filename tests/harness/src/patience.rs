//! How busy the machine is: limits that tell what hangs from what is slow, and whether others take the CPUs.

use std::fs;
use std::time::{Duration, Instant};

/// No machine is taken for slower than this.
const SLOWEST: f64 = 6.0;
/// How often the load of the machine is read.
const READ_EVERY: Duration = Duration::from_secs(1);

/// A limit on how long something may take before it counts as hung. It lasts longer while more processes want to run than the
/// machine has CPUs: what else runs there is not to let a test fail.
#[derive(Debug)]
pub struct Patience {
    left: Duration,
    looked: Instant,
    read: Option<Instant>,
    slowness: f64,
}

impl Patience {
    /// As long as this on a machine of one's own.
    #[must_use]
    pub fn new(limit: Duration) -> Self {
        Self { left: limit, looked: Instant::now(), read: None, slowness: 1.0 }
    }

    /// Whether it has come to its end.
    pub fn is_over(&mut self) -> bool {
        if self.read.is_none_or(|read| read.elapsed() > READ_EVERY) {
            (self.read, self.slowness) = (Some(Instant::now()), slowness());
        }
        let now = Instant::now();
        self.pass(now - self.looked);
        self.looked = now;
        self.left.is_zero()
    }

    fn pass(&mut self, time: Duration) {
        self.left = self.left.saturating_sub(time.div_f64(self.slowness));
    }
}

/// The CPUs are others' too where a process gets less than this share of them.
const OWN_SHARE: f64 = 0.8;
/// For how long that is tried.
const TRIED: Duration = Duration::from_millis(300);

/// Why times that are measured now say nothing, if others take the CPUs; asked where nothing else of the tests runs.
#[must_use]
pub fn others_take_cpus() -> Option<String> {
    let cpus = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let shares: Vec<f64> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..cpus).map(|_| scope.spawn(own_share)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or(1.0)).collect()
    });
    let share = shares.iter().sum::<f64>() / shares.len() as f64;
    (share < OWN_SHARE).then(|| {
        format!(
            "other programs take {:.0} % of the CPUs, and what it measures means nothing then",
            100.0 * (1.0 - share)
        )
    })
}

/// The share of the time in which a thread that computes has a CPU; all of it where that cannot be read.
fn own_share() -> f64 {
    let had_ns =
        || fs::read_to_string("/proc/thread-self/schedstat").ok()?.split(' ').next()?.parse::<u64>().ok();
    let (begun, before_ns) = (Instant::now(), had_ns());
    while begun.elapsed() < TRIED {
        std::hint::spin_loop();
    }
    let had_ns = had_ns().zip(before_ns).map(|(after_ns, before_ns)| after_ns.saturating_sub(before_ns));
    had_ns.map_or(1.0, |had_ns| had_ns as f64 / begun.elapsed().as_nanos() as f64)
}

/// How many processes want to run for each CPU of the machine; at least 1.
fn slowness() -> f64 {
    let read = |file: &str| fs::read_to_string(file).unwrap_or_default();
    let load = read("/proc/loadavg").split(' ').next().and_then(|load| load.parse().ok()).unwrap_or(0.0);
    let is_cpu = |line: &&str| line.starts_with("cpu") && !line.starts_with("cpu ");
    let cpus = read("/proc/stat").lines().filter(is_cpu).count().max(1);
    (load / cpus as f64).clamp(1.0, SLOWEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_counts_time_by_how_slow_the_machine_is() {
        let mut patience = Patience { slowness: 2.0, ..Patience::new(Duration::from_secs(100)) };
        patience.pass(Duration::from_secs(150));
        assert_eq!(patience.left, Duration::from_secs(25));
        patience.pass(Duration::from_secs(60));
        assert!(patience.is_over());
    }

    /// What computes beside it is more than the machine has CPUs for.
    #[test]
    fn who_takes_the_cpus_is_noticed() {
        let cpus = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let is_over = std::sync::atomic::AtomicBool::new(false);
        let reason = std::thread::scope(|scope| {
            for _ in 0..2 * cpus {
                scope.spawn(|| {
                    while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                        std::hint::spin_loop();
                    }
                });
            }
            let reason = others_take_cpus();
            is_over.store(true, std::sync::atomic::Ordering::Relaxed);
            reason
        });
        assert!(reason.is_some_and(|reason| reason.starts_with("other programs take ")));
    }

    #[test]
    fn no_time_is_over_at_once() {
        assert!(Patience::new(Duration::ZERO).is_over());
    }
}
