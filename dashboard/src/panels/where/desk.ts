// The page's side of the worker. Of pictures one at a time is asked for, and then the newest that is wanted.

import { signal } from "@preact/signals";
import type { Pairs, Regions } from "../../feed/regions";
import { Latest } from "../painter/latest";
import type { Placement } from "./layout";
import type { Arranged, CellsAsk, PaintAsk } from "./studio";

export type ToWorker =
  | { do: "arrange"; regions: Regions; pairs: Pairs | null; before: Placement | null; anew: boolean }
  | { do: "move"; ask: MoveAsk }
  | { do: "paint"; ask: PaintAsk }
  | { do: "cells"; ask: CellsAsk };

/** By hand: a rank, or a region with all its ranks. */
export interface MoveAsk { ranks: readonly number[]; dx: number; dy: number; region: number | null }
export interface Painted { ask: PaintAsk; bitmap: ImageBitmap }
export interface PaintedCells { ask: CellsAsk; bitmap: ImageBitmap; least: number; most: number }
type FromWorker =
  | { done: "arranged"; scene: Arranged }
  | { done: "moved"; scene: Arranged | null }
  | { done: "painted"; ask: PaintAsk; bitmap: ImageBitmap | null }
  | { done: "cells"; ask: CellsAsk; bitmap: ImageBitmap | null; least: number; most: number };

export class Desk {
  readonly scene = signal<Arranged | null>(null);
  /** Why there is no picture; empty when there is one. */
  readonly failure = signal("");
  painted: Painted | null = null;
  paintedCells: PaintedCells | null = null;
  /** A picture came. */
  readonly pictures = signal(0);
  private readonly worker: Worker;
  private readonly paints = new Latest<PaintAsk>((ask) => this.post({ do: "paint", ask }));
  private readonly grids = new Latest<CellsAsk>((ask) => this.post({ do: "cells", ask }));
  private readonly moves = new Latest<MoveAsk>(
    (ask) => this.post({ do: "move", ask }),
    (before, next) => ({ ...next, dx: before.dx + next.dx, dy: before.dy + next.dy }),
  );
  private sent: { regions: Regions; pairs: Pairs | null } | null = null;

  constructor(private before: Placement | null) {
    this.worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
    this.worker.addEventListener("message", ({ data }: MessageEvent<FromWorker>) => this.take(data));
    this.worker.addEventListener("error", () => {
      this.failure.value = "Its program could not be loaded from the server, or failed. Reload the page.";
    });
  }

  private post(message: ToWorker): void {
    this.worker.postMessage(message);
  }

  /** What is known by now; nothing happens when it is the same. */
  traffic(regions: Regions, pairs: Pairs | null): void {
    if (this.sent?.regions === regions && this.sent.pairs === pairs) return;
    this.sent = { regions, pairs };
    this.post({ do: "arrange", regions, pairs, before: this.before, anew: false });
  }

  anew(): void {
    if (this.sent) this.post({ do: "arrange", ...this.sent, before: null, anew: true });
  }

  move(ask: MoveAsk): void {
    this.moves.ask(ask);
  }

  paint(ask: PaintAsk): void {
    this.paints.ask(ask);
  }

  cells(ask: CellsAsk): void {
    this.grids.ask(ask);
  }

  private take(message: FromWorker): void {
    switch (message.done) {
      case "arranged":
      case "moved":
        if (message.scene) this.scene.value = message.scene;
        if (message.done === "moved") this.moves.answered();
        return;
      case "painted":
        this.painted?.bitmap.close();
        this.painted = message.bitmap && { ask: message.ask, bitmap: message.bitmap };
        this.paints.answered();
        break;
      case "cells":
        this.paintedCells?.bitmap.close();
        this.paintedCells = message.bitmap && { ask: message.ask, bitmap: message.bitmap, least: message.least, most: message.most };
        this.grids.answered();
        break;
    }
    this.pictures.value++;
  }

  close(): void {
    this.before = this.scene.peek()?.placement ?? this.before;
    this.painted?.bitmap.close();
    this.paintedCells?.bitmap.close();
    this.worker.terminate();
  }
}
