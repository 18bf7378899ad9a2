// The history behind the particles: asks for what is missing of it, and works it into a picture.

import type { ParticleFrame, ParticleServices } from "../view";
import type { GroundShape } from "./ground";
import { HistoryQuestions } from "./history-questions";
import { HistoryRaster } from "./history-raster";
import { grainsOf } from "./picture";
import type { Tables } from "./tables";

/** Work on the history in one frame; the rest waits for the next one. */
const HISTORY_SLICE_MS = 6;

export class HistoryLayer {
  readonly raster = new HistoryRaster();
  readonly #questions = new HistoryQuestions();
  #key = "";

  /** `tell` gets why there is no newer history, and an empty text once there is. */
  constructor(
    private readonly ask: ParticleServices["history"],
    private readonly wake: () => void,
    private readonly tell: (trouble: string) => void,
  ) {}

  /** Where it begins: 0, or where it was cleared. */
  get fromNs(): number {
    return this.#questions.fromNs;
  }

  /** Asks for what is missing and works on what came; true while some of it is left to do. */
  work(frame: ParticleFrame, ground: GroundShape, tables: Tables, nowMs: number): boolean {
    this.#configure(frame, ground, tables);
    this.raster.work(nowMs + HISTORY_SLICE_MS, () => performance.now());
    const toNs = Math.floor(frame.timeNs - frame.fadeNs);
    const question = this.#questions.next(toNs, frame.live, nowMs);
    if (question === null) return !this.raster.complete || this.#questions.waits(toNs);
    this.ask(question.fromNs, question.toNs).then(
      (history) => {
        this.wake();
        if (!this.#questions.answered(question, history.toNs)) return;
        this.tell("");
        if (question.anew) this.raster.clear();
        if (this.raster.add(history)) return;
        // Its ranks are put together more coarsely than those that are here: all once more, in the coarse way.
        this.raster.clear();
        this.#questions.begin(this.#questions.fromNs);
      },
      (error: unknown) => {
        this.#questions.failed(question, performance.now());
        this.tell(`No history: ${error instanceof Error ? error.message : String(error)}`);
        this.wake();
      },
    );
    return !this.raster.complete;
  }

  /** Begins anew at a moment; from the beginning of the run where it was cleared before. */
  clear(atNs: number): void {
    this.#questions.begin(this.#questions.fromNs > 0 ? 0 : Math.max(0, Math.floor(atNs)));
    this.raster.clear();
  }

  #configure(frame: ParticleFrame, ground: GroundShape, { key: tablesKey, colours, ranksShown }: Tables): void {
    const shape = { ...grainsOf(ground), scale: ground.scale, ranks: Math.max(1, frame.ranks) };
    const key = `${shape.columns} ${shape.rows} ${shape.scale.topNs} ${shape.scale.unitNs} ${tablesKey}`;
    if (key === this.#key) return;
    this.#key = key;
    this.raster.configure({ ...shape, colours, ranksShown });
  }
}
