//! An analysis whose calls others feed: what it finds is the same, whatever happens.

use super::{LIMIT, assert_same, calls, live};
use crate::live::{Calls, Helpers, LiveDiagnosis, MOST_WAITING, Wanted};
use crate::stretches::LogMatching;
use mpiscope_flow::{Cluster, Feeder, work_on_share};
use mpiscope_ingest::Ingest;
use mpiscope_model::{Batch, Message, Rank};
use mpiscope_recording::WalWriter;
use mpiscope_synth::{Disturbance, Pattern, Spec, Style, generate};
use std::collections::{HashSet, VecDeque};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const RANKS: u32 = 8;
const READERS: usize = 2;

/// Processes that read calls, as threads.
#[derive(Default)]
struct Readers {
    generation: u64,
    feeders: Vec<Feeder>,
    has_begun: bool,
    /// After calls were left out: threads that were heard since.
    heard: Option<HashSet<(Rank, u16)>>,
    streams: Vec<UnixStream>,
    dismissed: Vec<String>,
}

#[derive(Clone, Default)]
struct OnFeeders(Arc<Mutex<Readers>>);

impl OnFeeders {
    fn kill(&self) {
        self.0.lock().unwrap().streams.drain(..).for_each(|stream| stream.shutdown(Shutdown::Both).unwrap());
    }

    /// Each feeds the calls of its ranks; says which analysis.
    fn feed(&self, batch: &Batch, before_ns: u64, is_anew: bool) -> u64 {
        let mut readers = self.0.lock().unwrap();
        if !std::mem::replace(&mut readers.has_begun, true) {
            readers.heard = is_anew.then(HashSet::new);
            for feeder in &readers.feeders {
                let nothing = Batch { until_ns: before_ns, ..Batch::default() };
                let _ = feeder.try_feed(nothing);
            }
        }
        for place in 0..readers.feeders.len() {
            let is_theirs = |rank: Rank| rank.index() * READERS / RANKS as usize == place;
            let mut rows = batch.activities_of(is_theirs);
            if let Some(heard) = &mut readers.heard {
                let mut is_new = |rank, thread| heard.insert((rank, thread));
                let activities = rows.activities.iter_mut();
                activities.for_each(|of| of.after_loss |= is_new(of.rank, of.call.thread()));
            }
            // One that was killed takes nothing.
            let _ = readers.feeders[place].try_feed(rows);
        }
        readers.generation
    }
}

impl Helpers for OnFeeders {
    fn fed_ranks(&mut self, _goes_on: &dyn Fn() -> bool) -> Option<u32> {
        Some(RANKS)
    }

    fn gather(&mut self, share: &[u8], _goes_on: &dyn Fn() -> bool) -> Option<Cluster> {
        let mut clusters = Cluster::all(READERS + 1).unwrap();
        let own = clusters.remove(0);
        let streams = clusters[1].peers.iter().flatten().flatten();
        let streams = streams.map(|stream| stream.try_clone().unwrap()).collect();
        let begin = |cluster| {
            let feeder = Feeder::new(share).unwrap();
            let (share, of_thread) = (share.to_vec(), feeder.clone());
            std::thread::spawn(move || work_on_share(&share, cluster, Some(of_thread)));
            feeder
        };
        let feeders = clusters.into_iter().map(begin).collect();
        let mut readers = self.0.lock().unwrap();
        let (generation, dismissed) = (readers.generation + 1, std::mem::take(&mut readers.dismissed));
        *readers = Readers { generation, feeders, streams, dismissed, ..Readers::default() };
        Some(own)
    }

    fn lost(&mut self, _number: usize) {}

    fn dismissed(&mut self, why: &str) {
        self.0.lock().unwrap().dismissed.push(why.to_owned());
    }
}

/// What happens before a batch is handed out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Happening {
    /// Nobody looks and CPUs are short, until somebody does.
    Postponed,
    Resumed,
    /// A process is killed.
    Killed,
    /// All that was handed out is answered.
    Answered,
    /// So much waits that there is no room for more, until it is gone.
    Full,
    Gone,
}

/// A batch that was handed out.
struct HandedOut {
    batch: Batch,
    messages: Vec<Message>,
    /// Which analysis has got its calls.
    fed: Option<u64>,
    are_here: bool,
    until: u64,
}

/// The recorder of a job whose calls others read.
struct Recorder<'a> {
    live: &'a mut LiveDiagnosis,
    readers: OnFeeders,
    handed_out: VecDeque<HandedOut>,
    is_postponed: bool,
    until_ns: u64,
    /// Calls that wait and that nobody takes.
    stuck: usize,
}

impl Recorder<'_> {
    fn hand_out(&mut self, batch: Batch, messages: Vec<Message>, until: u64) {
        let wanted = if self.is_postponed { Wanted::Nothing } else { self.live.wanted() };
        let before_ns = std::mem::replace(&mut self.until_ns, batch.until_ns);
        let (fed, are_here) = match wanted {
            Wanted::Nothing => (None, false),
            Wanted::Calls => (None, true),
            Wanted::Fed { with_calls, is_anew } => {
                (Some(self.readers.feed(&batch, before_ns, is_anew)), with_calls)
            }
        };
        self.handed_out.push_back(HandedOut { batch, messages, fed, are_here, until });
    }

    fn until_idle(&self) {
        let begun = Instant::now();
        while self.live.shared.waiting_calls.load(Ordering::Acquire) > self.stuck {
            assert!(begun.elapsed() < LIMIT, "it does not come to an end");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn stick(&mut self, calls: usize) {
        self.live.shared.waiting_calls.fetch_add(calls, Ordering::AcqRel);
        self.stuck += calls;
    }

    fn unstick(&mut self) {
        self.live.shared.waiting_calls.fetch_sub(std::mem::take(&mut self.stuck), Ordering::AcqRel);
    }

    /// Takes in all but the last batches that were handed out.
    fn take_answers(&mut self, all_but: usize) {
        while self.handed_out.len() > all_but
            && let Some(HandedOut { mut batch, messages, fed, are_here, until }) = self.handed_out.pop_front()
        {
            let generation = self.readers.0.lock().unwrap().generation;
            let calls = match fed.filter(|fed| *fed == generation) {
                Some(_) => Calls::Fed { calls: batch.activities.len() as u64, are_here },
                None if are_here => Calls::InBatch,
                None => Calls::InLog { calls: batch.activities.len() as u64, are_partly_fed: false },
            };
            let rows = batch.calls.clone();
            if !are_here {
                batch.leave_out_rows();
            }
            self.live.come_to(until);
            self.live.take(batch, calls, self.is_postponed, || (rows, messages));
            self.until_idle();
        }
    }
}

/// Tells of a job with a rank that has more work. `late` batches are handed out before the first is answered; what happens has the
/// part of the job that has passed before.
fn tell(
    dir: &Path,
    live: &mut LiveDiagnosis,
    readers: &OnFeeders,
    late: usize,
    happenings: &[(f64, Happening)],
) {
    let mut log = WalWriter::create(dir).unwrap();
    let mut recorder = Recorder {
        live,
        readers: readers.clone(),
        handed_out: VecDeque::new(),
        is_postponed: false,
        until_ns: 0,
        stuck: 0,
    };
    let (mut ingest, mut frame, mut matching) = (Ingest::for_diagnosis(), Vec::new(), LogMatching::default());
    let messages: Vec<_> = generate(&job()).unwrap().collect();
    let (count, mut happenings) = (messages.len() as f64, happenings.iter().peekable());
    for (number, message) in messages.into_iter().enumerate() {
        frame.clear();
        message.encode(&mut frame);
        log.write(&frame).unwrap();
        let Some(batch) = ingest.step(message) else { continue };
        log.flush().unwrap();
        while let Some((_, happening)) = happenings.next_if(|(part, _)| *part <= number as f64 / count) {
            match happening {
                Happening::Postponed => recorder.is_postponed = true,
                Happening::Resumed => recorder.is_postponed = false,
                Happening::Killed => readers.kill(),
                Happening::Answered => recorder.take_answers(0),
                Happening::Full => recorder.stick(MOST_WAITING),
                Happening::Gone => recorder.unstick(),
            }
        }
        let messages = matching.messages(&batch);
        recorder.hand_out(batch, messages, number as u64 + 1);
        recorder.take_answers(late);
        // As a job of seconds gives it time to come together.
        let begun = Instant::now();
        while recorder.live.shared.gathering.is_going_on() && begun.elapsed() < LIMIT {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    recorder.take_answers(0);
}

fn job() -> Spec {
    let disturb = vec![Disturbance::Imbalance { share: 0.125, more: 1.0, drifts: false }];
    Spec { style: Style::Blocking, disturb, ..Spec::new(Pattern::Ring, RANKS, 6.0, 20_000.0) }
}

fn fed(dir: &Path) -> (LiveDiagnosis, OnFeeders) {
    let readers = OnFeeders::default();
    let helpers: Option<Box<dyn Helpers>> = Some(Box::new(readers.clone()));
    let live = live(helpers);
    (live.with_log(dir), readers)
}

/// The same job, analysed by one process from the beginning.
fn alone() -> LiveDiagnosis {
    let mut alone = live(None);
    for (batch, messages) in super::known_of(&job()) {
        super::take(&mut alone, batch, &messages);
        super::until_idle(&alone);
    }
    alone
}

#[test]
fn whatever_happens_the_same_is_found() {
    use Happening::{Answered, Killed, Postponed, Resumed};
    let stories: [&[(f64, Happening)]; 7] = [
        &[],
        &[(0.3, Killed)],
        &[(0.2, Postponed), (0.6, Resumed)],
        &[(0.1, Postponed), (0.3, Resumed), (0.31, Postponed), (0.32, Resumed), (0.6, Killed)],
        // What was handed out before is answered when it is of no use any more.
        &[(0.3, Postponed), (0.301, Resumed), (0.302, Answered), (0.5, Postponed), (0.501, Resumed)],
        &[(0.2, Killed), (0.21, Postponed), (0.4, Resumed), (0.41, Killed)],
        &[(0.0, Postponed), (0.5, Resumed), (0.7, Killed), (0.71, Killed)],
    ];
    for story in stories {
        for late in [0, 3] {
            let dir = tempfile::tempdir().unwrap();
            let (mut live, readers) = fed(dir.path());
            tell(dir.path(), &mut live, &readers, late, story);
            let all_alone = readers.0.lock().unwrap().dismissed.clone();
            assert!(all_alone.is_empty() && live.shared.gathering.are_feeding(), "{story:?}, {late}");
            assert!(!live.is_postponed, "{story:?}, {late} late");
            assert_same(alone(), &live);
        }
    }
}

/// Likewise, whatever comes after whatever, and however soon.
#[test]
fn whatever_happens_by_chance_the_same_is_found() {
    for seed in 1..=12_u64 {
        let mut random = seed;
        let mut draw = |below: u64| {
            random = random.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
            (random >> 33) % below
        };
        let (mut at, mut story, mut begun_anew) = (0.0_f64, Vec::new(), 0);
        while at < 0.9 {
            at += [0.001, 0.01, 0.2][draw(3) as usize];
            let happening = match draw(4) {
                0 if begun_anew < 4 => Happening::Postponed,
                1 => Happening::Killed,
                2 => Happening::Answered,
                _ => Happening::Resumed,
            };
            begun_anew += u32::from(happening == Happening::Postponed);
            story.push((at.min(0.9), happening));
        }
        story.push((0.9, Happening::Resumed));
        let late = draw(5) as usize;
        let dir = tempfile::tempdir().unwrap();
        let (mut live, readers) = fed(dir.path());
        tell(dir.path(), &mut live, &readers, late, &story);
        let dismissed = readers.0.lock().unwrap().dismissed.clone();
        assert!(!live.is_postponed, "{story:?}, {late} late, {dismissed:?}");
        assert_same(alone(), &live);
    }
}

/// Then what is analysed begins later.
#[test]
fn what_others_feed_too_fast_is_left_out_and_counted() {
    let all = calls(&super::known_of(&job()));
    for late in [0, 3] {
        let dir = tempfile::tempdir().unwrap();
        let (mut live, readers) = fed(dir.path());
        tell(dir.path(), &mut live, &readers, late, &[(0.3, Happening::Full), (0.5, Happening::Gone)]);
        let found = super::found(&live, 11.0);
        assert!((all / 3..all * 2 / 3).contains(&found.left_out_calls), "{} of {all}", found.left_out_calls);
        assert!((5.0..7.0).contains(&found.from_s), "{}", found.from_s);
        let budget = &found.diagnosis.budget;
        assert!(budget.total_s > 0.0 && budget.unknown_s < 0.1 * budget.total_s, "{budget:?}");
        assert!(live.shared.gathering.are_feeding());
    }
}

/// The log has not what it should have: the analysis begins behind that.
#[test]
fn what_is_not_in_the_log_is_left_out_also_where_others_feed() {
    let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (live, readers) = fed(dir.path());
    let mut live = live.with_log(other.path());
    tell(dir.path(), &mut live, &readers, 2, &[(0.0, Happening::Postponed), (0.4, Happening::Resumed)]);
    let found = super::found(&live, 5.5);
    assert!(found.left_out_calls > 0 && found.from_s > 2.0, "{}", found.from_s);
    assert!(live.shared.gathering.are_feeding());
}
