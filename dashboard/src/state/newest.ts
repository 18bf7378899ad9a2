// What is known of a scope: asks once a scope stays, drops answers to what is not wanted any more. For any kind of
// question.

import { same } from "../same";
import { Asking, NOBODY, type Outcome, REST_MS } from "./asking";

export interface NewestFigures<Answered> {
  /** The newest answer: it stays while another is on its way. */
  known: Answered | null;
  isAsking: boolean;
  /** Why there is none for what is wanted, in words; else empty. */
  why: string;
}

export class Newest<Scope, Answered extends { readonly scope: Scope }> {
  private scope: Scope | null = null;
  private isOpen = false;
  private figures: NewestFigures<Answered> = { known: null, isAsking: false, why: "" };
  private readonly asking: Asking<Scope, Answered>;

  constructor(ask: (scope: Scope) => Promise<Answered>, private readonly show: (figures: NewestFigures<Answered>) => void) {
    this.asking = new Asking(() => this.scope, ask, (outcome) => this.take(outcome));
  }

  want(scope: Scope | null, isOpen: boolean): void {
    const isSame = same(scope, this.scope);
    if (isSame && isOpen === this.isOpen) return;
    // A view that was just opened shows nothing yet: there is nothing to wait for.
    const restMs = this.scope === null && !this.figures.known ? 0 : REST_MS;
    this.scope = scope;
    this.isOpen = isOpen;
    const isKnown = scope !== null && same(this.figures.known?.scope, scope);
    if (isSame && isKnown) return;
    this.asking.drop();
    if (!scope || isKnown) this.become({ isAsking: false, why: "" });
    else this.askSoon(restMs);
  }

  /** More may be known of the same scope by now. */
  again(): void {
    if (!this.scope || !this.isOpen) return;
    this.asking.drop();
    this.askSoon();
  }

  /** How long the last answer took. */
  get tookMs(): number {
    return this.asking.tookMs;
  }

  /** Nobody looks any more; what is known stays known. */
  stop(): void {
    this.want(null, false);
  }

  private become(part: Partial<NewestFigures<Answered>>): void {
    this.figures = { ...this.figures, ...part };
    this.show(this.figures);
  }

  private askSoon(restMs = REST_MS): void {
    if (!this.isOpen) return this.become({ isAsking: false, why: NOBODY });
    this.become({ isAsking: true, why: "" });
    this.asking.askIn(restMs);
  }

  private take(outcome: Outcome<Answered>): void {
    if (!outcome) this.askSoon();
    else if ("why" in outcome) this.become({ isAsking: false, why: outcome.why });
    else this.become({ known: outcome.answer, isAsking: false, why: "" });
  }
}
