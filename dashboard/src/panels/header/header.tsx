// What runs, how it stands, how far behind the page is, what was lost. Never hidden.

import { type Signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { edgeNs, lost, type RunState } from "../../state/run";
import type { Store } from "../../state/store";
import { nextTheme, themeChoice } from "../../state/theme";
import { clock, count, counted, duration } from "../../words";
import { LET_GO, NO_CONTROL, NO_RECORDING_CONTROL, rightsChip } from "../../words/access";
import { cpuSentence, mostCrowded, ranksPerCpu, silence, whereRanksRun } from "../../words/hosts";
import { type JobStatus, jobStatus } from "../../words/job-status";
import { suspicion } from "../../words/hangs";
import { gapWords } from "../../words/switch";
import { Icon } from "../icons";
import { CopyLink } from "../share/copy-link";

interface HeaderProps {
  store: Store;
  /** Advances every second: "no news for 3 s" must appear without news. */
  second: Signal<number>;
  openHelp: () => void;
}

export function Header({ store, second, openHelp }: HeaderProps) {
  const run = store.figures.value;
  const known = run.number >= 0;
  const { job } = run;
  const now = stand(store, second);
  const missing = lost(run.losses);
  document.title = `${now.word} \u2013 ${job.command ? `${job.command} \u2013 ` : ""}mpiscope`;
  return (
    <header>
      <h1>mpiscope</h1>
      {job.command && <span class="command" title={job.mpi ? `${job.command}\n${job.mpi}` : job.command}>{job.command}</span>}
      {job.ranks > 0 && <span title={job.mpi}>{`${counted(job.ranks, "rank", "ranks")} ${whereRanksRun(run)}`}</span>}
      <Crowded run={run} />
      <span class="spring" />
      <span class={`state ${now.mood}`}><span class="dot" /><span>{now.word}</span></span>
      {known && job.state !== "waiting" && <>
        <span title="Run time until which calls are complete">{clock(edgeNs(run), 0)}</span>
        {job.state === "running" && job.source === "live" && <span title="How far what is shown is behind the job">{lag(store)}</span>}
        <span class={missing > 0 ? "warn" : ""} title="Calls that were made and not recorded">{count(missing)} lost</span>
      </>}
      <RecordingSwitch store={store} />
      <Latency store={store} />
      <RightsChip store={store} />
      <span class="buttons">
        <CopyLink store={store} />
        <button type="button" class="icon" onClick={nextTheme} title={`Theme: ${themeChoice.value} (t)`} aria-label={`Theme: ${themeChoice.value}`}>
          <Icon name={themeChoice.value} />
        </button>
        <button type="button" class="icon" onClick={openHelp} title="Keys and help (?)" aria-label="Keys and help">?</button>
      </span>
    </header>
  );
}

/** Says so where more ranks run than there are CPUs for. */
function Crowded({ run }: { run: RunState }) {
  const node = mostCrowded(run);
  return node && <span class="warn" title={`${node.name}: ${cpuSentence(node.cpus)}`}>{ranksPerCpu(node.cpus)} ranks per CPU</span>;
}

/** Of a job that runs: whether it is recorded, for all pages; of others nothing. */
function RecordingSwitch({ store }: { store: Store }) {
  const { job, switch: recording } = store.figures.value;
  if (!recording || job.state !== "running" || job.source !== "live") return null;
  const { isOn } = recording;
  const { canControl } = store.access.value;
  return (
    <button type="button" role="switch" aria-checked={isOn} disabled={!canControl} title={!canControl ? NO_RECORDING_CONTROL : isOn ? "Calls are recorded; switch recording off" : "Calls are not recorded; switch recording on"} onClick={() => store.record(!isOn)}>
      {isOn ? "Recording" : "Recording is off"}
    </button>
  );
}

/** What the link of this page allows, where that is not all. */
function RightsChip({ store }: { store: Store }) {
  const chip = rightsChip(store.access.value);
  return chip ? <span class="rights" title={store.access.value.canControl ? "What the link of this page allows" : `${NO_CONTROL} ${LET_GO}`}>{chip}</span> : null;
}

function stand(store: Store, second: Signal<number>): JobStatus {
  void second.value;
  return jobStatus(store.figures.value, store.link.value, performance.now() - store.heardMs);
}

function lag(store: Store): string {
  if (store.link.value.phase !== "open") return "lag unknown";
  const { lagNs } = store.figures.value.clock;
  return `lag ${milliseconds(lagNs)}`;
}

function Latency({ store }: { store: Store }) {
  const ms = store.roundTripMs.value;
  if (store.link.value.phase !== "open" || !Number.isFinite(ms)) return null;
  return <span class="soft" title="Round trip between this page and the server">ping {milliseconds(ms * 1e6)}</span>;
}

/** Whole ones: digits that change ten times a second say nothing. */
function milliseconds(ns: number): string {
  return ns < 1e6 ? "< 1 ms" : ns < 1e9 ? `${Math.round(ns / 1e6)} ms` : duration(ns);
}

/** Lines under the header when there is something to say: how the run stands, hosts that are silent, and that it may hang. */
export function Notice({ store, second }: { store: Store; second: Signal<number> }) {
  const { mood, sentence } = stand(store, second);
  const { phase, retryInSeconds } = store.link.value;
  const silent = silence(store.figures.value);
  const gaps = gapWords(store.figures.value);
  const suspect = phase === "open" ? suspicion(store.figures.value) : "";
  return (
    <div role="status">
      {sentence && (
        <div class={`notice ${mood}`}>
          <span>{sentence}</span>
          {(phase === "lost" || phase === "full") && retryInSeconds > 0 && <button type="button" onClick={() => store.retryNow()}>Try now</button>}
          {phase === "outdated" && <button type="button" onClick={() => location.reload()}>Reload</button>}
        </div>
      )}
      <InVain store={store} />
      {gaps && <div class="notice"><span>{gaps}</span></div>}
      {silent && <div class="notice warn"><span>{silent}</span></div>}
      {suspect && <div class="notice warn"><span>{suspect}</span>{store.tab.value !== "overview" && <button type="button" title="Which ranks are where since when, in the tab Overview" onClick={() => void (store.tab.value = "overview")}>Show where</button>}</div>}
    </div>
  );
}

const IN_VAIN_MS = 8000;

/** Something was tried that the link of this page does not allow: says so, and what works instead. */
function InVain({ store }: { store: Store }) {
  const shown = useSignal(0);
  const tried = store.triedInVain.value;
  useEffect(() => {
    if (tried === 0) return undefined;
    shown.value = tried;
    const timer = setTimeout(() => (shown.value = 0), IN_VAIN_MS);
    return () => clearTimeout(timer);
  }, [tried, shown]);
  if (shown.value === 0 || store.mayMove.value) return null;
  return <div class="notice warn"><span>{NO_CONTROL}</span><button type="button" onClick={() => store.setFollow(false)}>Let go of the shared clock</button></div>;
}
