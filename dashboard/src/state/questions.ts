// Questions whose answers grow old: asked once a scope stays, and again, at leisure, when there is more of it. One is on
// its way at a time, and what is known stays until something newer is.

import { same } from "../same";
import { Asking, NOBODY, type Outcome, REST_MS } from "./asking";

/** A run that goes on grows all the time; figures that change faster cannot be read. */
const GROWTH_MS = 2000;
/** An answer that took long is asked for again later: at most one part in this number of the time goes into it. */
const LEISURE = 4;

export interface Figures<Scope, Answer> {
  /** The newest answer, and what it is of. */
  known: { answer: Answer; scope: Scope } | null;
  /** What is known is of something else than what is wanted by now. */
  isOther: boolean;
  isAsking: boolean;
  /** Why there is none for what is wanted, in words; else empty. */
  why: string;
}

export class Questions<Scope, Answer> {
  private scope: Scope | null = null;
  private isOpen = false;
  /** The scope of the last answer, or of the last question that has none. */
  private settled: { scope: Scope | null; why: string } = { scope: null, why: "" };
  private figures: Figures<Scope, Answer> = { known: null, isOther: false, isAsking: false, why: "" };
  private readonly asking: Asking<Scope, Answer>;

  /** `subjectOf`: scopes of one subject differ only by how much there is of it. */
  constructor(
    ask: (scope: Scope) => Promise<Answer>,
    private readonly subjectOf: (scope: Scope) => string,
    private readonly show: (figures: Figures<Scope, Answer>) => void,
    nowMs?: () => number,
  ) {
    this.asking = new Asking(() => (this.isOpen ? this.scope : null), ask, (outcome, scope) => this.take(outcome, scope), nowMs);
  }

  want(scope: Scope | null, isOpen: boolean): void {
    if (same(scope, this.scope) && isOpen === this.isOpen) return;
    const isGrowth = isOpen === this.isOpen && scope !== null && this.scope !== null && this.subjectOf(scope) === this.subjectOf(this.scope);
    this.scope = scope;
    this.isOpen = isOpen;
    if (!isGrowth) this.asking.cancel();
    if (!scope || same(scope, this.settled.scope)) this.become({ isAsking: false, why: this.settled.why });
    else this.askAfter(isGrowth ? this.leisureMs : REST_MS);
  }

  /** Somebody wants it once more, where there was no answer. */
  again(): void {
    if (!this.scope || !this.isOpen) return;
    this.settled = { scope: null, why: "" };
    this.askAfter(0);
  }

  /** Nobody looks any more; what is known stays known. */
  stop(): void {
    this.want(null, false);
  }

  private get leisureMs(): number {
    return Math.max(GROWTH_MS, LEISURE * this.asking.tookMs);
  }

  private become(part: Partial<Figures<Scope, Answer>>): void {
    this.figures = { ...this.figures, ...part };
    const { known } = this.figures;
    this.figures.isOther = known !== null && this.scope !== null && this.subjectOf(known.scope) !== this.subjectOf(this.scope);
    this.show(this.figures);
  }

  private askAfter(restMs: number): void {
    if (!this.isOpen) return this.become({ isAsking: false, why: NOBODY });
    this.become({ isAsking: true, why: "" });
    if (!this.asking.isAway && !this.asking.isWaiting) this.asking.askIn(restMs);
  }

  private take(outcome: Outcome<Answer>, scope: Scope): void {
    const wanted = this.scope;
    if (!wanted) return;
    const isAnswered = outcome !== null && this.subjectOf(scope) === this.subjectOf(wanted);
    if (isAnswered) {
      const why = "why" in outcome ? outcome.why : "";
      this.settled = { scope, why };
      this.become("why" in outcome ? { why } : { known: { answer: outcome.answer, scope }, why });
    }
    if (same(wanted, this.settled.scope)) this.become({ isAsking: false });
    else this.askAfter(isAnswered ? this.leisureMs : REST_MS);
  }
}
