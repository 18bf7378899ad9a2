//! A reader of its own applies the messages; whatever it missed or saw, it ends where the feed is.

use mpiscope_feed::message::{Functions, Kind, Message, Nodes, PROTOCOL, Ranks, TimelineCells};
use mpiscope_feed::{
    Evolution, FeedState, FindingsReport, FunctionRow, Hangs, Job, JobState, Limits, NodeRow, RankRow,
    RegionCourse, Switch, TimelineIncrement, Update,
};
use mpiscope_model::{Call, Comm, Fault, InFlight, Losses, Node, NodeCpus, ProcessState, Rank, Totals};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a page knows, kept as simply as possible.
#[derive(Debug, Clone, PartialEq, Default)]
struct Replica {
    number: u64,
    now_ns: u64,
    lag_ns: u64,
    plain: String,
    functions: BTreeMap<u32, (String, String, Vec<f64>)>,
    ranks: BTreeMap<u32, Vec<f64>>,
    nodes: BTreeMap<u32, (String, f64, u32)>,
    window_ns: u64,
    timeline: BTreeMap<(u64, u32), f64>,
    parts: BTreeMap<&'static str, String>,
}

impl Replica {
    fn apply(&mut self, bytes: &[u8]) {
        let message: Message = rmp_serde::from_slice(bytes).unwrap();
        assert_eq!(message.protocol, PROTOCOL);
        match message.kind {
            Kind::Snapshot => *self = Replica::default(),
            Kind::Delta => assert_eq!(message.number, self.number + 1, "a delta must be the next one"),
        }
        self.number = message.number;
        self.now_ns = message.clock.now_ns;
        self.lag_ns = message.clock.lag_ns;
        let mut assign = |name, part: Option<String>| {
            if let Some(part) = part {
                self.parts.insert(name, part);
            }
        };
        assign("job", message.job.map(|part| format!("{part:?}")));
        assign("totals", message.totals.map(|part| format!("{part:?}")));
        assign("losses", message.losses.map(|part| format!("{part:?}")));
        assign("faults", message.faults.map(|part| format!("{part:?}")));
        assign("in_flight", message.in_flight.map(|part| format!("{part:?}")));
        // words: allow the key of the feed
        assign("standing", message.hangs.map(|part| format!("{part:?}")));
        assign("switch", message.switch.map(|part| format!("{part:?}")));
        assign("pending", message.pending.map(|part| format!("{part:?}")));
        assign("found", message.found.map(|part| format!("{part:?}")));
        message.functions.into_iter().for_each(|part| self.functions(&part));
        message.ranks.into_iter().for_each(|part| self.ranks(&part));
        message.nodes.into_iter().for_each(|part| self.nodes(&part));
        message.timeline.into_iter().for_each(|part| self.timeline(&part));
    }

    fn timeline(&mut self, part: &TimelineCells) {
        if part.window_ns != self.window_ns {
            self.timeline.clear();
            self.window_ns = part.window_ns;
        }
        for (row, start_ns) in part.start_ns.0.iter().enumerate() {
            self.timeline.insert((*start_ns as u64, part.function.0[row]), part.calls.0[row]);
        }
    }

    fn functions(&mut self, part: &Functions) {
        for (row, id) in part.id.0.iter().enumerate() {
            let numbers = [
                &part.calls,
                &part.polls,
                &part.bytes,
                &part.time_ns,
                &part.p50_ns,
                &part.p99_ns,
                &part.max_ns,
            ]
            .map(|column| column.0[row]);
            let value = (part.name[row].clone(), part.family[row].clone(), numbers.to_vec());
            self.functions.insert(*id, value);
        }
    }

    fn ranks(&mut self, part: &Ranks) {
        for (row, rank) in part.rank.0.iter().enumerate() {
            let mut numbers = [
                &part.calls,
                &part.sent,
                &part.received,
                &part.bytes_sent,
                &part.mpi_time_ns,
                &part.run_ns,
                &part.wait_ns,
                &part.involuntary,
                &part.ended_ns,
            ]
            .map(|column| column.0[row])
            .to_vec();
            numbers.push(f64::from(part.node.0[row]));
            numbers.push(f64::from(part.state.0[row]));
            self.ranks.insert(*rank, numbers);
        }
    }

    fn nodes(&mut self, part: &Nodes) {
        for (row, node) in part.node.0.iter().enumerate() {
            let value = (part.name[row].clone(), part.clock_uncertainty_ns.0[row], part.state.0[row]);
            self.nodes.insert(*node, value);
        }
    }
}

/// One update with values of its own.
#[derive(Debug, Clone, Default)]
struct Round {
    now_ns: u64,
    job: Job,
    totals: Totals,
    losses: Losses,
    functions: Vec<FunctionRow>,
    ranks: Vec<RankRow>,
    nodes: Vec<NodeRow>,
    timeline: Vec<TimelineIncrement>,
    in_flight: Vec<InFlight>,
    hangs: Hangs,
    switch: Switch,
    calls: Vec<Arc<Vec<Call>>>,
    faults: Vec<Fault>,
    found: Option<FindingsReport>,
}

impl Round {
    fn update(&self) -> Update<'_> {
        Update {
            now_ns: self.now_ns,
            lag_ns: self.now_ns / 7,
            job: &self.job,
            totals: self.totals,
            losses: self.losses,
            functions: &self.functions,
            ranks: &self.ranks,
            nodes: &self.nodes,
            timeline: &self.timeline,
            in_flight: &self.in_flight,
            hangs: &self.hangs,
            switch: &self.switch,
            calls: &self.calls,
            faults: &self.faults,
            found: self.found.as_ref(),
        }
    }
}

fn function() -> impl Strategy<Value = FunctionRow> {
    let name = prop_oneof![Just("MPI_Send"), Just("MPI_Recv"), Just("MPI_Waitall")];
    (0..6_u16, name, 0..3_u64, any::<u32>()).prop_map(|(function, name, calls, time)| FunctionRow {
        function,
        name,
        family: "send",
        calls,
        polls: calls * 2,
        bytes: calls * 3,
        time_ns: u64::from(time),
        p50_ns: 1,
        p99_ns: 2,
        max_ns: 3,
    })
}

fn rank() -> impl Strategy<Value = RankRow> {
    (0..6_u32, 0..3_u64, any::<bool>()).prop_map(|(rank, calls, vanished)| RankRow {
        rank: Rank(rank),
        node: Node(rank / 2),
        calls,
        sent: calls + 1,
        received: calls + 2,
        bytes_sent: calls << 40,
        mpi_time_ns: calls * 1_000,
        run_ns: calls * 900,
        wait_ns: calls % 2,
        involuntary: calls,
        state: if vanished { ProcessState::Vanished } else { ProcessState::Running },
        ended_ns: if vanished { calls } else { 0 },
    })
}

fn node() -> impl Strategy<Value = NodeRow> {
    (0..3_u32, prop::option::of(0..9_u64), any::<bool>(), prop::option::of(1..9_u32)).prop_map(
        |(node, clock_uncertainty_ns, is_silent, cpus)| NodeRow {
            node: Node(node),
            name: format!("node{node}"),
            clock_uncertainty_ns,
            is_silent,
            cpus: cpus.map(|ranks| NodeCpus {
                on_host: 4,
                usable: f64::from(ranks) / 2.0,
                is_bound: ranks > 4,
                ranks,
            }),
        },
    )
}

fn timeline() -> impl Strategy<Value = TimelineIncrement> {
    (0..3_000_u64, 0..4_u16, 0..3_u64).prop_map(|(start_ns, function, calls)| TimelineIncrement {
        start_ns,
        function,
        calls,
    })
}

fn in_flight() -> impl Strategy<Value = InFlight> {
    (0..5_u32, 0..9_u64).prop_map(|(rank, since_ns)| InFlight {
        rank: Rank(rank),
        function: 3,
        since_ns,
        ..InFlight::default()
    })
}

/// One region of some of the ranks.
fn by_region(last: u32) -> Evolution {
    let region = RegionCourse { region: 3, ranks: vec![(0, last)], ..RegionCourse::default() };
    Evolution { regions: vec![region], ..Evolution::default() }
}

fn round() -> impl Strategy<Value = Round> {
    (
        (0..3_000_u64, 0..3_u64, 0..2_u64, any::<bool>(), prop::option::of(0..3_u32)),
        prop::collection::vec(function(), 0..4),
        (prop::collection::vec(rank(), 0..4), prop::collection::vec(node(), 0..3)),
        prop::collection::vec(timeline(), 0..4),
        prop::collection::vec(in_flight(), 0..4),
        prop::collection::vec("[a-zä]{0,12}", 0..2),
    )
        .prop_map(
            |(
                (now_ns, calls, lost, running, until),
                functions,
                (ranks, nodes),
                timeline,
                in_flight,
                faults,
            )| {
                Round {
                    now_ns,
                    job: Job {
                        state: if running { JobState::Running } else { JobState::Ended },
                        ..Job::default()
                    },
                    totals: Totals { calls, ..Totals::default() },
                    losses: Losses { ring_full: lost, ..Losses::default() },
                    functions,
                    ranks,
                    nodes,
                    timeline,
                    in_flight,
                    hangs: Hangs { count: lost, ..Hangs::default() },
                    switch: Switch { unrecorded_calls: calls, ..Switch::default() },
                    calls: Vec::new(),
                    faults: faults.into_iter().map(|text| Fault { rank: None, text }).collect(),
                    found: until.map(|s| FindingsReport {
                        until_s: f64::from(s),
                        evolution: by_region(s),
                        ..FindingsReport::default()
                    }),
                }
            },
        )
}

const SMALL: Limits = Limits {
    window_ns: 100,
    windows_max: 8,
    calls_max: 3,
    in_flight_max: 2,
    deltas_max: 5,
    delta_bytes_max: 4_000,
    faults_max: 3,
    fault_characters_max: 5,
};

fn fresh(feed: &mut FeedState) -> Replica {
    let mut replica = Replica::default();
    replica.apply(&feed.snapshot().unwrap().bytes);
    replica
}

proptest! {
    /// From a snapshot at any number, whatever steps a viewer takes and however long it sleeps between them.
    #[test]
    fn a_viewer_ends_where_the_feed_is(rounds in prop::collection::vec((round(), 0..4_usize), 1..40), start in 0..20_usize) {
        let mut feed = FeedState::with_limits(Job::default(), SMALL);
        let mut viewer: Option<Replica> = None;
        for (index, (round, steps)) in rounds.iter().enumerate() {
            feed.apply(&round.update());
            prop_assert!(feed.delta_bytes() <= SMALL.delta_bytes_max);
            if index == start {
                viewer = Some(fresh(&mut feed));
            }
            if let Some(viewer) = &mut viewer {
                for _ in 0..*steps {
                    if let Some(step) = feed.next_after(Some(viewer.number)).unwrap() {
                        viewer.apply(&step.bytes);
                    }
                }
            }
        }
        if let Some(mut viewer) = viewer {
            while let Some(step) = feed.next_after(Some(viewer.number)).unwrap() {
                viewer.apply(&step.bytes);
            }
            prop_assert_eq!(viewer, fresh(&mut feed));
        }
    }

    /// Every delta kept, none missed, compared after each one.
    #[test]
    fn each_delta_leads_to_its_snapshot(rounds in prop::collection::vec(round(), 1..30)) {
        let mut feed = FeedState::with_limits(Job::default(), SMALL);
        let mut viewer = fresh(&mut feed);
        for round in &rounds {
            let before = feed.number();
            let after = feed.apply(&round.update());
            if after != before {
                viewer.apply(&feed.delta_after(before).unwrap().bytes);
            }
            prop_assert_eq!(&viewer, &fresh(&mut feed));
        }
    }

    /// Damaged bytes are an error for a reader, never a panic.
    #[test]
    fn damaged_messages_are_refused(at in any::<prop::sample::Index>(), value in any::<u8>()) {
        let mut bytes = FeedState::new(Job::default()).snapshot().unwrap().bytes.to_vec();
        let place = at.index(bytes.len());
        bytes[place] = value;
        let _: Result<Message, _> = rmp_serde::from_slice(&bytes);
    }
}

#[test]
fn nothing_new_makes_no_delta() {
    let mut feed = FeedState::new(Job::default());
    let job = Job { command: "mpirun -n 4 ./heat".to_owned(), ..Job::default() };
    let round = Round { now_ns: 5, job, ..Round::default() };
    assert_eq!(feed.apply(&round.update()), 1);
    assert_eq!(feed.apply(&round.update()), 1);
    assert!(feed.next_after(Some(1)).unwrap().is_none());
    assert_eq!(
        feed.next_after(Some(77)).unwrap().unwrap().number,
        1,
        "a number from elsewhere gets a snapshot"
    );
}

#[test]
fn calls_are_in_the_delta_of_their_update_the_longest_always() {
    let mut feed = FeedState::with_limits(Job::default(), Limits { calls_max: 8, ..SMALL });
    let call = |start_ns: u64, end_ns| Call {
        rank: Rank(2),
        thread: 1,
        function: 4,
        start_ns,
        end_ns,
        tag: Some(-3),
        bytes: 9,
        comm: Some(Comm::WORLD),
        ..Call::default()
    };
    let short: Vec<Call> = (0..40).map(|number| call(number * 10, number * 10 + 5)).collect();
    let calls = vec![Arc::new(short), Arc::new(vec![call(1, 500)])];
    let before = feed.number();
    feed.apply(&Round { now_ns: 700, calls, ..Round::default() }.update());
    let delta: Message = rmp_serde::from_slice(&feed.delta_after(before).unwrap().bytes).unwrap();
    let sample = delta.calls.unwrap();
    assert_eq!((sample.from_ns, sample.to_ns, sample.total), (0, 600, 41));
    assert!(sample.kept() < 30 && sample.share < 1.0 && sample.all_from_ns <= 499);
    let longest = sample.duration_ns.0.iter().position(|duration_ns| *duration_ns == 499.0).unwrap();
    let tag = sample.tag.0[longest].cast_signed();
    assert_eq!((sample.rank.0[longest], tag, sample.peer.0[longest]), (2, -3, mpiscope_feed::NONE));
    let snapshot: Message = rmp_serde::from_slice(&feed.snapshot().unwrap().bytes).unwrap();
    assert!(snapshot.calls.is_none());
}
