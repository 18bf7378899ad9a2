// What is known of the graph of a scope: asks once a scope stays, drops answers to what is not wanted any more. No socket.

import { GivenUp } from "../asks";
import type { Dag } from "../feed/dag";
import type { RankRanges, Span } from "./perspective";

/** Brushing changes the scope with every move. */
const REST_MS = 200;

/** What a graph is asked of. */
export interface DagScope {
  rangeNs: Span;
  /** Null: all. */
  ranks: RankRanges | null;
  /** Whether somebody selected the range; else it is the last second. */
  isSelected: boolean;
}

export interface KnownDag { dag: Dag; scope: DagScope }

export interface DagFigures {
  /** The newest answer: it stays while another is on its way. */
  known: KnownDag | null;
  isAsking: boolean;
  /** Why there is none for what is wanted, in words; else empty. */
  why: string;
}

export class DagQuestions {
  private scope: DagScope | null = null;
  private isOpen = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private asked = 0;
  private figures: DagFigures = { known: null, isAsking: false, why: "" };

  constructor(private readonly ask: (scope: DagScope) => Promise<Dag>, private readonly show: (figures: DagFigures) => void) {}

  want(scope: DagScope | null, isOpen: boolean): void {
    if (sameScope(scope, this.scope) && isOpen === this.isOpen) return;
    const isSame = sameScope(scope, this.scope);
    this.scope = scope;
    this.isOpen = isOpen;
    const isKnown = scope !== null && sameScope(this.figures.known?.scope ?? null, scope);
    if (isSame && isKnown) return;
    clearTimeout(this.timer);
    // Answers on their way are about something else.
    this.asked++;
    if (!scope || isKnown) this.become({ isAsking: false, why: "" });
    else if (!isOpen) this.become({ isAsking: false, why: "there is no connection to ask over" });
    else this.askSoon(scope);
  }

  /** More may be known of the same scope by now. */
  again(): void {
    if (!this.scope || !this.isOpen) return;
    clearTimeout(this.timer);
    this.asked++;
    this.askSoon(this.scope);
  }

  /** Nobody looks any more; what is known stays known. */
  stop(): void {
    this.want(null, false);
  }

  private become(part: Partial<DagFigures>): void {
    this.figures = { ...this.figures, ...part };
    this.show(this.figures);
  }

  private askSoon(scope: DagScope): void {
    this.become({ isAsking: true, why: "" });
    this.timer = setTimeout(() => this.askNow(scope), REST_MS);
  }

  private askNow(scope: DagScope): void {
    const number = ++this.asked;
    this.ask(scope).then((dag) => {
      if (number === this.asked) this.become({ known: { dag, scope }, isAsking: false, why: "" });
    }, (reason: Error) => {
      if (number !== this.asked) return;
      if (reason instanceof GivenUp && this.isOpen) this.askSoon(scope);
      else this.become({ isAsking: false, why: reason.message });
    });
  }
}

export function sameScope(one: DagScope | null, other: DagScope | null): boolean {
  return one === other || (one !== null && other !== null && one.rangeNs[0] === other.rangeNs[0] && one.rangeNs[1] === other.rangeNs[1]
    && one.isSelected === other.isSelected && JSON.stringify(one.ranks) === JSON.stringify(other.ranks));
}

const SECOND_NS = 1e9;

/** The last whole second before a moment; of a run that is shorter, all there is. */
export function lastSecond(timeNs: number): Span {
  const to = Math.floor(timeNs / SECOND_NS) * SECOND_NS;
  return to >= SECOND_NS ? [to - SECOND_NS, to] : [0, Math.max(1, Math.floor(timeNs))];
}
