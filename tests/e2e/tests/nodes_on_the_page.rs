//! The page of a recording of several hosts: their names, their clocks, what the scheduler did to their ranks.

use crate::support::hosts::Job;
use crate::support::{Feed, Page, block_on};
use mpiscope_feed::exchange::Outgoing;
use mpiscope_harness::{
    Family, LIMIT, Lab, LabOptions, Mpi, Running, Signal, mpiscope, processes, report, run,
};

#[test]
fn a_replay_names_nodes_and_says_how_well_their_clocks_agree() {
    const NAME: &str = "nodes_on_the_page a_replay_names_nodes_and_says_how_well_their_clocks_agree";
    let Some(mpi) = Mpi::find_or_skip(Family::OpenMpi, NAME) else { return };
    let Some(lab) = Lab::up_or_skip(&LabOptions::hosts(3).skewed_clocks(), NAME).unwrap() else { return };
    let out = lab.shared().join("recording");
    let job = Job::new(&mpi, "linger").arguments(&["3", "200"]);
    let ended = run(&mut job.recorded(&lab, 6, &out), LIMIT).unwrap();
    assert_eq!(ended.status, 0, "{}", ended.errors());
    let report = report(&out).unwrap();

    let running = Running::start(mpiscope(&["replay"]).unwrap().arg(&out)).unwrap();
    let page = Page::open(&running, "mpiscope: replay");
    let state = block_on(async {
        let mut feed = Feed::open(&page).await;
        loop {
            if let Outgoing::State(state) = feed.hear().await.unwrap() {
                return *state;
            }
        }
    });
    processes::signal(running.process(), Signal::INT);
    assert_eq!(running.wait(LIMIT).unwrap().status, 0);

    let nodes = state.nodes.unwrap();
    let reported_nodes = report["job"]["nodes"].as_array().unwrap();
    assert_eq!(
        nodes.name,
        reported_nodes.iter().map(|node| node["name"].as_str().unwrap()).collect::<Vec<_>>()
    );
    let uncertainties = reported_nodes.iter().map(|node| node["clock"]["uncertainty_ns"].as_f64().unwrap());
    assert_eq!(nodes.clock_uncertainty_ns.0, uncertainties.collect::<Vec<_>>());
    assert!(nodes.clock_uncertainty_ns.0.iter().filter(|uncertainty_ns| **uncertainty_ns > 0.0).count() == 2);
    assert_eq!(nodes.state.0, [0, 0, 0]);
    let ranks = state.ranks.unwrap();
    for (row, rank) in report["ranks"].as_array().unwrap().iter().enumerate() {
        assert_eq!(nodes.name[ranks.node.0[row] as usize], rank["node"]);
        let run_s = rank["run_s"].as_f64();
        let run_s = run_s.unwrap_or_else(|| panic!("nobody looked at {rank}\n{}", ended.errors()));
        assert_eq!(ranks.run_ns.0[row] / 1e9, run_s);
        assert_eq!(ranks.wait_ns.0[row] / 1e9, rank["wait_s"].as_f64().unwrap());
        assert_eq!(ranks.involuntary.0[row], rank["involuntary"].as_f64().unwrap());
        assert!(ranks.run_ns.0[row] > 0.0, "every rank is looked at on its own host");
    }
}
