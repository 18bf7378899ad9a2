// A better placement of the ranks on the nodes: what it would change, and the files that bring it about.

import type { PlacementFile, Remap } from "../../feed/remap";
import type { Figures } from "../../state/questions";
import type { Store } from "../../state/store";
import { bytes, clock, count, sentenceOf } from "../../words";
import { part } from "../../words/found";
import { changeWords, commandOf, FORMAT_NAMES, type Gain, gainWords, WORTH_IT } from "../../words/placement";
import { fileName, saveBlob } from "../save";
import { CopyButton } from "../share/copy-button";
import { useTable } from "../share/tables";
import { type DiagnosedScope, useRemap } from "./ask";
import { PLACEMENT } from "./sections";

/** What a better placement would save of the ranks' time, in seconds, as the verdict has it. */
export function Placement({ store, gainedS, ranksS, isUnknown }: { store: Store; gainedS: number; ranksS: number; isUnknown: boolean }) {
  const figures = useRemap(store);
  const { known, why, again } = figures;
  return (
    <section id={PLACEMENT} tabIndex={-1} class="placement" aria-busy={figures.isAsking && !known}>
      <h2>What a better placement would save <span class="soft">{ofWhat(figures)}</span></h2>
      {why && <p class={known ? "soft" : ""}>{sentenceOf(why)} <button type="button" class="link" onClick={again}>Ask again</button></p>}
      {known ? <BetterPlacement store={store} remap={known.answer} gain={{ seconds: gainedS, share: gainedS / ranksS, isUnknown }} /> : !why && <p class="soft">Looking for one.</p>}
    </section>
  );
}

function ofWhat({ known }: Figures<DiagnosedScope, Remap>): string {
  if (!known) return "";
  return known.scope.isFinal ? "predicted from the messages of the whole run" : `predicted from what was recorded up to about ${clock(known.scope.untilS * 1e9, 0)}`;
}

function BetterPlacement({ store, remap, gain }: { store: Store; remap: Remap; gain: Gain }) {
  const { interMessagesBefore, interMessagesAfter, interBytesBefore, interBytesAfter } = remap;
  useTable("placement", () => ({
    columns: ["figure", "before", "after"],
    rows: [["messages between nodes", interMessagesBefore, interMessagesAfter], ["bytes between nodes", interBytesBefore, interBytesAfter], ["ranks that move", null, remap.moved]],
  }));
  return (
    <>
      {remap.sentences.map((sentence) => <p key={sentence}>{sentenceOf(sentence)}</p>)}
      <div class="changes">
        <Change what="messages between nodes" before={interMessagesBefore} after={interMessagesAfter} words={count} />
        <Change what="bytes between nodes" before={interBytesBefore} after={interBytesAfter} words={bytes} />
        <div class="change">
          <span class="name">ranks that move to another node</span>
          <span class="moved">{count(remap.moved)} of {count(remap.ranks)}{remap.ranks > 0 && <span class="soft"> {part(remap.moved / remap.ranks)}</span>}</span>
        </div>
      </div>
      {remap.gains && <p>{gainWords(gain)}</p>}
      <Files store={store} remap={remap} isWorthIt={gain.isUnknown || gain.share >= WORTH_IT} />
    </>
  );
}

/** Where little is to be gained they are there for those who want them. */
function Files({ store, remap, isWorthIt }: { store: Store; remap: Remap; isWorthIt: boolean }) {
  if (remap.files.length === 0) return null;
  const files = <ul class="files">{remap.files.map((file) => <File key={file.format} store={store} file={file} isNew={remap.gains} />)}</ul>;
  return isWorthIt ? files : <details><summary>The files nevertheless</summary>{files}</details>;
}

/** Before and after, on one scale. */
function Change({ what, before, after, words }: { what: string; before: number; after: number; words: (value: number) => string }) {
  const most = Math.max(before, after, 1);
  const bar = (name: string, value: number, kind: string) => (
    <>
      <span class="soft">{name}</span>
      <span class="track"><i class={kind} style={{ width: `${(100 * value) / most}%` }} /></span>
      <span class="value">{words(value)}</span>
    </>
  );
  return (
    <div class="change" role="group" aria-label={`${what}: ${words(before)} before, ${words(after)} after`}>
      <span class="name">{what}</span><span class="predicted">{changeWords(before, after)}</span>
      {bar("before", before, "before")}
      {bar("after", after, "after")}
    </div>
  );
}

function File({ store, file, isNew }: { store: Store; file: PlacementFile; isNew: boolean }) {
  const { format, name, text } = file;
  const { line, note } = commandOf(file.command);
  const saveIt = (): void => {
    const run = store.run.peek().job.run || "mpiscope";
    saveBlob(new Blob([text], { type: "text/plain" }), name || fileName(run, format, "txt"));
  };
  return (
    <li>
      <span class="name" title={isNew ? "" : "The placement as it is"}>{FORMAT_NAMES[format]}</span>
      <span class="buttons">
        <CopyButton text={text} label={`Copy the ${FORMAT_NAMES[format]}`} />
        <button type="button" class="save" aria-label={`Save the ${FORMAT_NAMES[format]}`} title={`Save as ${name}`} onClick={saveIt}>Save</button>
      </span>
      <span><code class="command">{line}</code>{note && <span class="soft small"> {note}</span>}</span>
      <CopyButton text={line} label={`Copy the command line for the ${FORMAT_NAMES[format]}`} />
    </li>
  );
}
