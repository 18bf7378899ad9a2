//! Which calls and messages a subscription is to.

mod names;

use self::names::{NAME_BYTES_MAX, nearest, numbers, region};
use super::moment::Moment;
use super::requests::shortened;
use mpiscope_feed::exchange::{Ranks, common_ranks, is_among, rank_ranges};
use mpiscope_feed::{ExpandedMessage, Library};
use mpiscope_model::{Call, Comm, Message, Site};
use mpiscope_protocol::{Finding, Subscribe, Topic};
use std::collections::BTreeSet;

/// The most entries of one list.
const ENTRIES_MAX: usize = 4_096;

/// The shortest window that a client can ask for.
const WINDOW_NS_MIN: f64 = 1e6;
const WINDOW_NS_MAX: f64 = 1e15;

/// What a subscription asks for, checked.
#[derive(Debug)]
pub(super) struct Filter {
    /// By id; empty for all.
    functions: Vec<bool>,
    ranks: Ranks,
    region: Option<u32>,
    communicators: BTreeSet<Comm>,
    sites: BTreeSet<Site>,
    at_least_ns: u64,
    window_ns: u64,
    /// What is not known yet of a run that goes on, a sentence each.
    notes: Vec<String>,
}

impl Filter {
    /// Of a run that has ended, what is not known is not there; of regions, once it was diagnosed as a whole.
    ///
    /// # Errors
    /// One sentence about what makes no sense.
    pub(super) fn new(asked: &Subscribe, library: &Library, moment: &Moment) -> Result<Self, String> {
        let lists = [
            ("functions", asked.functions.len()),
            ("families", asked.families.len()),
            ("ranks", asked.ranks.len()),
            ("communicators", asked.communicators.len()),
            ("sites", asked.sites.len()),
        ];
        if let Some((name, entries)) = lists.into_iter().find(|&(_, entries)| entries > ENTRIES_MAX) {
            return Err(format!("{name} has {entries} entries; {ENTRIES_MAX} is the most"));
        }
        check_topic(asked)?;
        if let Some(&(first, last)) = asked.ranks.iter().find(|(first, last)| first > last) {
            return Err(format!("ranks {first} to {last} is no range: the first is greater than the last"));
        }
        let functions = functions(asked, library)?;
        let is_over = moment.is_over;
        let mut notes = Vec::new();
        let known = || library.communicators();
        let communicators = numbers("communicator", &asked.communicators, known, is_over, &mut notes)?;
        let sites = numbers("call site", &asked.sites, || library.call_sites(), is_over, &mut notes)?;
        if let Some(asked) = asked.region {
            region(asked, &library.region_ids(), moment.is_diagnosed(), &mut notes)?;
        }
        Ok(Self {
            functions,
            ranks: Some(rank_ranges(&asked.ranks)).filter(|ranks| !ranks.is_empty()),
            region: asked.region,
            communicators: communicators.into_iter().map(Comm).collect(),
            sites: sites.into_iter().map(Site).collect(),
            at_least_ns: asked.at_least_ns.max(0.0) as u64,
            window_ns: asked.window_ns.map_or_else(|| library.window_ns(), |window_ns| window_ns as u64),
            notes,
        })
    }

    /// How long each window is.
    pub(super) fn window_ns(&self) -> u64 {
        self.window_ns
    }

    /// Whether it is to some functions only.
    pub(super) fn has_functions(&self) -> bool {
        !self.functions.is_empty()
    }

    /// What of it is not known yet, in sentences.
    pub(super) fn note(&self) -> Option<String> {
        Some(self.notes.join(". ")).filter(|note| !note.is_empty())
    }

    /// The ranks, as regions are now. Of a region that there is not, nothing is found.
    pub(super) fn ranks(&self, library: &Library) -> Ranks {
        let Some(region) = self.region else { return self.ranks.clone() };
        let of_region = library.ranks_of_region(region).unwrap_or_default();
        match &self.ranks {
            None => Some(of_region),
            Some(ranks) => Some(common_ranks(ranks, &of_region)),
        }
    }

    pub(super) fn keeps_call(&self, call: &Call, ranks: &Ranks) -> bool {
        call.duration_ns() >= self.at_least_ns
            && (self.functions.is_empty() || self.functions.get(usize::from(call.function)) == Some(&true))
            && has(&self.communicators, call.comm)
            && has(&self.sites, call.site)
            && is_among(ranks.as_deref(), call.rank)
    }

    /// A transfer time that is not known is not at least anything.
    pub(super) fn keeps_expanded(&self, row: &ExpandedMessage, ranks: &Ranks) -> bool {
        let is_known = row.message.t_msg_ns != u64::MAX || self.at_least_ns == 0;
        let is_of = |function| self.functions.get(usize::from(function)) == Some(&true);
        let is_asked_for =
            self.functions.is_empty() || row.collective.is_some_and(|(function, _)| is_of(function));
        is_known && is_asked_for && self.keeps_message(&row.message, ranks)
    }

    /// What is about the whole job is about all ranks.
    pub(super) fn keeps_finding(&self, finding: &Finding, ranks: &Ranks) -> bool {
        let is_of_region = |of: Option<u32>| of.is_some() && of == self.region;
        let Some(ranks) = ranks else { return true };
        if finding.ranks.is_empty() && finding.region.is_none() {
            return self.region.is_none();
        }
        is_of_region(finding.region)
            || is_of_region(finding.other)
            || !common_ranks(ranks, &rank_ranges(&finding.ranks)).is_empty()
    }

    pub(super) fn keeps_message(&self, message: &Message, ranks: &Ranks) -> bool {
        message.t_msg_ns >= self.at_least_ns
            && has(&self.communicators, Some(message.comm))
            && (is_among(ranks.as_deref(), message.src) || is_among(ranks.as_deref(), message.dst))
    }
}

fn has<T: Ord>(list: &BTreeSet<T>, value: Option<T>) -> bool {
    list.is_empty() || value.is_some_and(|value| list.contains(&value))
}

fn functions(asked: &Subscribe, library: &Library) -> Result<Vec<bool>, String> {
    if asked.functions.is_empty() && asked.families.is_empty() {
        return Ok(Vec::new());
    }
    let all = library.functions();
    if let Some(name) = asked.functions.iter().find(|name| all.iter().all(|function| function.name != **name))
    {
        let name = shortened(name, NAME_BYTES_MAX);
        let nearest = nearest(&name, all.iter().map(|function| function.name));
        let hint = match nearest {
            Some(nearest) => format!("did you mean {nearest}?"),
            None => "the greeting lists those that there are".to_owned(),
        };
        return Err(format!("there is no function {name:?}; {hint}"));
    }
    if let Some(name) =
        asked.families.iter().find(|name| all.iter().all(|function| function.family != **name))
    {
        let families: BTreeSet<&str> = all.iter().map(|function| function.family).collect();
        let name = shortened(name, NAME_BYTES_MAX);
        let families = families.into_iter().collect::<Vec<_>>().join(", ");
        return Err(format!("there is no family {name:?}; there are {families}"));
    }
    let mut wanted =
        vec![false; all.iter().map(|function| usize::from(function.id) + 1).max().unwrap_or_default()];
    for function in all {
        let by_name = asked.functions.iter().any(|name| name == function.name);
        wanted[usize::from(function.id)] =
            by_name || asked.families.iter().any(|name| name == function.family);
    }
    Ok(wanted)
}

/// Each topic has filters of its own.
fn check_topic(asked: &Subscribe) -> Result<(), String> {
    let of_calls = asked.what == Topic::Calls || asked.what == Topic::Messages && asked.expand_collectives;
    for (name, list) in [("functions", &asked.functions), ("families", &asked.families)] {
        if !of_calls && !list.is_empty() {
            return Err(format!(
                "{name} select calls, and messages of expanded collectives, but no {}",
                plural(asked)
            ));
        }
    }
    if asked.what != Topic::Calls && !asked.sites.is_empty() {
        return Err(format!("sites select calls; {} have none", plural(asked)));
    }
    let has_rows = matches!(asked.what, Topic::Calls | Topic::Messages);
    if !has_rows && !asked.communicators.is_empty() {
        return Err(format!("communicators select calls and messages; {} have none", plural(asked)));
    }
    if matches!(asked.what, Topic::Windows | Topic::Findings) && asked.at_least_ns > 0.0 {
        return Err(format!("at_least_ns selects calls and messages, but no {}", plural(asked)));
    }
    if asked.expand_collectives && asked.what != Topic::Messages {
        return Err("expand_collectives is for subscriptions to messages".to_owned());
    }
    match asked.window_ns {
        Some(_) if asked.what != Topic::Windows => {
            Err("window_ns is for subscriptions to windows".to_owned())
        }
        Some(window_ns) if !(WINDOW_NS_MIN..=WINDOW_NS_MAX).contains(&window_ns) => {
            Err(format!("window_ns is {window_ns}; {WINDOW_NS_MIN} to {WINDOW_NS_MAX} are possible"))
        }
        _ => Ok(()),
    }
}

fn plural(asked: &Subscribe) -> &'static str {
    match asked.what {
        Topic::Calls => "calls",
        Topic::Messages => "messages",
        Topic::Verdicts => "verdicts",
        Topic::Windows => "windows",
        Topic::Findings => "findings",
    }
}
