// Where pictures come from: a worker beside the page's thread, or the page's own where the browser has no canvases for
// workers. One is asked for at a time: while it is drawn only the newest of those that follow waits.

import type { Context } from "../canvas";
import { setMarks } from "../share/marks";
import { Latest } from "./latest";
import { type Asked, contextsOf, type FromPainter, type Kinds, type Recipe, type ToPainter } from "./recipe";

export interface Painted<Kind extends Kinds> { picture: Kind["picture"]; summary: Kind["summary"]; sheets: readonly CanvasImageSource[] }

export interface Customer<Kind extends Kinds> {
  painted(painted: Painted<Kind>): void;
  /** What was shown last can be drawn now. */
  ready?(facts: Kind["facts"]): void;
}

export class Painter<Kind extends Kinds> {
  private readonly worker: Worker | null;
  private readonly pictures = new Latest<Asked<Kind>>((asked) => this.send(asked));
  /** What the page draws itself. */
  private scene: { of: Kind["scene"] } | null = null;
  private number = 0;
  /** The newest source that was shown; 0: none. */
  private shown = 0;
  private drawing: Asked<Kind> | null = null;
  /** What is shown, for pictures of marks; its scene is made here only when one is wanted. */
  private source: { of: Kind["source"]; scene?: Kind["scene"] } | null = null;
  private bitmaps: readonly ImageBitmap[] = [];

  constructor(private readonly recipe: Recipe<Kind>, makeWorker: () => Worker, private readonly customer: Customer<Kind>) {
    this.worker = typeof OffscreenCanvas === "undefined" || typeof Worker === "undefined" ? null : makeWorker();
    this.worker?.addEventListener("message", ({ data }: MessageEvent<FromPainter<Kind>>) => this.take(data));
  }

  /** From here on pictures are of this. */
  show(source: Kind["source"]): void {
    this.drawing = null;
    this.pictures.forget();
    this.shown = ++this.number;
    this.source = { of: source };
    if (this.worker) return this.post({ kind: "source", number: this.shown, source });
    this.scene = { of: this.recipe.scene(source) };
    this.customer.ready?.(this.recipe.facts(this.scene.of));
  }

  request(picture: Kind["picture"], ratio: number): void {
    if (this.shown === 0) return;
    const asked = { number: ++this.number, picture, ratio };
    if (this.scene) this.drawHere(asked, this.scene.of);
    else this.pictures.ask(asked);
  }

  dispose(): void {
    this.worker?.terminate();
    for (const bitmap of this.bitmaps) bitmap.close();
  }

  private send(asked: Asked<Kind>): void {
    this.drawing = asked;
    this.post({ kind: "picture", ...asked });
  }

  private post(message: ToPainter<Kind>): void {
    this.worker?.postMessage(message);
  }

  private take(message: FromPainter<Kind>): void {
    if (message.kind === "facts") {
      if (message.number === this.shown) this.customer.ready?.(message.facts);
      return;
    }
    const { drawing } = this;
    const { sheets, summary } = message;
    // Of something that is not shown any more.
    if (drawing?.number !== message.number) {
      for (const bitmap of sheets) bitmap.close();
      return;
    }
    for (const bitmap of this.bitmaps) bitmap.close();
    this.bitmaps = sheets;
    this.drawing = null;
    this.describe(drawing, sheets);
    this.customer.painted({ picture: drawing.picture, summary, sheets });
    this.pictures.answered();
  }

  /** Says of what marks the sheets were made. */
  private describe(asked: Asked<Kind>, sheets: readonly CanvasImageSource[]): void {
    const { recipe, source } = this;
    if (!source) return;
    const sceneOf = (): Kind["scene"] => (source.scene ??= this.scene?.of ?? recipe.scene(source.of));
    const { width, height } = recipe.size(asked.picture, 1);
    sheets.forEach((sheet, at) => setMarks(sheet, {
      width, height,
      paint: (context) => {
        const others = document.createElement("canvas");
        const contexts = sheets.map((_, other): Context | null => (other === at ? context : others.getContext("2d")));
        if (!contexts.every((each) => each !== null)) return false;
        const steps = (recipe.marks ?? recipe.paint)(contexts as unknown as Kind["sheets"], sceneOf(), asked.picture, 1);
        let step = steps.next();
        while (step.done !== true) step = steps.next();
        return step.value !== false;
      },
      raster: (ratio) => {
        const canvases = sheets.map(() => document.createElement("canvas"));
        const contexts = contextsOf(recipe, canvases, { ...asked, ratio });
        if (!contexts) return null;
        const steps = recipe.paint(contexts, sceneOf(), asked.picture, ratio);
        while (steps.next().done !== true);
        return canvases[at] ?? null;
      },
    }));
  }

  private drawHere(asked: Asked<Kind>, scene: Kind["scene"]): void {
    const canvases = Array.from({ length: this.recipe.sheets }, () => document.createElement("canvas"));
    const contexts = contextsOf(this.recipe, canvases, asked);
    if (!contexts) return;
    const steps = this.recipe.paint(contexts, scene, asked.picture, asked.ratio);
    let step = steps.next();
    while (step.done !== true) step = steps.next();
    this.describe(asked, canvases);
    this.customer.painted({ picture: asked.picture, summary: step.value, sheets: canvases });
  }
}
