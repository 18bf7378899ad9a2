use crate::activity::{Activity, Collected};
use crate::call::Call;
use crate::event::Event;
use crate::gap::Gap;
use crate::ids::{Nanoseconds, Rank};
use crate::in_flight::{InFlight, Member};
use crate::job::{CommInfo, CommName, Coordinate, NodeInfo, RankInfo, Scheduling};
use crate::site::SiteInfo;
use crate::totals::Losses;

/// Something wrong in what came in: a value, not an error; the run goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Whose input, when known.
    pub rank: Option<Rank>,
    /// What and where, in one sentence.
    pub text: String,
}

crate::numbers! { Fault { rank, text } }

/// What ingest hands on: everything that became known since the last batch.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Batch {
    /// Hosts seen for the first time.
    pub nodes: Vec<NodeInfo>,
    /// Ranks seen for the first time, or whose state changed.
    pub ranks: Vec<RankInfo>,
    /// Communicators seen for the first time.
    pub comms: Vec<CommInfo>,
    /// Members of communicators, as ranks reported themselves.
    pub members: Vec<Member>,
    /// Their names, where known.
    pub comm_names: Vec<CommName>,
    /// Where ranks stand in the grids of communicators.
    pub coordinates: Vec<Coordinate>,
    /// Call sites seen for the first time; function, file and line are looked up by others.
    pub sites: Vec<SiteInfo>,
    /// Calls, in order for each thread.
    pub calls: Vec<Call>,
    /// The indices of single failed polls among them: their count does not show it.
    pub lone_polls: Vec<usize>,
    /// The effects of the same calls, one for one; empty without a diagnosis.
    pub activities: Vec<Activity>,
    /// Collectives that some of them completed, in order for each thread.
    pub collected: Vec<Collected>,
    /// Likewise those in which it is unknown who waits for whom, such as those among neighbours.
    pub undiagnosed: Vec<Collected>,
    /// Traffic, in order for each rank.
    pub events: Vec<Event>,
    /// For each of them, when its call returned; empty without a diagnosis.
    pub events_end_ns: Vec<Nanoseconds>,
    /// Faults.
    pub faults: Vec<Fault>,
    /// What was lost up to now, cumulative, when it changed.
    pub losses: Option<Losses>,
    /// When recording was off up to now, when that changed.
    pub gaps: Option<Vec<Gap>>,
    /// The calls that processes were in when they ended.
    pub last_calls: Vec<InFlight>,
    /// What the scheduler did to ranks.
    pub scheduling: Vec<Scheduling>,
    /// All calls that ended before this time and reached a ring are in, but for those of nodes that are behind.
    pub until_ns: Nanoseconds,
}

impl Batch {
    /// Adds the rows and events of other ranks, which became known at the same time, and nothing else.
    pub fn take_rows(&mut self, mut of_others: Self) {
        let calls = self.calls.len();
        self.calls.append(&mut of_others.calls);
        self.lone_polls.extend(of_others.lone_polls.iter().map(|poll| calls + poll));
        self.activities.append(&mut of_others.activities);
        self.collected.append(&mut of_others.collected);
        self.undiagnosed.append(&mut of_others.undiagnosed);
        self.events.append(&mut of_others.events);
        self.events_end_ns.append(&mut of_others.events_end_ns);
    }

    /// What becomes known of the activities of some ranks, and nothing else.
    #[must_use]
    pub fn activities_of(&self, is_theirs: impl Fn(Rank) -> bool) -> Self {
        let events = self.events.iter().zip(&self.events_end_ns).filter(|(event, _)| is_theirs(event.rank()));
        let (events, events_end_ns): (Vec<Event>, Vec<Nanoseconds>) = events.unzip();
        Self {
            activities: self.activities.iter().filter(|of| is_theirs(of.rank)).copied().collect(),
            collected: self.collected.iter().filter(|of| is_theirs(of.rank)).copied().collect(),
            events,
            events_end_ns,
            until_ns: self.until_ns,
            ..Self::default()
        }
    }

    /// Leaves out rows and events.
    pub fn leave_out_rows(&mut self) {
        let Self { calls, lone_polls, activities, collected, undiagnosed, events, events_end_ns, .. } = self;
        calls.clear();
        lone_polls.clear();
        activities.clear();
        collected.clear();
        undiagnosed.clear();
        events.clear();
        events_end_ns.clear();
    }

    /// Adds what became known behind it.
    pub fn append(&mut self, mut behind: Self) {
        self.nodes.append(&mut behind.nodes);
        self.ranks.append(&mut behind.ranks);
        self.comms.append(&mut behind.comms);
        self.members.append(&mut behind.members);
        self.comm_names.append(&mut behind.comm_names);
        self.coordinates.append(&mut behind.coordinates);
        self.sites.append(&mut behind.sites);
        self.faults.append(&mut behind.faults);
        self.losses = behind.losses.or(self.losses);
        self.gaps = behind.gaps.take().or(self.gaps.take());
        self.last_calls.append(&mut behind.last_calls);
        self.scheduling.append(&mut behind.scheduling);
        self.until_ns = behind.until_ns;
        self.take_rows(behind);
    }
}
