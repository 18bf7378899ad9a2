// What a selected message is, in the inspector.

import type { MessageText } from "../../feed/messages";
import { edgeNs } from "../../state/run";
import { around } from "../../state/span";
import type { Store } from "../../state/store";
import { tellMessage } from "../../words/messages";
import { Row, Title } from "../inspector/parts";

export function MessagePart({ store, message }: { store: Store; message: MessageText }) {
  const { title, rows } = tellMessage(message, store.figures.value);
  const { src, dst, sendNs, recvNs } = message;
  const ranks: Readonly<Record<string, number>> = { From: src, To: dst };
  const times: Readonly<Record<string, number>> = { Sent: sendNs, Received: recvNs };
  const rangeNs = [Math.min(sendNs, recvNs), Math.max(sendNs, recvNs) + 1] as const;
  const showInWhat = (): void => {
    store.select({ rangeNs });
    store.tab.value = "what";
  };
  return (
    <section>
      <Title label="Clear" clear={() => (store.selection.value = null)} text={title} />
      <dl>
        {rows.map(([name, words, note]) => <Row key={name} name={name} note={note}><Value store={store} words={words} rank={ranks[name]} timeNs={times[name]} /></Row>)}
      </dl>
      <div class="actions">
        <button type="button" title="Selects its time, and shows what led to what in it" onClick={showInWhat}>Show in Graph</button>
        <button type="button" onClick={() => (store.zoom.value = around(rangeNs, edgeNs(store.run.peek())))}>Zoom to it</button>
        <button type="button" onClick={() => store.select({ rangeNs })}>Select its time</button>
      </div>
    </section>
  );
}

/** Ranks and times lead to where they are. */
function Value({ store, words, rank, timeNs }: { store: Store; words: string; rank: number | undefined; timeNs: number | undefined }) {
  if (rank !== undefined) return <button type="button" title={`Show rank ${rank}`} onClick={() => (store.selection.value = { kind: "rank", rank })}>{words}</button>;
  if (timeNs !== undefined) return <button type="button" class="time" title="Go to this time" onClick={() => store.command({ do: "seek", time_ns: timeNs })}>{words}</button>;
  return <>{words}</>;
}
