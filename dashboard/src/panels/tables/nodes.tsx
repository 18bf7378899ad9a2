// Where ranks run: the nodes of the job with their CPUs, and how ranks share them.

import type { NodeRow, RunState } from "../../state/run";
import { count, counted } from "../../words";
import { cpuSentence, mostCrowded, perCpu, ranksPerCpu, whereRanksRun } from "../../words/hosts";

/** More nodes than this are counted, the most crowded are listed. */
const NODES_LISTED = 64;

export function NodeList({ run }: { run: RunState }) {
  const known = [...run.nodes.values()].filter(({ cpus }) => cpus !== null);
  if (known.length === 0) return null;
  const crowded = mostCrowded(run);
  const listed = [...known].sort((a, b) => load(b) - load(a) || a.node - b.node).slice(0, NODES_LISTED);
  return (
    <details class="nodes">
      <summary><span>{`${counted(run.job.ranks, "rank", "ranks")} ${whereRanksRun(run)}`}</span>{crowded && <span class="warn"> {ranksPerCpu(crowded.cpus)} ranks per CPU on {crowded.name}</span>}</summary>
      <ul>{listed.map((node) => <li key={node.node}><b>{node.name}</b> {node.cpus && cpuSentence(node.cpus)}</li>)}</ul>
      {known.length > listed.length && <p class="soft small">{count(known.length - listed.length)} more, with fewer ranks per CPU</p>}
    </details>
  );
}

function load({ cpus }: NodeRow): number {
  return cpus ? perCpu(cpus) : 0;
}
