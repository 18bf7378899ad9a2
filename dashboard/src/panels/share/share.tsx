// The menu that takes a view elsewhere: its picture and its tables, to the clipboard or into a file.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Frames } from "../../frames";
import { RANGES_MAX } from "../../state/ranks";
import type { Store } from "../../state/store";
import { clock, counted } from "../../words";
import { ranksWords } from "../../words/regions";
import { fileName, saveBlob } from "../save";
import { type Heading, pictureOf, pngOf } from "./picture";
import { csv, sharedTables } from "./tables";

const SAID_MS = 4000;

interface ShareProps {
  store: Store;
  frames: Frames;
  /** The view's name. */
  view: string;
  /** What is taken. */
  part(): HTMLElement | null;
}

export function Share({ store, frames, view, part }: ShareProps) {
  const isOpen = useSignal(false);
  const outcome = useSignal("");
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!isOpen.value) return undefined;
    box.current?.querySelector<HTMLElement>("[role=menuitem]")?.focus();
    const away = (event: Event): void => {
      if (!box.current?.contains(event.target as Node)) isOpen.value = false;
    };
    addEventListener("pointerdown", away, true);
    return () => removeEventListener("pointerdown", away, true);
  }, [isOpen.value, isOpen]);
  const act = (what: string, work: () => Promise<void> | void) => async (): Promise<void> => {
    isOpen.value = false;
    try {
      await work();
      outcome.value = what;
    } catch (reason) {
      outcome.value = `That failed: ${reason instanceof Error ? reason.message : String(reason)}`;
    }
    setTimeout(() => (outcome.value = ""), SAID_MS);
  };
  const picture = (): ReturnType<typeof pictureOf> => {
    const element = part();
    if (!element) throw new Error("there is no view to take.");
    return pictureOf(element, headingOf(store, view), () => frames.drawNow());
  };
  const name = (what: string, kind: string): string => fileName(store.run.peek().job.run || "mpiscope", what.toLowerCase().replace(/[^a-z0-9]+/g, "-"), kind);
  const items: [string, () => Promise<void>][] = [
    ["Copy picture", act("The picture is in the clipboard.", () => navigator.clipboard.write([new ClipboardItem({ "image/png": pngOf(picture()) })]))],
    ["Save picture as PNG", act("The picture is saved.", async () => saveBlob(await pngOf(picture()), name(view, "png")))],
    ["Save picture as SVG", act("The picture is saved.", () => saveBlob(new Blob([picture().svg], { type: "image/svg+xml" }), name(view, "svg")))],
  ];
  for (const [table, make] of sharedTables.value) {
    items.push(
      [`Copy ${table} as CSV`, act("The table is in the clipboard.", () => navigator.clipboard.writeText(csv(make())))],
      [`Save ${table} as CSV`, act("The table is saved.", () => saveBlob(new Blob([csv(make())], { type: "text/csv" }), name(table, "csv")))],
    );
  }
  const keys = (event: KeyboardEvent): void => {
    const all = [...(box.current?.querySelectorAll<HTMLElement>("[role=menuitem]") ?? [])];
    const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (event.key === "Escape") {
      isOpen.value = false;
      box.current?.querySelector("button")?.focus();
    } else if (by !== 0) all[(all.indexOf(document.activeElement as HTMLElement) + by + all.length) % all.length]?.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="share" ref={box} onKeyDown={(event) => isOpen.value && keys(event)}>
      <span class="small soft" role="status">{outcome.value}</span>
      <button type="button" aria-haspopup="menu" aria-expanded={isOpen.value} title="This view as a picture or as tables" onClick={() => (isOpen.value = !isOpen.value)}>Copy</button>
      {isOpen.value && (
        <div class="menu" role="menu" aria-label={`Take ${view} elsewhere`}>
          {items.map(([label, work]) => <button type="button" role="menuitem" tabIndex={-1} key={label} onClick={() => void work()}>{label}</button>)}
        </div>
      )}
    </div>
  );
}

function headingOf(store: Store, view: string): Heading {
  const { job } = store.run.peek();
  const { rangeNs, ranks } = store.perspective.peek();
  const zoom = store.zoom.peek();
  const parts = [
    rangeNs ? `${clock(rangeNs[0], 3)} to ${clock(rangeNs[1], 3)}` : zoom ? `${clock(zoom[0], 3)} to ${clock(zoom[1], 3)} shown` : `whole run, at ${clock(store.timeNs.peek(), 3)}`,
    ranks ? ranksWords(ranks, RANGES_MAX) : counted(job.ranks, "rank", "ranks"),
  ];
  return { title: `${view}: ${job.run || job.command}`, subtitle: parts.join("; ") };
}
