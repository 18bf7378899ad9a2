// A stacked bar whose parts read as sentences: what is pointed at or has the focus in the bar is marked in the list, and
// what is pointed at in the list is marked in the bar.

import { useSignal } from "@preact/signals";
import type { Part } from "../../palette/causes";
import { part, type Row, seconds } from "../../words/found";
import { partTone } from "../causes";
import { sideways } from "../gestures";
import { stack } from "./layout";

interface StackedProps {
  label: string;
  rows: readonly Row[];
  /** What shares are of. */
  totalS: number;
  sentence(row: Row): string;
}

export function Stacked({ label, rows, totalS, sentence }: StackedProps) {
  const marked = useSignal<Part | null>(null);
  const { segments } = stack(rows);
  const shown = segments.filter(({ fraction }) => fraction > 0);
  // One of them is reached with Tab, the others with the arrows.
  const first = shown.some((row) => row.part === marked.value) ? marked.value : shown[0]?.part;
  const keys = (event: KeyboardEvent): void => {
    const by = sideways(event);
    if (by === 0) return;
    event.preventDefault();
    const all = [...(event.currentTarget as HTMLElement).querySelectorAll("button")];
    all[(all.indexOf(document.activeElement as HTMLButtonElement) + by + all.length) % all.length]?.focus();
  };
  const mark = (next: Part | null) => (): void => void (marked.value = next);
  return (
    <>
      <div class={`stacked ${marked.value ? "marks" : ""}`} role="toolbar" aria-label={label} onKeyDown={keys}>
        {shown.map((row) => (
          <button type="button" key={row.part} tabIndex={row.part === first ? 0 : -1} class={row.part === marked.value ? "marked" : ""}
            style={{ flexGrow: row.fraction, backgroundColor: partTone(row.part) }}
            title={`${row.name}: ${seconds(row.seconds)}, ${part(row.seconds / totalS)}`} aria-label={`${row.name}: ${seconds(row.seconds)}. ${sentence(row)}`}
            onPointerEnter={mark(row.part)} onPointerLeave={mark(null)} onFocus={mark(row.part)} onBlur={mark(null)} />
        ))}
      </div>
      <ul class="parts">
        {segments.map((row) => (
          <li key={row.part} title={row.title} class={`${row.seconds > 0 ? "" : "soft"} ${row.part === marked.value ? "marked" : ""}`} onPointerEnter={mark(row.part)} onPointerLeave={mark(null)}>
            <span class="swatch" style={{ backgroundColor: partTone(row.part) }} />
            <span class="name">{row.name}</span>
            <span class="value">{seconds(row.seconds)}</span>
            <span class="share">{part(row.seconds / totalS)}</span>
            <small>{sentence(row)}</small>
          </li>
        ))}
      </ul>
    </>
  );
}
