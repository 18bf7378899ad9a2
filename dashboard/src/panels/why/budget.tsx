// Where time in MPI went: one stacked bar and its parts in words; the same for what was waited for.

import { unbroken } from "../../words";
import { budgetRows, part, type Row, seconds, waitingRows } from "../../words/found";
import { partTone } from "../causes";
import { type Scope, stack } from "./layout";

export function Budget({ scope: { parts: budget, where } }: { scope: Scope }) {
  return (
    <section>
      <h2>Where time in MPI went <span class="soft">{seconds(budget.totalS)} {where || "of all threads"}</span></h2>
      {budget.totalS > 0
        ? <Stacked label="Time in MPI" rows={budgetRows(budget)} totalS={budget.totalS} />
        : <p class="soft">No time was spent in MPI{where && ` ${where}`}.</p>}
    </section>
  );
}

export function WaitingBy({ scope: { parts: budget, where } }: { scope: Scope }) {
  const rows = waitingRows(budget.waitingBy);
  const { apart, apartS } = stack(rows);
  return (
    <section>
      <h2 title="Waiting is charged to what kept those who were waited for, and those whom they waited for themselves">What was waited for <span class="soft">{seconds(budget.waitingS)} {where || "of waiting"}</span></h2>
      {budget.waitingS > 0
        ? <Stacked label="Waiting by what kept the others" rows={rows} totalS={budget.waitingS} />
        : <p class="soft">Nobody waited for anybody{where && ` ${where}`}.</p>}
      {budget.waitingS > 0 && apart.length > 0 && (
        <p class="soft apart">
          Not in the bar, as less than nothing: {apart.map(({ name, seconds: value }) => `${name} ${unbroken(seconds(value))}`).join(", ")}.
          {" "}Those who waited had more of it on their own way than those they waited for, so {unbroken(seconds(-apartS))} of the bar is made up for and the sum is {unbroken(seconds(budget.waitingS))}.
        </p>
      )}
    </section>
  );
}

function Stacked({ label, rows, totalS }: { label: string; rows: readonly Row[]; totalS: number }) {
  const { segments } = stack(rows);
  const words = segments.filter((row) => row.seconds > 0).map((row) => `${row.name} ${seconds(row.seconds)}`).join(", ");
  return (
    <>
      <div class="stacked" role="img" aria-label={`${label}: ${words}`}>
        {segments.filter(({ fraction }) => fraction > 0).map((row) => (
          <i key={row.part} title={`${row.name}: ${seconds(row.seconds)}, ${part(row.seconds / totalS)}`} style={{ flexGrow: row.fraction, backgroundColor: partTone(row.part) }} />
        ))}
      </div>
      <ul class="parts">
        {segments.map((row) => (
          <li key={row.part} title={row.title} class={row.seconds > 0 ? "" : "soft"}>
            <span class="swatch" style={{ backgroundColor: partTone(row.part) }} />
            <span class="name">{row.name}</span>
            <span class="value">{seconds(row.seconds)}</span>
            <span class="share">{part(row.seconds / totalS)}</span>
          </li>
        ))}
      </ul>
    </>
  );
}
