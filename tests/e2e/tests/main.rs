//! Tests of the whole product, as a user has it: the built program and collector, and programs under real MPI.
//!
//! A new file is one line here. Tests that share the processors badly are listed in `../alone.txt`. With `MPISCOPE_FULL=1`
//! the tests run every combination.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
#![allow(clippy::print_stdout, reason = "a test that fails shows it")]

mod support;

mod absurd;
mod analysis_hosts;
mod behaviour;
mod broken_output;
mod calibrate;
mod call_paths;
mod call_sites;
mod clients;
mod compare;
mod consistent;
mod damaged;
mod dependencies;
mod diagnosis;
mod efficiency;
mod endings;
mod exact_counts;
mod export;
mod failing_agents;
mod failing_calls;
mod failing_calls_on_hosts;
mod families;
mod folders;
mod foreign;
mod fortran;
mod full_disk;
mod golden;
mod hang;
mod killed;
mod killed_anytime;
mod lab;
mod languages;
mod large_counts;
mod launchers;
mod layout;
mod live_verdict;
mod loss;
mod made;
mod nodes;
mod nodes_on_the_page;
mod objects;
mod page;
mod page_questions;
mod picl;
mod placement;

mod pyarrow;
mod real_programs;
mod recording_hosts;
mod regions;
mod replay;
mod replay_is_live;
mod report;
mod scheduling;
mod second_opinion;
mod simulated_agents;
mod site;
mod subscriptions;
mod switched;
mod synth_live;
mod traces;
mod unusual_programs;
mod verdict_basis;
mod whatif;
mod without_daemon;
mod wrong_input;

/// Every file beside this one is a module: no test is left out by mistake.
#[test]
fn every_file_is_listed() {
    let own = include_str!("main.rs");
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    for entry in std::fs::read_dir(folder).unwrap() {
        let file = entry.unwrap().file_name().into_string().unwrap();
        if let Some(name) = file.strip_suffix(".rs").filter(|name| *name != "main") {
            assert!(own.contains(&format!("\nmod {name};\n")), "{file} is not in tests/e2e/tests/main.rs");
        }
    }
}
