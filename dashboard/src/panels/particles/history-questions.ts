// Which part of the history to ask for next: only what is new when time goes forward, all again when it goes back.
// Pure; the view asks, and tells it what came.

/** Live, and after a question for all that there was: going back asks those. */
const LONG_PAUSE_MS = 1000;
const SHORT_PAUSE_MS = 250;
/** After an error: the same question would most likely fail again at once. */
const ERROR_PAUSE_MS = 3000;

export interface Question {
  fromNs: number;
  toNs: number;
  /** All that was known before is void with this answer. */
  anew: boolean;
}

export class HistoryQuestions {
  /** The history begins here: 0, or where it was cleared. */
  fromNs = 0;
  #coveredNs = 0;
  #anew = true;
  #underWay: Question | null = null;
  #notBeforeMs = 0;

  /** Where the history that is known ends. */
  get coveredNs(): number {
    return this.#anew ? this.fromNs : this.#coveredNs;
  }

  /** Begins the history somewhere else; answers under way are for nothing. */
  begin(fromNs: number): void {
    this.fromNs = fromNs;
    this.#anew = true;
    this.#underWay = null;
    this.#notBeforeMs = 0;
  }

  /** What to ask for the history up to `toNs`; null while there is nothing to ask or it is too early. */
  next(toNs: number, live: boolean, nowMs: number): Question | null {
    if (this.#underWay !== null || nowMs < this.#notBeforeMs) return null;
    if (!this.waits(toNs)) return null;
    const anew = this.#anew || toNs < this.#coveredNs;
    this.#underWay = { fromNs: anew ? this.fromNs : this.#coveredNs, toNs: Math.max(toNs, this.fromNs), anew };
    this.#notBeforeMs = nowMs + (live || anew ? LONG_PAUSE_MS : SHORT_PAUSE_MS);
    return this.#underWay;
  }

  /** Whether there will be something to ask once it is not too early any more. */
  waits(toNs: number): boolean {
    if (this.#underWay !== null) return false;
    return Math.max(toNs, this.fromNs) !== this.coveredNs;
  }

  /** Takes the answer's end; false when the answer is to a question that no longer counts. */
  answered(question: Question, toNs: number): boolean {
    if (question !== this.#underWay) return false;
    this.#underWay = null;
    this.#anew = false;
    this.#coveredNs = Math.max(question.toNs, toNs);
    return true;
  }

  failed(question: Question, nowMs: number): void {
    if (question !== this.#underWay) return;
    this.#underWay = null;
    this.#notBeforeMs = nowMs + ERROR_PAUSE_MS;
  }
}
