//! The names of the hosts that a verdict is about: whoever looks at one, or reports it, needs its name.

use mpiscope_feed::{BlockedRank, Diagnosis, SlowLink, Source};
use mpiscope_model::words::printable;
use mpiscope_model::{Node, NodeInfo, RankInfo};
use mpiscope_recording::JobNode;
use std::collections::{BTreeMap, BTreeSet};

/// More hosts of ranks are not named.
const MOST: usize = 4;

/// Which host each rank is on.
#[derive(Debug, Default)]
pub(crate) struct Hosts {
    names: BTreeMap<Node, String>,
    node_of_rank: BTreeMap<u32, Node>,
}

impl Hosts {
    /// Those of a recorded job.
    pub(crate) fn of_job(nodes: &[JobNode]) -> Self {
        let mut hosts = Self::default();
        for (node, JobNode { name, ranks }) in (0..).map(Node).zip(nodes) {
            hosts.names.insert(node, printable(name));
            hosts.node_of_rank.extend(ranks.iter().map(|rank| (*rank, node)));
        }
        hosts
    }

    /// Takes in what became known of a job that goes on.
    pub(crate) fn see(&mut self, nodes: &[NodeInfo], ranks: &[RankInfo]) {
        self.names.extend(nodes.iter().map(|of| (of.node, printable(&of.name))));
        self.node_of_rank.extend(ranks.iter().map(|of| (of.rank.0, of.node)));
    }

    /// The host of a rank, where the job has several.
    fn host(&self, rank: u32) -> Option<&String> {
        let node = self.node_of_rank.get(&rank).filter(|_| self.names.len() > 1)?;
        self.names.get(node).filter(|name| !name.is_empty())
    }

    /// The hosts of these ranks, if they are known and few.
    fn hosts(&self, ranks: &[u32]) -> Vec<String> {
        let mut hosts = BTreeSet::new();
        for rank in ranks {
            match self.host(*rank) {
                Some(host) if hosts.len() < MOST || hosts.contains(host) => hosts.insert(host),
                _ => return Vec::new(),
            };
        }
        hosts.into_iter().cloned().collect()
    }

    /// Names those that a verdict is about.
    pub(crate) fn name(&self, found: &mut Diagnosis) {
        let of_first =
            |ranks: &[u32]| ranks.first().and_then(|rank| self.host(*rank)).cloned().unwrap_or_default();
        for SlowLink { from, to, from_host, to_host, .. } in &mut found.slow_links.worst {
            (*from_host, *to_host) = (of_first(from), of_first(to));
        }
        for Source { few, few_hosts, .. } in &mut found.sources {
            *few_hosts = self.hosts(few);
        }
        if let Some(BlockedRank { rank, host, .. }) = &mut found.blocked.longest {
            *host = of_first(&[*rank]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpiscope_feed::{Blocked, SlowLinks};

    fn job(ranks_of: &[&[u32]]) -> Hosts {
        let nodes = ranks_of.iter().zip(1..);
        let node =
            |(ranks, number): (&&[u32], u32)| JobNode { name: format!("n{number}"), ranks: ranks.to_vec() };
        Hosts::of_job(&nodes.map(node).collect::<Vec<_>>())
    }

    fn found(few: &[u32]) -> Diagnosis {
        let link = SlowLink { from: vec![0, 1], to: vec![2, 3], ..SlowLink::default() };
        Diagnosis {
            slow_links: SlowLinks { worst: vec![link], ..SlowLinks::default() },
            sources: vec![Source { few: few.to_vec(), ..Source::default() }],
            blocked: Blocked { count: 1, longest: Some(BlockedRank { rank: 3, ..BlockedRank::default() }) },
            ..Diagnosis::default()
        }
    }

    #[test]
    fn hosts_have_their_names() {
        let mut of = found(&[0, 1, 3]);
        job(&[&[0, 1], &[2, 3]]).name(&mut of);
        let link = &of.slow_links.worst[0];
        assert_eq!((link.from_host.as_str(), link.to_host.as_str()), ("n1", "n2"));
        assert_eq!(of.sources[0].few_hosts, ["n1", "n2"]);
        assert_eq!(of.blocked.longest.unwrap().host, "n2");
    }

    #[test]
    fn one_host_needs_no_name_and_many_have_none() {
        let mut of = found(&[0, 1, 2]);
        job(&[&[0, 1, 2, 3]]).name(&mut of);
        assert_eq!(of, found(&[0, 1, 2]));
        let all: Vec<Vec<u32>> = (0..8).map(|rank| vec![rank]).collect();
        let all = job(&all.iter().map(Vec::as_slice).collect::<Vec<_>>());
        for (few, count) in [(&[0, 1, 2, 3][..], 4), (&[0, 1, 2, 3, 4], 0), (&[0, 9], 0)] {
            let mut of = found(few);
            all.name(&mut of);
            assert_eq!(of.sources[0].few_hosts.len(), count, "{few:?}");
        }
    }
}
