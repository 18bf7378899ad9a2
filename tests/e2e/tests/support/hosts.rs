//! Jobs over the hosts of a lab, recorded.

use mpiscope_harness::{
    Ended, FailingCall, Family, Lab, Mpi, Placement, Recorded, Start, Truth, mpiscope, processes,
};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

/// A job: which program, how it is started and where its ranks go.
#[derive(Clone)]
pub(crate) struct Job<'a> {
    pub(crate) mpi: &'a Mpi,
    pub(crate) app: &'a str,
    arguments: Vec<String>,
    placement: Placement<'a>,
    start: Start,
    slots: Option<u32>,
    only: Option<&'a str>,
    options: &'a [&'a str],
    failing: Option<(&'a FailingCall, &'a Path)>,
}

impl<'a> Job<'a> {
    /// Ranks in turn on all hosts, started by the lab's agent.
    pub(crate) fn new(mpi: &'a Mpi, app: &'a str) -> Self {
        let (placement, start) = (Placement::Cyclic, Start::Agent);
        let arguments = Vec::new();
        Self { mpi, app, arguments, placement, start, slots: None, only: None, options: &[], failing: None }
    }

    /// Further options of `mpiscope run`.
    pub(crate) fn with(mut self, options: &'a [&'a str]) -> Self {
        self.options = options;
        self
    }

    pub(crate) fn arguments(mut self, arguments: &[&str]) -> Self {
        self.arguments = arguments.iter().map(|&word| word.to_owned()).collect();
        self
    }

    pub(crate) fn placed(mut self, placement: Placement<'a>) -> Self {
        self.placement = placement;
        self
    }

    pub(crate) fn started(mut self, start: Start) -> Self {
        self.start = start;
        self
    }

    /// All ranks on this host.
    pub(crate) fn on(mut self, host: &'a str) -> Self {
        self.only = Some(host);
        self
    }

    /// Ranks that fill a host.
    pub(crate) fn slots(mut self, slots: u32) -> Self {
        self.slots = Some(slots);
        self
    }

    /// With a call that fails; the tracer reports to this file.
    pub(crate) fn failing(mut self, call: &'a FailingCall, log: &'a Path) -> Self {
        self.failing = Some((call, log));
        self
    }

    /// `mpiscope run` on the first host, without a page.
    pub(crate) fn recorded(&self, lab: &Lab, ranks: u32, out: &Path) -> Command {
        self.recorded_by(&["run", "--no-dashboard", "--out"], lab, ranks, out)
    }

    /// With a page, which others than that host do not see.
    pub(crate) fn recorded_with_page(&self, lab: &Lab, ranks: u32, out: &Path) -> Command {
        self.recorded_by(&["run", "--out"], lab, ranks, out)
    }

    fn recorded_by(&self, run: &[&str], lab: &Lab, ranks: u32, out: &Path) -> Command {
        let program = self.mpi.app(self.app).unwrap();
        let launcher =
            lab.launcher(self.mpi, ranks, self.placement, self.start, self.slots, self.only).unwrap();
        let mut product = mpiscope(run).unwrap();
        if let Some((call, log)) = self.failing {
            product = call.give_to(&product, log).unwrap();
        }
        let mut words: Vec<OsString> = vec![product.get_program().into()];
        words.extend(product.get_args().map(OsString::from));
        words.push(out.into());
        words.extend(self.options.iter().map(OsString::from));
        words.push("--".into());
        words.extend(launcher);
        words.push(program.into());
        words.extend(self.arguments.iter().map(OsString::from));
        let mut command = lab.exec("node1", &words);
        self.mpi.prepare(&mut command).unwrap();
        command.current_dir(lab.shared());
        command
    }
}

/// What the program says of itself is what the recording holds, once and in order of time.
pub(crate) fn assert_exact(out: &Path, ended: &Ended, ranks: u32) -> Recorded {
    let stderr = ended.errors();
    let truth = Truth::parse(&ended.stdout).unwrap_or_else(|error| panic!("{error:#}: {stderr}"));
    let recorded = Recorded::load(out).unwrap_or_else(|error| panic!("{error:#}: {stderr}"));
    let nothing = Vec::<String>::new();
    assert_eq!(recorded.differences(&truth), nothing, "{stderr}");
    assert_eq!(recorded.wrongly_paired(false), nothing, "{stderr}");
    let (totals, lost) = (recorded.manifest.totals, recorded.manifest.lost);
    assert_eq!((totals.unmatched_sends, totals.unmatched_receives), (0, 0), "{stderr}");
    assert_eq!((lost.ring_full, lost.no_ring, lost.unreadable), (0, 0, 0), "{stderr}");
    assert_eq!((totals.messages, totals.bytes), truth.all_messages(), "{stderr}");
    assert_eq!(recorded.manifest.job.ranks, ranks, "{stderr}");
    recorded
}

/// The name of the node of every rank.
pub(crate) fn nodes_of_ranks(recorded: &Recorded) -> BTreeMap<u32, String> {
    let nodes = recorded.manifest.job.nodes.iter();
    nodes.flat_map(|node| node.ranks.iter().map(|&rank| (rank, node.name.clone()))).collect()
}

/// How the process of every rank stood at the end.
pub(crate) fn states_of_ranks(recorded: &Recorded) -> BTreeMap<u32, &'static str> {
    recorded.ranks.iter().map(|info| (info.rank.0, info.state.word())).collect()
}

/// A process of an agent.
#[derive(Debug)]
pub(crate) struct Agent {
    pub(crate) process: u32,
    pub(crate) host: String,
    /// Whether it is the one that works, and not the one that starts it again.
    pub(crate) is_worker: bool,
}

/// The agents of all hosts of a lab.
pub(crate) fn agents(lab: &Lab) -> Vec<Agent> {
    let mut found = Vec::new();
    for (host, on_it) in lab.processes().unwrap() {
        for process in on_it {
            let is_agent = processes::command_line(process).get(1).is_some_and(|word| word == "agent");
            if is_agent && processes::is_running(process) {
                let is_worker = processes::variable(process, "MPISCOPE_AGENT_WORKER").is_some();
                found.push(Agent { process, host: host.clone(), is_worker });
            }
        }
    }
    found
}

/// The processes on all hosts of a lab whose program has one of these words in its name.
pub(crate) fn processes_of(lab: &Lab, words: &[&str]) -> Vec<u32> {
    let is_wanted = |process: &u32| {
        let program = processes::command_line(*process).into_iter().next().unwrap_or_default();
        words.iter().any(|word| program.contains(word))
    };
    lab.processes().unwrap().into_values().flatten().filter(is_wanted).collect()
}

/// A file that places eight ranks, and where it places them: counted from 0.
pub(crate) fn placement_file(family: Family) -> (String, fn(u32) -> u32) {
    let node_of: fn(u32) -> u32 = |rank| [2, 0, 0, 3, 1, 2, 3, 1][rank as usize];
    let line = |rank: u32| match family {
        Family::OpenMpi => format!("rank {rank}=node{} slot={}\n", node_of(rank) + 1, rank % 2),
        Family::Mpich => format!("node{}:1\n", node_of(rank) + 1),
    };
    ((0..8).map(line).collect(), node_of)
}

/// A settings file with this text.
pub(crate) fn site(lab: &Lab, text: &str) -> std::path::PathBuf {
    let file = lab.shared().join("site.toml");
    std::fs::write(&file, text).unwrap();
    file
}
