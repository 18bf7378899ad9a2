// What is known of a scope: asks once a scope stays, drops answers to what is not wanted any more. For any kind of
// question; no socket.

import { GivenUp } from "../asks";

/** Brushing changes a scope with every move. */
const REST_MS = 200;

export interface NewestFigures<Known> {
  /** The newest answer: it stays while another is on its way. */
  known: Known | null;
  isAsking: boolean;
  /** Why there is none for what is wanted, in words; else empty. */
  why: string;
}

export class Newest<Scope, Known extends { readonly scope: Scope }> {
  private scope: Scope | null = null;
  private isOpen = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private asked = 0;
  private figures: NewestFigures<Known> = { known: null, isAsking: false, why: "" };

  constructor(
    private readonly ask: (scope: Scope) => Promise<Known>,
    private readonly isSame: (one: Scope, other: Scope) => boolean,
    private readonly show: (figures: NewestFigures<Known>) => void,
  ) {}

  want(scope: Scope | null, isOpen: boolean): void {
    const isSame = this.same(scope, this.scope);
    if (isSame && isOpen === this.isOpen) return;
    this.scope = scope;
    this.isOpen = isOpen;
    const isKnown = scope !== null && this.same(this.figures.known?.scope ?? null, scope);
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

  private same(one: Scope | null, other: Scope | null): boolean {
    return one === other || (one !== null && other !== null && this.isSame(one, other));
  }

  private become(part: Partial<NewestFigures<Known>>): void {
    this.figures = { ...this.figures, ...part };
    this.show(this.figures);
  }

  private askSoon(scope: Scope): void {
    this.become({ isAsking: true, why: "" });
    this.timer = setTimeout(() => this.askNow(scope), REST_MS);
  }

  private askNow(scope: Scope): void {
    const number = ++this.asked;
    this.ask(scope).then((known) => {
      if (number === this.asked) this.become({ known, isAsking: false, why: "" });
    }, (reason: Error) => {
      if (number !== this.asked) return;
      if (reason instanceof GivenUp && this.isOpen) this.askSoon(scope);
      else this.become({ isAsking: false, why: reason.message });
    });
  }
}
