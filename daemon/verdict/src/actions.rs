//! What to do about what was found.

use super::blame::{
    blocked_rank, call, differs_by_step, most_waited, moving, named_source, slow_link, stopped_ranks,
};
use super::certainty::is_unsure;
use crate::processors::cpu_count;
use mpiscope_feed::{Advised, BasisState, CpuContention, Diagnosis, GatheredWait, SlowLinks};
use mpiscope_model::words::{count, plural, ranges};

/// What to do, a sentence each; nothing where there is nothing to do.
pub(super) fn actions(diagnosis: &Diagnosis) -> Vec<String> {
    let mut actions = of_cause(diagnosis);
    if let Some(shortage) = diagnosis.cpu_contention.as_ref().filter(|_| diagnosis.verdict.cause != "cpu") {
        actions.push(fewer_ranks(shortage).unwrap_or_else(|| {
            "Start no more ranks than there are free CPUs: check `mpirun --report-bindings`, and what else runs on these \
             nodes."
                .into()
        }));
    }
    if diagnosis.is_distance_unknown
        && diagnosis.verdict.cause != "mapping"
        && let Some(advised) = diagnosis.advised.as_ref().filter(|advised| is_much(advised))
    {
        actions.push(format!(
            "Try the placement that `mpiscope remap` writes: {}. `mpiscope compare` shows what it saved.",
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
        "{} ranks move, {} instead of {} messages go between nodes",
        count(advised.moved.into()),
        count(advised.inter_messages_after),
        count(advised.inter_messages)
    )
}

/// What to do about the cause that costs most.
fn of_cause(diagnosis: &Diagnosis) -> Vec<String> {
    match diagnosis.verdict.basis.state {
        // The verdict itself says what to do.
        BasisState::Hung => return Vec::new(),
        BasisState::Unseen => {
            let doctor =
                "Run `mpiscope doctor` on the nodes of the ranks that are missing, and record again.";
            return vec![doctor.into()];
        }
        BasisState::Whole | BasisState::Part | BasisState::Lost => {}
    }
    if diagnosis.verdict.is_withheld() {
        return vec![
            "The report lists under \"Missing\" why calls were lost. Free disk space, or raise `limits.ring_slots` in the settings \
             if rings were full, and record again."
                .into(),
        ];
    }
    let mut actions = Vec::new();
    if is_unsure(&diagnosis.verdict) && diagnosis.is_distance_unknown {
        actions.push(
            "Run `mpiscope calibrate -- COMMAND` on these nodes first, with the command that starts the job, and record again: the \
             cause is not clear, because transfer times are not known."
                .into(),
        );
    }
    actions.extend(match diagnosis.verdict.cause.as_str() {
        "mapping" => placement(diagnosis),
        "pattern" => work(diagnosis),
        "background" => network(&diagnosis.slow_links),
        "cpu" => core(diagnosis),
        _ if diagnosis.verdict.is_at_least && diagnosis.is_distance_unknown => vec![
            "Run `mpiscope calibrate -- COMMAND` on these nodes, with the command that starts the job. It measures transfer times, \
             and the next run is compared with them."
                .into(),
        ],
        _ => Vec::new(),
    });
    actions
}

fn placement(diagnosis: &Diagnosis) -> Vec<String> {
    let gained = diagnosis.advised.as_ref().map(|advised| format!(": {}", gained(advised)));
    vec![format!(
        "Place the ranks as `mpiscope remap` advises, which writes a file for the launcher{}.",
        gained.unwrap_or_default()
    )]
}

fn network(slow_links: &SlowLinks) -> Vec<String> {
    let mut actions = Vec::new();
    if let Some(link) = slow_link(slow_links) {
        actions
            .push(format!("Check the link {link}: its cable and switch port, and which other jobs use it."));
    }
    actions.push(
        "Run again at another time or on other nodes. If it is as slow then, the program's own messages fill the network: send \
         fewer of them, or spread them over time."
            .into(),
    );
    actions
}

fn work(diagnosis: &Diagnosis) -> Vec<String> {
    let mut actions = Vec::new();
    if let Some(blocked) = blocked_rank(diagnosis) {
        let host = if blocked.host.is_empty() { "its node" } else { &blocked.host };
        actions.push(format!(
            "Find out what rank {} waits for: files on a slow disk or network file system, or memory that was swapped (`vmstat 1` \
             on {host}).",
            blocked.rank
        ));
    } else if moving(diagnosis).is_some() {
        actions.push(
            "Rebalance during the run: repartition every N steps, or use smaller pieces of work that idle ranks fetch."
                .into(),
        );
    } else if differs_by_step(diagnosis) {
        actions.push(
            "Balance the work of each step: let idle ranks take pieces of others' work, or let ranks go on for several steps \
             before they wait for each other."
                .into(),
        );
    } else if let Some(of) = named_source(diagnosis, "pattern") {
        let names = ranges(&of.few);
        let (has, does) = if of.few.len() == 1 { ("it has", "it does") } else { ("they have", "they do") };
        actions.push(match of.few_nodes {
            0 => format!(
                "Move work away from {names}, or check why {has} more: a larger part of the input, I/O, or work that only {does}."
            ),
            nodes => format!(
                "Check {}: {names}, all of them and no others, compute longer. Compare their clock frequency, memory and other \
                 programs with those of other nodes. If they are as fast, move work away from these ranks.",
                match nodes {
                    _ if !of.few_hosts.is_empty() => of.few_hosts.join(", "),
                    1 => "the node of these ranks".into(),
                    _ => format!("the {nodes} nodes of these ranks"),
                }
            ),
        });
    } else {
        actions.push("Balance the work: many ranks have more than others.".into());
    }
    actions.extend(most_waited(diagnosis).and_then(hiding));
    actions
}

/// How waiting of a kind can be filled with work.
fn hiding(most: &GatheredWait) -> Option<String> {
    let call = call(most);
    Some(match most.state.as_str() {
        "late broadcast" => format!(
            "At {call}, let the other ranks continue until the root arrives (MPI_Ibcast), or let the root enter before it does \
             its own extra work."
        ),
        "wait at n-to-n" | "wait at barrier" | "early reduce" | "wait in scan" => format!(
            "Overlap {call} with work that does not need its result (nonblocking form). Remove barriers that nothing \
             depends on."
        ),
        "late receiver" => {
            format!("Post receives (MPI_Irecv) before computing: then {call} need not wait for them.")
        }
        _ => return None,
    })
}

/// What to do if more ranks were started than they have CPUs, in the whole job or on a node.
fn fewer_ranks(shortage: &CpuContention) -> Option<String> {
    let usable = shortage.usable?;
    let ranks = plural(shortage.ranks.into(), "rank");
    if f64::from(shortage.ranks) > usable {
        return Some(format!(
            "Start at most {}, or give the job more CPUs: {ranks} share {}.",
            plural((usable.floor() as u64).max(1), "rank"),
            cpu_count(usable)
        ));
    }
    let per_cpu = shortage.per_cpu.filter(|per_cpu| *per_cpu > 1.0)?;
    Some(format!(
        "Spread the ranks over the nodes, and check which CPUs they are bound to (`mpirun --report-bindings`): on one node {per_cpu:.1} \
         ranks share a CPU, while {ranks} may use {} in all.",
        cpu_count(usable)
    ))
}

fn core(diagnosis: &Diagnosis) -> Vec<String> {
    if let Some(ranks) = stopped_ranks(diagnosis) {
        return vec![format!(
            "Find out who stops {ranks}: SIGSTOP, a debugger, or a batch system that suspends jobs."
        )];
    }
    if let Some(fewer) = diagnosis.cpu_contention.as_ref().and_then(fewer_ranks) {
        return vec![fewer];
    }
    let look = match named_source(diagnosis, "cpu") {
        Some(of) => {
            let host = if of.few_hosts.is_empty() { "that node".into() } else { of.few_hosts.join(", ") };
            format!(
                "Check what else runs on the CPUs of {} (`top` on {host}), and whether another rank is bound to the same CPU.",
                ranges(&of.few)
            )
        }
        None if diagnosis.cpu_contention.as_ref().is_some_and(|shortage| shortage.usable.is_some()) => {
            "Check for other programs on these nodes: there are CPUs enough for all ranks.".into()
        }
        None => "Check for other programs on these nodes, and for more ranks than CPUs.".into(),
    };
    vec![look]
}
