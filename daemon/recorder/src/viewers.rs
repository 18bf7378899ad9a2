//! What viewers of a live run receive, and when.

use crate::readers::OfReader;
use crate::switch;
use mpiscope_engine::{Engine, WindowCell};
use mpiscope_feed::{FindingsReport, FunctionRow, Hangs, Job, JobState, NodeRow, RankRow, RunSource, Update};
use mpiscope_model::{Call, Fault, InFlight, Message, Node};
use mpiscope_page::{Feeding, Increments, RunData, function_rows, node_rows, rank_rows};
use mpiscope_recording::{self as recording, RecordingWriter};
use mpiscope_ring::clock::monotonic_ns;
use mpiscope_verdict::{LiveFindings, PartVerdicts};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// While a page is open it gets new calls so often, and all figures so often.
const CALLS_EVERY: Duration = Duration::from_millis(30);
const EVERYTHING_EVERY: Duration = Duration::from_millis(180);
/// While none is, the state is kept up so often, for the next that opens.
const UNWATCHED_EVERY: Duration = Duration::from_millis(450);
/// Sends without a receive that are kept for pages.
const MOST_UNRECEIVED: usize = 1 << 18;
/// How well the clocks agree is found out anew so often.
const CLOCKS_EVERY: Duration = Duration::from_secs(1);

/// What is to be sent now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Due {
    Nothing,
    Calls,
    Everything,
}

pub(crate) struct Viewers {
    feeding: Feeding,
    data: RunData,
    increments: Increments,
    job: Job,
    /// When the run began by this host's clock, where its own word is of another.
    begun_ns: Option<u64>,
    /// Calls that no page has received yet.
    fresh: Vec<Arc<Vec<Call>>>,
    clock_uncertainties: BTreeMap<Node, u64>,
    clocks_seen: Option<Instant>,
    updated: Instant,
    updated_everything: Instant,
    /// For how many ranks pages know where they are.
    placed: usize,
    flight: Option<Duration>,
    /// Whether what comes was shown before.
    is_known: bool,
}

impl Viewers {
    pub(crate) fn new(feeding: Feeding, data: RunData, job: Job, window_ns: u64) -> Self {
        Self {
            feeding,
            data,
            increments: Increments::new(window_ns),
            job,
            begun_ns: None,
            fresh: Vec::new(),
            clock_uncertainties: BTreeMap::new(),
            clocks_seen: None,
            updated: Instant::now(),
            updated_everything: Instant::now(),
            placed: 0,
            flight: None,
            is_known: false,
        }
    }

    /// All rows come again.
    pub(crate) fn begin_again(&mut self) {
        self.data.calls.clear();
        self.data.messages.clear();
    }

    /// Those who look have seen what comes from now on, or not.
    pub(crate) fn repeat(&mut self, is_known: bool) {
        self.is_known = is_known;
    }

    /// Calls are held back for so long while recording is off.
    pub(crate) fn holding(mut self, flight: Option<Duration>) -> Self {
        self.flight = flight;
        self
    }

    /// The run begins now, whatever its first message says.
    pub(crate) fn beginning_now(mut self) -> Self {
        self.begun_ns = Some(monotonic_ns());
        self
    }

    /// Takes in what became known. Calls and messages were given to the writer.
    pub(crate) fn take(
        &mut self,
        calls: Vec<Call>,
        messages: Vec<Message>,
        windows: &[WindowCell],
        writer: &RecordingWriter,
    ) {
        if !self.is_known {
            self.increments.add(windows);
        }
        if calls.is_empty() && messages.is_empty() {
            return;
        }
        let (calls, messages) = (Arc::new(calls), Arc::new(messages));
        let new: (&[&[Call]], &[&[Message]]) =
            if self.is_known { (&[], &[]) } else { (&[&calls], &[&messages]) };
        self.feeding.library.arrive(new.0, new.1, || {
            if !messages.is_empty() {
                let (waiting, segments) = (writer.waiting_messages(), writer.message_segments());
                self.data.messages.add(Arc::clone(&messages), waiting, segments);
            }
            if !calls.is_empty() {
                self.data.calls.add(Arc::clone(&calls), writer.waiting_calls(), writer.call_segments());
            }
        });
        self.show(calls);
    }

    /// Those who look are shown calls when they are new.
    fn show(&mut self, calls: Arc<Vec<Call>>) {
        if !calls.is_empty() && !self.is_known && self.feeding.publisher.is_watched() {
            self.fresh.push(calls);
        }
    }

    /// Takes in what became known of what others read.
    pub(crate) fn take_read(
        &mut self,
        calls: Vec<Call>,
        of_readers: Vec<OfReader>,
        windows: &[WindowCell],
        writer: &RecordingWriter,
    ) {
        let (of_calls, of_messages): (Vec<_>, Vec<_>) = of_readers
            .into_iter()
            .map(|OfReader { calls, messages }| {
                ((Arc::new(calls.rows), calls.waiting), (Arc::new(messages.rows), messages.waiting))
            })
            .unzip();
        let (mut new_calls, mut new_messages): (Vec<&[Call]>, Vec<&[Message]>) = (Vec::new(), Vec::new());
        if !self.is_known {
            new_calls.extend(of_calls.iter().map(|(rows, _)| rows.as_slice()));
            new_messages.extend(of_messages.iter().map(|(rows, _)| rows.as_slice()));
        }
        self.feeding.library.arrive(&new_calls, &new_messages, || {
            self.data.calls.add_of_each(of_calls.clone(), writer.call_segments());
            self.data.messages.add_of_each(of_messages.clone(), writer.message_segments());
        });
        self.show(Arc::new(calls));
        self.take(Vec::new(), Vec::new(), windows, writer);
    }

    /// Whether a page wants calls recorded from now on, or not.
    pub(crate) fn wanted(&self) -> Option<bool> {
        self.feeding.publisher.wanted()
    }

    pub(crate) fn is_watched(&self) -> bool {
        self.feeding.publisher.is_watched()
    }

    pub(crate) fn due(&self) -> Due {
        let watched = self.is_watched();
        if self.updated_everything.elapsed() >= if watched { EVERYTHING_EVERY } else { UNWATCHED_EVERY } {
            Due::Everything
        } else if watched && self.updated.elapsed() >= CALLS_EVERY {
            Due::Calls
        } else {
            Due::Nothing
        }
    }

    /// Passes on who runs where, what messages nobody has received and where calls come from.
    fn inform_about_job(&mut self, engine: &Engine) {
        let library = &self.feeding.library;
        library.set_rank_nodes(engine.ranks.values().map(|info| (info.rank, info.node)));
        let (sends, left_out) = engine.unreceived_sends(MOST_UNRECEIVED);
        library.set_unreceived_sends(sends, left_out, engine.until_ns);
        library.set_grid(&engine.coordinates);
        library.set_placement(
            engine.nodes.iter().map(|node| node.name.as_str()),
            engine.ranks.values().map(|info| (info.rank, &info.cpus)),
        );
        library.set_communicators(&engine.comms);
        self.data.sites.see(&engine.sites);
        if std::mem::replace(&mut self.placed, engine.ranks.len()) != engine.ranks.len() {
            let (ranks, nodes) = (engine.world_size(), engine.job_nodes());
            self.data.placements.set_job(recording::Job { ranks, nodes, ..recording::Job::default() });
        }
    }

    fn inform_about_findings(&self, found: LiveFindings, rank_count: u32) -> FindingsReport {
        let library = &self.feeding.library;
        let of_parts = PartVerdicts::new(&found.report.diagnosis, rank_count);
        library.set_range_verdicts(Arc::new(of_parts));
        library.set_course(found.course);
        library.set_regions(&found.report.diagnosis.regions);
        library.use_criteria(found.criteria, found.report.is_final);
        found.report
    }

    pub(crate) fn tell(
        &mut self,
        engine: &Engine,
        (in_flight, hangs): (&[InFlight], &Hangs),
        faults: &[Fault],
        found: Option<LiveFindings>,
        everything: bool,
    ) {
        self.updated = Instant::now();
        let (mut functions, mut ranks, mut nodes) = (Vec::new(), Vec::new(), Vec::new());
        if everything {
            self.updated_everything = self.updated;
            self.job = job(engine);
            (functions, ranks, nodes) = self.rows(engine, in_flight);
            self.inform_about_job(engine);
        }
        let (ended, now_ns) = (engine.ingest().ended(), self.now_ns(engine));
        let found = found.map(|found| self.inform_about_findings(found, engine.world_size()));
        self.feeding.library.complete_until(engine.until_ns);
        self.feeding.publisher.publish(&Update {
            now_ns,
            lag_ns: if ended.is_some() { 0 } else { now_ns.saturating_sub(engine.until_ns) },
            job: &self.job,
            totals: engine.totals,
            losses: engine.losses,
            functions: &functions,
            ranks: &ranks,
            nodes: &nodes,
            timeline: &self.increments.take(),
            in_flight: if ended.is_some() { &[] } else { in_flight },
            hangs,
            switch: &switch::state(engine.pauses().as_ref(), self.flight, ended.is_none()),
            calls: &std::mem::take(&mut self.fresh),
            faults,
            found: found.as_ref(),
        });
        if everything {
            self.feeding.library.set_rank_rows(ranks, self.job.ranks, now_ns);
        }
    }

    /// Now, as time of the run. Of a finished run it is the end.
    fn now_ns(&self, engine: &Engine) -> u64 {
        let started = engine.ingest().started();
        let begun_ns = self.begun_ns.or_else(|| started.map(|start| start.monotonic_ns));
        engine.ingest().ended().map_or_else(
            || monotonic_ns().saturating_sub(begun_ns.unwrap_or_else(monotonic_ns)),
            |(_, end_ns)| end_ns,
        )
    }

    /// The rows of all functions, ranks and nodes.
    fn rows(
        &mut self,
        engine: &Engine,
        in_flight: &[InFlight],
    ) -> (Vec<FunctionRow>, Vec<RankRow>, Vec<NodeRow>) {
        let functions = function_rows(&engine.counts, in_flight);
        let in_call = engine.last_calls.keys().map(|&(rank, _)| rank).collect();
        let ranks = rank_rows(&engine.counts, &engine.processors, engine.ranks.values(), &in_call);
        (functions, ranks, self.node_rows(engine))
    }

    fn node_rows(&mut self, engine: &Engine) -> Vec<NodeRow> {
        if self.clocks_seen.is_none_or(|seen| seen.elapsed() >= CLOCKS_EVERY) {
            self.clocks_seen = Some(Instant::now());
            self.clock_uncertainties = engine.ingest().clock_uncertainties();
        }
        let names = engine.nodes.iter().map(|node| node.name.as_str());
        let uncertainty_ns = |node| self.clock_uncertainties.get(&node).copied();
        node_rows(names, uncertainty_ns, engine.ranks.values(), &engine.processors)
    }
}

fn job(engine: &Engine) -> Job {
    let ended = engine.ingest().ended();
    let started = engine.ingest().started();
    let exit = ended.and_then(|(exit, _)| exit);
    Job {
        run: started.map(|start| start.run.clone()).unwrap_or_default(),
        source: RunSource::Live,
        command: started.map(|start| start.command.join(" ")).unwrap_or_default(),
        nodes: engine.nodes.len() as u32,
        ranks: engine.world_size(),
        mpi: engine.library(),
        state: match (ended, exit) {
            (None, _) if engine.ranks.is_empty() => JobState::Waiting,
            (None, _) => JobState::Running,
            (Some(_), exit) => JobState::after(exit),
        },
        exit,
        started_unix_ns: started.map_or(0, |start| start.unix_ns),
        second: String::new(),
    }
}
