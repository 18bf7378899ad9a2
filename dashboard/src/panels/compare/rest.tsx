// What else changed: expected transfer times, regions, counts, and how good the figures are.

import type { Comparison, Figure, RegionChange, Usual } from "../../feed/compared";
import { bytes, count, duration } from "../../words";
import { isChange, medians, times, usualName } from "../../words/compared";
import { ranksWords } from "../../words/regions";

const MOST = 8;

export function Rest({ comparison }: { comparison: Comparison }) {
  return (
    <div class="pair">
      <section>
        <h2>Expected transfer times <span class="soft">medians that changed</span></h2>
        <UsualRows usual={comparison.usual} isKnown={comparison.ofRank !== null} />
        <h2>Ranks that talk mostly among themselves</h2>
        <Regions regions={comparison.regions} isKnown={comparison.ofRank !== null} />
      </section>
      <section>
        <h2>Counts and quality</h2>
        <Counts comparison={comparison} />
      </section>
    </div>
  );
}

function UsualRows({ usual, isKnown }: { usual: readonly Usual[]; isKnown: boolean }) {
  const far = (row: Usual): number => Math.abs(Math.log(row.medianNs.change?.ratio ?? 1));
  const changed = usual.filter((row) => isChange(row.medianNs)).sort((one, other) => far(other) - far(one));
  const known = usual.filter((row) => row.medianNs.change !== null).length;
  if (!isKnown) return <p class="soft">They are known only of recordings with a diagnosis.</p>;
  if (changed.length === 0) return <p class="soft">{known > 0 ? `None of ${known} medians changed by more than noise.` : "No median is known of both."}</p>;
  return (
    <ul class="lines">
      {changed.slice(0, MOST).map((row) => <li key={usualName(row)}><span>{usualName(row)}</span><span>{medians(row.medianNs)}</span><b>{times(row.medianNs)}</b></li>)}
      {changed.length > MOST && <li class="soft"><span>and {changed.length - MOST} more (mpiscope compare --json)</span></li>}
    </ul>
  );
}

function Regions({ regions, isKnown }: { regions: readonly RegionChange[] | null; isKnown: boolean }) {
  if (!regions) return <p class="soft">{isKnown ? "They are compared only of jobs with as many ranks." : "They are known only of recordings with a diagnosis."}</p>;
  const others = regions.filter(({ became }) => became !== "stayed").sort((one, other) => one.overlap - other.overlap);
  const stayed = regions.length - others.length;
  if (regions.length === 0) return <p class="soft">Neither has any.</p>;
  if (others.length === 0) return <p class="soft">{stayed === 1 ? "The one region stayed as it was." : `All ${count(stayed)} regions stayed as they were.`}</p>;
  return (
    <>
      <p class="soft">{count(stayed)} of {count(regions.length)} stayed as they were.</p>
      <ul class="lines">
        {others.slice(0, MOST).map((region) => <li key={`${region.became} ${region.aRanks.join()} ${region.bRanks.join()}`}><span>{regionWords(region)}</span></li>)}
        {others.length > MOST && <li class="soft"><span>and {others.length - MOST} more</span></li>}
      </ul>
    </>
  );
}

function regionWords({ became, aRanks, bRanks, parts }: RegionChange): string {
  const [a, b] = [ranksWords(aRanks, 3), ranksWords(bRanks, 3)];
  switch (became) {
    case "split": return `${a}: became ${parts[1]} regions`;
    case "joined": return `${parts[0]} regions became that of ${b}`;
    case "gone": return `${a}: is no region any more`;
    case "new": return `${b}: is new`;
    default: return `${a}: became ${b}`;
  }
}

function Counts({ comparison }: { comparison: Comparison }) {
  const { totals, cpuWaitShare, clockUncertaintyNs, a, b } = comparison;
  const percent = (value: number): string => `${(100 * value).toFixed(1)}\u2009%`;
  const rows: readonly [string, Figure, (value: number) => string][] = [
    ["calls", totals.calls, count],
    ["messages", totals.messages, count],
    ["within nodes", totals.intraMessages, count],
    ["between nodes", totals.interMessages, count],
    ["payload", totals.bytes, bytes],
    ["waiting for a CPU", cpuWaitShare, percent],
    ["lost calls", totals.lostCalls, count],
    ["clock uncertainty", clockUncertaintyNs, duration],
    ["ended before they began", totals.clockViolations, count],
  ];
  const words = (value: number | null, say: (value: number) => string): string => (value === null ? "\u2013" : say(value));
  const missing = [["A", a.missing], ["B", b.missing]] as const;
  return (
    <>
      <table class="parts" aria-label="Counts and quality">
        <thead><tr><th scope="col">what</th><th scope="col">A</th><th scope="col">B</th><th scope="col">times</th></tr></thead>
        <tbody>
          {rows.filter(([, figure]) => figure.a !== null || figure.b !== null).map(([name, figure, say]) => (
            <tr key={name} class={isChange(figure) ? "changed" : "same"}>
              <th scope="row">{name}</th><td>{words(figure.a, say)}</td><td>{words(figure.b, say)}</td><td>{figure.a === figure.b ? "" : times(figure)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {missing.flatMap(([side, sentences]) => sentences.slice(0, 4).map((sentence) => <p class="soft small" key={side + sentence}>Missing in {side}: {sentence}</p>))}
    </>
  );
}
