// Questions whose answers grow old: asked once a scope stays, and again, at leisure, when there is more of it. One is on
// its way at a time, and what is known stays until something newer is. No socket.

import { GivenUp } from "../asks";

/** Brushing changes the scope with every move. */
const REST_MS = 200;
/** A run that goes on grows all the time; figures that change faster cannot be read. */
const GROWTH_MS = 2000;
/** An answer that took long is asked for again later: at most one part in so many of the time goes into it. */
const LEISURE = 4;
const NOBODY = "there is no connection to ask over";

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
  private timer: ReturnType<typeof setTimeout> | undefined;
  private isAway = false;
  private tookMs = 0;
  /** The scope of the last answer, or of the last question that has none. */
  private settled = { scope: "", why: "" };
  private figures: Figures<Scope, Answer> = { known: null, isOther: false, isAsking: false, why: "" };

  /** `subjectOf`: scopes of one subject differ only by how much there is of it. */
  constructor(
    private readonly ask: (scope: Scope) => Promise<Answer>,
    private readonly subjectOf: (scope: Scope) => string,
    private readonly show: (figures: Figures<Scope, Answer>) => void,
    private readonly nowMs: () => number = () => performance.now(),
  ) {}

  want(scope: Scope | null, isOpen: boolean): void {
    if (JSON.stringify(scope) === JSON.stringify(this.scope) && isOpen === this.isOpen) return;
    const isGrowth = isOpen === this.isOpen && scope !== null && this.scope !== null && this.subjectOf(scope) === this.subjectOf(this.scope);
    this.scope = scope;
    this.isOpen = isOpen;
    if (!isGrowth) this.cancel();
    if (!scope || this.settled.scope === JSON.stringify(scope)) this.become({ isAsking: false, why: this.settled.why });
    else if (!isOpen) this.become({ isAsking: false, why: NOBODY });
    else this.askIn(isGrowth ? Math.max(GROWTH_MS, LEISURE * this.tookMs) : REST_MS);
  }

  /** Somebody wants it once more, where there was no answer. */
  again(): void {
    if (!this.scope || !this.isOpen) return;
    this.settled = { scope: "", why: "" };
    this.askIn(0);
  }

  /** Nobody looks any more; what is known stays known. */
  stop(): void {
    this.want(null, false);
  }

  private cancel(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private become(part: Partial<Figures<Scope, Answer>>): void {
    this.figures = { ...this.figures, ...part };
    const { known } = this.figures;
    this.figures.isOther = known !== null && this.scope !== null && this.subjectOf(known.scope) !== this.subjectOf(this.scope);
    this.show(this.figures);
  }

  private askIn(restMs: number): void {
    this.become({ isAsking: true, why: "" });
    if (this.isAway || this.timer !== undefined) return;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      if (this.scope && this.isOpen) this.askNow(this.scope);
    }, restMs);
  }

  private askNow(scope: Scope): void {
    const sentMs = this.nowMs();
    this.isAway = true;
    this.ask(scope).then((answer) => {
      this.tookMs = this.nowMs() - sentMs;
      this.back(scope, { known: { answer, scope }, why: "" });
    }, (reason: Error) => this.back(scope, reason instanceof GivenUp ? null : { why: reason.message }));
  }

  /** What came back, if it is still about what is wanted; null: the question was given up. */
  private back(scope: Scope, told: Partial<Figures<Scope, Answer>> | null): void {
    this.isAway = false;
    const wanted = this.scope;
    if (!wanted) return;
    const isSubject = this.subjectOf(scope) === this.subjectOf(wanted);
    if (told && isSubject) {
      this.settled = { scope: JSON.stringify(scope), why: told.why ?? "" };
      this.become(told);
    }
    const isDone = this.settled.scope === JSON.stringify(wanted);
    if (isDone) this.become({ isAsking: false });
    else if (!this.isOpen) this.become({ isAsking: false, why: NOBODY });
    else this.askIn(told && isSubject ? Math.max(GROWTH_MS, LEISURE * this.tookMs) : REST_MS);
  }
}
