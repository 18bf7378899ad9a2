//! What to do about what was found.

use super::blame::{call, moving, sources_of, stopped_ranks};
use crate::words::{count, ranges};
use mpiscope_feed::{Advised, GatheredWait, Judgement};

/// What to do, a sentence each; nothing where there is nothing to do.
pub(super) fn actions(judgement: &Judgement) -> Vec<String> {
    let mut actions = of_cause(judgement);
    if judgement.cpu_shortage.is_some() && judgement.verdict.cause != "cpu" {
        actions.push(
            "Start no more ranks than there are free CPUs: look at `mpirun --report-bindings`, and at what else runs on \
             these nodes."
                .into(),
        );
    }
    if judgement.is_distance_unknown
        && judgement.verdict.cause != "mapping"
        && let Some(advised) = judgement.advised.as_ref().filter(|advised| is_much(advised))
    {
        actions.push(format!(
            "Try the placement that `mpiscope remap` writes: {}. `mpiscope compare` says what it saved.",
            gained(advised)
        ));
    }
    actions
}

/// Whether a placement keeps a fifth of the messages between nodes within nodes.
fn is_much(advised: &Advised) -> bool {
    5 * advised.inter_messages_after <= 4 * advised.inter_messages
}

/// What the advised placement changes.
fn gained(advised: &Advised) -> String {
    format!(
        "{} ranks move, and {} instead of {} messages go between nodes",
        count(advised.moved.into()),
        count(advised.inter_messages_after),
        count(advised.inter_messages)
    )
}

/// What to do about the cause that costs most.
fn of_cause(judgement: &Judgement) -> Vec<String> {
    if judgement.verdict.lost_share > 0.0 {
        return vec![
            "The report says under \"What is missing\" why calls were lost. Free space on the disk, or raise `ring_slots` in the settings \
             if rings were full, and record again."
                .into(),
        ];
    }
    match judgement.verdict.cause.as_str() {
        "mapping" => placement(judgement),
        "pattern" => work(judgement),
        "background" => {
            vec![
                "Run again at another time or on other nodes, where nobody else uses the network as much."
                    .into(),
            ]
        }
        "cpu" => core(judgement),
        _ if judgement.verdict.is_at_least => vec![
            "Measure what messages take on these nodes with `mpiscope calibrate`: the next run is judged by that, and what \
             is not known now is then."
                .into(),
        ],
        _ => Vec::new(),
    }
}

fn placement(judgement: &Judgement) -> Vec<String> {
    let gained = judgement.advised.as_ref().map(|advised| format!(": {}", gained(advised)));
    vec![format!("Place the ranks as `mpiscope remap` advises{}.", gained.unwrap_or_default())]
}

fn work(judgement: &Judgement) -> Vec<String> {
    let mut actions = Vec::new();
    if moving(judgement).is_some() {
        actions.push(
            "Share the work out anew as it changes: divide the domain again every so many steps, or into smaller pieces \
             that ranks fetch when they are done."
                .into(),
        );
    } else if let Some(ranks) = sources_of(judgement, "pattern") {
        let names = ranges(&ranks);
        let (has, its, it) = if ranks.len() == 1 { ("has", "its", "it") } else { ("have", "their", "they") };
        actions.push(format!(
            "Take work from {names}, or look why {it} {has} more of it: {its} part of the input, reading and writing, \
             work that only {it} {}.",
            if ranks.len() == 1 { "does" } else { "do" }
        ));
    } else {
        actions
            .push("Divide the work more evenly: many ranks have more of it than others at some time.".into());
    }
    actions.extend(judgement.gathered.first().and_then(hiding));
    actions
}

/// How waiting of a kind can be filled with work.
fn hiding(most: &GatheredWait) -> Option<String> {
    let call = call(most);
    Some(match most.state.as_str() {
        "late broadcast" => format!(
            "At {call} let the others work on while the root is not there yet (MPI_Ibcast and the like), or have the root \
             enter before it does what only it does."
        ),
        "wait at n-to-n" | "wait at barrier" | "early reduce" | "wait in scan" => format!(
            "What can be done without the result of {call} can be done while it is under way (its nonblocking form); a \
             barrier that nothing depends on can go."
        ),
        "late receiver" => {
            format!("Post the receives (MPI_Irecv) before computing, so that {call} need not wait for them.")
        }
        _ => return None,
    })
}

fn core(judgement: &Judgement) -> Vec<String> {
    if let Some(ranks) = stopped_ranks(judgement) {
        return vec![format!(
            "Find out who stops {ranks}: SIGSTOP, a debugger, or a batch system that suspends jobs."
        )];
    }
    let look = match sources_of(judgement, "cpu") {
        Some(ranks) => {
            let (runs, are) = if ranks.len() == 1 { ("runs", "is") } else { ("run", "are") };
            format!(
                "Look what else runs on the cores where {} {runs} (`top` on that node), and whether {} bound to a core that \
                 another rank has too.",
                ranges(&ranks),
                if ranks.len() == 1 { format!("it {are}") } else { format!("they {are}") },
            )
        }
        None => "Look for other programs on these nodes, and for more ranks than cores.".into(),
    };
    vec![look]
}
