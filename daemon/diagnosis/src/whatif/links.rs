//! What messages take on single links, held against what was measured at another time.

use crate::whatif::flights::{quiet_samples, size_bin, span_ns};
use crate::whatif::graph::{Graph, Link};
use mpiscope_model::Node;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Fewer messages do not say what a link takes.
const LEAST_MESSAGES: usize = 30;

/// What messages of similar sizes take on a link.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OnLink {
    /// How many say so.
    messages: usize,
    pub(crate) own_ns: f64,
    /// What they would take, as a share of that; 1 where the link is not slow throughout.
    pub(crate) share: f64,
}

impl OnLink {
    pub(crate) fn is_slow(&self) -> bool {
        self.share < 1.0
    }

    /// What its messages would take.
    pub(crate) fn quiet_ns(&self) -> f64 {
        self.own_ns * self.share
    }
}

/// By link and bin of sizes.
pub(crate) type OnLinks = FxHashMap<(Link, u32), OnLink>;

/// What messages take on each link; nothing where that was not measured at another time.
pub(crate) fn measure(graph: &Graph) -> OnLinks {
    let mut of_links: FxHashMap<(Link, u32), Vec<u32>> = FxHashMap::default();
    if !graph.reference.knows_messages() {
        return OnLinks::default();
    }
    for (at, edge) in graph.edges.iter().enumerate().filter(|(_, edge)| edge.is_felt()) {
        if let Some(link) = graph.link_of(edge) {
            of_links.entry((link, size_bin(edge.bytes))).or_default().push(at as u32);
        }
    }
    // The network is not to blame for a receiver without a CPU.
    let span = |at: &u32| {
        let edge = &graph.edges[*at as usize];
        span_ns(graph, edge).saturating_sub(graph.delay_of(edge.to as usize))
    };
    let measure = |mut messages: Vec<u32>| {
        messages.sort_unstable_by_key(|at| graph.ends[graph.edges[*at as usize].to as usize]);
        let mut quiet = quiet_samples(&messages, span);
        let middle = quiet.len() / 2;
        let median = *quiet.select_nth_unstable_by_key(middle, span).1;
        let own_ns = span(&median) as f64;
        let share = graph.reference.share_on_link(graph.edges[median as usize].bytes, own_ns);
        OnLink { messages: messages.len(), own_ns, share }
    };
    let of_links = of_links.into_iter().filter(|(_, messages)| messages.len() >= LEAST_MESSAGES);
    of_links.map(|(key, messages)| (key, measure(messages))).collect()
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
    /// What messages take on each link, if that was measured at another time.
    #[must_use]
    pub fn link_times(&self) -> Vec<LinkTime> {
        let mut of_links: BTreeMap<Link, (usize, f64)> = BTreeMap::new();
        for ((link, _), of_size) in self.times_on_links() {
            let (messages, slower) = of_links.entry(*link).or_default();
            *messages += of_size.messages;
            *slower += of_size.messages as f64 / of_size.share;
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
