//! Who waits for a processor: the newest figures of each rank, and what they say together.
//!
//! A rank can run while it has a processor or waits for one; the share that it waited is of that time, not of the run:
//! a rank that sleeps in MPI misses nothing.

use super::number_format::time;
use mpiscope_feed::{Blocked, BlockedRank, CpuContention, Stopped, StoppedRank};
use mpiscope_model::words::{nanoseconds, plural};
use mpiscope_model::{Node, NodeCpus, Rank, RankCpus, RankInfo, Scheduling};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Below this share it is not reported.
const NOTICEABLE: f64 = 0.02;
/// From this share on there are too few processors.
const SHORT: f64 = 0.1;
/// From this share of what ranks waited on, what recording took is named.
const RECORDER_NOTICEABLE: f64 = 0.1;
/// Ranks that were stopped for this share of the run are reported, and this number of them by name.
const STOPPED: f64 = 0.01;
const MOST_NAMED: usize = 16;

/// The newest figures of each rank.
#[derive(Debug, Default)]
pub struct Processors {
    newest: BTreeMap<Rank, Scheduling>,
    /// Which CPUs ranks may use, and on which node.
    allowed: BTreeMap<Rank, (Node, RankCpus)>,
    /// The same by node, summed up when somebody asks after a change.
    by_node: OnceLock<BTreeMap<Node, NodeCpus>>,
}

impl Processors {
    /// Takes in rows; of two of one moment the later one counts.
    pub fn see(&mut self, rows: &[Scheduling]) {
        for row in rows {
            let newest = self.newest.entry(row.rank).or_insert(*row);
            if newest.at_ns <= row.at_ns {
                *newest = *row;
            }
        }
    }

    /// Takes in which CPUs ranks may use.
    pub fn place<'a>(&mut self, ranks: impl IntoIterator<Item = &'a RankInfo>) {
        for info in ranks {
            let now = (info.node, info.cpus.clone());
            if self.allowed.get(&info.rank) != Some(&now) {
                self.allowed.insert(info.rank, now);
                self.by_node.take();
            }
        }
    }

    /// The CPUs that the ranks of a node may use together, if they are known.
    pub fn of_node(&self, node: Node) -> Option<NodeCpus> {
        self.by_node().get(&node).copied()
    }

    /// The nodes where the CPUs of all ranks are known.
    pub(crate) fn by_node(&self) -> &BTreeMap<Node, NodeCpus> {
        self.by_node.get_or_init(|| {
            let mut ranks: BTreeMap<Node, Vec<&RankCpus>> = BTreeMap::new();
            self.allowed.values().for_each(|(node, cpus)| ranks.entry(*node).or_default().push(cpus));
            ranks.into_iter().filter_map(|(node, ranks)| Some((node, NodeCpus::of_ranks(ranks)?))).collect()
        })
    }

    /// The CPUs that all ranks may use, if they are known.
    fn usable(&self) -> Option<f64> {
        let nodes = self.by_node().values();
        let (ranks, usable) =
            nodes.fold((0, 0.0), |(ranks, sum), cpus| (ranks + cpus.ranks, sum + cpus.usable));
        (ranks > 0 && ranks as usize == self.allowed.len()).then_some(usable)
    }

    /// What is known of a rank.
    pub fn figures_of(&self, rank: Rank) -> Option<&Scheduling> {
        self.newest.get(&rank)
    }

    /// What is known of each rank.
    pub fn all(&self) -> impl Iterator<Item = &Scheduling> {
        self.newest.values()
    }

    /// All ranks together, and the one that waited for the greatest share.
    fn sums(&self) -> Option<(Scheduling, &Scheduling)> {
        let all = self.newest.values().fold(Scheduling::default(), |sum, row| Scheduling {
            at_ns: sum.at_ns.max(row.at_ns),
            // What a job says of itself may be any number.
            run_ns: sum.run_ns.saturating_add(row.run_ns),
            wait_ns: sum.wait_ns.saturating_add(row.wait_ns),
            ..sum
        });
        let worst = self.newest.values().max_by(|a, b| waited_share(a).total_cmp(&waited_share(b)))?;
        Some((all, worst))
    }

    /// How many CPUs ranks had, if they waited for one for at least this share of the time they could run.
    fn figures(&self, least: f64) -> Option<CpuContention> {
        let (all, worst) = self.sums()?;
        let waited = waited_share(&all);
        (waited >= least).then(|| CpuContention {
            ranks: self.newest.len() as u32,
            usable: self.usable(),
            per_cpu: self.most_per_cpu(),
            cpus: all.run_ns as f64 / all.at_ns.max(1) as f64,
            waited,
            most_rank: worst.rank.0,
            most_waited: waited_share(worst),
        })
    }

    /// How many ranks share a CPU on the node with the most of them, if that is known.
    fn most_per_cpu(&self) -> Option<f64> {
        self.by_node().values().map(NodeCpus::ranks_per_cpu).max_by(f64::total_cmp)
    }

    /// One sentence, if ranks waited for a CPU noticeably.
    pub fn sentence(&self) -> Option<String> {
        self.figures(NOTICEABLE).as_ref().map(shortage_sentence)
    }

    /// One sentence, if ranks waited for a CPU noticeably and recording took a noticeable part of that time.
    pub fn recorder_sentence(&self, recorder_ns: u64) -> Option<String> {
        self.figures(NOTICEABLE)?;
        let (all, _) = self.sums()?;
        (recorder_ns as f64 >= RECORDER_NOTICEABLE * all.wait_ns as f64).then(|| {
            let (took, waited) = (nanoseconds(recorder_ns), nanoseconds(all.wait_ns));
            format!("They waited {waited} in all; mpiscope itself used {took} of CPU time on their node.")
        })
    }

    /// The ranks that were stopped.
    pub(crate) fn stopped(&self) -> Stopped {
        let ranks = self.newest.values().filter(|row| is_long(row.stopped_ns, row));
        let mut longest: Vec<_> =
            ranks.map(|row| StoppedRank { rank: row.rank.0, seconds: row.stopped_ns as f64 / 1e9 }).collect();
        let count = longest.len() as u32;
        longest.sort_by(|one, other| other.seconds.total_cmp(&one.seconds));
        longest.truncate(MOST_NAMED);
        Stopped { count, longest }
    }

    /// The ranks that the kernel blocked.
    pub fn blocked(&self) -> Blocked {
        let blocked = || self.newest.values().filter(|row| is_long(row.blocked_ns, row));
        let longest = blocked().max_by_key(|row| (row.blocked_ns, Reverse(row.rank)));
        let named = |row: &Scheduling| BlockedRank {
            rank: row.rank.0,
            seconds: row.blocked_ns as f64 / 1e9,
            major_faults: row.major_faults,
            ..BlockedRank::default()
        };
        Blocked { count: blocked().count() as u32, longest: longest.map(named) }
    }

    /// The figures, if there were too few CPUs.
    pub(crate) fn shortage(&self) -> Option<CpuContention> {
        self.figures(SHORT)
    }
}

/// How often it is found out whether CPUs are short, in run time.
const CROWDING_EVERY_NS: u64 = 500_000_000;

/// Whether CPUs are short now: ranks that could run waited for one.
#[derive(Debug, Default)]
pub struct Crowding {
    looked_ns: u64,
    /// All ranks' time on a CPU and time waiting for one until then.
    ran_ns: u64,
    waited_ns: u64,
    is_crowded: bool,
}

impl Crowding {
    /// Whether it is so, by what ranks did lately before this time of the run.
    pub fn is_crowded(&mut self, processors: &Processors, now_ns: u64) -> bool {
        if now_ns < self.looked_ns.saturating_add(CROWDING_EVERY_NS) {
            return self.is_crowded;
        }
        let Some((all, _)) = processors.sums() else { return false };
        let lately = Scheduling {
            run_ns: all.run_ns.saturating_sub(self.ran_ns),
            wait_ns: all.wait_ns.saturating_sub(self.waited_ns),
            ..Scheduling::default()
        };
        (self.looked_ns, self.ran_ns, self.waited_ns) = (now_ns, all.run_ns, all.wait_ns);
        self.is_crowded = waited_share(&lately) >= SHORT;
        self.is_crowded
    }
}

/// "1 CPU", "2 CPUs"; a quota may leave half a CPU.
pub(crate) fn cpu_count(cpus: f64) -> String {
    let number = format!("{cpus:.1}");
    let number = number.strip_suffix(".0").unwrap_or(&number);
    format!("{number} {}", if number == "1" { "CPU" } else { "CPUs" })
}

/// Where ranks run: "on 4 nodes, 2 CPUs each", and how many share a CPU, if there are more ranks than CPUs.
pub fn where_ranks_run(nodes: usize, processors: &Processors) -> String {
    let on = format!("on {}", plural(nodes as u64, "node"));
    let known: Option<Vec<NodeCpus>> =
        (0..nodes).map(|node| processors.of_node(Node::from_index(node))).collect();
    let Some(known) = known.filter(|known| !known.is_empty()) else { return on };
    let usable = known.iter().map(|cpus| cpus.usable);
    let (least, most) = (usable.clone().fold(f64::INFINITY, f64::min), usable.fold(0.0, f64::max));
    let each = if nodes > 1 { " each" } else { "" };
    let number = |cpus: f64| format!("{cpus:.1}").trim_end_matches(".0").to_owned();
    let cpus = if least < most {
        format!("{} to {}{each}", number(least), cpu_count(most))
    } else {
        format!("{}{each}", cpu_count(most))
    };
    let per_cpu = known.iter().map(NodeCpus::ranks_per_cpu).fold(0.0, f64::max);
    let crowded = if per_cpu > 1.0 { format!(" ({} ranks per CPU)", number(per_cpu)) } else { String::new() };
    format!("{on}, {cpus}{crowded}")
}

/// A page is read from a disk in about this time at least; where that makes a noticeable part of the time in which a rank was
/// blocked, its page faults are named.
const FAULT_S: f64 = 1e-4;
const READING: f64 = 0.1;

/// Which ranks the kernel blocked, if it did noticeably.
pub fn blocked_sentence(blocked: &Blocked) -> Option<String> {
    let BlockedRank { rank, seconds, major_faults, .. } = blocked.longest.as_ref()?;
    let others = and_others(blocked.count);
    // Fewer, as at the start of a program, are not why.
    let is_reading = *major_faults as f64 * FAULT_S > READING * seconds;
    let reading = if is_reading {
        let faults = plural(*major_faults, "major page fault");
        format!(
            " Rank {rank} had {faults}: pages that were read from a disk, a network file system, or swap."
        )
    } else {
        String::new()
    };
    let time = time(*seconds);
    Some(format!(
        "The kernel blocked rank {rank} for {time}{others}: on a disk, a network file system, or swapped memory.{reading}"
    ))
}

/// How many CPUs ranks had and how long they waited for one.
pub(crate) fn shortage_sentence(shortage: &CpuContention) -> String {
    let usable = shortage.usable.map_or_else(String::new, |cpus| format!(" may use {},", cpu_count(cpus)));
    format!(
        "{}{usable} had {:.1} CPUs on average and waited for a CPU {:.0} % of their runnable time (rank {}: {:.0} %).",
        plural(shortage.ranks.into(), "rank"),
        shortage.cpus,
        shortage.waited * 100.0,
        shortage.most_rank,
        shortage.most_waited * 100.0,
    )
}

/// That others than the rank with the longest time are among these, too.
pub(crate) fn and_others(ranks: u32) -> String {
    match ranks.saturating_sub(1) {
        0 => String::new(),
        others => format!(", and {} for at most that long", plural(others.into(), "other rank")),
    }
}

/// Whether a rank was stopped or blocked for a noticeable part of its time.
fn is_long(ns: u64, row: &Scheduling) -> bool {
    ns as f64 > STOPPED * row.at_ns as f64
}

fn waited_share(row: &Scheduling) -> f64 {
    let (run, wait) = (row.run_ns as f64, row.wait_ns as f64);
    if wait > 0.0 { wait / (run + wait) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpiscope_model::CpuSet;

    fn row(rank: u32, at_ns: u64, run_ns: u64, wait_ns: u64) -> Scheduling {
        Scheduling { rank: Rank(rank), at_ns, run_ns, wait_ns, ..Scheduling::default() }
    }

    #[test]
    fn the_newest_figures_count_in_whatever_order_they_come() {
        let mut processors = Processors::default();
        processors.see(&[row(0, 20, 8, 2), row(0, 10, 4, 1), row(1, 5, 1, 0), row(1, 5, 2, 0)]);
        assert_eq!(processors.figures_of(Rank(0)), Some(&row(0, 20, 8, 2)));
        assert_eq!(processors.figures_of(Rank(1)), Some(&row(1, 5, 2, 0)), "of one moment the later one");
        assert_eq!(processors.figures_of(Rank(2)), None);
    }

    #[test]
    fn waiting_is_reported_once_it_is_worth_it() {
        let mut processors = Processors::default();
        assert_eq!(processors.sentence(), None);
        processors.see(&[row(0, 1, 1_000, 0), row(3, 1, 60, 15)]);
        assert_eq!(processors.sentence(), None, "1.4 % of all");
        processors.see(&[row(3, 2, 600, 400)]);
        let sentence = "2 ranks had 800.0 CPUs on average and waited for a CPU 20 % of their runnable time (rank 3: 40 %).";
        assert_eq!(processors.sentence().as_deref(), Some(sentence));
        let shortage = processors.shortage().unwrap();
        assert_eq!((shortage.ranks, shortage.most_rank, shortage.most_waited), (2, 3, 0.4));
        assert_eq!((shortage.waited, shortage.cpus), (0.2, 800.0));
        processors.see(&[row(3, 3, u64::MAX, u64::MAX)]);
        assert!(processors.sentence().is_some());
    }

    #[test]
    fn recording_is_named_where_it_took_a_part_of_it() {
        let mut processors = Processors::default();
        processors.see(&[row(0, 10_000_000, 8_000_000, 1_500_000), row(1, 10_000_000, 9_000_000, 500_000)]);
        assert_eq!(processors.recorder_sentence(100_000), None, "5 % of it");
        let part = "They waited 2.00 ms in all; mpiscope itself used 1.00 ms of CPU time on their node.";
        assert_eq!(processors.recorder_sentence(1_000_000).as_deref(), Some(part));
        let mut processors = Processors::default();
        processors.see(&[row(0, 10_000_000, 9_900_000, 1_000)]);
        assert_eq!(processors.recorder_sentence(3_000_000), None, "nobody waited");
    }

    #[test]
    fn ranks_that_the_kernel_blocked_are_named() {
        let mut processors = Processors::default();
        let blocked = |rank, blocked_ns| Scheduling { blocked_ns, ..row(rank, 1_000_000_000, 0, 0) };
        processors.see(&[blocked(0, 9_000_000), blocked(1, 0)]);
        assert_eq!(blocked_sentence(&processors.blocked()), None, "below 1 %");
        processors.see(&[blocked(2, 500_000_000)]);
        let sentence =
            "The kernel blocked rank 2 for 500 ms: on a disk, a network file system, or swapped memory.";
        assert_eq!(blocked_sentence(&processors.blocked()).as_deref(), Some(sentence));
        processors.see(&[Scheduling { major_faults: 600, at_ns: 1_100_000_000, ..blocked(2, 500_000_000) }]);
        let sentence = blocked_sentence(&processors.blocked()).unwrap();
        let reading = " Rank 2 had 600 major page faults: pages that were read from a disk, a network file system, or swap.";
        assert!(sentence.ends_with(reading), "{sentence}");
        processors.see(&[Scheduling { major_faults: 400, at_ns: 1_200_000_000, ..blocked(2, 500_000_000) }]);
        let sentence = blocked_sentence(&processors.blocked()).unwrap();
        assert!(sentence.ends_with("or swapped memory."), "{sentence}");
        processors.see(&[blocked(3, 500_000_000), blocked(4, 20_000_000)]);
        let sentence = blocked_sentence(&processors.blocked()).unwrap();
        assert!(
            sentence.contains("rank 2 for 500 ms, and 2 other ranks for at most that long:"),
            "{sentence}"
        );
    }

    #[test]
    fn cpus_are_short_while_ranks_wait_for_one() {
        const LOOK_NS: u64 = CROWDING_EVERY_NS;
        let (mut processors, mut crowding) = (Processors::default(), Crowding::default());
        assert!(!crowding.is_crowded(&processors, LOOK_NS), "nothing is known");
        processors.see(&[row(0, 1, 1_000, 0), row(1, 1, 700, 300)]);
        assert!(crowding.is_crowded(&processors, LOOK_NS));
        processors.see(&[row(0, 2, 2_000, 0), row(1, 2, 1_700, 310)]);
        assert!(crowding.is_crowded(&processors, 2 * LOOK_NS - 1), "that was just found out");
        assert!(!crowding.is_crowded(&processors, 2 * LOOK_NS), "0.5 % since");
    }

    #[test]
    fn where_ranks_run_says_how_many_share_a_cpu() {
        let on = |rank, node, list: &str| RankInfo {
            rank: Rank(rank),
            world_size: 4,
            node,
            pid: 1,
            library: String::new(),
            state: mpiscope_model::ProcessState::Running,
            cost_per_call_ns: 0.0,
            cpus: RankCpus { on_host: 4, allowed: CpuSet::parse(list).unwrap(), quota_milli: 0 },
        };
        let mut processors = Processors::default();
        assert_eq!(where_ranks_run(2, &processors), "on 2 nodes");
        processors.place(&[on(0, Node(0), "0"), on(1, Node(0), "0"), on(2, Node(0), "0")]);
        assert_eq!(where_ranks_run(1, &processors), "on 1 node, 1 CPU (3 ranks per CPU)");
        assert_eq!(where_ranks_run(2, &processors), "on 2 nodes", "of the second nothing is known");
        processors.place(&[on(3, Node(1), "0-3")]);
        assert_eq!(where_ranks_run(2, &processors), "on 2 nodes, 1 to 4 CPUs each (3 ranks per CPU)");
        processors.see(&[row(0, 1_000, 500, 500)]);
        let sentence = "1 rank may use 5 CPUs, had 0.5 CPUs on average and waited for a CPU 50 % of their runnable time (rank 0: 50 %).";
        assert_eq!(processors.sentence().as_deref(), Some(sentence));
    }

    #[test]
    fn ranks_that_were_stopped_are_named_the_longest_first() {
        let mut processors = Processors::default();
        let stopped = |rank, stopped_ns| Scheduling { stopped_ns, ..row(rank, 1_000_000_000, 0, 0) };
        processors.see(&[stopped(0, 9_000_000), stopped(1, 20_000_000), stopped(2, 500_000_000)]);
        let named = |of: Stopped| of.longest.iter().map(|rank| (rank.rank, rank.seconds)).collect::<Vec<_>>();
        assert_eq!(named(processors.stopped()), [(2, 0.5), (1, 0.02)]);
        assert_eq!(processors.shortage(), None);
        processors.see(&(100..600).map(|rank| stopped(rank, 700_000_000)).collect::<Vec<_>>());
        assert_eq!((processors.stopped().count, processors.stopped().longest.len()), (502, MOST_NAMED));
    }
}
