// Whom a selected call waited for, since when, and why: steps that lead back to the root.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { GivenUp } from "../../asks";
import type { MessageText } from "../../feed/messages";
import type { Store } from "../../state/store";
import { clock, duration } from "../../words";
import type { CallText } from "../view";
import { Row } from "./parts";
import { type AskMessages, waitChain, type WaitChain } from "./wait-chain";

export function CallWaits({ store, call }: { store: Store; call: CallText }) {
  const found = useSignal<WaitChain | string | null>(null);
  const { rank, startNs, endNs } = call;
  useEffect(() => {
    let isWanted = endNs !== null;
    found.value = null;
    if (endNs === null) return undefined;
    const ask: AskMessages = (span, of, most) => {
      if (!isWanted) throw new Error("Nobody waits for it.");
      return store.questions.messages(span, [[of, of]], most);
    };
    // Other views ask for messages too, and the newest question counts.
    const chainOf = (): Promise<WaitChain> => waitChain(ask, rank, startNs, endNs).catch((reason: unknown) => {
      if (reason instanceof GivenUp && isWanted) return chainOf();
      throw reason;
    });
    chainOf().then(
      (chain) => isWanted && (found.value = chain),
      (error: unknown) => isWanted && (found.value = error instanceof Error ? error.message : String(error)),
    );
    return () => void (isWanted = false);
  }, [store, rank, startNs, endNs]);
  const chain = found.value;
  if (chain === null) return null;
  if (typeof chain === "string") return <p class="soft">Whom it waited for is not known: {chain}</p>;
  const { first, steps, isCut } = chain;
  if (!first) return null;
  const { latency, tMsgNs, lateSenderNs, src, isExact } = first;
  const root = steps.at(-1) ?? first;
  const show = (message: MessageText): void => void (store.selection.value = { kind: "message", message });
  return (
    <>
      <h3>Why it took that long</h3>
      <dl>
        {lateSenderNs > 0
          ? <Row name="Waiting" note={`since ${clock(startNs, 6)}, until rank ${src} sent at ${clock(first.sendNs, 6)}`}>{duration(lateSenderNs)}</Row>
          : <Row name="Waiting" note="what it received was sent before it began">none</Row>}
        <Row name="Transfer" note={isExact ? "" : "at most"}>{duration(tMsgNs)}</Row>
        <Row name="Expected">{latency !== null && latency > 0 ? duration(tMsgNs / latency) : "not known"}</Row>
      </dl>
      {lateSenderNs > 0 && (
        <ol class="steps">
          {[first, ...steps].map((message) => (
            <li key={`${message.src}/${message.sendNs}`}>
              <button type="button" title="Show this message" onClick={() => show(message)}>Rank {message.dst} waited {duration(message.lateSenderNs)} for rank {message.src}</button>
            </li>
          ))}
          <li>{isCut ? "The chain goes on." : <>Rank <button type="button" title={`Show rank ${root.src}`} onClick={() => (store.selection.value = { kind: "rank", rank: root.src })}>{root.src}</button> did not wait as long for any message before it sent: it computed, or was in other calls.</>}</li>
        </ol>
      )}
    </>
  );
}
