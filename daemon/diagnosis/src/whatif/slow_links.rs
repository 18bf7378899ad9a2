//! What messages take on single links, held against what was measured at another time.

use crate::whatif::graph::flights::size_bin;
use crate::whatif::graph::on_links::{Link, OnLink, OnLinks};
use crate::whatif::graph::{Edge, Graph};
use crate::whatif::quiet_samples::quiet_samples;
use crate::whatif::rule::Rule;
use mpiscope_model::Node;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Fewer messages do not say what a link takes.
const LEAST_MESSAGES: usize = 30;

impl OnLinks {
    /// What a message takes on its link; none where too few messages say so.
    pub(crate) fn of_message(&self, graph: &Graph, edge: &Edge) -> Option<OnLink> {
        self.of_size(graph, graph.link_of(edge)?, edge.bytes)
    }

    /// What messages of a size take on a link; likewise.
    fn of_size(&self, graph: &Graph, link: Link, bytes: u32) -> Option<OnLink> {
        let of_size = self.by_size.get(&(link, size_bin(bytes))).copied();
        of_size.or_else(|| {
            let slower = self.by_link.get(&link)?;
            let own_ns = slower * graph.reference.message_ns(true, bytes)?;
            let share = graph.reference.share_on_link(bytes, own_ns);
            Some(OnLink { own_ns, share })
        })
    }
}

/// The felt messages of each link, where there are enough.
fn messages_by_link(graph: &Graph) -> FxHashMap<Link, Vec<u32>> {
    let mut of_links: FxHashMap<Link, Vec<u32>> = FxHashMap::default();
    for (at, edge) in graph.edges.iter().enumerate().filter(|(_, edge)| edge.is_felt) {
        if let Some(link) = graph.link_of(edge) {
            of_links.entry(link).or_default().push(at as u32);
        }
    }
    of_links.retain(|_, messages| messages.len() >= LEAST_MESSAGES);
    of_links
}

/// What messages take on each link; nothing where that was not measured at another time.
pub(crate) fn measure(graph: &Graph) -> OnLinks {
    let mut links = OnLinks::default();
    if !graph.reference.knows_messages() || !graph.follows(Rule::SlowLinks) {
        return links;
    }
    let edge = |at: &u32| &graph.edges[*at as usize];
    let bin = |at: &u32| size_bin(edge(at).bytes);
    let ended_ns = |at: &u32| graph.ends[edge(at).to as usize];
    // The network is not to blame for a receiver without a CPU.
    let span = |at: &u32| graph.span_ns(edge(at)).saturating_sub(graph.delay_of(edge(at).to as usize));
    // In millionths of the reference, for messages of all sizes.
    let slower = |at: &u32| {
        let usual_ns = graph.reference.message_ns(true, edge(at).bytes).unwrap_or(f64::INFINITY);
        (1e6 * span(at) as f64 / usual_ns.max(1.0)) as u64
    };
    for (link, mut messages) in messages_by_link(graph) {
        messages.sort_unstable_by_key(|at| (bin(at), ended_ns(at)));
        let mut has_rare = false;
        for of_size in messages.chunk_by(|one, other| bin(one) == bin(other)) {
            if of_size.len() < LEAST_MESSAGES {
                has_rare = true;
                continue;
            }
            let median = quiet_median(of_size, span);
            let own_ns = span(&median) as f64;
            let share = graph.reference.share_on_link(edge(&median).bytes, own_ns);
            links.by_size.insert((link, bin(&median)), OnLink { own_ns, share });
        }
        if has_rare {
            messages.sort_unstable_by_key(ended_ns);
            links.by_link.insert(link, slower(&quiet_median(&messages, slower)) as f64 / 1e6);
        }
    }
    links
}

/// The message in the middle of those of the quietest stretches, from all in the order of time.
fn quiet_median(messages: &[u32], value: impl Fn(&u32) -> u64) -> u32 {
    let mut quiet = quiet_samples(messages, &value);
    let middle = quiet.len() / 2;
    *quiet.select_nth_unstable_by_key(middle, value).1
}

/// What messages take on a link.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinkTime {
    /// The node that sends.
    pub from: Node,
    /// The node that receives.
    pub to: Node,
    /// How many messages say so.
    pub messages: u64,
    /// How many times as long as they would they take, on average; 1 where the link is not slow throughout.
    pub slower: f64,
}

impl Graph {
    /// What messages take on each link.
    pub(crate) fn times_on_links(&self) -> &OnLinks {
        self.on_links.get_or_init(|| measure(self))
    }

    /// How many times as long as elsewhere messages of a size take on a link, or within a node.
    pub(crate) fn slowness_on(&self, link: Option<Link>, bytes: u32) -> f64 {
        if self.slowness.is_empty() {
            return 1.0;
        }
        let on_link = link.and_then(|link| self.times_on_links().of_size(self, link, bytes));
        on_link.map_or(1.0, |on_link| 1.0 / on_link.share)
    }

    /// What messages take on each link, if that was measured at another time.
    #[must_use]
    pub fn link_times(&self) -> Vec<LinkTime> {
        let mut of_links: BTreeMap<Link, (usize, f64)> = BTreeMap::new();
        let links = self.times_on_links();
        for edge in self.edges.iter().filter(|edge| edge.is_felt) {
            if let Some((link, times)) = self.link_of(edge).zip(links.of_message(self, edge)) {
                let (messages, slower) = of_links.entry(link).or_default();
                *messages += 1;
                *slower += 1.0 / times.share;
            }
        }
        let link = |((from, to), (messages, slower)): (Link, (usize, f64))| LinkTime {
            from,
            to,
            messages: messages as u64,
            slower: slower / messages as f64,
        };
        of_links.into_iter().map(link).collect()
    }
}
