use super::*;
use crate::stretches::{LIVE_CALLS, LogMatching};
use mpiscope_flow::{Cluster, work_on_share};
use mpiscope_ingest::Ingest;
use mpiscope_matching::Matcher;
use mpiscope_recording::WalWriter;
use mpiscope_synth::{Disturbance, Pattern, Spec, Style, generate};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize};

mod fed;

const LIMIT: Duration = Duration::from_secs(60);

type SimulatedBatch = (Batch, Vec<Message>);

/// What becomes known of a simulated job, bit by bit.
fn batches(seconds: f64) -> Vec<SimulatedBatch> {
    let mut spec = Spec::new(Pattern::Ring, 8, seconds, 20_000.0);
    spec.nodes = 2;
    spec.style = Style::Blocking;
    known_of(&spec)
}

fn known_of(spec: &Spec) -> Vec<SimulatedBatch> {
    let mut ingest = Ingest::for_diagnosis();
    let mut matcher = Matcher::default();
    let batches = generate(spec).unwrap().filter_map(|message| ingest.step(message));
    let known = batches.map(|batch| {
        batch.ranks.iter().for_each(|info| matcher.place(info.rank, info.node));
        let messages = matcher.feed(&batch.events).messages;
        (batch, messages)
    });
    known.collect()
}

fn take(live: &mut LiveDiagnosis, batch: Batch, messages: &[Message]) {
    take_or_postpone(live, batch, messages, false);
}

fn take_or_postpone(live: &mut LiveDiagnosis, batch: Batch, messages: &[Message], is_postponed: bool) {
    let calls = batch.calls.clone();
    live.take(batch, Calls::InBatch, is_postponed, || (calls, messages.to_vec()));
}

fn calls(batches: &[SimulatedBatch]) -> u64 {
    batches.iter().map(|(batch, _)| batch.activities.len() as u64).sum()
}

fn is_idle(live: &LiveDiagnosis) -> bool {
    live.shared.waiting_calls.load(Ordering::Acquire) == 0
}

fn until_idle(live: &LiveDiagnosis) {
    let begun = Instant::now();
    while !is_idle(live) {
        assert!(begun.elapsed() < LIMIT, "it does not come to an end");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// What was found last once nothing waits any more.
fn found(live: &LiveDiagnosis, until_s: f64) -> mpiscope_feed::FindingsReport {
    let begun = Instant::now();
    loop {
        if let Some(super::LiveFindings { report: found, course, .. }) = live.found()
            && found.until_s >= until_s
        {
            assert_eq!(course.parts.len(), course.avoidable.len());
            return found;
        }
        assert!(begun.elapsed() < LIMIT, "nothing is found");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_job_is_diagnosed_while_it_runs() {
    let batches = batches(4.0);
    let mut live =
        LiveDiagnosis::with_room(2, BudgetOptions::default(), Reference::None, MOST_WAITING, None).unwrap();
    for (batch, messages) in batches {
        take(&mut live, batch, &messages);
        until_idle(&live);
    }
    let found = found(&live, 3.5);
    assert_eq!((found.left_out_calls, found.from_s, found.is_final), (0, 0.0, false));
    assert_eq!(found.diagnosis.verdict.cause, "none", "{:?}", found.headline);
    let budget = &found.diagnosis.budget;
    assert!(budget.unknown_s < 0.1 * budget.total_s, "{budget:?}");
    let waits = &found.diagnosis.waits;
    assert!(!waits.is_empty() && waits.iter().all(|wait| wait.place.starts_with("ring: ")), "{waits:?}");
}

#[test]
fn calls_that_come_too_fast_are_left_out_and_counted_and_the_diagnosis_begins_anew() {
    const ROOM: usize = 4_000;
    let mut early = batches(12.0);
    let middle = early.len() / 2;
    let late = early.split_off(middle);
    let all = calls(&early);
    assert!(all > 10 * ROOM as u64, "{all}");
    let mut live =
        LiveDiagnosis::with_room(1, BudgetOptions::default(), Reference::None, ROOM, None).unwrap();
    // One that gets everything at once is behind at once.
    let begun = Instant::now();
    early.into_iter().for_each(|(batch, messages)| take(&mut live, batch, &messages));
    let left_out = live.left_out_calls;
    assert!(left_out > 0 && left_out < all, "{left_out} of {all} in {:?}", begun.elapsed());
    until_idle(&live);
    let from_s = late[0].0.until_ns as f64 / 1e9;
    for (batch, messages) in late {
        take(&mut live, batch, &messages);
        until_idle(&live);
    }
    let found = found(&live, 11.0);
    assert_eq!(found.left_out_calls, live.left_out_calls);
    assert_eq!(found.diagnosis.attribution[0].from_s, found.from_s);
    assert!(found.from_s > 0.0 && found.from_s <= from_s + 0.2, "{} of {from_s}", found.from_s);
    // What was made before the beginning is not missed.
    let budget = &found.diagnosis.budget;
    assert!(budget.total_s > 0.0 && budget.unknown_s < 0.1 * budget.total_s, "{budget:?}");
    let waits = &found.diagnosis.waits;
    assert!(!waits.is_empty() && waits.iter().all(|wait| wait.place.starts_with("ring: ")), "{waits:?}");
}

/// Tells of a job with a rank that has more work, whose log is written meanwhile. `before` is done before each batch but the first
/// goes to all, with whether it is of the second half; it says whether the last of them is postponed.
fn tell_of_job(
    dir: &Path,
    lives: &mut [LiveDiagnosis],
    mut before: impl FnMut(&mut [LiveDiagnosis], bool) -> bool,
) {
    let mut log = WalWriter::create(dir).unwrap();
    let disturb = vec![Disturbance::Imbalance { share: 0.125, more: 1.0, drifts: false }];
    let spec = Spec { style: Style::Blocking, disturb, ..Spec::new(Pattern::Ring, 8, 6.0, 20_000.0) };
    let (mut ingest, mut frame, mut is_first) = (Ingest::for_diagnosis(), Vec::new(), true);
    let mut matching = LogMatching::default();
    let messages: Vec<_> = generate(&spec).unwrap().collect();
    let middle = messages.len() / 2;
    for (number, message) in messages.into_iter().enumerate() {
        frame.clear();
        message.encode(&mut frame);
        log.write(&frame).unwrap();
        lives.iter_mut().for_each(LiveDiagnosis::count_message);
        let Some(batch) = ingest.step(message) else { continue };
        log.flush().unwrap();
        let messages = matching.messages(&batch);
        let is_postponed = !std::mem::take(&mut is_first) && before(lives, number >= middle);
        let last = lives.len() - 1;
        for (at, live) in lives.iter_mut().enumerate() {
            take_or_postpone(live, batch.clone(), &messages, is_postponed && at == last);
            until_idle(live);
        }
    }
}

/// What was found last is the same: while a job runs, either may be one window ahead of the other.
fn assert_same(expected: LiveDiagnosis, found: &LiveDiagnosis) {
    let expected = expected.finish(LIMIT).unwrap().report;
    assert!(expected.until_s > 5.9, "{}", expected.until_s);
    let found = self::found(found, expected.until_s);
    assert_eq!((found.from_s, found.until_s, found.left_out_calls), (0.0, expected.until_s, 0));
    let [expected, found] = [expected, found].map(|found| found.diagnosis);
    let (with, without) = (&found.verdict, &expected.verdict);
    assert_eq!(with.cause, "pattern", "{with:?}");
    // Stretches may be replayed or scaled up, as time allows.
    let ratio = with.avoidable_wall_s / without.avoidable_wall_s;
    assert!((0.8..1.25).contains(&ratio), "{with:?}, not {without:?}");
    assert_eq!((&found.budget, &found.waits), (&expected.budget, &expected.waits));
    assert!(found.budget.waiting_s > 0.0);
}

fn live(helpers: Option<Box<dyn Helpers>>) -> LiveDiagnosis {
    LiveDiagnosis::with_room(1, BudgetOptions::default(), Reference::None, MOST_WAITING, helpers).unwrap()
}

#[test]
fn what_was_postponed_is_read_from_the_log_as_if_it_had_come() {
    let dir = tempfile::tempdir().unwrap();
    let mut lives = [live(None), live(None).with_log(dir.path())];
    tell_of_job(dir.path(), &mut lives, |_, is_late| !is_late);
    let [always, later] = lives;
    assert_same(always, &later);
}

/// Other processes of an analysis as threads.
#[derive(Default)]
struct Threads {
    /// How often they were brought together.
    gathered: AtomicUsize,
    /// Which were lost.
    lost: Mutex<Vec<usize>>,
    /// The streams of the second of them.
    streams: Mutex<Vec<UnixStream>>,
    is_dismissed: AtomicBool,
}

impl Threads {
    fn kill(&self) {
        self.streams.lock().unwrap().drain(..).for_each(|stream| stream.shutdown(Shutdown::Both).unwrap());
    }
}

struct OnThreads(Arc<Threads>);

impl Helpers for OnThreads {
    fn gather(&mut self, share: &[u8], _goes_on: &dyn Fn() -> bool) -> Option<Cluster> {
        let mut clusters = Cluster::all(3).unwrap();
        let streams = clusters[2].peers.iter().flatten().flatten();
        *self.0.streams.lock().unwrap() = streams.map(|stream| stream.try_clone().unwrap()).collect();
        self.0.gathered.fetch_add(1, Ordering::AcqRel);
        let own = clusters.remove(0);
        for other in clusters {
            let share = share.to_vec();
            std::thread::spawn(move || work_on_share(&share, other, None));
        }
        Some(own)
    }

    fn lost(&mut self, number: usize) {
        self.0.lost.lock().unwrap().push(number);
    }

    fn dismissed(&mut self, _why: &str) {
        self.0.is_dismissed.store(true, Ordering::Release);
    }
}

#[test]
fn what_a_lost_process_knew_is_read_from_the_log_as_if_it_had_come() {
    let dir = tempfile::tempdir().unwrap();
    let threads = Arc::new(Threads::default());
    let shared = live(Some(Box::new(OnThreads(Arc::clone(&threads))))).with_log(dir.path());
    let mut lives = [live(None), shared];
    let mut is_killed = false;
    tell_of_job(dir.path(), &mut lives, |lives, is_late| {
        if is_late && !is_killed {
            threads.kill();
            is_killed = true;
        }
        let begun = Instant::now();
        while lives[1].shared.gathering.is_going_on() {
            assert!(begun.elapsed() < LIMIT, "they do not come together");
            std::thread::sleep(Duration::from_millis(1));
        }
        false
    });
    let [alone, mut shared] = lives;
    // It may have noticed only now.
    until_idle(&shared);
    shared.postpone(false, Calls::InBatch);
    assert_eq!(threads.gathered.load(Ordering::Acquire), 2);
    assert_eq!(*threads.lost.lock().unwrap(), [2]);
    assert_same(alone, &shared);
}

/// What comes too fast is left out, and nobody is brought together for that again and again.
#[test]
fn an_analysis_that_begins_anew_too_often_goes_on_alone() {
    let threads = Arc::new(Threads::default());
    let helpers: Option<Box<dyn Helpers>> = Some(Box::new(OnThreads(Arc::clone(&threads))));
    let mut live =
        LiveDiagnosis::with_room(1, BudgetOptions::default(), Reference::None, 1, helpers).unwrap();
    let begun = Instant::now();
    for (batch, messages) in batches(6.0).into_iter().cycle() {
        // Each batch has more calls than there is room for.
        take(&mut live, batch, &messages);
        until_idle(&live);
        if threads.is_dismissed.load(Ordering::Acquire) {
            break;
        }
        assert!(begun.elapsed() < LIMIT, "{} times", threads.gathered.load(Ordering::Acquire));
    }
    assert!(live.left_out_calls > 0);
    assert!(threads.gathered.load(Ordering::Acquire) <= 10 && threads.lost.lock().unwrap().is_empty());
}

#[test]
fn without_a_log_what_a_lost_process_knew_is_left_out_and_counted() {
    let batches = batches(6.0);
    let threads = Arc::new(Threads::default());
    let mut live = live(Some(Box::new(OnThreads(Arc::clone(&threads)))));
    let middle = batches.len() / 2;
    for (number, (batch, messages)) in batches.into_iter().enumerate() {
        if number == middle {
            threads.kill();
        }
        take(&mut live, batch, &messages);
        until_idle(&live);
    }
    let found = found(&live, 5.5);
    assert!(found.left_out_calls > 0 && found.from_s > 2.0, "{}", found.from_s);
}

#[test]
fn what_is_not_in_the_log_is_left_out_and_counted() {
    let dir = tempfile::tempdir().unwrap();
    let batches = batches(6.0);
    let mut live = LiveDiagnosis::with_room(1, BudgetOptions::default(), Reference::None, MOST_WAITING, None)
        .unwrap()
        .with_log(dir.path());
    let middle = batches.len() / 2;
    let early = calls(&batches[..middle]);
    for (number, (batch, messages)) in batches.into_iter().enumerate() {
        live.count_message();
        take_or_postpone(&mut live, batch, &messages, number < middle);
        until_idle(&live);
    }
    let found = found(&live, 5.5);
    assert_eq!(found.left_out_calls, early);
    assert!(found.from_s > 2.0, "{}", found.from_s);
}

#[test]
fn a_rank_with_more_work_is_found_while_the_job_runs() {
    // 40,000 calls a second: the second stretch begins before the end.
    let mut spec = Spec::new(Pattern::Ring, 8, 5.0, 40_000.0);
    spec.style = Style::Blocking;
    spec.disturb = vec![Disturbance::Imbalance { share: 0.125, more: 1.0, drifts: false }];
    let batches = known_of(&spec);
    assert!(calls(&batches) > LIVE_CALLS as u64);
    let until_s = batches.last().unwrap().0.until_ns as f64 / 1e9;
    let mut live =
        LiveDiagnosis::with_room(1, BudgetOptions::default(), Reference::None, MOST_WAITING, None).unwrap();
    for (batch, messages) in batches {
        take(&mut live, batch, &messages);
        until_idle(&live);
    }
    let diagnosis = found(&live, 0.9 * until_s).diagnosis;
    let verdict = &diagnosis.verdict;
    assert_eq!(verdict.cause, "pattern", "{verdict:?}");
    // One rank has twice the work of the other seven: without that a step takes 9 of 16 parts of its time.
    let share = verdict.avoidable_wall_s / until_s;
    assert!((0.3..0.5).contains(&share), "{verdict:?} in {until_s} s");
    let source = diagnosis.sources.iter().find(|source| source.cause == "pattern").unwrap();
    assert_eq!(source.few.len(), 1, "{source:?}");
}
