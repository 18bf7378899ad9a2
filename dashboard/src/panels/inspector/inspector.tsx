// Answers "what is this?" for whatever was clicked last; with nothing clicked, for the run.

import { useComputed } from "@preact/signals";
import { functionColours } from "../colours";
import { same } from "../../same";
import type { Store } from "../../state/store";
import { finishedNs } from "../../state/finished";
import { around } from "../../state/span";
import { bytes, clock, count, counted, duration, share } from "../../words";
import { clockAgreement, cpuWaitOf, nodeName, PROCESS_STATES, SILENT } from "../../words/hosts";
import { selectionFigures } from "../../words/selected";
import { figures, lossSentences } from "../../words/job-status";
import { MessagePart } from "../messages/message-part";
import { NodePart } from "../what/node-part";
import { describe } from "../particles/describe";
import { secondSentence } from "../../words/second";
import type { CallText } from "../view";
import { CallWaits } from "./call-waits";
import { MomentPart } from "./moment";
import { Row, Title } from "./parts";
import { PlacePart, TalkRows } from "./region";
import { RangePart } from "./range";
import { SitePart } from "./site";

export function Inspector({ store }: { store: Store }) {
  const selection = store.selection.value;
  return (
    <aside class="inspector" aria-label="Inspector" tabIndex={0}>
      {selection?.kind === "dag-node" && <NodePart store={store} dag={selection.dag} node={selection.node} />}
      {selection?.kind === "call" && <CallPart store={store} call={selection.call} />}
      {selection?.kind === "message" && <MessagePart store={store} message={selection.message} />}
      {selection?.kind === "rank" && <RankPart store={store} rank={selection.rank} />}
      {(selection?.kind === "region" || selection?.kind === "between" || selection?.kind === "pair") && <PlacePart store={store} place={selection} />}
      {selection?.kind === "moment" && <MomentPart store={store} moment={selection} />}
      {selection?.kind === "site" && <SitePart store={store} place={selection} />}
      {store.perspective.value.rangeNs && <RangePart store={store} />}
      {selection === null && <RunPart store={store} />}
    </aside>
  );
}

function CallPart({ store, call }: { store: Store; call: CallText }) {
  const colours = useComputed(() => functionColours(store.figures)).value.value;
  const edge = store.figures.value.clock.nowNs;
  const endNs = call.endNs;
  return (
    <section>
      <Title label="Clear" clear={() => (store.selection.value = null)} text={<><span class="swatch" style={{ backgroundColor: colours.get(call.function) ?? "" }} />{call.name}</>} />
      <dl>
        {describe(call).slice(1).map(([name, words]) => {
          const rank = name === "Rank" ? call.rank : name === "Peer" ? call.peer : null;
          return <Row key={name} name={name}>{rank === null ? words : <RankLink store={store} rank={rank} words={words} />}</Row>;
        })}
      </dl>
      <CallWaits store={store} call={call} />
      <div class="actions">
        <button type="button" onClick={() => store.command({ do: "seek", time_ns: call.startNs })}>Go to its start</button>
        {endNs !== null && <>
          <button type="button" onClick={() => store.command({ do: "seek", time_ns: endNs })}>Go to its end</button>
          <button type="button" onClick={() => (store.zoom.value = around([call.startNs, Math.max(endNs, call.startNs + 1)], edge))}>Zoom to it</button>
        </>}
      </div>
    </section>
  );
}

function RankLink({ store, rank, words }: { store: Store; rank: number; words: string }) {
  return <button type="button" title={`Show rank ${rank}`} onClick={() => (store.selection.value = { kind: "rank", rank })}>{words}</button>;
}

function RankPart({ store, rank }: { store: Store; rank: number }) {
  const run = store.figures.value;
  const { ranks, inFlight, functions } = run;
  const only = store.perspective.value.ranks;
  const alone = same(only, [[rank, rank]]);
  const finished = finishedNs(ranks, rank, [0, run.clock.nowNs]);
  const node = ranks.node[rank] ?? 0;
  const waits = cpuWaitOf(run, rank);
  const inside: string[] = [];
  for (let row = 0; inFlight && row < inFlight.length; row++) {
    if (inFlight.rank[row] !== rank) continue;
    const name = functions.get(inFlight.function[row] ?? -1)?.name ?? "a call";
    inside.push(`${name} for ${duration(Math.max(0, run.clock.nowNs - (inFlight.sinceNs[row] ?? 0)))}`);
  }
  if (ranks.heard[rank] !== 1) {
    return <section><Title label="Clear" clear={() => (store.selection.value = null)} text={`Rank ${rank}`} /><p class="soft">This rank was not heard yet.</p></section>;
  }
  return (
    <section>
      <Title label="Clear" clear={() => (store.selection.value = null)} text={`Rank ${rank}`} />
      <dl>
        <Row name="Process" note={ranks.state[rank] === SILENT ? "not heard of" : ""}>{PROCESS_STATES[ranks.state[rank] ?? 0] ?? "unknown"}</Row>
        <Row name="Node">{nodeName(run, node)}</Row>
        {run.nodes.size > 1 && <Row name="Clock" note={run.nodes.get(node)?.isSilent ? "when last heard of" : ""}>{clockAgreement(run, node)}</Row>}
        {inside.length > 0 && <Row name="In MPI now">{inside.map((line) => <div key={line}>{line}</div>)}</Row>}
        <Row name="Calls">{count(ranks.calls[rank] ?? 0)}</Row>
        <Row name="Sent" note={bytes(ranks.bytesSent[rank] ?? 0)}>{counted(ranks.sent[rank] ?? 0, "message", "messages")}</Row>
        <Row name="Received">{counted(ranks.received[rank] ?? 0, "message", "messages")}</Row>
        <TalkRows run={run} rank={rank} />
        <Row name="Time in MPI" note={`${share(ranks.mpiTimeNs[rank] ?? 0, run.clock.nowNs)} of run time`}>{duration(ranks.mpiTimeNs[rank] ?? 0)}</Row>
        {finished > 0 && <Row name="Finished" note={`${share(finished, run.clock.nowNs)} of run time`}><span title="After its last MPI call: neither in MPI nor outside of it">{duration(finished)}</span></Row>}
        <Row name="CPU wait" note={waits.waited}><span title={waits.switches}>{waits.words}</span></Row>
      </dl>
      <div class="actions">
        <button type="button" aria-pressed={alone} onClick={() => store.select({ ranks: alone ? null : [[rank, rank]] })}>Only this rank</button>
      </div>
    </section>
  );
}

function RunPart({ store }: { store: Store }) {
  const run = store.figures.value;
  const shown = store.shownFigures.value;
  const isRange = store.perspective.value.rangeNs !== null;
  const { job, faults, losses, inFlight } = run;
  const reasons = lossSentences(losses);
  return (
    <>
      {!isRange && <section>
        <h2>{shown.selected ? "The selection" : "The run"}</h2>
        <dl>
          {(shown.selected ? selectionFigures(shown).map(({ name, value, note }) => [name, value, note] as const) : figures(run)).map(([name, value, note]) => <Row key={name} name={name} note={note}>{value}</Row>)}
          {inFlight && <Row name="In MPI now">{counted(inFlight.total, "call", "calls")}</Row>}
        </dl>
        <p class="soft small">Click a particle or a rank to see what it is.</p>
      </section>}
      {(reasons.length > 0 || faults.count > 0) && (
        <section>
          <h2>Lost and odd</h2>
          <ul>
            {reasons.map((reason) => <li key={reason}>{reason}</li>)}
            {[...faults.newest].reverse().map((fault) => (
              <li key={`${fault.atNs}/${fault.rank}/${fault.text}`}><span class="soft">{clock(fault.atNs)}{fault.rank === null ? "" : `, rank ${fault.rank}`}</span><br />{fault.text}</li>
            ))}
          </ul>
          {faults.count > faults.newest.length && <p class="soft small">The newest {faults.newest.length} of {counted(faults.count, "report", "reports")}.</p>}
        </section>
      )}
      <section>
        <h2>The job</h2>
        <dl>
          <Row name="Run">{job.run || "\u2013"}</Row>
          {job.mpi && <Row name="MPI">{job.mpi}</Row>}
          {job.startedUnixNs > 0 && <Row name="Started">{new Date(job.startedUnixNs / 1e6).toLocaleString("sv-SE")}</Row>}
        </dl>
        {job.second && <p class="soft small">{secondSentence(job.second)}</p>}
      </section>
    </>
  );
}
