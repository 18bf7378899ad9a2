//! Which CPUs a process may use: its affinity, the quota of its control group, and what its host has.
//!
//! In: texts of `/proc` and `/sys`. Out: one message when that is known, and when it changed. A system that does not tell
//! leaves it unknown.

use mpiscope_model::CpuSet;
use mpiscope_wire::Cpus;
use std::fs;
use std::path::{Component, Path, PathBuf};

const CGROUPS: &str = "/sys/fs/cgroup";
const ONLINE: &str = "/sys/devices/system/cpu/online";

/// What was reported of one process.
#[derive(Debug, Default)]
pub(crate) struct CpuWatch {
    reported: Option<Cpus>,
}

impl CpuWatch {
    /// What was reported last.
    pub(crate) fn reported(&self) -> Option<&Cpus> {
        self.reported.as_ref()
    }

    /// The CPUs of a process, if they are known and were not reported. `status` is the text of its `/proc` file.
    pub(crate) fn changed(&mut self, pid: u32, process: u32, status: &str) -> Option<Cpus> {
        let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
        let allowed = CpuSet::parse(list)?.as_str().to_owned();
        if self.reported.as_ref().is_some_and(|reported| reported.allowed == allowed) {
            return None;
        }
        let on_host = CpuSet::parse(&fs::read_to_string(ONLINE).ok()?)?.count();
        let groups = fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap_or_default();
        let quota_milli = quota_milli(Path::new(CGROUPS), &groups).unwrap_or(0);
        self.reported = Some(Cpus { process, on_host, quota_milli, allowed });
        self.reported.clone()
    }
}

/// The least quota of a control group and those above it, in thousandths of a CPU. `groups` is the text of
/// `/proc/PID/cgroup`, `root` where control groups are mounted.
fn quota_milli(root: &Path, groups: &str) -> Option<u32> {
    let quotas = groups.lines().filter_map(|line| {
        let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
        if controllers.is_empty() {
            return least_quota(root, path, |folder| unified_quota(&folder.join("cpu.max")));
        }
        let has_cpu = controllers.split(',').any(|controller| controller == "cpu");
        has_cpu.then(|| least_quota(&root.join("cpu"), path, first_version_quota))?
    });
    quotas.min()
}

/// The least quota on the way from a group to the root. A path that leads out of the mounted groups counts as the root.
fn least_quota(root: &Path, path: &str, quota: impl Fn(&Path) -> Option<u32>) -> Option<u32> {
    let inside: PathBuf =
        Path::new(path).components().filter(|part| matches!(part, Component::Normal(_))).collect();
    inside.ancestors().filter_map(|group| quota(&root.join(group))).min()
}

/// `cpu.max` has a quota and a period in microseconds; the quota may be `max`.
fn unified_quota(file: &Path) -> Option<u32> {
    let text = fs::read_to_string(file).ok()?;
    let (quota, period) = text.trim().split_once(' ')?;
    milli(quota.parse().ok()?, period.parse().ok()?)
}

fn first_version_quota(folder: &Path) -> Option<u32> {
    // A quota of -1 is none.
    let number = |name: &str| fs::read_to_string(folder.join(name)).ok()?.trim().parse().ok();
    milli(number("cpu.cfs_quota_us")?, number("cpu.cfs_period_us")?)
}

fn milli(quota_us: u64, period_us: u64) -> Option<u32> {
    let milli = quota_us.checked_mul(1000)?.checked_div(period_us)?;
    u32::try_from(milli).ok().filter(|&milli| milli > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(root: &Path, path: &str, file: &str, text: &str) {
        let folder = root.join(path);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(file), text).unwrap();
    }

    #[test]
    fn the_least_quota_above_a_process_counts() {
        let root = tempfile::tempdir().unwrap();
        group(root.path(), "job", "cpu.max", "250000 100000\n");
        group(root.path(), "job/step", "cpu.max", "max 100000\n");
        group(root.path(), "free", "cpu.max", "max 100000\n");
        let quota = |groups: &str| quota_milli(root.path(), groups);
        assert_eq!(quota("0::/job/step\n"), Some(2_500));
        assert_eq!(quota("0::/free\n"), None);
        assert_eq!(quota("0::/../../job\n"), Some(2_500), "a path out of the groups stays inside");
        assert_eq!(quota("0::/gone\nnonsense\n1:cpu\n"), None);
        group(root.path(), "cpu/old", "cpu.cfs_quota_us", "50000\n");
        group(root.path(), "cpu/old", "cpu.cfs_period_us", "100000\n");
        assert_eq!(quota("4:memory:/old\n3:cpu,cpuacct:/old\n"), Some(500));
        for (quota_us, period_us) in
            [("-1", "100000"), ("5", "0"), ("18446744073709551615", "1"), ("0", "10")]
        {
            group(root.path(), "cpu/odd", "cpu.cfs_quota_us", quota_us);
            group(root.path(), "cpu/odd", "cpu.cfs_period_us", period_us);
            assert_eq!(quota("3:cpu:/odd"), None, "{quota_us} {period_us}");
        }
    }

    #[test]
    fn a_change_is_reported_once() {
        let mut watch = CpuWatch::default();
        let pid = std::process::id();
        let status = |list: &str| format!("Name:\tx\nCpus_allowed_list:\t{list}\nMems_allowed_list:\t0\n");
        let first = watch.changed(pid, 7, &status("0-1")).unwrap();
        assert_eq!((first.process, first.allowed.as_str()), (7, "0-1"));
        assert!(first.on_host > 0);
        assert_eq!(watch.changed(pid, 7, &status("0-1")), None);
        assert_eq!(watch.changed(pid, 7, &status("1")).unwrap().allowed, "1");
        assert_eq!(watch.changed(pid, 7, "Name:\tx\n"), None);
    }
}
