// Patterns of the selected range, else of the whole run, or of a run that goes on of its last seconds.

import { effect, signal } from "@preact/signals";
import { GivenUp } from "../../asks";
import type { History } from "../../feed/calls";
import { same } from "../../same";
import { remembered } from "../../state/arrangement";
import { keptOf } from "../../state/kept";
import { Newest, type NewestFigures } from "../../state/newest";
import type { Store } from "../../state/store";
import { type PathScope, pathOf } from "../critical/state";
import { joined, type Pattern } from "./detect";

export interface KnownPatterns { scope: PathScope; patterns: readonly Pattern[] }

/** Stretches of a range, each with its own patterns. */
const STRETCHES = 8;

export class PatternState {
  readonly figures = signal<NewestFigures<KnownPatterns>>({ known: null, isAsking: false, why: "" });
  readonly isShown = remembered("particles.patterns", "hidden", ["shown", "hidden"]);
  /** The one that is drawn over the particles. */
  readonly drawn = signal<Pattern | null>(null);
  private readonly questions: Newest<PathScope, KnownPatterns>;
  private readonly wanted = signal<PathScope | null>(null);
  private readonly waiting = new Map<number, { resolve: (patterns: Pattern[]) => void; reject: (reason: Error) => void }>();
  private worker: Worker | null = null;
  private number = 0;

  constructor(private readonly store: Store) {
    this.questions = new Newest((scope) => this.ask(scope), (figures) => {
      if (figures.known !== this.figures.peek().known) this.drawn.value = null;
      this.figures.value = figures;
    });
  }

  watch(): () => void {
    const stop = effect(() => {
      this.wanted.value = pathOf(this.store).scope.value;
      this.questions.want(this.wanted.peek(), this.store.link.value.phase === "open");
    });
    return () => {
      stop();
      this.wanted.value = null;
      this.questions.stop();
    };
  }

  private async ask(scope: PathScope): Promise<KnownPatterns> {
    const [from, to] = scope.rangeNs;
    const step = Math.max(1, (to - from) / STRETCHES);
    const stretches: Pattern[][] = [];
    for (let begin = from; begin < to; begin += step) {
      // Nobody looks any more, or at something else.
      if (!same(this.wanted.peek(), scope)) throw new GivenUp("Another range is looked at.");
      stretches.push(await this.find(await this.store.questions.history(begin, Math.min(to, begin + step))));
    }
    return { scope, patterns: joined(stretches) };
  }

  /** Beside the page: with many ranks there is much to sort. */
  private find(history: History): Promise<Pattern[]> {
    if (!this.worker) {
      this.worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
      this.worker.addEventListener("message", ({ data }: MessageEvent<{ number: number; patterns: Pattern[] }>) => {
        this.waiting.get(data.number)?.resolve(data.patterns);
        this.waiting.delete(data.number);
      });
      this.worker.addEventListener("error", ({ message }) => {
        this.worker = null;
        for (const { reject } of this.waiting.values()) reject(new Error(`The search ended: ${message}`));
        this.waiting.clear();
      });
    }
    const number = ++this.number;
    this.worker.postMessage({ number, history });
    return new Promise((resolve, reject) => this.waiting.set(number, { resolve, reject }));
  }
}

export const patternsOf = keptOf((store: Store) => new PatternState(store));
