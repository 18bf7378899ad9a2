// The page of two recordings: the answer, both sides, both over time, and what changed in each part.

import type { Signal } from "@preact/signals";
import type { Compared, Comparison, Figure, Side } from "../../feed/compared";
import type { Store } from "../../state/store";
import { nextTheme, themeChoice } from "../../state/theme";
import { counted } from "../../words";
import { ending } from "../../words/compared";
import { seconds } from "../../words/found";
import { jobStatus } from "../../words/job-status";
import { CauseMark } from "../causes";
import { Notice } from "../header/header";
import { Icon } from "../icons";
import { CopyLink } from "../share/copy-link";
import { Budget } from "./budget";
import { OverTime } from "./over-time";
import { Rest } from "./rest";
import { Functions, Places } from "./tables";

interface Props { store: Store; compared: Compared; second: Signal<number>; openHelp: () => void }

export function ComparePage({ store, compared, second, openHelp }: Props) {
  const { comparison } = compared;
  return (
    <div class="shell compared">
      <Header store={store} comparison={comparison} second={second} openHelp={openHelp} />
      <div class="news">
        <section class="verdict" aria-label="Answer"><p><span class="sentence">{comparison.answer.replaceAll(" %", "\u00a0%")}</span></p></section>
        <Notice store={store} second={second} />
      </div>
      <main class="compare" tabIndex={0} aria-label="What changed between two recordings">
        <div class="pair sides">
          <SideFacts letter="A" side={comparison.a} comparison={comparison} of="a" />
          <SideFacts letter="B" side={comparison.b} comparison={comparison} of="b" />
        </div>
        {comparison.remarks.length > 0 && <ul class="remarks">{comparison.remarks.map((remark) => <li key={remark}>{remark}</li>)}</ul>}
        <OverTime compared={compared} />
        <Budget comparison={comparison} />
        <Functions comparison={comparison} />
        <Places comparison={comparison} />
        <Rest comparison={comparison} />
        <p class="noise soft small">{comparison.noise}</p>
      </main>
    </div>
  );
}

function Header({ store, comparison, second, openHelp }: { store: Store; comparison: Comparison; second: Signal<number>; openHelp: () => void }) {
  void second.value;
  const { a, b } = comparison;
  const now = jobStatus(store.figures.value, store.link.value, performance.now() - store.heardMs);
  const isOpen = store.link.value.phase === "open";
  document.title = `${a.folder} and ${b.folder} \u2013 mpiscope`;
  return (
    <header>
      <h1>mpiscope</h1>
      <span class="command" title={`A ${a.folder}\nB ${b.folder}`}>compare {a.folder} {b.folder}</span>
      <span class="spring" />
      <span class={`state ${isOpen ? "" : now.mood}`}><span class="dot" /><span>{isOpen ? "comparison" : now.word}</span></span>
      <span class="buttons">
        <CopyLink store={store} />
        <button type="button" class="icon" onClick={nextTheme} title={`Theme: ${themeChoice.value} (t)`} aria-label={`Theme: ${themeChoice.value}`}><Icon name={themeChoice.value} /></button>
        <button type="button" class="icon" onClick={openHelp} title="Keys and help (?)" aria-label="Keys and help">?</button>
      </span>
    </header>
  );
}

function SideFacts({ letter, side, comparison, of }: { letter: string; side: Side; comparison: Comparison; of: "a" | "b" }) {
  const value = (figure: Figure): number => figure[of] ?? 0;
  const length = comparison.durationS[of];
  return (
    <section aria-label={`Recording ${letter}`}>
      <h2><b class="letter">{letter}</b> <span class="folder command" title={side.folder}>{side.folder}</span></h2>
      <p class="facts">
        <b>{length === null ? "of unknown length" : seconds(length)}</b>
        <span>{counted(value(comparison.ranks), "rank", "ranks")} on {counted(value(comparison.nodes), "node", "nodes")}</span>
        <span>{ending(side)}</span>
        <span class="soft small">Open it alone: <code>mpiscope replay {side.folder}</code></span>
      </p>
      <p class="found">
        <CauseMark cause={side.cause} />
        <span>{side.headline ? side.headline.replaceAll(" %", "\u00a0%") : "It has no diagnosis: where time was lost is not known."}</span>
      </p>
    </section>
  );
}
