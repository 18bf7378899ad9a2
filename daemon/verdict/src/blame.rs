//! Who or what is to blame, and what shows it.

use super::number_format::{percent, time};
use mpiscope_feed::{
    BlockedRank, Diagnosis, GatheredWait, Quiet, SlowLinks, Source, Stopped, StoppedRank, Wait,
};
use mpiscope_model::words::{count, plural, ranges};
use std::collections::BTreeSet;

/// A rank that so much of all waiting is for is named.
const MUCH: f64 = 0.3;
/// So few that all others may wait for them.
const FEW: usize = 4;

/// Who or what is to blame, to be read after "15 % avoidable:".
pub(super) fn cause_words(diagnosis: &Diagnosis) -> String {
    match diagnosis.verdict.cause.as_str() {
        "mapping" => placed(diagnosis),
        "pattern" => uneven(diagnosis),
        "background" => slow(&diagnosis.quiet),
        _ => without_core(diagnosis),
    }
}

/// The ranks that are blamed; none where the cause lies with no ranks, or with most of them.
pub(super) fn ranks(found: &Diagnosis) -> Vec<u32> {
    let cause = found.verdict.cause.as_str();
    let times = source(found, cause).map_or(&[][..], |of| &of.times);
    let moving: BTreeSet<u32> = times.iter().filter_map(|time| time.ranks.first()).copied().collect();
    match cause {
        "pattern" if !moving.is_empty() => moving.into_iter().collect(),
        "pattern" | "cpu" => match named_source(found, cause) {
            Some(of) => of.few.clone(),
            None if cause == "pattern" && !differs_by_step(found) => {
                awaited(&found.waits).into_iter().collect()
            }
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

fn source<'a>(diagnosis: &'a Diagnosis, cause: &str) -> Option<&'a Source> {
    diagnosis.sources.iter().find(|of| of.cause == cause)
}

/// Where a cause comes from, if that is a part of the ranks.
pub(super) fn named_source<'a>(diagnosis: &'a Diagnosis, cause: &str) -> Option<&'a Source> {
    source(diagnosis, cause).filter(|of| !of.few.is_empty())
}

/// Who had the most to do first and last, where that changes along the run.
pub(super) fn moving(diagnosis: &Diagnosis) -> Option<(u32, u32)> {
    let times = &source(diagnosis, "pattern")?.times;
    let first = times.iter().find_map(|time| time.ranks.first())?;
    let last = times.iter().rev().find_map(|time| time.ranks.first())?;
    Some((*first, *last))
}

/// Whether other ranks have the most to do in each step.
pub(super) fn differs_by_step(diagnosis: &Diagnosis) -> bool {
    source(diagnosis, "pattern").is_some_and(|of| of.differs_by_step && of.few.is_empty())
}

fn placed(diagnosis: &Diagnosis) -> String {
    let Some(advised) = diagnosis.advised.as_ref().filter(|of| of.messages > 0) else {
        return "ranks that exchange many messages are on different nodes".into();
    };
    let share = |messages: u64| percent(messages as f64 / advised.messages as f64);
    format!(
        "{} of the messages go between nodes, {} if {} ranks move to other nodes",
        share(advised.inter_messages),
        share(advised.inter_messages_after),
        count(advised.moved.into()),
    )
}

/// The one rank that seems to have more work, if most of that is time in which the kernel blocked it.
pub(super) fn blocked_rank(diagnosis: &Diagnosis) -> Option<&BlockedRank> {
    let blocked = diagnosis.blocked.longest.as_ref()?;
    let source = named_source(diagnosis, "pattern")?;
    (source.few == [blocked.rank] && 2.0 * blocked.seconds > source.of_few_s()).then_some(blocked)
}

fn uneven(diagnosis: &Diagnosis) -> String {
    if let Some(BlockedRank { rank, seconds, .. }) = blocked_rank(diagnosis) {
        return format!("the kernel blocks rank {rank} for {}, and it delays the others", time(*seconds));
    }
    if let Some((first, last)) = moving(diagnosis) {
        let who =
            if first == last { String::new() } else { format!(" (rank {first} first, rank {last} last)") };
        return format!("different ranks have more work at different times, and delay the others{who}");
    }
    if differs_by_step(diagnosis) {
        return "in each step some ranks work while others wait, and over all steps none has much more work"
            .into();
    }
    match (named_source(diagnosis, "pattern"), awaited(&diagnosis.waits)) {
        // Whoever is waited for directly may wait for somebody else.
        (Some(of), Some(awaited)) if of.few.len() <= FEW && of.few.contains(&awaited) => {
            waited_for(&diagnosis.waits, awaited)
        }
        // Nodes as a whole may be slower.
        (Some(of), _) if of.few_nodes > 0 => {
            format!("{} compute longer and delay the others", with_nodes(of))
        }
        (Some(of), _) => {
            let (has, delay) = verbs(&of.few, ("has", "delays"), ("have", "delay"));
            format!("{} {has} more work and {delay} the others", with_nodes(of))
        }
        (None, Some(awaited)) => waited_for(&diagnosis.waits, awaited),
        (None, None) => "ranks with less work wait for ranks with more".into(),
    }
}

/// The ranks that a cause comes from, and that they are all of their nodes.
fn with_nodes(of: &Source) -> String {
    match of.few_nodes {
        0 => ranges(&of.few),
        _ if !of.few_hosts.is_empty() => format!("{} (all of {})", ranges(&of.few), of.few_hosts.join(", ")),
        nodes => format!("{} (all of {})", ranges(&of.few), plural(nodes.into(), "node")),
    }
}

fn slow(stretches: &[Quiet]) -> String {
    let length = |of: &&Quiet| of.to_s - of.from_s;
    let disturbed: Vec<_> = stretches.iter().filter(|of| !of.is_quiet).collect();
    let disturbed_s: f64 = disturbed.iter().map(length).sum();
    if disturbed_s <= 0.0 {
        return "messages between nodes are slower than necessary".into();
    }
    let slower = disturbed.iter().map(|of| of.slower * length(of)).sum::<f64>() / disturbed_s;
    format!("messages between nodes take {slower:.1} times as long as in a quiet network")
}

/// The link that costs most: "from one host (its ranks) to another"; nothing where the network as a whole is slow.
pub(super) fn slow_link(links: &SlowLinks) -> Option<String> {
    let worst = links.worst.first().filter(|_| 2 * links.slow <= links.known)?;
    let (from, to) = (ranges(&worst.from), ranges(&worst.to));
    Some(match (worst.from_host.as_str(), worst.to_host.as_str()) {
        ("", _) | (_, "") => format!("from the node of {from} to that of {to}"),
        (from_host, to_host) => format!("from {from_host} ({from}) to {to_host} ({to})"),
    })
}

/// How slow that link is.
fn slowest(links: &SlowLinks) -> Option<String> {
    let link = slow_link(links)?;
    let others = match links.slow.saturating_sub(1) {
        0 => String::new(),
        1 => " 1 other link is slow, too.".into(),
        others => format!(" {others} other links are slow, too."),
    };
    let slower = links.worst.first()?.slower;
    Some(format!(
        "Messages {link} take {slower:.1} times as long as was measured before, throughout.{others}"
    ))
}

/// The stopped ranks in words, if most of the missing CPU time is due to that.
pub(super) fn stopped_ranks(diagnosis: &Diagnosis) -> Option<String> {
    let Stopped { count: all, longest } = &diagnosis.stopped;
    let source = source(diagnosis, "cpu")?;
    let missing_s: f64 = source.ranks.iter().map(|rank| rank.seconds).sum();
    let is_source = |stopped: &&StoppedRank| source.ranks.iter().any(|rank| rank.rank == stopped.rank);
    let stopped_s: f64 = longest.iter().filter(is_source).map(|rank| rank.seconds).sum();
    let mut ranks: Vec<u32> = longest.iter().map(|rank| rank.rank).collect();
    ranks.sort_unstable();
    let words = || if ranks.len() <= FEW { ranges(&ranks) } else { plural((*all).into(), "rank") };
    (2.0 * stopped_s > missing_s).then(words)
}

/// How ranks were without a CPU, behind a time.
pub(super) fn without_cpu(diagnosis: &Diagnosis) -> &'static str {
    if stopped_ranks(diagnosis).is_some() {
        "in which ranks were stopped or waited for a CPU"
    } else {
        "spent waiting for a CPU"
    }
}

fn without_core(diagnosis: &Diagnosis) -> String {
    if let Some(ranks) = stopped_ranks(diagnosis) {
        let Stopped { count, longest } = &diagnosis.stopped;
        let first = &longest[0];
        return match count {
            1 => format!("{ranks} was stopped for {} and delays the others", time(first.seconds)),
            _ => format!("{ranks} were stopped, rank {} for {}", first.rank, time(first.seconds)),
        };
    }
    named_source(diagnosis, "cpu").map_or_else(
        || "ranks wait for a CPU".into(),
        |of| {
            let (waits, delays) = verbs(&of.few, ("waits", "delays"), ("wait", "delay"));
            format!("{} {waits} {} for a CPU and {delays} the others", with_nodes(of), time(of.of_few_s()))
        },
    )
}

/// Verbs for one rank, or for several.
fn verbs<V>(ranks: &[u32], one: V, several: V) -> V {
    if ranks.len() == 1 { one } else { several }
}

/// The rank that much of all waiting is for.
fn awaited(waits: &[Wait]) -> Option<u32> {
    let mut awaited: Vec<(u32, f64)> = Vec::new();
    for wait in waits {
        match awaited.iter_mut().find(|(rank, _)| *rank == wait.awaited) {
            Some((_, seconds)) => *seconds += wait.seconds,
            None => awaited.push((wait.awaited, wait.seconds)),
        }
    }
    let all: f64 = awaited.iter().map(|(_, seconds)| seconds).sum();
    let (rank, seconds) = awaited.into_iter().max_by(|one, other| one.1.total_cmp(&other.1))?;
    (seconds >= MUCH * all && all > 0.0).then_some(rank)
}

/// By whom a rank is waited for, and where.
fn waited_for(waits: &[Wait], awaited: u32) -> String {
    let mut waiters: Vec<u32> =
        waits.iter().filter(|wait| wait.awaited == awaited).map(|wait| wait.waiter).collect();
    waiters.sort_unstable();
    waiters.dedup();
    let wait = if waiters.len() == 1 { "waits" } else { "wait" };
    let place = place_of(waits, awaited).map(|place| format!(" at {place}")).unwrap_or_default();
    format!("{} {wait} for rank {awaited}{place}", ranges(&waiters))
}

/// The call site where a rank is waited for, if most of that is at one.
fn place_of(waits: &[Wait], awaited: u32) -> Option<&str> {
    let mut places: Vec<(&str, f64)> = Vec::new();
    for wait in waits.iter().filter(|wait| wait.awaited == awaited) {
        match places.iter_mut().find(|(place, _)| *place == wait.place) {
            Some((_, seconds)) => *seconds += wait.seconds,
            None => places.push((&wait.place, wait.seconds)),
        }
    }
    let all: f64 = places.iter().map(|(_, seconds)| seconds).sum();
    let (place, seconds) = places.into_iter().max_by(|one, other| one.1.total_cmp(&other.1))?;
    (!place.is_empty() && seconds > 0.5 * all).then_some(place)
}

/// A call that is waited in, with its place where that is known.
pub(super) fn call(wait: &GatheredWait) -> String {
    if wait.place.is_empty() { wait.function.clone() } else { format!("{} at {}", wait.function, wait.place) }
}

/// Waiting that is less than this share of what is avoidable does not explain it.
const LEAST_WAITING: f64 = 0.1;

/// Where most is waited; none where that is next to nothing of what is avoidable: calls that wait for nobody knows whom
/// count as no waiting.
pub(super) fn most_waited(diagnosis: &Diagnosis) -> Option<&GatheredWait> {
    let least_s = LEAST_WAITING * diagnosis.verdict.avoidable_s;
    diagnosis.gathered.first().filter(|wait| wait.seconds > 0.0 && wait.seconds >= least_s)
}

/// What shows it, a sentence each: who has how much, and where most is waited.
pub(super) fn evidence(diagnosis: &Diagnosis) -> Vec<String> {
    let mut sentences = Vec::new();
    let cause = diagnosis.verdict.cause.as_str();
    match cause {
        "pattern" | "cpu" => {}
        "background" => return slowest(&diagnosis.slow_links).into_iter().collect(),
        _ => return sentences,
    }
    sentences.extend(source(diagnosis, cause).and_then(|of| who_has_it(diagnosis, of)));
    let all_s = diagnosis.budget.waiting_s;
    if let Some(most) = most_waited(diagnosis) {
        let states = match most.most_awaited_s {
            for_one if for_one >= MUCH * most.seconds => {
                format!("{}, {} of it for rank {}", most.state, time(for_one), most.most_awaited)
            }
            _ => most.state.clone(),
        };
        sentences.push(format!(
            "Most waiting is in {}: {} of {} ({states}).",
            call(most),
            time(most.seconds),
            time(all_s)
        ));
    }
    sentences
}

fn who_has_it(diagnosis: &Diagnosis, of: &Source) -> Option<String> {
    if let Some((first, last)) = moving(diagnosis).filter(|_| of.cause == "pattern") {
        let balance = percent(diagnosis.efficiency.load_balance);
        return Some(format!(
            "The rank with more work changes during the run, from rank {first} at the start to rank {last} at the end. \
             Summed over the whole run, load balance is {balance}."
        ));
    }
    let ranks = &of.few;
    // What blocks a rank has a sentence of its own, and is no work.
    if ranks.is_empty() || of.cause == "pattern" && blocked_rank(diagnosis).is_some() {
        return None;
    }
    let share = percent(of.of_few_s() / of.total_s.max(1e-12));
    let (names, mean) = (ranges(ranks), time(of.computed_s));
    let named = of.ranks.iter().filter(|rank| ranks.contains(&rank.rank));
    let most_s = named.map(|rank| rank.computed_s).fold(0.0, f64::max);
    Some(match of.cause.as_str() {
        "cpu" => format!("{share} of the {} {} falls on {names}.", time(of.total_s), without_cpu(diagnosis)),
        _ => {
            let up_to = if ranks.len() == 1 { "" } else { "up to " };
            let most = time(most_s);
            format!(
                "{share} of the excess work that others wait for is on {names}: {up_to}{most} of computing; the average \
                 is {mean}."
            )
        }
    })
}
