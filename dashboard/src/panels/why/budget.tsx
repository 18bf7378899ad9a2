// Where time in MPI went: one stacked bar and its parts in sentences; the same for what was waited for.

import { apartWords, budgetLead, budgetSentence, signedPart, waitingSentence } from "../../words/budget";
import { budgetRows, type Row, seconds, waitingRows } from "../../words/found";
import type { Store } from "../../state/store";
import { partTone } from "../causes";
import { ReplayNote } from "../replay-note";
import { useTable } from "../share/tables";
import { TermMark } from "../terms/term";
import { type Scope, stack } from "./layout";
import { Stacked } from "./stacked";

export function Budget({ store, scope: { parts: budget, where, ranksS } }: { store: Store; scope: Scope }) {
  const rows = budgetRows(budget);
  useTable("time in MPI", () => tableOf(rows, budget.totalS, ranksS));
  return (
    <section>
      <h2>Where time in MPI went<TermMark id="budget" /> <span class="soft">{seconds(budget.totalS)} {where || "of all threads"}</span></h2>
      {budget.totalS > 0
        ? <>
          <p class="lead soft">{budgetLead(budget, ranksS)}</p>
          <ReplayNote store={store} />
          <Stacked label="Time in MPI" rows={rows} totalS={budget.totalS} sentence={(row) => budgetSentence(row, budget, ranksS)} />
        </>
        : <p class="soft">No time was spent in MPI{where && ` ${where}`}.</p>}
    </section>
  );
}

export function WaitingBy({ scope: { parts: budget, where, ranksS } }: { scope: Scope }) {
  const rows = waitingRows(budget.waitingBy);
  const { apart } = stack(rows);
  useTable("waiting by cause", () => tableOf(rows, budget.waitingS, ranksS));
  return (
    <section>
      <h2 title="Waiting is charged to what kept those who were waited for, and those whom they waited for themselves">What was waited for<TermMark id="waiting" /> <span class="soft">{seconds(budget.waitingS)} {where || "of waiting"}</span></h2>
      {budget.waitingS > 0
        ? <>
          <p class="lead soft">Waiting is charged to what kept those who were waited for, and those whom they waited for themselves. {apartWords(rows, budget.waitingS)}</p>
          <Stacked label="Waiting by what kept the others" rows={rows} totalS={budget.waitingS} sentence={(row) => waitingSentence(row, budget.waitingS, ranksS)} />
        </>
        : <p class="soft">Nobody waited for anybody{where && ` ${where}`}.</p>}
      {budget.waitingS > 0 && apart.length > 0 && (
        <ul class="parts apart" aria-label="Taken off the waiting">
          {apart.map((row) => (
            <li key={row.part} title={row.title}>
              <span class="swatch" style={{ backgroundColor: partTone(row.part) }} />
              <span class="name">less {row.name}</span>
              <span class="value">{seconds(row.seconds)}</span>
              <span class="share">{signedPart(row.seconds / budget.waitingS)}</span>
              <small>Those who waited had more of it on their own way than those they waited for.</small>
            </li>
          ))}
          <li class="sum">
            <span />
            <span class="name">waiting in all</span>
            <span class="value">{seconds(budget.waitingS)}</span>
            <span class="share">{signedPart(1)}</span>
          </li>
        </ul>
      )}
    </section>
  );
}

function tableOf(rows: readonly Row[], totalS: number, ranksS: number) {
  return {
    columns: ["part", "time_s", "share", "share_of_ranks_time"],
    rows: rows.map(({ name, seconds: value }) => [name, value, totalS > 0 ? value / totalS : null, ranksS > 0 ? value / ranksS : null]),
  };
}
