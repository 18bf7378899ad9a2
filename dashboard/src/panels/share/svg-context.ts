// A canvas context that also writes down what is drawn, as elements of an SVG. It passes everything on to a real context,
// which keeps the state: colours, fonts and transformations are read from there.

import { type Marks, marksOf } from "./marks";

export const SVG = "http://www.w3.org/2000/svg";
const TURN = 2 * Math.PI;
/** Pieces of paths and elements of one canvas; a picture of more is as large as its pixels, and slower to show. */
export const MARKS_MAX = 60_000;
/** Cells of a bitmap that are drawn as squares. */
const CELLS_MAX = 16_384;
/** Pixels for each unit where marks are too many. */
export const RASTER_RATIO = 2;
/** From the middle, and from the top, of letters to the line they stand on, in shares of their size. */
const MIDDLE = 0.35;
const TOP = 0.8;

export class TooMany extends Error {}

type Matrix = Pick<DOMMatrix, "a" | "b" | "c" | "d" | "e" | "f">;

let lastId = 0;

/** A number with few digits: a hundredth of a pixel is not seen. */
function short(value: number): string {
  return String(Math.round(value * 100) / 100);
}

export function svgElement(name: string, attributes: Record<string, string | number>): Element {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, typeof value === "number" ? short(value) : value);
  return made;
}

/** Draws with a context, and appends what is drawn to an element. */
export function recording(real: CanvasRenderingContext2D, into: Element): CanvasRenderingContext2D {
  const recorder = new Recorder(real, into);
  const calls = new Map<string, unknown>();
  return new Proxy(real, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function" || typeof name !== "string") return value;
      let call = calls.get(name);
      if (!call) {
        call = (...given: unknown[]): unknown => {
          recorder.note(name, given);
          const answer: unknown = Reflect.apply(value, target, given);
          if (name === "createPattern" && answer) recorder.patterns.set(answer, given[0] as CanvasImageSource);
          return answer;
        };
        calls.set(name, call);
      }
      return call;
    },
    set: (target, name, value) => Reflect.set(target, name, value),
  });
}

class Recorder {
  readonly patterns = new WeakMap<object, CanvasImageSource>();
  /** What a pattern is called in the SVG. */
  private readonly tileIds = new WeakMap<object, string>();
  private path = "";
  private hasPoint = false;
  private spent = 0;
  private group: Element;
  private readonly saved: Element[] = [];
  /** From pixels of the device to units of the page. */
  private readonly base: DOMMatrix;

  constructor(private readonly real: CanvasRenderingContext2D, into: Element) {
    this.group = into;
    this.base = real.getTransform().inverse();
  }

  note(name: string, given: readonly unknown[]): void {
    const act = (this.acts as Record<string, ((...values: never[]) => void) | undefined>)[name];
    if (act) act(...(given as never[]));
  }

  private spend(): void {
    if (++this.spent > MARKS_MAX) throw new TooMany("there are too many marks for a picture of marks");
  }

  private add(piece: string): void {
    this.spend();
    this.path += piece;
    this.hasPoint = true;
  }

  private put(name: string, attributes: Record<string, string | number>, text?: string): Element {
    this.spend();
    const made = svgElement(name, attributes);
    const matrix = this.base.multiply(this.real.getTransform());
    if (!matrix.isIdentity) made.setAttribute("transform", matrixText(matrix));
    if (this.real.globalAlpha < 1) made.setAttribute("opacity", short(this.real.globalAlpha));
    if (text !== undefined) made.textContent = text;
    this.group.append(made);
    return made;
  }

  private colour(style: string | CanvasGradient | CanvasPattern): string {
    if (typeof style === "string") return style;
    const tile = this.patterns.get(style);
    if (!tile) return "#808080";
    const known = this.tileIds.get(style);
    if (known !== undefined) return `url(#${known})`;
    const { width, height } = sizeOf(tile);
    const id = `tile-${++lastId}`;
    this.tileIds.set(style, id);
    const pattern = svgElement("pattern", { id, width, height, patternUnits: "userSpaceOnUse" });
    pattern.append(svgElement("image", { width, height, href: pixels(tile) }));
    this.group.append(pattern);
    return `url(#${id})`;
  }

  private stroked(): Record<string, string | number> {
    const { real } = this;
    const dashes = real.getLineDash();
    return {
      fill: "none", stroke: this.colour(real.strokeStyle), "stroke-width": real.lineWidth,
      ...(real.lineCap === "butt" ? {} : { "stroke-linecap": real.lineCap }), ...(real.lineJoin === "miter" ? {} : { "stroke-linejoin": real.lineJoin }),
      ...(dashes.length > 0 ? { "stroke-dasharray": dashes.join(" ") } : {}),
    };
  }

  private words(text: string, x: number, y: number, look: Record<string, string | number>): void {
    const { font, textAlign, textBaseline } = this.real;
    const [, style, weight, size = "12", family = "sans-serif"] = /^(?:(italic|oblique) )?(?:(\d{3}|bold) )?([\d.]+)px (.*)$/.exec(font) ?? [];
    const down = { middle: MIDDLE, top: TOP, hanging: TOP }[textBaseline as string] ?? 0;
    const anchor = { right: "end", end: "end", center: "middle" }[textAlign as string];
    this.put("text", {
      x, y: y + down * Number(size), "font-size": `${size}px`, "font-family": family, ...(weight ? { "font-weight": weight } : {}), ...(style ? { "font-style": style } : {}),
      ...(anchor ? { "text-anchor": anchor } : {}), ...look,
    }, text);
  }

  private ellipse(x: number, y: number, radiusX: number, radiusY: number, from: number, to: number, isBack: boolean): void {
    const at = (angle: number): string => `${short(x + radiusX * Math.cos(angle))} ${short(y + radiusY * Math.sin(angle))}`;
    const sweep = isBack ? 0 : 1;
    let turn = isBack ? from - to : to - from;
    if (turn < 0) turn = ((turn % TURN) + TURN) % TURN;
    turn = Math.min(turn, TURN);
    const end = (part: number): number => from + (isBack ? -1 : 1) * part;
    const arc = (part: number): string => `A${short(radiusX)} ${short(radiusY)} 0 ${turn > Math.PI && turn < TURN - 1e-6 ? 1 : 0} ${sweep} ${at(end(part))}`;
    const start = `${this.hasPoint ? "L" : "M"}${at(from)}`;
    this.add(turn >= TURN - 1e-6 ? `${start}${arc(Math.PI)}${arc(TURN)}` : `${start}${arc(turn)}`);
  }

  private image(image: CanvasImageSource, ...place: number[]): void {
    const size = sizeOf(image);
    if (place.length > 4) {
      const [sx = 0, sy = 0, sw = 1, sh = 1, x = 0, y = 0, width = 1, height = 1] = place;
      const part = document.createElement("canvas");
      Object.assign(part, { width: sw, height: sh });
      part.getContext("2d")?.drawImage(image, sx, sy, sw, sh, 0, 0, sw, sh);
      return this.picture(part, x, y, width, height);
    }
    const [x = 0, y = 0, width = size.width, height = size.height] = place;
    if (!this.drawnAsMarks(image, x, y, width, height) && !this.drawnAsCells(image, size, x, y, width, height)) {
      this.picture(marksOf(image)?.raster?.(RASTER_RATIO) ?? image, x, y, width, height);
    }
  }

  /** What the picture was made of, where that is known and not too much. */
  private drawnAsMarks(image: CanvasImageSource, x: number, y: number, width: number, height: number): boolean {
    const marks = marksOf(image);
    const inner = marks && painted(marks);
    if (!inner) return false;
    const group = this.put("g", {});
    inner.setAttribute("transform", `matrix(${width / marks.width} 0 0 ${height / marks.height} ${short(x)} ${short(y)})`);
    group.append(inner);
    return true;
  }

  /** A small bitmap whose pixels are to be seen: a square for each run of equal ones. */
  private drawnAsCells(image: CanvasImageSource, { width: columns, height: rows }: { width: number; height: number }, x: number, y: number, width: number, height: number): boolean {
    if (this.real.imageSmoothingEnabled || columns * rows > CELLS_MAX) return false;
    const canvas = document.createElement("canvas");
    Object.assign(canvas, { width: columns, height: rows });
    const context = canvas.getContext("2d");
    context?.drawImage(image, 0, 0);
    const data = context?.getImageData(0, 0, columns, rows).data;
    if (!data) return false;
    const colourAt = (cell: number): number => ((data[4 * cell] ?? 0) << 16) | ((data[4 * cell + 1] ?? 0) << 8) | (data[4 * cell + 2] ?? 0);
    const [wide, high] = [width / columns, height / rows];
    for (let row = 0; row < rows; row++) {
      for (let column = 0; column < columns;) {
        const cell = row * columns + column;
        const alpha = data[4 * cell + 3] ?? 0;
        let end = column + 1;
        while (end < columns && colourAt(cell + end - column) === colourAt(cell) && data[4 * (cell + end - column) + 3] === alpha) end++;
        if (alpha > 0) {
          const fill = `#${colourAt(cell).toString(16).padStart(6, "0")}`;
          this.put("rect", { x: x + column * wide, y: y + row * high, width: (end - column) * wide, height: high, fill, ...(alpha < 255 ? { "fill-opacity": alpha / 255 } : {}) });
        }
        column = end;
      }
    }
    return true;
  }

  private picture(image: CanvasImageSource, x: number, y: number, width: number, height: number): void {
    this.put("image", { x, y, width, height, preserveAspectRatio: "none", href: pixels(image), ...(this.real.imageSmoothingEnabled ? {} : { "image-rendering": "pixelated" }) });
  }

  private readonly acts = {
    save: () => this.saved.push(this.group),
    restore: () => {
      this.group = this.saved.pop() ?? this.group;
    },
    beginPath: () => {
      this.path = "";
      this.hasPoint = false;
    },
    moveTo: (x: number, y: number) => this.add(`M${short(x)} ${short(y)}`),
    lineTo: (x: number, y: number) => this.add(`${this.hasPoint ? "L" : "M"}${short(x)} ${short(y)}`),
    quadraticCurveTo: (...at: number[]) => this.add(`Q${at.map(short).join(" ")}`),
    bezierCurveTo: (...at: number[]) => this.add(`C${at.map(short).join(" ")}`),
    closePath: () => this.add("Z"),
    rect: (x: number, y: number, width: number, height: number) => this.add(`M${short(x)} ${short(y)}h${short(width)}v${short(height)}h${short(-width)}Z`),
    roundRect: (x: number, y: number, width: number, height: number, radius: number) => {
      const r = Math.min(radius, width / 2, height / 2);
      const corner = (dx: number, dy: number): string => `a${short(r)} ${short(r)} 0 0 1 ${short(dx * r)} ${short(dy * r)}`;
      this.add(`M${short(x + r)} ${short(y)}h${short(width - 2 * r)}${corner(1, 1)}v${short(height - 2 * r)}${corner(-1, 1)}h${short(2 * r - width)}${corner(-1, -1)}v${short(2 * r - height)}${corner(1, -1)}Z`);
    },
    arc: (x: number, y: number, radius: number, from: number, to: number, isBack = false) => this.ellipse(x, y, radius, radius, from, to, isBack),
    ellipse: (x: number, y: number, radiusX: number, radiusY: number, _turned: number, from: number, to: number, isBack = false) => this.ellipse(x, y, radiusX, radiusY, from, to, isBack),
    fill: () => this.path && this.put("path", { d: this.path, fill: this.colour(this.real.fillStyle) }),
    stroke: () => this.path && this.put("path", { d: this.path, ...this.stroked() }),
    clip: () => {
      const id = `clip-${++lastId}`;
      const clip = svgElement("clipPath", { id });
      const shape = svgElement("path", { d: this.path, transform: matrixText(this.base.multiply(this.real.getTransform())) });
      clip.append(shape);
      const inner = svgElement("g", { "clip-path": `url(#${id})` });
      this.group.append(clip, inner);
      this.group = inner;
    },
    fillRect: (x: number, y: number, width: number, height: number) => this.put("rect", { ...upright(x, y, width, height), fill: this.colour(this.real.fillStyle) }),
    strokeRect: (x: number, y: number, width: number, height: number) => this.put("rect", { ...upright(x, y, width, height), ...this.stroked() }),
    fillText: (text: string, x: number, y: number) => this.words(text, x, y, { fill: this.colour(this.real.fillStyle) }),
    strokeText: (text: string, x: number, y: number) => this.words(text, x, y, this.stroked()),
    drawImage: (image: CanvasImageSource, ...place: number[]) => this.image(image, ...place),
  };
}

/** A canvas takes sizes below zero. */
function upright(x: number, y: number, width: number, height: number): Record<string, number> {
  return { x: Math.min(x, x + width), y: Math.min(y, y + height), width: Math.abs(width), height: Math.abs(height) };
}

function matrixText({ a, b, c, d, e, f }: Matrix): string {
  return `matrix(${[a, b, c, d].map((each) => Math.round(each * 1e6) / 1e6).join(" ")} ${short(e)} ${short(f)})`;
}

function sizeOf(image: CanvasImageSource): { width: number; height: number } {
  const { width, height } = image as { width: unknown; height: unknown };
  return { width: typeof width === "number" ? width : 1, height: typeof height === "number" ? height : 1 };
}

/** Marks as elements; null where there are none, or too many. */
export function painted(marks: Marks): Element | null {
  const scratch = document.createElement("canvas").getContext("2d");
  const group = svgElement("g", {});
  try {
    return scratch && marks.paint(recording(scratch, group)) ? group : null;
  } catch (error) {
    if (error instanceof TooMany) return null;
    throw error;
  }
}

export function pixels(image: CanvasImageSource): string {
  const canvas = document.createElement("canvas");
  Object.assign(canvas, sizeOf(image));
  canvas.getContext("2d")?.drawImage(image, 0, 0);
  return canvas.toDataURL("image/png");
}

/** What was recorded of each canvas. */
export type Recorded = ReadonlyMap<HTMLCanvasElement, Element>;

/** Takes note of what is drawn on canvases of the page, until it is stopped. */
export class Recording {
  private readonly groups = new Map<HTMLCanvasElement, Element>();
  private readonly full = new Set<HTMLCanvasElement>();

  /** A context for one drawing of a whole canvas; what was recorded of it before is forgotten. */
  context(canvas: HTMLCanvasElement, real: CanvasRenderingContext2D): CanvasRenderingContext2D {
    const group = svgElement("g", {});
    this.groups.set(canvas, group);
    this.full.delete(canvas);
    const recorder = recording(real, group);
    // Whoever draws must never notice that it was too much for a picture.
    return new Proxy(recorder, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== "function") return value;
        return (...given: unknown[]): unknown => {
          if (!this.full.has(canvas)) {
            try {
              return Reflect.apply(value, target, given) as unknown;
            } catch (error) {
              if (!(error instanceof TooMany)) throw error;
              this.full.add(canvas);
            }
          }
          return Reflect.apply(Reflect.get(real, name) as (...values: unknown[]) => unknown, real, given);
        };
      },
      set: (target, name, value) => Reflect.set(target, name, value),
    });
  }

  get recorded(): Recorded {
    return new Map([...this.groups].filter(([canvas]) => !this.full.has(canvas)));
  }
}

