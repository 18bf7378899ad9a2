//! What simulated agents and their daemon cost.

use mpiscope_model::words::{bytes, count, plural};
use mpiscope_recorder::Summary;
use mpiscope_synth::Truth;
use std::time::Duration;

/// Measured while agents brought a job.
#[derive(Debug, Default)]
pub(in super::super) struct Figures {
    pub(super) agents: u64,
    /// Connections at the start of the job, and those made later in place of lost ones.
    pub(super) connections: u64,
    pub(super) reconnections: u64,
    /// Until all agents were connected and had compared clocks.
    pub(super) start: Duration,
    /// From the start of the job until everything was in the spools of the agents.
    pub(super) job: Duration,
    /// From the start of the job until the daemon had acknowledged everything.
    pub(super) acknowledged: Duration,
    /// From the end of the job until all agents had ended.
    pub(super) agents_end: Duration,
    /// From the end of the job until the recording was complete.
    pub(super) end: Duration,
    /// From the start of the job until the recording was complete.
    pub(super) whole: Duration,
    pub(super) agents_cpu_s: f64,
    pub(super) agents_memory_bytes: u64,
    /// What the frames take that were encoded before the job started.
    pub(super) frame_bytes: u64,
    pub(super) recorded: u64,
    pub(super) lost: u64,
    /// None for a job that was broken off.
    pub(super) made: Option<u64>,
    pub(super) pass_s: f64,
    pub(super) daemon_cpu_s: f64,
    /// That of other processes that read calls.
    pub(super) readers_cpu_s: f64,
    pub(super) daemon_memory_bytes: u64,
    pub(super) missing: Vec<String>,
}

/// Sentences about what is missing, at most.
const MOST_MISSING: usize = 4;

impl Figures {
    /// Takes in what the daemon says of itself and of its recording.
    pub(super) fn count(&mut self, summary: &Summary, truth: Option<&Truth>) {
        self.recorded = summary.calls + summary.polls;
        self.lost = summary.lost_calls;
        self.made = truth.map(|truth| truth.calls);
        self.pass_s = summary.pass_s;
        self.readers_cpu_s = summary.readers_cpu_s;
        self.daemon_cpu_s = summary.agent_cpu_s - summary.readers_cpu_s;
        self.daemon_memory_bytes = summary.peak_memory_bytes;
        self.missing.clone_from(&summary.missing);
    }

    /// For people.
    pub(in super::super) fn sentences(&self) -> Vec<String> {
        let pass = Duration::from_secs_f64(self.pass_s);
        // The pass over the run begins when all rows are written.
        let rows = self.whole.saturating_sub(pass).as_secs_f64();
        let mut all = vec![
            format!(
                "{}, {}, {} made again; start: {:.2} s until all were connected and had compared clocks",
                plural(self.agents, "agent"),
                plural(self.connections, "connection"),
                count(self.reconnections),
                self.start.as_secs_f64()
            ),
            self.counted(),
            format!(
                "{} calls/s into the log, {} calls/s into the tables, over {:.2} s and {rows:.2} s; the job took {:.2} s",
                count((self.recorded as f64 / self.acknowledged.as_secs_f64().max(1e-9)) as u64),
                count((self.recorded as f64 / rows.max(1e-9)) as u64),
                self.acknowledged.as_secs_f64(),
                self.job.as_secs_f64()
            ),
            format!(
                "end: {:.2} s until all agents had ended, {:.2} s until the recording was complete, {:.2} s of it for the \
                 pass over the run",
                self.agents_end.as_secs_f64(),
                self.end.as_secs_f64(),
                self.pass_s
            ),
            format!("daemon: {}", self.cost(self.daemon_cpu_s, self.daemon_memory_bytes)),
            format!(
                "agents: {} with {} of frames",
                self.cost(self.agents_cpu_s, self.agents_memory_bytes),
                bytes(self.frame_bytes)
            ),
        ];
        if self.readers_cpu_s > 0.0 {
            let per_call = self.per_call(self.readers_cpu_s);
            all.push(format!("readers: {:.2} s of CPU, {per_call:.2} us per call", self.readers_cpu_s));
        }
        all.extend(self.missing.iter().take(MOST_MISSING).map(|text| format!("missing: {text}")));
        if self.missing.len() > MOST_MISSING {
            all.push(format!("missing: {} more", self.missing.len() - MOST_MISSING));
        }
        all
    }

    /// What the daemon or all agents took.
    fn cost(&self, cpu_s: f64, memory_bytes: u64) -> String {
        format!(
            "{cpu_s:.2} s of CPU, {:.2} us per call, {:.2} ms per node, {} of memory at most",
            self.per_call(cpu_s),
            cpu_s * 1e3 / self.agents.max(1) as f64,
            bytes(memory_bytes)
        )
    }

    /// Microseconds.
    fn per_call(&self, cpu_s: f64) -> f64 {
        cpu_s * 1e6 / self.recorded.max(1) as f64
    }

    fn counted(&self) -> String {
        let recorded =
            format!("{} recorded, {} counted as lost", plural(self.recorded, "call"), count(self.lost));
        match self.made.map(|made| made.checked_sub(self.recorded + self.lost)) {
            Some(Some(0)) => format!("{recorded}: all that were made"),
            Some(Some(missing)) => format!("{recorded}, {} missing", count(missing)),
            Some(None) => format!("{recorded}: more than were made"),
            None => recorded,
        }
    }
}
