//! A replay shows what was shown live: the same state in the end, the same answers about any stretch of time, and the same
//! again wherever somebody was in between.

use crate::support::{Feed, Page, block_on, hosts_for_two_more, run_with_options, run_with_page};
use mpiscope_feed::exchange::{Answer, Content, Outgoing};
use mpiscope_feed::message::{Kind, Losses, Message, Totals};
use mpiscope_feed::{Calls, FindingsReport};
use mpiscope_harness::{Chance, LIMIT, Mpi, Running, Signal, folder, full_run, mpiscope, processes};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// What a page holds after all messages until now.
#[derive(Debug, Default, PartialEq)]
struct PageState {
    totals: Option<Totals>,
    losses: Option<Losses>,
    functions: BTreeMap<u32, (String, Vec<u64>)>,
    ranks: BTreeMap<u32, Vec<u64>>,
    window_ns: u64,
    timeline: BTreeMap<(u64, u32), u64>,
    found: Option<FindingsReport>,
    exit: Option<i32>,
}

impl PageState {
    fn take(&mut self, message: &Message) {
        if message.kind == Kind::Snapshot {
            *self = Self::default();
        }
        self.totals = message.totals.or(self.totals);
        self.losses = message.losses.or(self.losses);
        self.found = message.found.clone().or(self.found.take());
        self.exit = message.job.as_ref().map_or(self.exit, |job| job.exit);
        if let Some(functions) = &message.functions {
            for (row, &id) in functions.id.0.iter().enumerate() {
                let columns = [
                    &functions.calls,
                    &functions.polls,
                    &functions.bytes,
                    &functions.time_ns,
                    &functions.p50_ns,
                    &functions.p99_ns,
                    &functions.max_ns,
                ];
                let figures = columns.map(|column| column.0[row] as u64).to_vec();
                self.functions.insert(id, (functions.name[row].clone(), figures));
            }
        }
        if let Some(ranks) = &message.ranks {
            for (row, &rank) in ranks.rank.0.iter().enumerate() {
                let columns = [
                    &ranks.calls,
                    &ranks.sent,
                    &ranks.received,
                    &ranks.bytes_sent,
                    &ranks.mpi_time_ns,
                    &ranks.run_ns,
                    &ranks.wait_ns,
                    &ranks.involuntary,
                ];
                let mut figures = columns.map(|column| column.0[row] as u64).to_vec();
                figures.extend([ranks.node.0[row], ranks.state.0[row]].map(u64::from));
                self.ranks.insert(rank, figures);
            }
        }
        if let Some(cells) = &message.timeline {
            if cells.window_ns != self.window_ns {
                self.timeline.clear();
                self.window_ns = cells.window_ns;
            }
            for (row, &function) in cells.function.0.iter().enumerate() {
                self.timeline.insert((cells.start_ns.0[row] as u64, function), cells.calls.0[row] as u64);
            }
        }
    }
}

/// A call as it is shown.
type Shown = (u64, u32, u32, u32, u64, u32, u32, u64, u32, u64, u32);

/// The calls of an answer, and the rest of it in words, in which what is no number is like itself.
type Essence = (Vec<Shown>, String);

/// Calls in an order of their own: which segment they lie in is nobody's business.
fn shown(calls: &Calls) -> Vec<Shown> {
    let one = |row: usize| {
        (
            calls.start_ns.0[row] as u64,
            calls.rank.0[row],
            calls.thread.0[row],
            calls.function.0[row],
            calls.duration_ns.0[row] as u64,
            calls.peer.0[row],
            calls.tag.0[row],
            calls.bytes.0[row] as u64,
            calls.comm.0[row],
            calls.count.0[row] as u64,
            calls.site.0[row],
        )
    };
    let mut all: Vec<Shown> = (0..calls.kept()).map(one).collect();
    all.sort_unstable();
    all
}

/// An answer without what is no part of what it says.
fn essence(mut answer: Answer) -> Essence {
    answer.id = 0;
    assert_eq!(answer.error(), None);
    let mut all = Vec::new();
    if let Some(Content::Calls(calls)) = &mut answer.content {
        all = shown(calls);
        *calls = Calls::default();
    }
    (all, format!("{answer:?}"))
}

/// A recording that somebody looks at.
struct Replayed {
    running: Running,
    page: Page,
}

impl Replayed {
    fn open(recording: &Path) -> Self {
        let running = Running::start(mpiscope(&["replay"]).unwrap().arg(recording)).unwrap();
        let page = Page::open(&running, "mpiscope: replay");
        Self { running, page }
    }

    /// The state that a page is given.
    async fn page_state(&self) -> (Feed, PageState, u64) {
        let mut feed = Feed::open(&self.page).await;
        let mut state = PageState::default();
        let snapshot = feed.state().await;
        state.take(&snapshot);
        (feed, state, snapshot.clock.now_ns)
    }

    fn close(self) {
        processes::signal(self.running.process(), Signal::INT);
        let ended = self.running.wait(LIMIT).unwrap();
        assert_eq!(ended.status, 0, "{}", ended.errors());
    }
}

fn question(ask: &str, from_ns: u64, to_ns: u64, chance: &mut Chance) -> Value {
    let most = *chance.one_of(&[20, 1_000, 200_000]);
    json!({
        "ask": ask, "id": 1, "from_ns": from_ns, "to_ns": to_ns, "most": most, "bins": chance.one_of(&[10, 64, 1000]),
        "rank": chance.below(2), "time_ns": from_ns + (to_ns - from_ns) / 2,
    })
}

/// Questions about stretches before this moment.
fn questions(kinds: &[&str], count: u64, until_ns: u64, chance: &mut Chance) -> Vec<Value> {
    let one = |_| {
        let (one, other) = (chance.below(until_ns), chance.below(until_ns));
        let kind = *chance.one_of(kinds);
        question(kind, one.min(other), one.max(other) + 1, chance)
    };
    (0..count).map(one).collect()
}

async fn answers(feed: &mut Feed, questions: &[Value]) -> Vec<Essence> {
    let mut answers = Vec::new();
    for question in questions {
        answers.push(essence(feed.ask(question.clone()).await));
    }
    answers
}

/// What is settled while the job runs stays so.
const SETTLED: [&str; 4] = ["calls", "timeline", "count", "history"];
const ALL: [&str; 13] = [
    "calls", "timeline", "count", "history", "budget", "pairs", "dag", "past", "future", "messages",
    "courses", "event", "criteria",
];

/// Runs a job with a page; gives what the page held in the end, and what was asked and answered meanwhile.
fn live(running: &Running, chance: &mut Chance) -> (PageState, Vec<(Value, Essence)>) {
    let page = Page::open(running, "mpiscope: live page");
    block_on(async {
        let states = async {
            let mut state = PageState::default();
            Feed::open(&page).await.all().await.iter().for_each(|message| state.take(message));
            state
        };
        let asking = async {
            let mut feed = Feed::open(&page).await;
            let mut asked = Vec::new();
            let mut next_ns = 1_000_000_000;
            while asked.len() < 60 {
                let Some(heard) = feed.hear().await else { break };
                let Outgoing::State(message) = heard else { continue };
                let known_ns = message.clock.now_ns.saturating_sub(message.clock.lag_ns);
                if message.totals.is_none_or(|totals| totals.calls < 300) || known_ns < next_ns {
                    continue;
                }
                next_ns = known_ns + 300_000_000;
                // A call that has begun by then has ended by now.
                let questions = questions(&SETTLED, 12, known_ns / 2, chance);
                let answers = answers(&mut feed, &questions).await;
                asked.extend(questions.into_iter().zip(answers));
            }
            drop(feed);
            asked
        };
        tokio::join!(states, asking)
    })
}

/// Whoever looks at the recording of a run sees what was shown while it ran.
fn assert_is_shown_again(running: Running, out: &Path, chance: &mut Chance) {
    let (live, asked) = live(&running, chance);
    let ended = running.wait(LIMIT).unwrap();
    assert_eq!(ended.status, 0, "{}", ended.errors());
    assert!(asked.len() >= 24, "only {} questions while the job ran", asked.len());
    assert!(live.found.as_ref().is_some_and(|found| found.is_final));

    let replayed = Replayed::open(out);
    let (questions, before): (Vec<_>, Vec<_>) = asked.into_iter().unzip();
    let (state, after) = block_on(async {
        let (mut feed, state, _) = replayed.page_state().await;
        (state, answers(&mut feed, &questions).await)
    });
    replayed.close();
    assert_eq!((&state.totals, &state.losses, state.exit), (&live.totals, &live.losses, live.exit));
    assert_eq!(state.functions, live.functions);
    assert_eq!(state.ranks, live.ranks);
    assert_eq!((state.window_ns, &state.timeline), (live.window_ns, &live.timeline));
    assert_eq!(state.found, live.found);
    for ((question, before), after) in questions.iter().zip(before).zip(after) {
        assert_eq!(before, after, "{question}");
    }
}

#[test]
fn what_was_shown_live_is_shown_again() {
    let test = "replay_is_live what_was_shown_live_is_shown_again";
    for mpi in Mpi::sample_or_skip(test) {
        let folder = folder().unwrap();
        let out = folder.path().join("recording");
        let running = run_with_page(&mpi, 2, "linger", &["4", "500"], &out);
        assert_is_shown_again(running, &out, &mut Chance::for_test(test));
    }
}

/// Those who look get rows from processes that keep them until a segment is full.
#[test]
fn what_was_shown_live_of_other_processes_is_shown_again() {
    let test = "replay_is_live what_was_shown_live_of_other_processes_is_shown_again";
    for mpi in Mpi::sample_or_skip(test) {
        let folder = folder().unwrap();
        let (hosts, out) = (hosts_for_two_more(folder.path()), folder.path().join("recording"));
        let options = ["--hostfile", &hosts];
        let running = run_with_options(&mpi, 2, ("linger", &["4", "500"]), &out, &options);
        assert_is_shown_again(running, &out, &mut Chance::for_test(test));
    }
}

#[test]
fn wherever_somebody_was_before_the_answers_are_the_same() {
    let test = "replay_is_live wherever_somebody_was_before_the_answers_are_the_same";
    let mut chance = Chance::for_test(test);
    let folder = folder().unwrap();
    let out = folder.path().join("made");
    let words =
        "synth --pattern halo2d --ranks 16 --nodes 4 --seconds 5 --rate 100000 --disturb imbalance -o";
    let mut command = mpiscope(&words.split(' ').collect::<Vec<_>>()).unwrap();
    assert_eq!(mpiscope_harness::run(command.arg(&out), LIMIT).unwrap().status, 0);

    let replayed = Replayed::open(&out);
    let (state, end_ns, asked) = block_on(async {
        let (mut feed, state, end_ns) = replayed.page_state().await;
        let mut asked = Vec::new();
        let count = if full_run() { 300 } else { 45 };
        for question in questions(&ALL, count, end_ns, &mut chance) {
            // Forward and backward, far and near.
            let command = match chance.below(4) {
                0 => json!({"do": "seek", "time_ns": chance.below(end_ns)}),
                1 => json!({"do": "step", "by_ns": chance.below(end_ns) as f64 - end_ns as f64 / 2.0}),
                2 => json!({"do": "play", "rate": chance.below(200) as f64 - 100.0}),
                _ => json!({"do": "pause"}),
            };
            feed.send(command).await;
            asked.push((question.clone(), essence(feed.ask(question).await)));
        }
        (state, end_ns, asked)
    });
    replayed.close();
    assert!(asked.iter().any(|(_, (calls, _))| !calls.is_empty()));

    // In another order, to one that was never anywhere else.
    let fresh = Replayed::open(&out);
    block_on(async {
        let (mut feed, again, end_again_ns) = fresh.page_state().await;
        assert_eq!((again, end_again_ns), (state, end_ns));
        for (question, before) in asked.iter().rev() {
            assert_eq!(before, &essence(feed.ask(question.clone()).await), "{question}");
        }
    });
    fresh.close();
    for (question, before) in asked.iter().take(if full_run() { 20 } else { 3 }) {
        let fresh = Replayed::open(&out);
        let answer = block_on(async { Feed::open(&fresh.page).await.ask(question.clone()).await });
        assert_eq!(before, &essence(answer), "{question}");
        fresh.close();
    }
}
