// What runs, how it stands, how far behind the page is, what was lost. Never hidden.

import type { Signal } from "@preact/signals";
import { edgeNs, lost } from "../../state/run";
import type { Session } from "../../state/session";
import { nextTheme, themeChoice } from "../../state/theme";
import { clock, count, counted, duration } from "../../words";
import { type Standing, standing } from "../../words/standing";
import { Icon } from "../icons";

interface HeaderProps {
  session: Session;
  /** Advances every second: "no news for 3 s" must appear without news. */
  second: Signal<number>;
  openHelp: () => void;
}

export function Header({ session, second, openHelp }: HeaderProps) {
  const run = session.figures.value;
  const known = run.number >= 0;
  const { job } = run;
  const now = stand(session, second);
  const nodes = job.nodes > 0 ? ` on ${counted(job.nodes, "node", "nodes")}` : "";
  const missing = lost(run.losses);
  document.title = `${now.word} \u2013 ${job.command ? `${job.command} \u2013 ` : ""}mpiscope`;
  return (
    <header>
      <h1>mpiscope</h1>
      {job.command && <span class="command" title={job.mpi ? `${job.command}\n${job.mpi}` : job.command}>{job.command}</span>}
      {job.ranks > 0 && <span title={job.mpi}>{counted(job.ranks, "rank", "ranks")}{nodes}</span>}
      <span class="spring" />
      <span class={`state ${now.mood}`}><span class="dot" /><span>{now.word}</span></span>
      {known && job.state !== "waiting" && <>
        <span title="Run time until which calls are complete">{clock(edgeNs(run), 0)}</span>
        {job.state === "running" && job.source === "live" && <span title="How far what is shown is behind the job">{lag(session)}</span>}
        <span class={missing > 0 ? "warn" : ""} title="Calls that were made and not recorded">{count(missing)} lost</span>
      </>}
      <Latency session={session} />
      <span class="buttons">
        <button type="button" class="icon" onClick={nextTheme} title={`Theme: ${themeChoice.value} (t)`} aria-label={`Theme: ${themeChoice.value}`}>
          <Icon name={themeChoice.value} />
        </button>
        <button type="button" class="icon" onClick={openHelp} title="Keys and help (?)" aria-label="Keys and help">?</button>
      </span>
    </header>
  );
}

function stand(session: Session, second: Signal<number>): Standing {
  void second.value;
  return standing(session.figures.value, session.link.value, performance.now() - session.heardMs);
}

function lag(session: Session): string {
  if (session.link.value.phase !== "open") return "lag unknown";
  const { lagNs } = session.figures.value.clock;
  return `lag ${milliseconds(lagNs)}`;
}

function Latency({ session }: { session: Session }) {
  const ms = session.roundTripMs.value;
  if (session.link.value.phase !== "open" || !Number.isFinite(ms)) return null;
  return <span class="soft" title="Round trip between this page and the server">ping {milliseconds(ms * 1e6)}</span>;
}

/** Whole ones: digits that change ten times a second say nothing. */
function milliseconds(ns: number): string {
  return ns < 1e6 ? "< 1 ms" : ns < 1e9 ? `${Math.round(ns / 1e6)} ms` : duration(ns);
}

/** One line under the header when there is something to say. */
export function Notice({ session, second }: { session: Session; second: Signal<number> }) {
  const { mood, sentence } = stand(session, second);
  const { phase, retryInSeconds } = session.link.value;
  return (
    <div role="status">
      {sentence && (
        <div class={`notice ${mood}`}>
          <span>{sentence}</span>
          {(phase === "lost" || phase === "full") && retryInSeconds > 0 && <button type="button" onClick={() => session.retryNow()}>Try now</button>}
          {phase === "outdated" && <button type="button" onClick={() => location.reload()}>Reload</button>}
        </div>
      )}
    </div>
  );
}
