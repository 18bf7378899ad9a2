// The run's figures, with units.

import { edgeNs, lost } from "../../state/run";
import type { Store } from "../../state/store";
import { runFigures } from "../../words/overview";
import { selectionFigures } from "../../words/selected";
import { SelectedNote } from "../selected-note";
import { useTable } from "../share/tables";

export function RunFigures({ store }: { store: Store }) {
  const shown = store.shownFigures.value;
  const { run } = shown;
  const rows = shown.selected ? selectionFigures(shown) : runFigures(run);
  useTable("figures of the run", () => ({
    columns: ["ranks", "nodes", "duration_ns", "calls", "polls", "messages", "intra_messages", "inter_messages", "payload_bytes", "lost_calls"],
    rows: [[shown.ranks, run.job.nodes, shown.selected ? shown.lengthNs : edgeNs(run), run.totals.calls, run.totals.polls, run.totals.messages, run.totals.intraMessages, run.totals.interMessages, run.totals.bytes, lost(run.losses)]],
  }));
  return (
    <section>
      <h2>{shown.selected ? "Figures" : "The run"} <SelectedNote store={store} /><button type="button" class="more" onClick={() => void (store.tab.value = "figures")}>Open Figures</button></h2>
      <dl class="run-figures">
        {rows.map(({ name, value, note }) => <div key={name}><dt>{name}</dt><dd title={note && `${value}, ${note}`}>{value}{note && <small>{note}</small>}</dd></div>)}
      </dl>
    </section>
  );
}
