//! Ingest and the operators, tied together: messages in, what became known out. Live and in replay the same.

use crate::clocks::Clocks;
use crate::counted::{Counted, Open, RowSums, cost_ns, joined};
use mpiscope_agent::{Census, OWN, Resume};
use mpiscope_diagnosis::{HangAnalysis, HangDetector, Moment};
use mpiscope_ingest::{Ingest, KnownAgent};
use mpiscope_matching::{Counts, Matcher, UnreceivedSend, WindowTotals};
use mpiscope_model::words::counted;
use mpiscope_model::{
    Batch, Call, CommInfo, Coordinate, Fault, Function, InFlight, Losses, Message, Nanoseconds, NodeInfo,
    ProcessState, Rank, RankInfo, Scheduling, SiteInfo, Totals,
};
use mpiscope_process::at_once::both;
use mpiscope_recording::{Clock, JobNode, Pause, Pauses, Uncounted};
use mpiscope_verdict::Processors;
use mpiscope_wire as wire;
use std::collections::{BTreeMap, BTreeSet};

/// What one function did on one rank in one window; later calls of the window make a further cell, to be added.
pub type WindowCell = ((u64, Rank, Function), WindowTotals);

/// What one step of the engine led to.
#[derive(Debug, Default)]
pub struct Step {
    /// Calls that ended.
    pub calls: Vec<Call>,
    /// Pairs of sends and receives.
    pub messages: Vec<Message>,
    /// What the calls add to their windows.
    pub windows: Vec<WindowCell>,
    /// What the scheduler did with ranks.
    pub scheduling: Vec<Scheduling>,
    /// What was wrong with the input.
    pub faults: Vec<Fault>,
    /// What it was made of, for a diagnosis; without the calls.
    pub batch: Batch,
    /// What rows came to that other processes have counted and write; calls and messages are among them, if they are to be shown.
    /// None where there are no others.
    pub counted: Option<Vec<RowSums>>,
}

/// For fewer calls, some milliseconds of work, a thread costs more than it brings.
const MANY_CALLS: usize = 1 << 14;

/// The state of a run.
pub struct Engine {
    ingest: Ingest,
    /// How many threads may turn frames into calls and count them.
    threads: usize,
    /// Whether its steps are diagnosed.
    is_diagnosed: bool,
    matcher: Matcher,
    clocks: Clocks,
    /// Sums of calls and messages.
    pub counts: Counts,
    pub(crate) hang_detector: HangDetector,
    /// Sums of the whole run.
    pub totals: Totals,
    /// Calls that are missing, by reason.
    pub losses: Losses,
    /// The nodes of the job, in order of their numbers.
    pub nodes: Vec<NodeInfo>,
    /// The ranks that were seen.
    pub ranks: BTreeMap<Rank, RankInfo>,
    /// Communicators, windows and files of MPI.
    pub comms: Vec<CommInfo>,
    /// Where ranks are in the grids of communicators.
    pub coordinates: Vec<Coordinate>,
    /// As they came: not looked up.
    pub sites: Vec<SiteInfo>,
    /// Who waits for a CPU.
    pub processors: Processors,
    /// The calls that processes were in when they ended.
    pub last_calls: BTreeMap<(Rank, u16), InFlight>,
    /// Faults by their text, each once.
    pub(crate) faults: BTreeSet<String>,
    /// Up to when the run is known.
    pub until_ns: Nanoseconds,
    /// Calls times what each costs its rank, in nanoseconds.
    cost_ns: f64,
    elsewhere: Elsewhere,
}

/// What other processes could not read, and what they have not matched.
#[derive(Default)]
struct Elsewhere {
    unreadable_slots: u64,
    calls_beyond_sites: u64,
    unmatched_sends: u64,
    unmatched_receives: u64,
    /// By their places.
    open: Vec<Open>,
}

const MOST_FAULTS: usize = 100;

impl Engine {
    /// Nothing yet; windows are that long.
    pub fn new(window_ns: u64) -> Self {
        Self {
            ingest: Ingest::new(),
            threads: 1,
            is_diagnosed: false,
            matcher: Matcher::default(),
            clocks: Clocks::default(),
            counts: Counts::new(window_ns),
            hang_detector: HangDetector::default(),
            totals: Totals::default(),
            losses: Losses::default(),
            nodes: Vec::new(),
            ranks: BTreeMap::new(),
            comms: Vec::new(),
            coordinates: Vec::new(),
            sites: Vec::new(),
            processors: Processors::default(),
            last_calls: BTreeMap::new(),
            faults: BTreeSet::new(),
            until_ns: 0,
            cost_ns: 0.0,
            elsewhere: Elsewhere::default(),
        }
    }

    /// One whose steps can be diagnosed.
    pub fn for_diagnosis(window_ns: u64) -> Self {
        Self { ingest: Ingest::for_diagnosis(), is_diagnosed: true, ..Self::new(window_ns) }
    }

    /// Lets this number of threads do the work where there is much. Results are the same, in more steps. To be called before
    /// anything is fed.
    pub fn share_out(&mut self, threads: usize) {
        self.threads = threads;
        self.ingest = std::mem::take(&mut self.ingest).with_threads(threads);
    }

    /// Whether this number of calls is worth more than one thread.
    pub fn is_shared_out(&self, calls: usize) -> bool {
        self.threads > 1 && calls >= MANY_CALLS
    }

    /// What turns frames into calls.
    pub fn ingest(&self) -> &Ingest {
        &self.ingest
    }

    /// What recording cost the ranks, in seconds, and each call, in nanoseconds.
    pub fn cost(&self) -> (f64, f64) {
        let made = self.totals.calls + self.totals.polls;
        (self.cost_ns / 1e9, if made == 0 { 0.0 } else { self.cost_ns / made as f64 })
    }

    /// Takes in a message. Only a clock_sample (or the end) makes anything known.
    pub fn feed(&mut self, message: wire::Message) -> Vec<Step> {
        self.ingest.step(message).map(|batch| self.settle_all(batch)).unwrap_or_default()
    }

    /// Takes in a message of a batch that goes on.
    pub fn feed_on(&mut self, message: wire::Message) {
        self.ingest.feed(message);
    }

    /// Takes in what an agent found that came after the log had ended. Whoever reads it again finds it with other clock
    /// samples. For each reading to give the same, the clock of the log goes on instead, where it has one, and what the
    /// system says of a process while it is read is left out.
    pub(crate) fn feed_rest(&mut self, message: wire::Message) -> Vec<Step> {
        match message {
            wire::Message::ClockSample(_) if self.ingest.has_clock() => {
                self.ingest.settle_rest();
                let batch = self.ingest.take();
                self.settle_all(batch)
            }
            wire::Message::Scheduling(_) | wire::Message::Cpus(_) => Vec::new(),
            message => self.feed(message),
        }
    }

    /// What became known beside the calls that other processes read; see [`Engine::settle_counted`].
    pub fn take(&mut self) -> Batch {
        joined(&mut self.ingest)
    }

    /// Likewise, when the input is over.
    pub fn take_rest(&mut self) -> Batch {
        self.ingest.settle_rest();
        self.take()
    }

    /// Takes in what became known, and what other processes counted until then, if they were to say it. The batch has the calls that are
    /// to be shown, and these are the messages that are.
    pub fn settle_counted(
        &mut self,
        mut batch: Batch,
        messages: Vec<Message>,
        counted: Vec<Counted>,
    ) -> Step {
        let calls = std::mem::take(&mut batch.calls);
        let are_counted = !counted.is_empty();
        if are_counted {
            self.elsewhere.open.resize_with(counted.len(), Open::default);
            (self.elsewhere.unmatched_sends, self.elsewhere.unmatched_receives) = (0, 0);
        }
        let of_each = counted.into_iter().enumerate();
        let sums = of_each.map(|(reader, counted)| self.add_counted(reader, counted, &mut batch)).collect();
        let (events, ends_ns) = (std::mem::take(&mut batch.events), std::mem::take(&mut batch.events_end_ns));
        let mut step = self.settle_batch(batch);
        // Windows that are complete by then are written once.
        step.windows = if are_counted { self.counts.take_windows(self.until_ns) } else { Vec::new() };
        (step.batch.events, step.batch.events_end_ns) = (events, ends_ns);
        Step { calls, messages, counted: Some(sums), ..step }
    }

    fn add_counted(&mut self, reader: usize, counted: Counted, batch: &mut Batch) -> RowSums {
        self.totals.add(&counted.totals);
        self.counts.merge(&counted.counts);
        self.hang_detector.take_movement(counted.movement);
        self.clocks.add(&counted.clocks);
        self.cost_ns += counted.cost_ns;
        self.losses.unreadable += counted.unreadable_slots;
        let elsewhere = &mut self.elsewhere;
        elsewhere.unreadable_slots += counted.unreadable_slots;
        elsewhere.calls_beyond_sites += counted.calls_beyond_sites;
        elsewhere.unmatched_sends += counted.unmatched_sends;
        elsewhere.unmatched_receives += counted.unmatched_receives;
        if let Some(open) = counted.open {
            elsewhere.open[reader] = open;
        }
        // What all find, one of them says.
        let is_new = |fault: &Fault| !self.faults.contains(&fault.text) && !batch.faults.contains(fault);
        let new: Vec<Fault> = counted.faults.into_iter().filter(is_new).collect();
        batch.faults.extend(new);
        counted.sums
    }

    /// The input is over.
    pub fn finish(&mut self) -> Vec<Step> {
        self.ingest.settle_rest();
        let batch = self.ingest.take();
        let mut steps = self.settle_all(batch);
        steps.last_mut().into_iter().for_each(|last| self.finish_matching(last));
        steps
    }

    /// Likewise, with what other processes counted last.
    pub fn finish_counted(&mut self, batch: Batch, messages: Vec<Message>, counted: Vec<Counted>) -> Step {
        let mut step = self.settle_counted(batch, messages, counted);
        self.finish_matching(&mut step);
        step
    }

    /// Nothing more comes behind this step.
    fn finish_matching(&mut self, last: &mut Step) {
        let matched = self.matcher.finish();
        self.count_messages(&matched.messages, matched.uncertain);
        last.messages.extend(matched.messages);
        last.windows.extend(self.counts.take_windows(u64::MAX));
        self.count_unmatched();
    }

    /// Counts sends without a receive, and receives without a send.
    pub fn count_unmatched(&mut self) {
        let Elsewhere { unmatched_sends, unmatched_receives, .. } = self.elsewhere;
        self.totals.unmatched_sends = self.matcher.unmatched_sends() + unmatched_sends;
        self.totals.unmatched_receives = self.matcher.unmatched_receives() + unmatched_receives;
    }

    /// Sends without a receive, at most `most`, and the number of the others as counted last.
    pub fn unreceived_sends(&self, most: usize) -> (Vec<UnreceivedSend>, u64) {
        let elsewhere = self.elsewhere.open.iter().flat_map(|open| open.unreceived.iter().copied());
        let sends: Vec<UnreceivedSend> =
            self.matcher.unreceived_sends().chain(elsewhere).take(most).collect();
        let left_out = self.totals.unmatched_sends.saturating_sub(sends.len() as u64);
        (sends, left_out)
    }

    /// Adds nodes, communicators, coordinates, call sites and ranks.
    fn add_definitions(&mut self, batch: &mut Batch) {
        self.nodes.extend(batch.nodes.iter().cloned());
        self.comms.extend(batch.comms.iter().cloned());
        for named in &batch.comm_names {
            // Most are named soon after they were made.
            if let Some(info) = self.comms.iter_mut().rev().find(|info| info.comm == named.comm) {
                info.name.clone_from(&named.name);
            }
        }
        self.coordinates.append(&mut batch.coordinates);
        self.sites.extend(batch.sites.iter().cloned());
        for info in &batch.ranks {
            self.matcher.place(info.rank, info.node);
            self.clocks.place(info.rank, info.node);
            self.ranks.insert(info.rank, info.clone());
        }
    }

    /// A batch and those behind it.
    fn settle_all(&mut self, batch: Batch) -> Vec<Step> {
        let mut steps = vec![self.settle(batch)];
        while let Some(batch) = self.ingest.more() {
            steps.push(self.settle(batch));
        }
        steps
    }

    fn settle(&mut self, batch: Batch) -> Step {
        let step = self.settle_batch(batch);
        Step { windows: self.counts.take_windows(self.until_ns), ..step }
    }

    fn settle_batch(&mut self, mut batch: Batch) -> Step {
        let calls = std::mem::take(&mut batch.calls);
        let faults = std::mem::take(&mut batch.faults);
        self.last_calls.extend(batch.last_calls.drain(..).map(|call| ((call.rank, call.thread), call)));
        self.add_definitions(&mut batch);
        if let Some(losses) = batch.losses {
            self.losses = losses;
            self.losses.unreadable += self.elsewhere.unreadable_slots;
        }
        self.until_ns = batch.until_ns;
        for fault in &faults {
            if self.faults.len() < MOST_FAULTS {
                self.faults.insert(fault.text.clone());
            }
        }
        let of_rank = |rank| self.ranks.get(&rank).map_or(0.0, |info| info.cost_per_call_ns);
        self.cost_ns += cost_ns(&calls, of_rank);
        self.processors.see(&batch.scheduling);
        self.processors.place(&batch.ranks);
        let is_shared_out = self.is_shared_out(calls.len());
        let Self { totals, counts, hang_detector, matcher, .. } = self;
        let count = || {
            totals.add_calls(&calls);
            counts.calls(&calls);
            hang_detector.feed(&calls, &batch.lone_polls, &batch.comms, &batch.members);
        };
        let (matched, ()) = both(is_shared_out, || matcher.feed(&batch.events), count);
        self.count_messages(&matched.messages, matched.uncertain);
        let scheduling = batch.scheduling.clone();
        let batch = if self.is_diagnosed { batch } else { Batch::default() };
        Step { calls, messages: matched.messages, scheduling, faults, batch, ..Step::default() }
    }

    fn count_messages(&mut self, messages: &[Message], uncertain: u64) {
        self.clocks.messages(messages);
        self.totals.clock_violations_before = self.clocks.violations();
        self.totals.add_messages(messages);
        self.totals.uncertain_messages += uncertain;
        self.counts.messages(messages);
    }

    /// Calls in flight, each with its agent's number, on the clock of the run as far as it is known until now.
    pub fn in_flight(&self, calls: &[(u32, wire::Flight)]) -> Vec<InFlight> {
        calls.iter().filter_map(|(agent, call)| self.ingest.in_flight(*agent, call)).collect()
    }

    /// What it comes to that nothing moves.
    pub(crate) fn look(&self, in_flight: &[InFlight]) -> HangAnalysis {
        let ranks = self.ranks.iter().map(|(&rank, info)| (rank, info.state)).collect();
        let elsewhere = || self.elsewhere.open.iter();
        let posts = elsewhere().flat_map(|open| open.posts.iter().copied());
        let sends = elsewhere().flat_map(|open| open.waiting.iter().copied());
        self.hang_detector.look(&Moment {
            now_ns: self.until_ns,
            in_flight,
            ranks: &ranks,
            world_size: self.world_size(),
            posts: self.matcher.open_posts().chain(posts).collect(),
            sends: self.matcher.waiting_sends().chain(sends).collect(),
            finalize: wire::id::FINALIZE,
            any_of: &[wire::id::WAITANY, wire::id::WAITSOME],
        })
    }

    /// The clocks of all nodes as they are known in the end, and whether by them no message ends before it begins for
    /// certain.
    pub fn solve_clocks(&mut self) -> (Clock, bool) {
        self.clocks.solve(&self.ingest, self.until_ns)
    }

    /// How many ranks the job has, as far as its ranks say.
    pub fn world_size(&self) -> u32 {
        self.ranks.values().map(|info| info.world_size).max().unwrap_or_default()
    }

    /// What was made and not recorded since somebody wanted it so, and when that was the watcher; none where nobody did.
    pub fn pauses(&self) -> Option<Pauses> {
        let (gaps, calls) = (self.ingest.gaps(), self.ingest.unrecorded_calls());
        let gaps: Vec<Pause> = gaps.iter().copied().map(Pause::from).collect();
        (calls > 0 || !gaps.is_empty()).then_some(Pauses { calls, gaps })
    }

    /// What is missing from the recording, in sentences.
    pub fn missing(&self) -> Vec<String> {
        let mut missing = lost_calls(self.losses);
        self.add_missing_ranks(&mut missing);
        let beyond = self.ingest.calls_beyond_sites() + self.elsewhere.calls_beyond_sites;
        if beyond > 0 {
            let calls = counted(beyond, "call");
            missing.push(format!("{calls}: made from more call sites than can be numbered"));
        }
        let left_out = self.ingest.left_out();
        if left_out > 0 {
            let definitions = counted(left_out, "definition");
            missing.push(format!(
                "{definitions}: of communicators, names or call sites, more than memory allows"
            ));
        }
        missing.extend(self.faults.iter().cloned());
        missing
    }

    /// Adds the ranks whose calls are not all in the recording.
    fn add_missing_ranks(&self, missing: &mut Vec<String>) {
        let silent = self.world_size() as usize - self.ranks.len().min(self.world_size() as usize);
        if silent > 0 {
            missing.push(format!(
                "{} of {}: nothing was received from them, and their calls are not counted",
                silent,
                counted(self.world_size().into(), "rank")
            ));
        }
        let count = |state| self.ranks.values().filter(|info| info.state == state).count();
        let vanished = count(ProcessState::Vanished);
        if vanished > 0 {
            let ranks = counted(vanished as u64, "rank");
            missing.push(format!("{ranks}: ended without MPI_Finalize; what was made until then is here"));
        }
        let running = count(ProcessState::Running);
        if running > 0 && self.ingest.ended().is_some() {
            let ranks = counted(running as u64, "rank");
            missing.push(format!(
                "{ranks}: still running when the command was over; what came later is not here"
            ));
        }
    }

    /// Hosts with calls that are neither recorded nor counted as lost, of a finished run.
    #[must_use]
    pub fn uncounted(&self) -> Vec<Uncounted> {
        let host = |(node, after_ns): (&str, _)| Uncounted { node: node.to_owned(), after_ns };
        self.ingest.unfinished_hosts().map(host).collect()
    }

    /// Where the log that was fed stops, for the daemon's own agent that goes on.
    pub fn resume(&self) -> Resume {
        let mut resume = Resume::default();
        for (process, identity) in self.ingest.processes(OWN) {
            resume.processes.insert(identity, process);
            for (ring, position) in self.ingest.positions(OWN, process) {
                resume.positions.insert((process, ring), position);
            }
        }
        resume.origin = self.ingest.origin();
        resume.census = Census { ranks: self.ranks.keys().copied().collect(), world_size: self.world_size() };
        resume
    }

    /// The agents of other hosts, as far as the log that was fed goes.
    pub fn agents(&self) -> Vec<KnownAgent> {
        self.ingest.agents().collect()
    }

    /// The MPI library, of any rank.
    pub fn library(&self) -> String {
        self.ranks.values().next().map(|info| info.library.clone()).unwrap_or_default()
    }

    /// The nodes with their ranks.
    pub fn job_nodes(&self) -> Vec<JobNode> {
        let mut ranks_of: BTreeMap<_, Vec<_>> = BTreeMap::new();
        self.ranks.values().for_each(|info| ranks_of.entry(info.node).or_default().push(info.rank.0));
        let mut ranks = |node| ranks_of.remove(&node).unwrap_or_default();
        self.nodes.iter().map(|node| JobNode { name: node.name.clone(), ranks: ranks(node.node) }).collect()
    }
}

/// Calls that were made and are not in the recording, a sentence for each reason.
fn lost_calls(losses: Losses) -> Vec<String> {
    let Losses { ring_full, no_ring, unreadable, unsaved } = losses;
    let mut missing = Vec::new();
    if ring_full > 0 {
        missing.push(format!("{}: dropped because a ring was full", counted(ring_full, "call")));
    }
    if no_ring > 0 {
        missing.push(format!("{}: made by threads that found no ring left", counted(no_ring, "call")));
    }
    if unreadable > 0 {
        missing.push(format!("{}: could not be read", counted(unreadable, "record")));
    }
    if unsaved > 0 {
        missing.push(format!("{}: neither in the log nor in segments", counted(unsaved, "call")));
    }
    missing
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_scheduler_did_is_handed_on_and_the_newest_is_kept() {
        let mut engine = Engine::new(1_000_000);
        let clock_sample = |monotonic_ns| {
            wire::Message::ClockSample(wire::ClockSample { ticks: monotonic_ns, monotonic_ns })
        };
        engine.feed(mpiscope_agent::run_start("run", &[]));
        let begun_ns = engine.ingest().started().unwrap().monotonic_ns;
        engine.feed(wire::Message::Process(wire::Process {
            process: 0,
            pid: 1,
            made_ns: 1,
            rank: 5,
            world_size: 6,
            clock: wire::ClockKind::Monotonic,
            cost_per_call_ns: 20.0,
            library: "Open MPI".into(),
            node: "one".into(),
        }));
        for (at_ns, wait_ns) in [(100, 3), (200, 9)] {
            engine.feed(wire::Message::Scheduling(wire::Scheduling {
                process: 0,
                monotonic_ns: begun_ns + at_ns,
                run_ns: at_ns,
                wait_ns,
                voluntary: 1,
                involuntary: 2,
                stopped_ns: 0,
                blocked_ns: 0,
                major_faults: 0,
            }));
        }
        let step = &engine.feed(clock_sample(begun_ns + 300))[0];
        let newest = Scheduling {
            rank: Rank(5),
            at_ns: 200,
            run_ns: 200,
            wait_ns: 9,
            voluntary: 1,
            involuntary: 2,
            stopped_ns: 0,
            blocked_ns: 0,
            major_faults: 0,
        };
        let first = Scheduling { at_ns: 100, run_ns: 100, wait_ns: 3, ..newest };
        assert_eq!(step.scheduling, [first, newest]);
        assert_eq!(engine.processors.figures_of(Rank(5)), Some(&newest));
        assert!(engine.feed(clock_sample(begun_ns + 400))[0].scheduling.is_empty());
    }
}
