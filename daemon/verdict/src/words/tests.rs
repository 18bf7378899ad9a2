use super::super::disturbances::disturbances;
use super::*;
use crate::ending::Ending;
use mpiscope_feed::{
    Advised, Attribution, Blocked, BlockedRank, By, Course, CpuContention, GatheredWait, Parts, SlowLink,
    SlowLinks, Source, SourceRank, SourceTime, Stopped, StoppedRank, Wait, WhatIf, Without,
};

fn stretch(at: u32, cause: &str) -> Attribution {
    let (from_s, to_s) = (f64::from(at), f64::from(at + 1));
    Attribution { from_s, to_s, cause: cause.into(), ..Attribution::default() }
}

fn pattern() -> Diagnosis {
    let wait = |waiter, awaited, seconds| Wait {
        state: "late sender".into(),
        function: "MPI_Recv".into(),
        waiter,
        awaited,
        times: 1,
        seconds,
        ..Wait::default()
    };
    let mut diagnosis = Diagnosis {
        waits: vec![wait(2, 5, 3.0), wait(0, 5, 3.0), wait(1, 5, 2.5), wait(7, 6, 1.0)],
        attribution: (0..40).map(|at| stretch(at, if at < 13 { "none" } else { "pattern" })).collect(),
        verdict: Verdict {
            cause: "pattern".into(),
            avoidable_s: 31.0,
            avoidable_wall_s: 3.9,
            share: 0.31,
            confidence: 0.92,
            causes: vec![("pattern".into(), 31.0), ("mapping".into(), 6.0), ("cpu".into(), 0.0)],
            ..Verdict::default()
        },
        ..Diagnosis::default()
    };
    diagnosis.disturbances = disturbances(&diagnosis, &Course::default());
    diagnosis
}

#[test]
fn the_verdict_is_one_sentence() {
    assert_eq!(
        headline(&pattern()),
        "31 % avoidable (3.90 s of 12.6 s): ranks 0-2 wait for rank 5, since 0:00:13.000. Load imbalance, 92 % sure. \
         Next: placement, 6 %."
    );
    assert_eq!(
        details(&pattern())[0],
        "Without load imbalance the run takes about 3.90 s less; for 8 ranks that is 31.0 s."
    );
}

#[test]
fn a_placement_is_improved_and_not_removed() {
    let mut placed = pattern();
    placed.verdict.cause = "mapping".into();
    let sentence = "With better placement the run takes about 3.90 s less; for 8 ranks that is 31.0 s.";
    assert_eq!(details(&placed)[0], sentence);
}

#[test]
fn when_is_not_said_of_a_run_as_short_as_a_window() {
    let mut short = pattern();
    assert!(headline(&short).contains(", since "));
    short.attribution.truncate(1);
    assert!(!headline(&short).contains("since"), "{}", headline(&short));
}

#[test]
fn where_too_much_was_lost_there_is_no_verdict() {
    let basis = Ending::default().basis(0.91, 1.0);
    let verdict = Verdict { cause: "none".into(), lost_share: 0.91, basis, ..Verdict::default() };
    let lost = Diagnosis { verdict, ..Diagnosis::default() };
    let sentence = "No verdict: 91 % of the calls are missing, so the avoidable time is unknown.";
    assert_eq!(verdict_sentences(&lost)[0], sentence);
    assert_eq!(super::actions(&lost).len(), 1);
}

#[test]
fn what_was_waited_for_most_need_not_be_the_cause() {
    let without = |cause: &str, run_s| Without { causes: vec![cause.into()], run_s, ..Without::default() };
    let mut found = pattern();
    found.whatif = WhatIf { recorded_s: 12.6, without: vec![without("pattern", 8.7), without("cpu", 12.45)] };
    found.budget = Parts {
        total_s: 60.0,
        waiting_s: 40.0,
        waiting_by: By { compute: 30.0, cpu_wait: 25.0, excess: 10.0, ..By::default() },
        ..Parts::default()
    };
    let note = "Ranks waited 25.0 s in all for ranks that had no CPU, but with a CPU for each rank the run is only \
                150 ms shorter: they would wait for something else.";
    assert_eq!(waiting_note(&found).as_deref(), Some(note));
    assert!(details(&found).iter().any(|sentence| sentence == note));
    // In a large job little of the run may be much of what each rank waits.
    found.verdict.causes[2] = ("cpu".into(), 13.0);
    assert_eq!(waiting_note(&found), None);
    found.verdict.causes.pop();
    // Nothing of it is known to be saved.
    found.whatif.without.pop();
    assert!(waiting_note(&found).unwrap().contains("the run is no shorter"));
    // It costs enough to be named by itself.
    found.whatif.without.push(without("cpu", 11.0));
    assert_eq!(waiting_note(&found), None);
    found.whatif.without.pop();
    // It is the cause, and most of the waiting ends without it.
    found.verdict.cause = "cpu".into();
    assert_eq!(waiting_note(&found), None);
    found.verdict.avoidable_s = 6.0;
    let note = "A CPU for each rank saves 6.00 s of the 40.0 s of waiting: for the rest ranks would wait for something else.";
    assert_eq!(waiting_note(&found).as_deref(), Some(note));
    found.verdict.cause = "none".into();
    assert!(waiting_note(&found).is_some());
    // Most of the waiting ends, although ranks waited longer in all before other parts shortened it.
    found.verdict.cause = "pattern".into();
    found.verdict.avoidable_s = 45.0;
    found.budget.waiting_by = By { compute: 70.0, cpu_wait: -30.0, ..By::default() };
    assert_eq!(waiting_note(&found), None);
    // Without replays there is no note.
    found.whatif.recorded_s = 0.0;
    assert_eq!(waiting_note(&found), None);
}

#[test]
fn when_the_network_was_quiet_is_reported_where_that_cost_something() {
    let quiet = |from_s: f64, to_s: f64, slower: f64| Quiet { from_s, to_s, is_quiet: slower < 1.5, slower };
    let mut diagnosis = pattern();
    diagnosis.quiet = vec![quiet(0.0, 10.0, 1.0), quiet(10.0, 14.0, 3.0), quiet(14.0, 20.0, 1.1)];
    let shown = |diagnosis: &Diagnosis| details(diagnosis).into_iter().find(|text| text.contains("quiet"));
    assert_eq!(shown(&diagnosis), None);
    let sentence = "The network was quiet for 80 % of the time; messages took 3.0 times as long from 0:00:10.000 to \
                    0:00:14.000.";
    diagnosis.verdict.causes.push(("background".into(), 3.0));
    assert_eq!(shown(&diagnosis).as_deref(), Some(sentence));
    diagnosis.verdict.cause = "background".into();
    assert_eq!(shown(&diagnosis).as_deref(), Some(sentence));
    diagnosis.quiet.extend((10..14).map(|at| quiet(f64::from(2 * at), f64::from(2 * at + 1), 5.0)));
    assert!(shown(&diagnosis).unwrap().ends_with("from 0:00:22.000 to 0:00:23.000 and 2 shorter times."));
    // One that was never quiet has another sentence.
    diagnosis.quiet = vec![quiet(0.0, 10.0, 3.0)];
    assert_eq!(shown(&diagnosis), None);
}

#[test]
fn nothing_to_say_is_reported() {
    let mut none = pattern();
    none.verdict = Verdict { cause: "none".into(), ..Verdict::default() };
    assert_eq!(headline(&none), "No avoidable time above 2 %.");
    assert!(details(&none).is_empty());
    let mut hung = none.clone();
    hung.verdict.basis = Ending::not_yet(true).basis(0.0, 1.0);
    let sentence = "No verdict yet: the job hangs. `mpiscope report` lists who waits for whom.";
    assert_eq!(verdict_sentences(&hung), [sentence]);
    none.cpu_contention = Some(CpuContention {
        ranks: 16,
        cpus: 1.97,
        usable: Some(2.0),
        per_cpu: Some(8.0),
        waited: 0.97,
        most_rank: 3,
        most_waited: 0.99,
    });
    assert_eq!(
        headline(&none),
        "16 ranks may use 2 CPUs, had 2.0 CPUs on average and waited for a CPU 97 % of their runnable time (rank 3: 99 %). No other \
         avoidable time above 2 %."
    );
    assert_eq!(actions(&none), ["Start at most 2 ranks, or give the job more CPUs: 16 ranks share 2 CPUs."]);
    none.cpu_contention.as_mut().unwrap().usable = Some(16.0);
    assert_eq!(
        actions(&none),
        [
            "Spread the ranks over the nodes, and check which CPUs they are bound to (`mpirun --report-bindings`): on one node 8.0 \
          ranks share a CPU, while 16 ranks may use 16 CPUs in all."
        ]
    );
    none.cpu_contention.as_mut().unwrap().per_cpu = Some(1.0);
    assert!(
        actions(&none)[0].starts_with("Start no more ranks than there are free CPUs"),
        "others have them"
    );
}

#[test]
fn what_takes_the_time_is_reported_where_none_of_it_is_avoidable() {
    let mut none = pattern();
    none.verdict = Verdict { cause: "none".into(), ..Verdict::default() };
    none.efficiency.parallel = 0.39;
    none.budget = Parts { total_s: 60.0, base_s: 10.0, operation_s: 45.0, ..Parts::default() };
    let sentence = "Ranks compute for 39 % of the time, and most of their time in MPI is collective operations: fewer or larger \
                    messages, or fewer ranks, need less of it.";
    assert_eq!(details(&none), [sentence]);
    none.budget.operation_s = 25.0;
    assert_eq!(details(&none), [""; 0], "it is not most of it");
    none.budget = Parts { total_s: 60.0, waiting_s: 45.0, ..Parts::default() };
    assert_eq!(details(&none), [""; 0], "larger messages do not shorten that");
    none.budget = Parts { total_s: 60.0, operation_s: 45.0, ..Parts::default() };
    none.efficiency.parallel = 0.8;
    assert_eq!(details(&none), [""; 0]);
}

#[test]
fn waiting_for_everybody_has_no_name() {
    let mut always = pattern();
    assert_eq!(ranks(&always), [5], "8.5 of 9.5 s are for it");
    always.attribution = (0..40).map(|at| stretch(at, "pattern")).collect();
    always.disturbances = disturbances(&always, &Course::default());
    always.verdict.causes.truncate(1);
    for (at, wait) in always.waits.iter_mut().enumerate() {
        wait.awaited = 10 + at as u32;
        wait.seconds = 1.0;
    }
    assert!(ranks(&always).is_empty());
    assert_eq!(
        headline(&always),
        "31 % avoidable (3.90 s of 12.6 s): ranks with less work wait for ranks with more, since the start. Load \
         imbalance, 92 % sure."
    );
}

#[test]
fn who_has_more_work_is_named_and_where_others_wait_for_it() {
    let mut uneven = pattern();
    uneven.budget.waiting_s = 40.0;
    uneven.gathered = vec![GatheredWait {
        state: "late broadcast".into(),
        function: "MPI_Bcast".into(),
        place: "main.c:7".into(),
        most_awaited: 5,
        most_awaited_s: 28.0,
        seconds: 30.0,
        ..GatheredWait::default()
    }];
    let rank = |rank, seconds, computed_s| SourceRank { rank, seconds, computed_s };
    uneven.sources = vec![Source {
        cause: "pattern".into(),
        total_s: 10.0,
        few: vec![4],
        ranks: vec![rank(4, 9.0, 14.0), rank(1, 1.0, 9.5)],
        computed_s: 9.0,
        ..Source::default()
    }];
    // It is not for rank 4 that ranks wait directly.
    assert!(headline(&uneven).contains(": rank 4 has more work and delays the others, since 0:00:13.000"));
    assert_eq!(ranks(&uneven), [4]);
    let shown = details(&uneven);
    assert_eq!(
        shown[1],
        "90 % of the excess work that others wait for is on rank 4: 14.0 s of computing; the average is 9.00 s."
    );
    assert_eq!(
        shown[2],
        "Most waiting is in MPI_Bcast at main.c:7: 30.0 s of 40.0 s (late broadcast, 28.0 s of it for rank 5)."
    );
    assert_eq!(actions(&uneven).len(), 2);
    // Of much more avoidable time that waiting explains nothing.
    let avoidable_s = std::mem::replace(&mut uneven.verdict.avoidable_s, 400.0);
    assert!(details(&uneven).iter().all(|sentence| !sentence.starts_with("Most waiting")));
    assert_eq!(actions(&uneven).len(), 1);
    uneven.verdict.avoidable_s = avoidable_s;
    uneven.sources[0].times =
        [3, 9].map(|rank| SourceTime { from_s: 0.0, to_s: 1.0, ranks: vec![rank] }).to_vec();
    assert!(headline(&uneven).contains(
        "different ranks have more work at different times, and delay the others (rank 3 first, rank 9 last)"
    ));
    assert_eq!(ranks(&uneven), [3, 9]);
    uneven.verdict.cause = "mapping".into();
    assert!(ranks(&uneven).is_empty(), "nodes are, not ranks");
}

#[test]
fn nodes_with_exactly_these_ranks_are_named_and_to_be_checked() {
    let mut slow = pattern();
    slow.sources = vec![Source {
        cause: "pattern".into(),
        total_s: 10.0,
        few: (8..16).chain(40..48).collect(),
        few_s: 9.0,
        few_nodes: 2,
        ..Source::default()
    }];
    assert!(
        headline(&slow).contains(": ranks 8-15, 40-47 (all of 2 nodes) compute longer and delay the others"),
        "{}",
        headline(&slow)
    );
    assert!(
        details(&slow)[1]
            .starts_with("90 % of the excess work that others wait for is on ranks 8-15, 40-47: ")
    );
    assert!(
        actions(&slow)[0].starts_with("Check the 2 nodes of these ranks: ranks 8-15, 40-47, all of them")
    );
    slow.sources[0].few_hosts = vec!["n2".into(), "n6".into()];
    assert!(
        headline(&slow).contains(": ranks 8-15, 40-47 (all of n2, n6) compute longer"),
        "{}",
        headline(&slow)
    );
    assert!(actions(&slow)[0].starts_with("Check n2, n6: ranks 8-15, 40-47, all of them"));
    slow.sources[0].few_nodes = 0;
    assert!(headline(&slow).contains(": ranks 8-15, 40-47 have more work and delay the others"));
}

#[test]
fn who_is_not_sure_says_so_first() {
    let mut unsure = pattern();
    unsure.verdict.confidence = 0.29;
    unsure.verdict.is_at_least = true;
    assert!(headline(&unsure).starts_with("No clear cause. Perhaps at least 31 % avoidable ("));
    unsure.verdict.confidence = 0.3;
    assert!(headline(&unsure).starts_with("At least 31 % avoidable ("));
}

#[test]
fn waiting_for_a_cpu_names_its_rank() {
    let mut cored = pattern();
    cored.verdict.cause = "cpu".into();
    assert!(headline(&cored).contains(": ranks wait for a CPU"));
    let of = SourceRank { rank: 10, seconds: 3.2, computed_s: 9.0 };
    cored.sources = vec![Source {
        cause: "cpu".into(),
        total_s: 3.3,
        few: vec![10],
        ranks: vec![of],
        ..Source::default()
    }];
    assert!(headline(&cored).contains(": rank 10 waits 3.20 s for a CPU and delays the others"));
    assert!(actions(&cored)[0].contains("the CPUs of rank 10 (`top` on that node)"));
    cored.sources[0].few_hosts = vec!["n3".into()];
    assert!(actions(&cored)[0].contains("the CPUs of rank 10 (`top` on n3)"));
}

#[test]
fn what_is_not_known_makes_it_at_least_so_much() {
    let mut network = pattern();
    network.verdict.cause = "background".into();
    network.verdict.is_at_least = true;
    assert!(headline(&network).starts_with("At least 31 % avoidable ("));
    assert_eq!(
        details(&network)[0],
        "Without network contention the run takes at least 3.90 s less; for 8 ranks that is at least 31.0 s."
    );
}

#[test]
fn the_link_that_costs_most_is_named() {
    let mut network = pattern();
    network.verdict.cause = "background".into();
    assert_eq!(actions(&network).len(), 1);
    let link = |from, to| SlowLink { from, to, messages: 400, slower: 46.04, ..SlowLink::default() };
    network.slow_links = SlowLinks { known: 4, slow: 1, worst: vec![link(vec![0, 1], vec![2, 3])] };
    let sentence = "Messages from the node of ranks 0-1 to that of ranks 2-3 take 46.0 times as long as was measured before, \
                    throughout.";
    assert!(details(&network).iter().any(|detail| detail == sentence), "{:?}", details(&network));
    assert!(
        actions(&network)[0].starts_with("Check the link from the node of ranks 0-1 to that of ranks 2-3: ")
    );
    let mut named = network.clone();
    let worst = &mut named.slow_links.worst[0];
    (worst.from_host, worst.to_host) = ("n12".into(), "n31".into());
    assert!(actions(&named)[0].starts_with("Check the link from n12 (ranks 0-1) to n31 (ranks 2-3): "));
    network.slow_links.slow = 2;
    let sentence = format!("{sentence} 1 other link is slow, too.");
    assert!(details(&network).contains(&sentence), "{:?}", details(&network));
    // Where most are slow, no single one is to be checked.
    network.slow_links.slow = 3;
    assert_eq!((actions(&network).len(), details(&network).contains(&sentence)), (1, false));
}

#[test]
fn when_it_was_is_reported() {
    let shown = |causes: &[&str]| {
        let mut diagnosis = pattern();
        diagnosis.verdict.cause = "cpu".into();
        diagnosis.attribution =
            causes.iter().enumerate().map(|(at, cause)| stretch(at as u32, cause)).collect();
        diagnosis.disturbances = disturbances(&diagnosis, &Course::default());
        when(&diagnosis)
    };
    let (cpu, none) = ("cpu", "none");
    let with =
        |range: std::ops::Range<usize>| (0..40).map(move |at| if range.contains(&at) { cpu } else { none });
    let of = |range| shown(&with(range).collect::<Vec<_>>()).unwrap();
    assert_eq!(of(0..40), "since the start");
    assert_eq!(of(0..20), "from the start to 0:00:20.000");
    assert_eq!(of(13..40), "since 0:00:13.000");
    assert_eq!(of(13..20), "from 0:00:13.000 to 0:00:20.000");
    let twice: Vec<&str> =
        (0..40).map(|at| if at < 5 || (20..25).contains(&at) { cpu } else { none }).collect();
    assert_eq!(shown(&twice).unwrap(), "in 2 periods between 0:00:00.000 and 0:00:25.000");
    assert_eq!(shown(&[none; 40]), None);
}

#[test]
fn a_placement_is_reported_by_what_it_changes() {
    let mut mapping = pattern();
    mapping.verdict.cause = "mapping".into();
    mapping.advised =
        Some(Advised { moved: 24, inter_messages: 72, inter_messages_after: 12, messages: 100 });
    assert!(headline(&mapping).contains(
        ": 72 % of the messages go between nodes, 12 % if 24 ranks move to other nodes. Placement, "
    ));
    let known = "24 ranks move, 12 instead of 72 messages go between nodes";
    let advice = format!(
        "Place the ranks as `mpiscope remap` advises, which writes a file for the launcher: {known}."
    );
    assert_eq!(actions(&mapping), [advice]);
    // Where nobody knows what distance costs, it is worth a try.
    mapping.verdict.cause = "none".into();
    assert_eq!(actions(&mapping), [""; 0]);
    mapping.is_distance_unknown = true;
    assert!(
        actions(&mapping)[0]
            .starts_with(&format!("Try the placement that `mpiscope remap` writes: {known}."))
    );
    mapping.advised.as_mut().unwrap().inter_messages_after = 60;
    assert_eq!(actions(&mapping), [""; 0]);
}

#[test]
fn work_that_differs_from_step_to_step_is_with_no_rank() {
    let mut pattern = pattern();
    pattern.verdict.cause = "pattern".into();
    pattern.sources =
        vec![Source { cause: "pattern".into(), total_s: 3.0, differs_by_step: true, ..Source::default() }];
    assert!(headline(&pattern).contains(": in each step some ranks work while others wait"));
    assert!(ranks(&pattern).is_empty());
    assert!(actions(&pattern)[0].starts_with("Balance the work of each step: "), "{:?}", actions(&pattern));
    // A rank that always has more is named.
    pattern.sources[0].few = vec![7];
    assert!(headline(&pattern).contains("rank 7"));
    assert!(actions(&pattern)[0].contains("rank 7"));
}

#[test]
fn a_rank_that_the_kernel_blocked_has_no_more_work() {
    let mut pattern = pattern();
    pattern.verdict.cause = "pattern".into();
    pattern.sources = vec![Source {
        cause: "pattern".into(),
        total_s: 3.0,
        ranks: vec![SourceRank { rank: 7, seconds: 3.0, computed_s: 4.0 }],
        few: vec![7],
        ..Source::default()
    }];
    let is_blocked = |found: &Diagnosis| {
        let words = ": the kernel blocks rank 7 for 1.60 s, and it delays the others";
        let is_named = headline(found).contains(words);
        assert_eq!(actions(found)[0].starts_with("Find out what rank 7 waits for: "), is_named, "{found:?}");
        is_named
    };
    let blocked = |rank| Blocked {
        count: 1,
        longest: Some(BlockedRank { rank, seconds: 1.6, ..BlockedRank::default() }),
    };
    assert!(!is_blocked(&pattern));
    pattern.blocked = blocked(7);
    assert!(is_blocked(&pattern));
    let sentence =
        "The kernel blocked rank 7 for 1.60 s: on a disk, a network file system, or swapped memory.";
    assert!(details(&pattern).iter().any(|detail| detail == sentence), "{:?}", details(&pattern));
    let work = |detail: &String| detail.contains("of the excess work that others wait for");
    assert!(!details(&pattern).iter().any(work), "it is no work: {:?}", details(&pattern));
    // Another rank, or a small part of what it has more.
    pattern.blocked = blocked(6);
    assert!(!is_blocked(&pattern));
    pattern.blocked = blocked(7);
    pattern.sources[0].ranks[0].seconds = 4.0;
    assert!(!is_blocked(&pattern));
}

#[test]
fn a_rank_that_was_stopped_is_named_with_how_long() {
    let mut cpu = pattern();
    cpu.verdict.cause = "cpu".into();
    let source = |cause: &str, seconds: f64| Source {
        cause: cause.into(),
        total_s: seconds,
        ranks: vec![SourceRank { rank: 7, seconds, computed_s: 1.0 }],
        few: vec![7],
        ..Source::default()
    };
    cpu.sources = vec![source("cpu", 2.1)];
    assert!(
        headline(&cpu).contains(": rank 7 waits 2.10 s for a CPU and delays the others"),
        "{}",
        headline(&cpu)
    );
    let share =
        |cpu: &Diagnosis| details(cpu).into_iter().find(|text| text.contains("falls on rank 7")).unwrap();
    assert_eq!(share(&cpu), "100 % of the 2.10 s spent waiting for a CPU falls on rank 7.");
    let stopped = |ranks: &[(u32, f64)]| Stopped {
        count: ranks.len() as u32,
        longest: ranks.iter().map(|(rank, seconds)| StoppedRank { rank: *rank, seconds: *seconds }).collect(),
    };
    cpu.stopped = stopped(&[(7, 2.0)]);
    assert!(
        headline(&cpu).contains(": rank 7 was stopped for 2.00 s and delays the others"),
        "{}",
        headline(&cpu)
    );
    assert!(
        details(&cpu).contains(&"A signal or a debugger stopped rank 7 for 2.00 s.".to_owned()),
        "{:?}",
        details(&cpu)
    );
    assert_eq!(
        share(&cpu),
        "100 % of the 2.10 s in which ranks were stopped or waited for a CPU falls on rank 7."
    );
    assert_eq!(
        actions(&cpu),
        ["Find out who stops rank 7: SIGSTOP, a debugger, or a batch system that suspends jobs."]
    );
    cpu.stopped = stopped(&[(7, 2.0), (3, 0.1)]);
    assert!(headline(&cpu).contains(": ranks 3, 7 were stopped, rank 7 for 2.00 s"), "{}", headline(&cpu));
    let sentence =
        "A signal or a debugger stopped rank 7 for 2.00 s, and 1 other rank for at most that long.";
    assert!(details(&cpu).contains(&sentence.to_owned()), "{:?}", details(&cpu));
    // A suspended job.
    cpu.sources[0].ranks = (0..6).map(|rank| SourceRank { rank, seconds: 2.0, computed_s: 1.0 }).collect();
    cpu.stopped =
        Stopped { count: 512, ..stopped(&[(0, 2.0), (1, 2.0), (2, 2.0), (3, 2.0), (4, 2.0), (5, 2.0)]) };
    assert!(headline(&cpu).contains(": 512 ranks were stopped, rank 0 for 2.00 s"), "{}", headline(&cpu));
    assert!(actions(&cpu)[0].starts_with("Find out who stops 512 ranks:"), "{:?}", actions(&cpu));
    // Another rank misses its CPU.
    cpu.sources = vec![source("cpu", 2.1)];
    cpu.stopped = stopped(&[(3, 2.0)]);
    assert!(headline(&cpu).contains("rank 7 waits 2.10 s for a CPU"), "{}", headline(&cpu));
    // Where most of the missing time is not that, others use the cores.
    cpu.stopped = stopped(&[(7, 2.0)]);
    cpu.sources = vec![source("cpu", 20.0)];
    assert!(headline(&cpu).contains("rank 7 waits 20.0 s for a CPU"), "{}", headline(&cpu));
}

#[test]
fn what_is_missing_comes_before_the_verdict() {
    let mut part = pattern();
    let claim = headline(&part);
    part.verdict.basis = Ending::default().basis(0.04, 40.0);
    assert_eq!(headline(&part), format!("4 % of the calls are missing. {claim}"));
    assert_eq!(verdict_sentences(&part)[0], headline(&part));
    assert_eq!(details(&part), details(&pattern()));
}
