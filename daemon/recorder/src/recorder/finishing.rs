//! The end of a run: what its manifest says, the pass over its log, and the tables.

use super::state::{END_UNKNOWN, Recorder, say};
use crate::completion::complete;
use crate::functions::functions_by_time;
use crate::protocol::Summary;
use anyhow::Result;
use mpiscope_engine::hang;
use mpiscope_engine::{Engine, uncounted};
use mpiscope_model::{SiteInfo, Totals};
use mpiscope_process::own_process;
use mpiscope_recording::{Cost, FunctionName, Manifest, SHARES_FILE, Tables};
use mpiscope_verdict::{self as verdict, Ending, Findings};
use std::time::{Duration, Instant};

/// How long the end of a run waits for the live diagnosis.
const LIVE_DIAGNOSIS_WAIT: Duration = Duration::from_secs(20);

impl Recorder {
    /// The calls of the program, and those that a predecessor recorded and that are lost.
    pub(super) fn made_calls(&self) -> u64 {
        let Totals { calls, polls, .. } = self.engine.totals;
        calls + polls + self.engine.losses.unsaved
    }

    pub(super) fn fill_manifest(&mut self) {
        let made_calls = self.made_calls();
        let engine = &self.engine;
        let (cost_s, per_call_ns) = engine.cost();
        let ended = engine.ingest().ended();
        let manifest: &mut Manifest = self.writer.manifest_mut();
        if let Some(start) = engine.ingest().started() {
            manifest.job.started_unix_ns = start.unix_ns;
            manifest.job.command = start.command.clone();
        }
        manifest.job.ranks = engine.world_size();
        manifest.job.mpi = engine.library();
        manifest.job.nodes = engine.job_nodes();
        manifest.job.exit = ended.and_then(|(exit, _)| exit);
        manifest.job.duration_s = ended.map(|(_, end_ns)| end_ns as f64 / 1e9);
        manifest.totals = engine.totals.into();
        manifest.lost = engine.losses.into();
        manifest.pauses = engine.pauses();
        manifest.missing = engine.missing();
        manifest.missing.extend(self.write_faults.iter().cloned());
        manifest.cost = Cost {
            calls: made_calls,
            nanoseconds_per_call: Some(per_call_ns),
            seconds: Some(cost_s),
            agent_cpu_s: Some(own_process::cpu_s() + self.reading.cpu_s()),
            bytes_on_disk: manifest.cost.bytes_on_disk,
        };
    }

    /// The run has ended.
    pub(super) fn finish(mut self) -> Result<Summary> {
        if !self.end_reading() {
            let last = self.engine.finish();
            self.write_all(last);
        }
        let settled = self.writer.settle();
        self.note(settled);
        let Totals { calls, polls, .. } = self.engine.totals;
        self.engine.losses.unsaved = self.expected_calls.saturating_sub(calls + polls);
        self.finish_hangs();
        let uncounted = self.engine.uncounted();
        uncounted.iter().for_each(|host| self.complain(&uncounted::sentence(host)));
        self.publish(true);
        self.fill_manifest();
        self.writer.manifest_mut().uncounted = uncounted;
        if self.engine.ingest().ended().is_none_or(|(exit, _)| exit.is_none()) {
            let manifest = self.writer.manifest_mut();
            manifest.missing.push(END_UNKNOWN.into());
        }
        let (clock, is_free_of_violations) = self.engine.solve_clocks();
        self.writer.manifest_mut().clock = clock;
        let mut sites = std::mem::take(&mut self.engine.sites);
        let unknown = mpiscope_symbols::look_up(&mut sites, mpiscope_symbols::PATIENCE);
        self.writer.manifest_mut().missing.extend(unknown);
        let pass_begun = Instant::now();
        let mut findings = self.diagnose();
        let pass_s = pass_begun.elapsed().as_secs_f64();
        if let Some(findings) = &mut findings {
            findings.name_places(&sites);
            findings.limit(&self.ending());
            self.write_findings(findings);
        }
        self.found = findings.as_ref().map(Findings::found);
        self.publish(false);
        let tables = self.tables(sites);
        let sums = self.sums.summary(&self.engine.counts, &self.engine.processors);
        let made_calls = self.made_calls();
        let manifest = complete(self.writer, &tables, &sums, (made_calls, is_free_of_violations))?;
        let verdict =
            findings.map(|findings| verdict::verdict_sentences(&findings.diagnosis)).unwrap_or_default();
        Ok(Summary { verdict, pass_s, ..summary(&self.engine, self.reading.cpu_s(), &manifest) })
    }

    fn write_findings(&mut self, findings: &Findings) {
        let written = verdict::write(self.writer.dir(), findings);
        self.note(written);
        let listed = self.writer.list_file(verdict::FILE);
        self.note(listed);
        if verdict::shares::are_kept(self.writer.dir()) {
            let listed = self.writer.list_file(SHARES_FILE);
            self.note(listed);
        }
    }

    fn tables(&mut self, sites: Vec<SiteInfo>) -> Tables {
        Tables {
            functions: mpiscope_wire::FUNCTIONS
                .iter()
                .map(|entry| FunctionName { function: entry.id, name: entry.name.to_owned() })
                .collect(),
            communicators: self.engine.comms.clone(),
            coordinates: std::mem::take(&mut self.engine.coordinates),
            nodes: self.engine.nodes.clone(),
            sites,
            ranks: self.engine.ranks.values().cloned().collect(),
        }
    }

    fn ending(&self) -> Ending {
        let engine = &self.engine;
        let exit = engine.ingest().ended().and_then(|(exit, _)| exit);
        Ending::finished(
            engine.ranks.values(),
            engine.world_size(),
            exit,
            self.watcher.hangs().hangs_at_end(),
        )
    }

    /// Leaves in the recording whether the job hung, and what it ended in.
    fn finish_hangs(&mut self) {
        say(&self.watcher.end(&self.engine));
        let hangs = self.watcher.hangs();
        if hangs.count > 0 || hangs.ended_in_count > 0 {
            let written = hang::write(self.writer.dir(), hangs);
            self.note(written);
            let listed = self.writer.list_file(hang::FILE);
            self.note(listed);
        }
    }

    /// Where time went and why is found while the log is still there.
    fn diagnose(&mut self) -> Option<Findings> {
        let written = self.writer.write_manifest();
        self.note(written);
        if self.writer.manifest_mut().cut.is_some_and(|cut| cut.log) {
            let found = self.live.take().and_then(|live| live.finish(LIVE_DIAGNOSIS_WAIT));
            return found.map(Findings::of_found);
        }
        // The pass over the log finds more than what still waits would.
        self.live = None;
        let run = Duration::from_nanos(self.engine.ingest().ended().map_or(0, |(_, end_ns)| end_ns));
        let dir = self.writer.dir().to_owned();
        // A predecessor may have left some.
        let _ = verdict::remove(&dir);
        let error = (self.diagnose)(&dir, run).err();
        // Where there was little time, there may be what the first of two readings found.
        let (found, error) = match verdict::read(&dir) {
            Ok(found) => (found, error),
            Err(unreadable) => (None, error.or(Some(unreadable))),
        };
        let missing = match (&found, error) {
            (None, Some(error)) => Some(format!("there is no diagnosis: {error:#}")),
            (Some(found), error) if found.is_first_reading => {
                let why = error.map_or("there was no time".into(), |error| format!("{error:#}"));
                Some(format!("the second of two readings for the verdict: {why}"))
            }
            _ => None,
        };
        self.writer.manifest_mut().missing.extend(missing);
        found
    }
}

/// What the manifest says, with the totals of the whole run: those of the manifest leave out what `--keep` dropped.
fn summary(engine: &Engine, readers_cpu_s: f64, manifest: &Manifest) -> Summary {
    Summary {
        calls: engine.totals.calls,
        polls: engine.totals.polls,
        messages: engine.totals.messages,
        bytes: engine.totals.bytes,
        unmatched_sends: engine.totals.unmatched_sends,
        unmatched_receives: engine.totals.unmatched_receives,
        processors: engine.processors.sentence(),
        functions: functions_by_time(&engine.counts),
        agent_cpu_s: own_process::cpu_s() + readers_cpu_s,
        readers_cpu_s,
        peak_memory_bytes: own_process::peak_memory_bytes(),
        ..Summary::from_manifest(manifest)
    }
}
