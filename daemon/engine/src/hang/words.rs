//! Sentences about a hang.

use mpiscope_diagnosis::{Doing, HangAnalysis, LastCall, Need, Root, Waiting};
use mpiscope_feed::HangSentence;
use mpiscope_matching::OpenPost;
use mpiscope_model::words::{counted, nanoseconds, ranges};
use mpiscope_model::{Asks, Comm, Function, InFlight, Peer, ProcessState, Rank, Site, SiteInfo};
use std::fmt::Write as _;

/// The ranks of a cycle that are listed one by one.
const MOST_STEPS: usize = 8;
const MOST_ROOTS: usize = 3;
/// Ranks that go along with a sentence.
const MOST_RANKS: usize = 64;

/// What is needed to name things.
pub(super) struct Names<'a> {
    /// The places that are spoken of, looked up.
    pub(super) sites: &'a [SiteInfo],
    pub(super) now_ns: u64,
}

pub(super) fn function_name(function: Function) -> &'static str {
    mpiscope_wire::by_id(function).map_or("a call", |entry| entry.name)
}

fn peer(peer: Peer) -> String {
    match peer {
        Peer::Rank(rank) => format!("rank {rank}"),
        Peer::Any => "any rank".into(),
        Peer::Nobody => "nobody".into(),
        Peer::Unknown => "a rank that is not known".into(),
    }
}

/// The first of these ranks, as a page receives them.
fn numbers(ranks: impl IntoIterator<Item = Rank>) -> Vec<u32> {
    ranks.into_iter().take(MOST_RANKS).map(|rank| rank.0).collect()
}

/// "ranks 0-2, 7": sorted ranks.
fn words_of(ranks: &[Rank]) -> String {
    ranges(&ranks.iter().map(|rank| rank.0).collect::<Vec<_>>())
}

fn on(comm: Option<Comm>) -> String {
    match comm {
        Some(Comm::WORLD) => String::new(),
        Some(comm) => format!(" on communicator {comm}"),
        None => " on a communicator that is not known".into(),
    }
}

fn with_tag(tag: Option<i32>) -> String {
    tag.map_or_else(|| ", any tag".into(), |tag| format!(", tag {tag}"))
}

fn senders(posts: &[OpenPost]) -> String {
    let mut named: Vec<Rank> = posts.iter().filter_map(|post| post.from).collect();
    named.sort_unstable();
    named.dedup();
    match posts {
        [post] => {
            let from = post.from.map_or(Peer::Any, Peer::Rank);
            format!("from {}{}", peer(from), with_tag(post.tag))
        }
        _ if named.is_empty() => "from any rank".into(),
        _ => format!("from {}", words_of(&named)),
    }
}

/// A call and whom its arguments ask for: "MPI_Recv from rank 3, tag 7".
pub(super) fn call_words(call: &InFlight, posts: &[OpenPost]) -> String {
    let name = function_name(call.function);
    match call.asks {
        Asks::Nothing => name.into(),
        Asks::Send { to, tag, comm } => format!("{name} to {}, tag {tag}{}", peer(to), on(comm)),
        Asks::Receive { from, tag, comm } => {
            format!("{name} from {}{}{}", peer(from), with_tag(tag), on(comm))
        }
        Asks::Exchange { to, from, tag, comm } => {
            format!("{name} to {}, tag {tag}, and from {}{}", peer(to), peer(from), on(comm))
        }
        Asks::Members { comm } => format!("{name}{}", on(comm)),
        Asks::Post { .. } if posts.is_empty() => format!("{name} for a receive"),
        Asks::Post { .. } => format!("{name} for a receive {}", senders(posts)),
        Asks::Requests { count: 0 } => format!("{name} for a request that is no receive"),
        Asks::Requests { count } if posts.is_empty() => {
            format!("{name} for {}", counted(count.into(), "request"))
        }
        Asks::Requests { count } => {
            let open = counted(posts.len() as u64, "open receive");
            format!("{name} for {}; it has {open} {}", counted(count.into(), "request"), senders(posts))
        }
    }
}

impl Names<'_> {
    pub(super) fn place(&self, site: Option<Site>) -> String {
        let known = site.and_then(|site| self.sites.iter().find(|known| known.site == site));
        known.map(SiteInfo::words).unwrap_or_default()
    }

    fn place_of(&self, site: Option<Site>) -> String {
        let place = self.place(site);
        if place.is_empty() { place } else { format!(" at {place}") }
    }

    fn ago(&self, ns: u64) -> String {
        nanoseconds(self.now_ns.saturating_sub(ns))
    }

    /// All sentences, what matters most first.
    pub(super) fn sentences(&self, hang: &HangAnalysis) -> Vec<HangSentence> {
        let mut out = Vec::new();
        for cycle in &hang.cycles {
            self.cycle(hang, cycle, &mut out);
        }
        self.others_stuck(hang, &mut out);
        for &(rank, state, waiting) in &hang.gone {
            let what = match state {
                ProcessState::Finalized => "has ended: it returned from MPI_Finalize",
                ProcessState::Aborted => "called MPI_Abort",
                _ => "has a process that is gone",
            };
            let text = format!("{} for rank {rank}, which {what}.", wait(waiting));
            out.push(HangSentence { text, ranks: numbers([rank]) });
        }
        for clash in &hang.clashes {
            let sides = clash
                .functions
                .iter()
                .map(|(function, ranks)| format!("{} in {}", are(ranks), function_name(*function)));
            let sides: Vec<String> = sides.collect();
            let text = format!("{}{}, which never meet.", sides.join(", "), on(Some(clash.comm)));
            let ranks = clash.functions.iter().flat_map(|(_, ranks)| ranks).copied();
            out.push(HangSentence { text: capital(&text), ranks: numbers(ranks) });
        }
        self.mistagged(hang, &mut out);
        self.roots(hang, &mut out);
        unknown(hang, &mut out);
        out
    }

    fn cycle(&self, hang: &HangAnalysis, cycle: &[Rank], out: &mut Vec<HangSentence>) {
        let head = match cycle {
            [rank] => format!("Deadlock: rank {rank} waits for itself."),
            _ => {
                format!("Deadlock: {} wait for each other.", counted(cycle.len() as u64, "rank"))
            }
        };
        out.push(HangSentence { text: head, ranks: numbers(cycle.iter().copied()) });
        let listed = if cycle.len() > MOST_STEPS { MOST_STEPS - 1 } else { cycle.len() };
        for (at, &rank) in cycle.iter().enumerate().take(listed) {
            let next = cycle[(at + 1) % cycle.len()];
            if let Some(waiting) = hang.waiting.iter().find(|waiting| waiting.call.rank == rank) {
                let on: Vec<Rank> = waiting.on.iter().copied().filter(|&on| on != rank).collect();
                let whom = match waiting.need {
                    Need::Any if on.len() > 1 => format!("any of {}", words_of(&on)),
                    _ => format!("rank {next}"),
                };
                let text = format!("{}: it waits for {whom}.", capital(&self.inside(waiting)));
                out.push(HangSentence { text, ranks: numbers([rank, next]) });
            }
        }
        if listed < cycle.len() {
            let left = counted((cycle.len() - listed) as u64, "rank");
            let text = format!("Likewise {left} more, from rank {} on.", cycle[listed]);
            out.push(HangSentence { text, ranks: numbers(cycle[listed..].iter().copied()) });
        }
    }

    /// "rank 3 is in MPI_Recv from rank 4, tag 7 at ring.c:20 main() for 14 s".
    fn inside(&self, waiting: &Waiting) -> String {
        let Waiting { call, posts, .. } = waiting;
        let (what, place) = (call_words(call, posts), self.place_of(call.site));
        format!("rank {} is in {what}{place} for {}", call.rank, self.ago(call.since_ns))
    }

    fn others_stuck(&self, hang: &HangAnalysis, out: &mut Vec<HangSentence>) {
        let is_in_cycle = |rank: &&Rank| hang.cycles.iter().any(|cycle| cycle.contains(rank));
        let others: Vec<Rank> = hang.stuck.iter().filter(|rank| !is_in_cycle(rank)).copied().collect();
        if !hang.cycles.is_empty() && !others.is_empty() {
            let text = format!("{} for them, directly or through others.", capital(&wait_of(&others)));
            out.push(HangSentence { text, ranks: numbers(others) });
        } else if let Some(waiting) =
            hang.waiting.iter().find(|waiting| hang.stuck.contains(&waiting.call.rank))
            && hang.cycles.is_empty()
        {
            let text = format!("{}.", capital(&self.inside(waiting)));
            out.push(HangSentence { text, ranks: numbers([waiting.call.rank]) });
        }
    }

    fn mistagged(&self, hang: &HangAnalysis, out: &mut Vec<HangSentence>) {
        for (send, wanted) in &hang.mistagged {
            let text = format!(
                "A message from rank {} to rank {} has tag {}, and rank {} asks for tag {wanted}.",
                send.from, send.to, send.tag, send.to
            );
            out.push(HangSentence { text, ranks: numbers([send.from, send.to]) });
        }
    }

    fn roots(&self, hang: &HangAnalysis, out: &mut Vec<HangSentence>) {
        let waiting = hang.waiting_ranks().len();
        for root in hang.roots.iter().filter(|root| root.waiting > 0).take(MOST_ROOTS) {
            let who = if root.waiting == waiting && waiting > 1 && hang.stuck.is_empty() {
                format!("All {waiting} ranks that wait do so")
            } else {
                wait(root.waiting)
            };
            let text = format!("{who} for rank {}, {}.", root.rank, self.doing(root));
            out.push(HangSentence { text, ranks: numbers([root.rank]) });
        }
        let rest: Vec<Rank> = hang.roots.iter().skip(MOST_ROOTS).map(|root| root.rank).collect();
        if !rest.is_empty() {
            let mut sorted = rest.clone();
            sorted.sort_unstable();
            let text = format!("Likewise for {}.", words_of(&sorted));
            out.push(HangSentence { text, ranks: numbers(rest) });
        }
    }

    fn doing(&self, root: &Root) -> String {
        let asks = |last: &LastCall| format!("{}{}", function_name(last.function), self.place_of(last.site));
        match &root.doing {
            Doing::Unseen => "which reports nothing".into(),
            Doing::Outside { last: None } => {
                "which has been in no MPI call yet: it computes, or is stuck outside of MPI".into()
            }
            Doing::Outside { last: Some(last) } => format!(
                "which has been in no MPI call for {}, since {} returned: it computes, or is stuck outside of MPI",
                self.ago(last.end_ns),
                asks(last)
            ),
            Doing::Polls { last } => {
                format!("which asks again and again with {} and finds nothing", asks(last))
            }
            Doing::Inside { call } => format!(
                "which is in {}{} for {}; for whom that waits is not known, or its other side is there",
                call_words(call, &[]),
                self.place_of(call.site),
                self.ago(call.since_ns)
            ),
        }
    }
}

fn unknown(hang: &HangAnalysis, out: &mut Vec<HangSentence>) {
    let ranks: Vec<Rank> = hang
        .waiting
        .iter()
        .filter(|waiting| waiting.need == Need::Unknown)
        .map(|waiting| waiting.call.rank)
        .collect();
    if let Some(first) = hang.waiting.iter().find(|waiting| waiting.need == Need::Unknown) {
        let text = format!(
            "For whom {} {} in {} is not known.",
            words_of(&ranks),
            if ranks.len() == 1 { "waits" } else { "wait" },
            call_words(&first.call, &first.posts)
        );
        out.push(HangSentence { text, ranks: numbers(ranks) });
    }
}

fn wait(count: usize) -> String {
    if count == 1 { "1 rank waits".into() } else { format!("{count} ranks wait") }
}

fn wait_of(ranks: &[Rank]) -> String {
    format!("{} {}", words_of(ranks), if ranks.len() == 1 { "waits" } else { "wait" })
}

fn are(ranks: &[Rank]) -> String {
    format!("{} {}", words_of(ranks), if ranks.len() == 1 { "is" } else { "are" })
}

fn capital(text: &str) -> String {
    let mut out = String::new();
    let mut characters = text.chars();
    if let Some(first) = characters.next() {
        let _ = write!(out, "{}{}", first.to_uppercase(), characters.as_str());
    }
    out
}
