//! What the scheduler did to processes, and which CPUs they may use.

use super::state::Ingest;
use mpiscope_model::{CpuSet, RankCpus, Scheduling};
use mpiscope_wire as wire;

impl Ingest {
    pub(super) fn scheduling(&mut self, figures: &wire::Scheduling) {
        let key = (self.origin, figures.process);
        let Some(info) = self.infos.get(&key) else { return };
        let mut sums_ns = [figures.stopped_ns, figures.blocked_ns];
        if sums_ns != [0; 2] || self.halted_ns.contains_key(&key) {
            for (sum_ns, (earlier_ns, newest_ns)) in
                sums_ns.iter_mut().zip(self.halted_ns.entry(key).or_default())
            {
                // The kernel keeps no such sums: an agent that is started again begins at 0.
                if *sum_ns < *newest_ns {
                    *earlier_ns = earlier_ns.saturating_add(*newest_ns);
                }
                *newest_ns = *sum_ns;
                *sum_ns = sum_ns.saturating_add(*earlier_ns);
            }
        }
        let [stopped_ns, blocked_ns] = sums_ns;
        let origin = &self.origins[self.origin as usize];
        self.decoded.batch.scheduling.push(Scheduling {
            rank: info.rank,
            at_ns: origin.clock.to_run(figures.monotonic_ns).min(self.latest_ns()),
            run_ns: figures.run_ns,
            wait_ns: figures.wait_ns,
            voluntary: figures.voluntary,
            involuntary: figures.involuntary,
            stopped_ns,
            blocked_ns,
            major_faults: figures.major_faults,
        });
    }

    /// Takes in which CPUs a process may use. A list that cannot be read counts as unknown.
    pub(super) fn cpus(&mut self, cpus: &wire::Cpus) {
        let Some(info) = self.infos.get_mut(&(self.origin, cpus.process)) else { return };
        let allowed = CpuSet::parse(&cpus.allowed).unwrap_or_default();
        let now = RankCpus { on_host: cpus.on_host, allowed, quota_milli: cpus.quota_milli };
        if info.cpus != now && self.memory.take(2 * now.allowed.as_str().len()) {
            self.memory.give(2 * info.cpus.allowed.as_str().len());
            info.cpus = now;
            self.decoded.batch.ranks.push(info.clone());
        }
    }
}
