//! How a flow behaves towards those who feed it and ask it.

use crate::support::{flowed, flowed_over, windowed};
use mpiscope_diagnosis::{Basis, BudgetOptions, Budgeter, ReplaySavings, Windowed};
use mpiscope_flow::{Cluster, Flow, FlowError, FlowOptions, TryFeedError, work_on_share};
use mpiscope_ingest::Ingest;
use mpiscope_model::{Activity, Batch, CallId, Effect, Rank};
use mpiscope_synth::{Pattern, Spec, Style, generate};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::mpsc;
use std::thread::JoinHandle;

/// A simulated job in batches as they come from its log.
fn job(pattern: Pattern, style: Style) -> Vec<Batch> {
    let mut spec = Spec::new(pattern, 16, 1.0, 20_000.0);
    spec.style = style;
    let mut ingest = Ingest::for_diagnosis();
    generate(&spec).unwrap().filter_map(|message| ingest.step(message)).collect()
}

fn calls(batches: &[Batch]) -> usize {
    batches.iter().map(|batch| batch.activities.len()).sum()
}

fn short_windows() -> BudgetOptions {
    BudgetOptions { window_ns: 20_000_000, ..BudgetOptions::default() }
}

fn short(workers: usize) -> FlowOptions {
    FlowOptions { workers, neighbours: 2, budget: short_windows(), ..FlowOptions::default() }
}

/// The options of a pass by what the first learnt.
fn second_pass(learnt: &Budgeter, first: FlowOptions) -> FlowOptions {
    let criteria = learnt.learnt();
    FlowOptions {
        course: Some(learnt.course(&criteria)),
        advice: Some(learnt.advice()),
        criteria: Some(criteria),
        ..first
    }
}

#[test]
fn simulated_jobs_are_budgeted_as_without_threads() {
    for (pattern, style) in [
        (Pattern::Halo2d, Style::Waitall),
        (Pattern::Ring, Style::Blocking),
        (Pattern::AllToAll, Style::Polling),
    ] {
        let batches = job(pattern, style);
        assert!(calls(&batches) > 5_000);
        for workers in [1, 2, 3] {
            let first = short(workers);
            let expected = windowed(&batches, &first);
            assert!(expected.messages > 2_000);
            assert_eq!(flowed(&batches, &first).0, expected, "{pattern:?}, {workers} workers");
            // By what the first pass learnt.
            let learnt = Flow::start(&first).unwrap();
            batches.iter().for_each(|batch| learnt.feed(batch.clone()).unwrap());
            let learnt = learnt.finish().unwrap().budgeter;
            let second = second_pass(&learnt, first);
            assert_eq!(flowed(&batches, &second).0, windowed(&batches, &second), "{pattern:?}, again");
        }
    }
}

#[test]
fn questions_are_answered_between_windows_while_it_goes_on() {
    let batches = job(Pattern::Halo2d, Style::Waitall);
    let assessed = |budgeter: &Budgeter| {
        let (length_ns, _) = budgeter.critical_path();
        let replayed = ReplaySavings { wall_s: [0.1, 0.2, 0.3, 0.4], ..ReplaySavings::default() };
        Basis::new(budgeter, false, replayed).assess(&budgeter.ledger().total(), 16, length_ns)
    };
    let mut expected = Windowed::new(short_windows());
    batches.iter().for_each(|batch| {
        expected.feed(batch, batch.until_ns);
    });
    for workers in [1, 2] {
        let flow = Flow::start(&short(workers)).unwrap();
        let mut settled_ns = 0;
        for batch in &batches {
            flow.feed(batch.clone()).unwrap();
            let now_ns = flow.ask(|budgeter| budgeter.settled_ns()).unwrap();
            assert_eq!(now_ns % short_windows().window_ns, 0);
            assert!(now_ns >= settled_ns);
            settled_ns = now_ns;
        }
        // A complete window is analysed without further input.
        while settled_ns < expected.budgeter.settled_ns() {
            settled_ns = flow.ask(|budgeter| budgeter.settled_ns()).unwrap();
        }
        let (ledger, found) =
            flow.ask(move |budgeter| (budgeter.ledger().clone(), assessed(budgeter))).unwrap();
        assert_eq!(&ledger, expected.budgeter.ledger());
        assert!(found.ranks_s > 0.0);
        assert_eq!(format!("{found:?}"), format!("{:?}", assessed(&expected.budgeter)));
        flow.finish().unwrap();
    }
}

#[test]
fn a_question_that_panics_harms_nobody() {
    let batches = job(Pattern::Ring, Style::Blocking);
    let flow = Flow::start(&short(2)).unwrap();
    for (at, batch) in batches.iter().enumerate() {
        flow.feed(batch.clone()).unwrap();
        if at % 20 == 0 {
            let answer: Result<(), _> = flow.ask(move |_| panic!("number {at}"));
            assert_eq!(answer, Err(FlowError::Question(format!("number {at}"))));
        }
    }
    assert_eq!(flow.finish().unwrap().budgeter.ledger(), &windowed(&batches, &short(1)).ledger);
}

#[test]
fn what_waits_is_bounded_and_given_back() {
    let batches = job(Pattern::Ring, Style::Blocking);
    let expected = windowed(&batches, &short(1));
    for workers in [1, 3] {
        let most_calls = calls(&batches) / 10;
        let flow = Flow::start(&FlowOptions { most_calls, ..short(workers) }).unwrap();
        std::thread::scope(|scope| {
            // No window is analysed while a question waits for its answer.
            let (go_on, may_go_on) = mpsc::channel::<()>();
            let (is_asked, asked) = mpsc::channel();
            let flow = &flow;
            let question = scope.spawn(move || {
                flow.ask(move |_| {
                    is_asked.send(()).unwrap();
                    may_go_on.recv().unwrap();
                })
            });
            asked.recv().unwrap();
            let mut taken = 0;
            let mut rest = batches.iter().cloned();
            let refused = rest.find_map(|batch| {
                let calls = batch.activities.len();
                match flow.try_feed(batch) {
                    Ok(()) => {
                        taken += calls;
                        None
                    }
                    Err(TryFeedError::Full(batch)) => Some(*batch),
                    Err(TryFeedError::Flow(error)) => panic!("{error}"),
                }
            });
            let refused = refused.unwrap();
            // Beyond the bound there is at most what completes its windows and what is not complete.
            let most_of_windows = 4 * calls(&batches) * 20 / 1_000;
            assert!(taken >= most_calls && taken <= most_calls + most_of_windows, "{taken} of {most_calls}");
            go_on.send(()).unwrap();
            question.join().unwrap().unwrap();
            flow.feed(refused).unwrap();
            rest.for_each(|batch| flow.feed(batch).unwrap());
        });
        assert_eq!(flow.finish().unwrap().budgeter.ledger(), &expected.ledger);
    }
}

#[test]
fn what_is_dropped_stops() {
    let batches = job(Pattern::Ring, Style::Blocking);
    for workers in [1, 2, 4] {
        let flow = Flow::start(&short(workers)).unwrap();
        batches.iter().for_each(|batch| flow.feed(batch.clone()).unwrap());
        drop(flow);
    }
}

#[test]
fn a_batch_not_made_for_diagnosis_is_refused() {
    let mut batch =
        job(Pattern::Ring, Style::Blocking).into_iter().find(|batch| !batch.events.is_empty()).unwrap();
    batch.events_end_ns.clear();
    let flow = Flow::start(&FlowOptions::default()).unwrap();
    assert_eq!(flow.feed(batch), Err(FlowError::NotForDiagnosis));
    assert_eq!(flow.finish().unwrap().messages, 0);
}

/// Two calls of each rank, a hundred years apart.
#[test]
fn a_long_pause_takes_no_time() {
    let call = |rank, number, end_ns| Activity {
        rank: Rank(rank),
        call: CallId::new(0, number),
        function: 1,
        start_ns: end_ns - 10,
        end_ns,
        since_ns: end_ns - 10,
        effect: Effect::Other,
        site: None,
        after_loss: false,
    };
    let late_ns = 1 << 61;
    let batch = |number, end_ns| Batch {
        activities: (0..4).map(|rank| call(rank, number, end_ns)).collect(),
        until_ns: end_ns + 1,
        ..Batch::default()
    };
    let batches = [batch(0, 50), batch(1, late_ns)];
    let options = |workers| FlowOptions { neighbours: 1, ..short(workers) };
    let expected = windowed(&batches, &options(1));
    assert_eq!(expected.paths.iter().map(|(_, at_ns, _)| *at_ns).collect::<Vec<_>>(), [late_ns; 4]);
    for workers in [1, 2, 4] {
        assert_eq!(flowed(&batches, &options(workers)).0.differences(&expected), Vec::<String>::new());
    }
}

/// The processes of a flow; the center's streams to the others are kept open beside it.
fn others_of(flow: &FlowOptions, processes: usize) -> (Cluster, Vec<JoinHandle<Result<(), FlowError>>>) {
    let mut clusters = Cluster::all(processes).unwrap().into_iter();
    let center = clusters.next().unwrap();
    let share = flow.for_others();
    let start = |cluster| {
        let share = share.clone();
        std::thread::spawn(move || work_on_share(&share, cluster, None))
    };
    (center, clusters.map(start).collect())
}

/// Feeds the batches again and again until the flow fails.
fn failure_of(flow: &Flow, batches: &[Batch]) -> FlowError {
    batches.iter().cycle().find_map(|batch| flow.feed(batch.clone()).err()).unwrap()
}

#[test]
fn a_process_that_is_lost_ends_all_and_is_named() {
    let batches = job(Pattern::Halo2d, Style::Waitall);
    for lost in [1, 2] {
        let mut clusters = Cluster::all(3).unwrap();
        let gone = clusters.remove(lost);
        let kept = gone.peers.iter().flatten().map(|[_, words]| words.try_clone().unwrap());
        let kept: Vec<UnixStream> = kept.collect();
        let center = clusters.remove(0);
        let share = short(2).for_others();
        let of_other = share.clone();
        let other = clusters.remove(0);
        let other = std::thread::spawn(move || work_on_share(&of_other, other, None));
        let of_lost = std::thread::spawn(move || work_on_share(&share, gone, None));
        let flow = Flow::start_over(&short(2), center).unwrap();
        batches.iter().take(20).for_each(|batch| flow.feed(batch.clone()).unwrap());
        // As when it is killed: nothing more comes from it, also not that it misses others.
        for how in [Shutdown::Write, Shutdown::Read] {
            kept.iter().for_each(|stream| stream.shutdown(how).unwrap());
        }
        assert_eq!(failure_of(&flow, &batches), FlowError::Lost(lost));
        assert_eq!(flow.finish().unwrap_err(), FlowError::Lost(lost));
        // The lost one may have said that it misses the center.
        assert!(matches!(other.join().unwrap(), Err(FlowError::Lost(_))));
        assert!(matches!(of_lost.join().unwrap(), Err(FlowError::Lost(_))));
    }
}

#[test]
fn other_processes_end_with_a_flow_that_is_dropped() {
    let batches = job(Pattern::Ring, Style::Blocking);
    let (center, others) = others_of(&short(1), 3);
    let flow = Flow::start_over(&short(1), center).unwrap();
    batches.iter().take(20).for_each(|batch| flow.feed(batch.clone()).unwrap());
    drop(flow);
    for other in others {
        assert!(matches!(other.join().unwrap(), Err(FlowError::Lost(_))));
    }
}

#[test]
fn questions_and_a_second_pass_go_over_processes() {
    let batches = job(Pattern::Halo2d, Style::Waitall);
    let first = short(2);
    let (center, others) = others_of(&first, 2);
    let learnt = Flow::start_over(&first, center).unwrap();
    let mut settled_ns = 0;
    for batch in &batches {
        learnt.feed(batch.clone()).unwrap();
    }
    while settled_ns == 0 {
        settled_ns = learnt.ask(|budgeter| budgeter.settled_ns()).unwrap();
    }
    let learnt = learnt.finish().unwrap().budgeter;
    others.into_iter().for_each(|other| assert_eq!(other.join().unwrap(), Ok(())));
    let second = second_pass(&learnt, first);
    assert_eq!(flowed_over(2, &batches, &second).0, windowed(&batches, &second));
}

#[test]
fn a_share_of_another_version_is_refused() {
    let mut clusters = Cluster::all(2).unwrap();
    let refused = work_on_share(&[1, 2, 3], clusters.remove(1), None);
    assert!(matches!(refused, Err(FlowError::Failed(_))), "{refused:?}");
}
