// Moves the clock: start, steps, play in both directions, now; speed, step and time; and whether others see the same.

import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useRef } from "preact/hooks";
import { type Actions, STEPS_NS } from "../../state/actions";
import { RATES } from "../../state/clock";
import { edgeNs, over } from "../../state/run";
import type { Store } from "../../state/store";
import { lengthOf, wholeRun } from "../../state/span";
import { clock, counted, roundDuration, short } from "../../words";
import { LET_GO, NO_CONTROL } from "../../words/access";
import { parseTime, rate as rateWords, rateMeaning, span } from "../../words/time";
import { Icon, type IconName } from "../icons";

export function Transport({ store, actions }: { store: Store; actions: Actions }) {
  const { clock: shown } = store.perspective.value;
  const run = store.figures.value;
  const done = over(run);
  const live = shown.mode === "live" && !done;
  const atEnd = useComputed(() => store.timeNs.value >= edgeNs(store.run.value)).value;
  const forward = live || (shown.mode === "playing" && shown.rate > 0);
  const backward = shown.mode === "playing" && shown.rate < 0;
  const step = roundDuration(store.stepNs.value);
  const barred = store.mayMove.value ? "" : `${NO_CONTROL} ${LET_GO}`;
  return (
    <section class="transport" aria-label="Transport">
      <div class="group">
        <Button icon="start" label="To the start" keys="Home" barred={barred} act={() => actions.toStart()} />
        <Button icon="stepBack" label={`Back by ${step}`} keys="Left" barred={barred} act={() => actions.step(-1)} />
        <Button icon="backward" label="Play backward" keys="j" pressed={backward} barred={barred} act={() => (backward ? actions.pause() : actions.play(-1))} />
        {forward || backward
          ? <Button icon="pause" label="Pause" keys="Space" barred={barred} act={() => actions.pause()} />
          : <Button icon="forward" label="Play" keys="Space" barred={barred} act={() => actions.play(1)} />}
        <Button icon="stepForward" label={`Forward by ${step}`} keys="Right" barred={barred} act={() => actions.step(1)} />
        <button type="button" class="live" aria-pressed={done ? atEnd : live} disabled={barred !== ""} title={barred || `${done ? "To the end" : "Back to now"} (End)`} onClick={() => actions.toEnd()}>
          {done ? "End" : "Live"}
        </button>
      </div>
      <TimeField store={store} actions={actions} barred={barred} />
      <div class="group">
        <Button icon="minus" label="Slower" keys="<" barred={barred} act={() => actions.changeRate(-1)} />
        <select class="rate" aria-label="Speed" disabled={barred !== ""} title={barred || rateMeaning(store.rate.value)} value={store.rate.value} onChange={(event) => actions.setRate(Number(event.currentTarget.value))}>
          {choices(RATES, store.rate.value).map((each) => <option key={each} value={each} title={rateMeaning(each)}>{rateWords(each)}</option>)}
        </select>
        <Button icon="plus" label="Faster" keys=">" barred={barred} act={() => actions.changeRate(1)} />
        <span class="small soft wide">{rateMeaning(store.rate.value)}</span>
      </div>
      <label class="group small soft">step
        <select value={store.stepNs.value} onChange={(event) => (store.stepNs.value = Number(event.currentTarget.value))}>
          {STEPS_NS.map((each) => <option key={each} value={each}>{roundDuration(each)}</option>)}
        </select>
      </label>
      <span class="spring" />
      <Meanwhile store={store} />
      <Follow store={store} actions={actions} />
    </section>
  );
}

/** A shared clock may run at a speed that is not on the ladder. */
function choices(ladder: readonly number[], current: number): readonly number[] {
  return ladder.includes(current) ? ladder : [...ladder, current].sort((a, b) => a - b);
}

interface ButtonProps { icon: IconName; label: string; keys: string; pressed?: boolean; barred: string; act: () => void }

function Button({ icon, label, keys, pressed, barred, act }: ButtonProps) {
  return (
    <button type="button" class="icon" aria-label={label} disabled={barred !== ""} title={barred ? `${label}: ${barred}` : `${label} (${keys})`} {...(pressed === undefined ? {} : { "aria-pressed": pressed })} onClick={act}>
      <Icon name={icon} />
    </button>
  );
}

/** Shows the time; typing one goes there. Changes with every frame, so it bypasses rendering. */
function TimeField({ store, actions, barred }: { store: Store; actions: Actions; barred: string }) {
  const input = useRef<HTMLInputElement>(null);
  const invalid = useSignal(false);
  const editing = useSignal(false);
  const digits = digitsFor(lengthOf(store.zoom.value ?? wholeRun(edgeNs(store.figures.value))));
  useSignalEffect(() => {
    const text = clock(store.timeNs.value, digitsFor(lengthOf(store.zoom.value ?? wholeRun(edgeNs(store.figures.value)))));
    if (input.current && !editing.value && input.current.value !== text) input.current.value = text;
  });
  const finish = (): void => {
    editing.value = false;
    invalid.value = false;
  };
  const keys = (event: KeyboardEvent): void => {
    if (event.key === "Escape") input.current?.blur();
    if (event.key !== "Enter" || !input.current) return;
    const ns = parseTime(input.current.value);
    invalid.value = ns === null;
    if (ns === null) return;
    actions.seek(ns);
    input.current.blur();
  };
  return (
    <input ref={input} class={`time digits-${digits}`} aria-label="Time of the run" aria-invalid={invalid.value} spellcheck={false} autocomplete="off" readOnly={barred !== ""}
      title={barred || (invalid.value ? "Not a time. Try 0:01:23.456, 83.4 or 250 ms." : "Type a time and press Enter: 0:01:23.456, 83.4 or 250 ms")}
      onFocus={(event) => {
        editing.value = true;
        event.currentTarget.select();
      }}
      onBlur={finish} onKeyDown={keys} />
  );
}

/** As many digits as a pixel of the timeline can show. */
function digitsFor(visibleNs: number): number {
  return visibleNs >= 2e9 ? 3 : visibleNs >= 2e5 ? 6 : 9;
}

/** Looking elsewhere during a run: what is new since. */
function Meanwhile({ store }: { store: Store }) {
  const left = store.leftLive.value;
  if (!left) return null;
  const run = store.figures.value;
  const calls = Math.max(0, run.totals.calls - left.calls);
  return <span class="meanwhile small" title="What the job did since this page looked elsewhere">+{span(edgeNs(run) - left.nowNs)}, {short(calls)} {calls === 1 ? "call" : "calls"} since</span>;
}

function Follow({ store, actions }: { store: Store; actions: Actions }) {
  const follows = store.own.value === null;
  const { pages, followers } = store.company.value;
  const company = pages > 1 ? `${followers} of ${counted(pages, "page", "pages")} follow it.` : "No other page is open.";
  return (
    <label class="group" title={`The shared clock: every page that follows it sees the same time, range and functions. ${company} (c)`}>
      <input type="checkbox" class="check" checked={follows} onChange={() => actions.toggleFollow()} />
      <span>Follow<span class="wide"> the shared clock</span>{pages > 1 ? ` (${followers} of ${pages})` : ""}</span>
    </label>
  );
}
