//! `mpiscope synth`: a recording of a simulated job, and beside it what is true of the job.

mod agents;
mod live;

use crate::command_line::SynthOptions;
use crate::interrupt::Interrupt;
use crate::output_folder::refuse_occupied;
use anyhow::{Context as _, Result, bail};
use mpiscope_model::words::{bytes, count, plural};
use mpiscope_page::topology_files;
use mpiscope_process::private::create_private;
use mpiscope_recorder::record_told;
use mpiscope_recording::list_file;
use mpiscope_synth::{Cause, Disturbance, NodeTorus, Part, Spec, Truth, generate};
use mpiscope_verdict::diagnose_into;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

/// What is true of the job, in the folder of the recording.
pub(crate) const TRUTH_FILE: &str = "truth.json";

pub(crate) fn synth(options: &SynthOptions) -> Result<ExitCode> {
    let out =
        options.output.as_ref().map(std::path::absolute).transpose().context("find the current folder")?;
    if let Some(out) = &out {
        refuse_occupied(out, "-o")?;
    }
    let mut spec = spec(options);
    if let Some(agents) = options.agents {
        give_agents(&mut spec, agents, options)?;
        return with_agents(&spec, options, out.as_deref());
    }
    match (options.live, &out) {
        (Some(address), _) => {
            let truth = live::show(&spec, address, out.as_deref())?;
            if let (Some(truth), Some(out)) = (&truth, &out) {
                add_files(&spec, truth, out)?;
            }
            say(truth.as_ref(), options);
            Ok(ExitCode::SUCCESS)
        }
        (None, Some(out)) => {
            let interrupt = Interrupt::catch("nothing was recorded");
            interrupt.outcome(record_whole(&spec, out, &interrupt).map(|truth| say(Some(&truth), options)))
        }
        (None, None) => bail!("-o says where the recording goes"),
    }
}

/// Gives each node an agent of its own.
fn give_agents(spec: &mut Spec, agents: u32, options: &SynthOptions) -> Result<()> {
    if let Some(nodes) = options.nodes.filter(|&nodes| nodes != agents) {
        bail!("each node has one agent: --agents {agents} does not fit --nodes {nodes}");
    }
    if options.kill_agents > agents {
        bail!("--kill-agents {} is more than the {agents} of --agents", options.kill_agents);
    }
    (spec.nodes, spec.has_agent_per_node) = (agents, true);
    Ok(())
}

/// Has simulated agents bring the job to a daemon.
fn with_agents(spec: &Spec, options: &SynthOptions, out: Option<&Path>) -> Result<ExitCode> {
    let passing = if out.is_none() { Some(live::Passing::name()?) } else { None };
    let folder = out.or(passing.as_ref().map(live::Passing::path)).context("nowhere to record")?;
    let asked = agents::Agents {
        out: folder,
        live: options.live,
        killed: options.kill_agents,
        are_paced: !options.at_once,
        hostfile: options.hostfile.as_ref(),
    };
    let agents::Brought { truth, figures } = agents::bring(spec, &asked)?;
    if let (Some(truth), Some(out)) = (&truth, out) {
        add_files(spec, truth, out)?;
    }
    for sentence in figures.sentences() {
        say!("{sentence}");
    }
    say(truth.as_ref(), options);
    Ok(ExitCode::SUCCESS)
}

/// Makes a recording with all its files, or none.
fn record_whole(spec: &Spec, out: &Path, interrupt: &Interrupt) -> Result<Truth> {
    interrupt.begin_folder(out);
    let truth = record(spec, out, interrupt)?;
    add_files(spec, &truth, out)?;
    interrupt.keep()?;
    Ok(truth)
}

fn add_files(spec: &Spec, truth: &Truth, out: &Path) -> Result<()> {
    write_truth(truth, out)?;
    write_topology(spec, out)
}

fn say(truth: Option<&Truth>, options: &SynthOptions) {
    for sentence in sentences(truth, options.output.as_deref()) {
        say!("{sentence}");
    }
}

fn spec(options: &SynthOptions) -> Spec {
    let mut spec = Spec::new(options.pattern, options.ranks, options.seconds, options.rate);
    spec.nodes = options.nodes.unwrap_or(spec.nodes);
    spec.disturb = options.disturb.clone();
    spec.style = options.style;
    spec.seed = options.seed;
    spec
}

/// Models the job into a recording.
pub(crate) fn record(spec: &Spec, out: &Path, interrupt: &Interrupt) -> Result<Truth> {
    // What makes no sense is refused before anything is written.
    let mut run = generate(spec)?;
    let (_, truth) = record_told(
        out,
        Box::new(|out, _| diagnose_into(out, 1)),
        |_| {},
        move |teller| {
            for message in run.by_ref() {
                interrupt.check()?;
                teller.tell(message);
            }
            // The job is simulated once more without each disturbance while the recorder goes on with the last calls.
            Ok(run.truth())
        },
    )?;
    Ok(truth)
}

fn write_truth(truth: &Truth, out: &Path) -> Result<()> {
    let path = out.join(TRUTH_FILE);
    let written = create_private(&path).and_then(|mut file| {
        file.write_all(truth.to_json(true).as_bytes())?;
        file.write_all(b"\n")
    });
    written.with_context(|| format!("write {}", path.display()))?;
    Ok(list_file(out, TRUTH_FILE)?)
}

/// Where the nodes are, for a job whose machine is a torus of racks.
fn write_topology(spec: &Spec, out: &Path) -> Result<()> {
    if !spec.disturb.iter().any(|of| matches!(of, Disturbance::SlowRack { .. })) {
        return Ok(());
    }
    let torus = NodeTorus::with_nodes(spec.nodes);
    let mut table = "node,key,value\n".to_owned();
    for node in 0..spec.nodes {
        let [x, y, z] = torus.coordinates(node);
        let values = [("rack", format!("R{}", torus.rack(node))), ("torus_x", x.to_string())];
        let values = values.into_iter().chain([("torus_y", y.to_string()), ("torus_z", z.to_string())]);
        values.for_each(|(key, value)| table.push_str(&format!("node-{node},{key},{value}\n")));
    }
    topology_files::add(out, table.as_bytes())
}

fn sentences(truth: Option<&Truth>, out: Option<&Path>) -> Vec<String> {
    let mut all = Vec::new();
    if let Some(truth) = truth {
        let beside = out.map_or_else(String::new, |out| format!(" ({}/{TRUTH_FILE})", out.display()));
        all.extend([made(truth), format!("{}{beside}", costs(&truth.main))]);
    } else {
        all.push("the simulated job was broken off: its truth is not known".into());
    }
    let out = out.map(Path::display);
    all.extend(out.map(|out| {
        format!("recording in {out}: mpiscope replay shows it, mpiscope report says what it holds")
    }));
    all
}

/// What was simulated.
fn made(truth: &Truth) -> String {
    format!(
        "simulated {} job of {}: {} in {} and {} of {} in {:.3} s",
        truth.pattern,
        plural(truth.ranks.into(), "rank"),
        plural(truth.calls, "call"),
        plural(truth.steps.into(), "step"),
        plural(truth.intra_messages + truth.inter_messages, "message"),
        bytes(truth.bytes),
        truth.duration_s,
    )
}

/// What costs most.
fn costs(main: &Part) -> String {
    if main.cause == Cause::None {
        return "no avoidable time".into();
    }
    format!(
        "avoidable: {} s of all ranks' time, {:.1} %; the cause is {}",
        if main.avoidable_s < 1000.0 {
            format!("{:.3}", main.avoidable_s)
        } else {
            count(main.avoidable_s as u64)
        },
        main.share * 100.0,
        main.cause.word()
    )
}

#[cfg(test)]
mod tests;
