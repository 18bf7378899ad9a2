// Beside a view of one moment: what other programs added to that moment.

import { useComputed } from "@preact/signals";
import type { Store } from "../../state/store";
import { theme } from "../../state/theme";
import { short } from "../../words";
import { authorColour, notesAt, valueAt } from "./lines";
import { goTo, noteWords } from "./strip";

/** More would hide the view; the list of the timeline has all. */
const SHOWN = 4;

export function NotesOfMoment({ store }: { store: Store }) {
  // The clock moves with every frame; the notes change with few.
  const numbers = useComputed(() => notesAt(store.shownAnnotations.value, store.timeNs.value - store.fadeNs(), store.timeNs.value).map(({ number }) => number).join());
  const values = useComputed(() => store.shownSeries.value.map((each) => valueAt(each, store.timeNs.value)).join());
  const series = values.value === "" ? [] : store.shownSeries.value;
  const shown = new Set(numbers.value.split(",").map(Number));
  const notes = store.shownAnnotations.value.filter(({ number }) => shown.has(number)).sort((a, b) => b.timeNs - a.timeNs);
  if (notes.length + series.length === 0) return null;
  const nowNs = store.timeNs.peek();
  return (
    <div class="notes-moment small" role="group" aria-label="Notes and values of other programs at this moment">
      {notes.slice(0, SHOWN).map((note) => (
        <button key={note.number} type="button" title={noteWords(note)} onClick={() => goTo(store, note)}>
          <i style={{ backgroundColor: note.colour ?? authorColour(note.author, theme.value) }} />
          <span class="soft">{note.rank === null ? "" : `rank ${note.rank} `}</span>{note.text}
        </button>
      ))}
      {notes.length > SHOWN && <span class="soft">{notes.length - SHOWN} more</span>}
      {series.slice(0, SHOWN).map((each) => {
        const value = valueAt(each, nowNs);
        return value !== null && <span key={`${each.author} ${each.name}`} title={`${each.name} by ${each.author}`}><i style={{ backgroundColor: authorColour(each.author, theme.value) }} />{each.name} {short(value)}{each.unit ? ` ${each.unit}` : ""}</span>;
      })}
    </div>
  );
}
