//! `mpiscope remap`: launchers place ranks as advised, and then as many messages go between nodes as predicted.

use crate::support::hosts::{Job, assert_exact, nodes_of_ranks};
use mpiscope_harness::{
    Ended, Family, LIMIT, Lab, LabOptions, Mpi, Placement, Recorded, Start, folder, mpiscope, record, report,
    run,
};
use serde_json::Value;
use std::path::Path;

const RANKS: u32 = 8;
const HOSTS: u32 = 4;

fn remap(recording: &Path, format: &str, file: &Path) -> Ended {
    let mut command = mpiscope(&["remap", "--format", format, "-o"]).unwrap();
    run(command.arg(file).arg(recording), LIMIT).unwrap()
}

fn inter_messages(recorded: &Recorded) -> u64 {
    recorded.messages.iter().filter(|message| message.inter).count() as u64
}

/// Records a ring dealt out to the hosts, advises, starts it again as advised, and compares.
fn as_advised(lab: &Lab, mpi: &Mpi, start: Start, format: &str) {
    let (first, second) =
        (lab.shared().join(format!("{format}-1")), lab.shared().join(format!("{format}-2")));
    let job = Job::new(mpi, "ring").started(start).slots(RANKS / HOSTS);
    let ended = run(&mut job.recorded(lab, RANKS, &first), LIMIT).unwrap();
    let dealt_out = assert_exact(&first, &ended, RANKS);
    let report = report(&first).unwrap();
    let figure = |name: &str| report["remap"][name].as_u64().unwrap();
    let (before, after) = (figure("inter_messages_before"), figure("inter_messages_after"));
    assert_eq!((before, figure("inter_bytes_before")), (800, 6400), "all of a ring that is dealt out");
    assert_eq!((before, after), (inter_messages(&dealt_out), 400), "no ring has fewer on {HOSTS} nodes");

    let file = lab.shared().join(format);
    let advised = remap(&first, format, &file);
    assert_eq!((advised.status, advised.output().as_str()), (0, ""), "{}", advised.errors());
    let stderr = advised.errors().replace('\u{2009}', "");
    assert!(stderr.contains("800 messages") && stderr.contains("this placement 400 "), "{stderr}");
    assert!(stderr.contains("next") && stderr.contains(file.to_str().unwrap()), "{stderr}");

    let ended = run(&mut job.placed(Placement::File(&file)).recorded(lab, RANKS, &second), LIMIT).unwrap();
    let placed = assert_exact(&second, &ended, RANKS);
    assert_eq!(inter_messages(&placed), after);
    let names: Vec<&str> = nodes(&report).iter().map(|node| node["name"].as_str().unwrap()).collect();
    let advised = report["remap"]["node_of_rank"].as_array().unwrap();
    for (rank, node) in advised.iter().enumerate() {
        let name = names[node.as_u64().unwrap() as usize];
        assert_eq!(nodes_of_ranks(&placed)[&(rank as u32)], name, "rank {rank} under {format}");
    }
}

fn nodes(report: &Value) -> &Vec<Value> {
    report["job"]["nodes"].as_array().unwrap()
}

#[test]
fn launchers_place_ranks_as_advised() {
    let test = "placement launchers_place_ranks_as_advised";
    let Some(lab) = Lab::up_or_skip(&LabOptions::hosts(HOSTS), test).unwrap() else { return };
    for (family, format) in [(Family::OpenMpi, "rankfile"), (Family::Mpich, "machinefile")] {
        if let Some(mpi) = Mpi::find_or_skip(family, test) {
            as_advised(&lab, &mpi, Start::Agent, format);
        }
    }
}

#[test]
fn slurm_places_ranks_as_advised() {
    let test = "placement slurm_places_ranks_as_advised";
    let Some(lab) = Lab::up_or_skip(&LabOptions::hosts(HOSTS).slurm(), test).unwrap() else { return };
    if let Some(mpi) = Mpi::find_or_skip(Family::OpenMpi, test) {
        as_advised(&lab, &mpi, Start::Slurm, "slurm");
    }
}

#[test]
fn on_one_node_nothing_can_be_gained() {
    for mpi in Mpi::sample_or_skip("placement on_one_node_nothing_can_be_gained") {
        let folder = folder().unwrap();
        let out = folder.path().join("recording");
        let ended = run(&mut record(&mpi, 4, &mpi.app("ring").unwrap(), &[], &out).unwrap(), LIMIT).unwrap();
        assert_eq!(ended.status, 0, "{}", ended.errors());
        let recorded = Recorded::load(&out).unwrap();
        let host = recorded.manifest.job.nodes[0].name.clone();
        let slurm = run(mpiscope(&["remap", "--format", "slurm"]).unwrap().arg(&out), LIMIT).unwrap();
        assert_eq!((slurm.status, slurm.output()), (0, format!("{host}\n").repeat(4)), "{}", slurm.errors());
        assert!(slurm.errors().starts_with("mpiscope: nothing can be gained: "), "{}", slurm.errors());
        let machinefile =
            run(mpiscope(&["remap", "--format", "machinefile"]).unwrap().arg(&out), LIMIT).unwrap();
        assert!(machinefile.output().ends_with(&format!("\n{host}:4\n")), "{}", machinefile.output());
        let report = report(&out).unwrap();
        assert_eq!(report["remap"]["node_of_rank"], serde_json::json!([0, 0, 0, 0]));
        assert_eq!(report["remap"]["inter_messages_after"], 0);
    }
}

#[test]
fn what_gives_no_advice_is_refused_in_one_line() {
    let folder = folder().unwrap();
    let path = folder.path().to_str().unwrap();
    for arguments in [
        &["remap", path, "--format", "rankfile"][..],
        &["remap", "/does/not/exist", "--format", "slurm"],
        &["remap", path],
        &["remap", path, "--format", "nonsense"],
    ] {
        let ended = run(&mut mpiscope(arguments).unwrap(), LIMIT).unwrap();
        assert_eq!((ended.status, ended.output().as_str()), (2, ""), "{arguments:?}: {}", ended.errors());
        assert_eq!(ended.errors().lines().count(), 1, "{arguments:?}: {}", ended.errors());
    }
}
