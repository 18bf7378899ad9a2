// Where a rank's time went in both: two bars on one scale, and each part with its change.

import type { Comparison, Figure, PartName, WaitName } from "../../feed/compared";
import { PARTS } from "../../feed/compared";
import type { Part } from "../../palette/causes";
import { amount, type Basis, difference, isChange, times } from "../../words/compared";
import { partTone } from "../causes";
import { bars } from "./layout";

export const PART_WORDS: Readonly<Record<PartName, string>> = {
  waiting: "waiting for others", base: "expected transfer time", distance: "inter-node cost", excess: "slower than expected",
  operation: "collective operations", other: "other calls, CPU wait in MPI", unknown: "unknown",
};

const WAIT_WORDS: readonly (readonly [WaitName, string, Part])[] = [
  ["compute", "computing, or waiting for a CPU", "compute"], ["no_core", "of it waiting for a CPU", "cpuWait"], ["base", "expected transfer time", "base"],
  ["distance", "inter-node cost", "distance"], ["excess", "slower than expected", "excess"], ["operation", "collective operations", "operation"],
  ["other", "other MPI calls", "other"], ["unknown", "unknown", "unknown"],
];

/** A part of the time in MPI, or of the rest. */
type Tone = Part | "outside" | "finished";
const isRest = (tone: Tone | null): tone is "outside" | "finished" => tone === "outside" || tone === "finished";

interface Row { key: string; name: string; figure: Figure; tone: Tone | null; isInner: boolean }

const FINISHED = "finished, after its last call";

function toneStyle(tone: Tone): { backgroundColor?: string } {
  return isRest(tone) ? {} : { backgroundColor: partTone(tone) };
}

export function Budget({ comparison }: { comparison: Comparison }) {
  const { ofRank: budget, basis, durationS } = comparison;
  const title = basis === "share" ? "Share of a rank\u2019s time" : "Time of a rank";
  if (!budget) {
    return (
      <section>
        <h2>{title}</h2>
        <p class="soft">Where time went is known only of recordings with a diagnosis.</p>
      </section>
    );
  }
  const segments: { name: string; figure: Figure; tone: Tone }[] = [
    { name: "outside of MPI", figure: budget.outside, tone: "outside" },
    { name: FINISHED, figure: budget.finished, tone: "finished" },
    ...PARTS.map((part) => ({ name: PART_WORDS[part], figure: budget.parts[part], tone: part })),
  ];
  const { a, b } = bars(segments.map(({ figure }) => ({ a: figure.a ?? 0, b: figure.b ?? 0 })));
  const waits = WAIT_WORDS.map(([name, words, tone]): Row => ({ key: name, name: words, figure: budget.waitingBy[name], tone, isInner: name === "no_core" }));
  const rows: Row[] = [
    ...(basis === "seconds" ? [{ key: "run", name: "the whole run", figure: durationS, tone: null, isInner: false }] : []),
    { key: "outside", name: "outside of MPI", figure: budget.outside, tone: "outside", isInner: false },
    { key: "finished", name: FINISHED, figure: budget.finished, tone: "finished", isInner: false },
    { key: "total", name: "in MPI", figure: budget.total, tone: null, isInner: false },
    ...PARTS.map((part): Row => ({ key: part, name: PART_WORDS[part], figure: budget.parts[part], tone: part, isInner: true })),
  ];
  return (
    <section class="budget">
      <h2>{title} <span class="soft">the mean of all; both bars on one scale</span></h2>
      {(["a", "b"] as const).map((side) => (
        <div class="bar" key={side}>
          <b>{side.toUpperCase()}</b>
          <div class="stacked" role="img" aria-label={`${side.toUpperCase()}: ${segments.map(({ name, figure }) => `${name} ${amount(figure[side], basis)}`).join(", ")}`}>
            {segments.map(({ name, figure, tone }, at) => {
              const fraction = (side === "a" ? a : b)[at] ?? 0;
              return fraction > 0 && (
                <i key={name} title={`${name}: ${amount(figure[side], basis)}`} class={isRest(tone) ? tone : ""}
                  style={{ width: `${(100 * fraction).toFixed(3)}%`, ...toneStyle(tone) }} />
              );
            })}
          </div>
        </div>
      ))}
      <div class="columns">
        <div><h3>all of it</h3><Parts label={title} rows={rows} basis={basis} /></div>
        <div><h3>waiting, by what kept those who were waited for</h3><Parts label="Waiting by what kept the others" rows={waits} basis={basis} /></div>
      </div>
    </section>
  );
}

function Parts({ label, rows, basis }: { label: string; rows: readonly Row[]; basis: Basis }) {
  return (
    <table class="parts" aria-label={label}>
      <thead><tr><th scope="col">part</th><th scope="col">A</th><th scope="col">B</th><th scope="col">change</th><th scope="col">times</th></tr></thead>
      <tbody>
        {rows.map(({ key, name, figure, tone, isInner }) => (
          <tr key={key} class={isChange(figure) ? "changed" : "same"}>
            <th scope="row" class={isInner ? "inner" : ""}>
              {tone && <span class={`swatch ${isRest(tone) ? tone : ""}`} style={toneStyle(tone)} />}{name}
            </th>
            <td>{amount(figure.a, basis)}</td>
            <td>{amount(figure.b, basis)}</td>
            <td>{difference(figure, basis)}</td>
            <td>{times(figure)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
