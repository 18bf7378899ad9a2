// What a selected state is, in the inspector.

import type { Dag } from "../../feed/dag";
import { hostColour } from "../../palette/hosts";
import { same } from "../../same";
import type { Store } from "../../state/store";
import { theme } from "../../state/theme";
import { nodeRows } from "./words";
import { Row, Title } from "../inspector/parts";
import { modelOf } from "./recipe";

export function NodePart({ store, dag, node }: { store: Store; dag: Dag; node: number }) {
  const { graph } = modelOf(dag);
  const { nodes, messages } = dag;
  const rank = nodes.rank[node] ?? 0;
  const only = store.perspective.value.ranks;
  const isAlone = same(only, [[rank, rank]]);
  const [fromNs, toNs] = [nodes.beginNs[node] ?? 0, nodes.endNs[node] ?? 0];
  const message = graph.slowest[node] ?? -1;
  const peer = message < 0 ? -1 : (messages.peer[message] ?? -1);
  return (
    <section>
      <Title label="Clear" clear={() => (store.selection.value = null)} text={
        <><span class="swatch" style={{ backgroundColor: hostColour(nodes.host[node] ?? 0, theme.value) }} />Rank {rank}, step {(nodes.layer[node] ?? 0) + 1}</>
      } />
      <dl>
        {nodeRows(graph, node, store.figures.value).map(({ name, words, note }) => <Row key={name} name={name} note={note}>{words}</Row>)}
      </dl>
      <div class="actions">
        <button type="button" onClick={() => store.command({ do: "seek", time_ns: fromNs })}>Go to its start</button>
        <button type="button" onClick={() => store.select({ rangeNs: [fromNs, Math.max(toNs, fromNs + 1)] })}>Select its time</button>
        <button type="button" aria-pressed={isAlone} onClick={() => store.select({ ranks: isAlone ? null : [[rank, rank]] })}>Only this rank</button>
        <button type="button" onClick={() => (store.selection.value = { kind: "rank", rank })}>The rank</button>
        {peer >= 0 && <button type="button" onClick={() => (store.selection.value = { kind: "dag-node", dag, node: peer })}>Partner of the slowest</button>}
      </div>
    </section>
  );
}
