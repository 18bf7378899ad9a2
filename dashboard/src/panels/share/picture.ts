// A picture of a part of the page: what is drawn there as lines, letters and images of an SVG, which any program opens, and
// as a PNG made of that. Charts stay charts of lines, and so does what is drawn on canvases, unless it has too many marks:
// that comes as pixels, twice as fine as those of a plain screen. Controls are left out.

import { recordWith } from "../canvas";
import { redrawAll } from "../size";
import { marksOf } from "./marks";
import { painted, pixels, RASTER_RATIO, type Recorded, Recording, SVG, svgElement } from "./svg-context";

/** What belongs to using the page and not to what it shows. */
const CONTROLS = [
  "button", "select", "input", "textarea", "label", "nav", "[role=group]", "[role=menu]", "[class$='-bar']", ".tip", ".cursor", ".crosshair", ".copy", ".save", ".unseen",
  ".hidden-words", ".handle", ".particles-hint", ".particles-controls", "iframe",
].join();
/** Which of these are read as names in legends, tables and rows. */
const NAMES = ".particles-functions *, .messages-key .functions, .messages-key .functions *, table button, button.rank, .how-range";
/** Of charts: what the style sheet says has to go along. */
const STYLES = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "opacity", "font-size", "font-family", "font-weight", "text-anchor", "dominant-baseline", "visibility", "paint-order"] as const;
const TITLE_PIXELS = 40;
const MARGIN_PIXELS = 12;

export interface Picture { svg: string; width: number; height: number }

/** What stands above a picture that leaves the page: which run, which view, which range. */
export interface Heading { title: string; subtitle: string }

/** `draw` draws all that changed, at once. */
export function pictureOf(part: HTMLElement, heading: Heading, draw: () => void): Picture {
  const recording = new Recording();
  recordWith(recording);
  try {
    redrawAll();
    draw();
  } finally {
    recordWith(null);
  }
  return picture(part, heading, recording.recorded);
}

function picture(part: HTMLElement, heading: Heading, recorded: Recorded): Picture {
  const box = part.getBoundingClientRect();
  const inner = scrolled(part);
  const width = Math.ceil(box.width) + 2 * MARGIN_PIXELS;
  const height = Math.ceil(Math.max(box.height, inner?.scrollHeight ?? 0)) + TITLE_PIXELS + 2 * MARGIN_PIXELS;
  const svg = document.createElementNS(SVG, "svg");
  for (const [name, value] of Object.entries({ xmlns: SVG, width, height, viewBox: `0 0 ${width} ${height}` })) svg.setAttribute(name, String(value));
  const style = getComputedStyle(document.documentElement);
  svg.append(rect(0, 0, width, height, style.getPropertyValue("--ground").trim()));
  const font = getComputedStyle(document.body).fontFamily;
  svg.append(
    letters(heading.title, MARGIN_PIXELS, MARGIN_PIXELS + 14, { size: "15px", weight: "600", family: font, colour: style.getPropertyValue("--text").trim() }),
    letters(heading.subtitle, MARGIN_PIXELS, MARGIN_PIXELS + 32, { size: "12px", weight: "400", family: font, colour: style.getPropertyValue("--soft").trim() }),
  );
  const group = document.createElementNS(SVG, "g");
  group.setAttribute("transform", `translate(${MARGIN_PIXELS - box.left} ${MARGIN_PIXELS + TITLE_PIXELS - box.top + (inner?.scrollTop ?? 0)})`);
  svg.append(group);
  copy(part, group, recorded);
  return { svg: new XMLSerializer().serializeToString(svg), width, height };
}

/** A view that scrolls is taken in full. */
function scrolled(part: HTMLElement): Element | null {
  const child = part.firstElementChild;
  return child && child.scrollHeight > child.clientHeight + 1 ? child : null;
}

function copy(element: Element, into: Element, recorded: Recorded): void {
  const style = getComputedStyle(element);
  const isName = element.matches(NAMES);
  if (style.display === "none" || style.visibility === "hidden" || (element.matches(CONTROLS) && !isName)) return;
  const box = element.getBoundingClientRect();
  if (element instanceof HTMLCanvasElement) {
    if (element.width > 0 && element.height > 0 && box.width > 0) into.append(drawn(element, box, recorded));
    return;
  }
  if (element instanceof SVGSVGElement) {
    into.append(chart(element, box));
    return;
  }
  if (element instanceof HTMLElement && !(isName && element instanceof HTMLButtonElement) && hasColour(style.backgroundColor) && box.width > 0 && box.height > 0) {
    into.append(rect(box.left, box.top, box.width, box.height, style.backgroundColor, Math.min(4, Number.parseFloat(style.borderTopLeftRadius) || 0)));
  }
  if (element instanceof HTMLElement) ornaments(style, box, into);
  if (element instanceof HTMLElement && isCutOff(element, style)) into = within(box, into);
  for (const child of element.childNodes) {
    if (child instanceof Element) copy(child, into, recorded);
    else if (child instanceof Text) words(child, style, into);
  }
}

/** What is on a canvas: as marks where it can be had so, else as fine pixels. */
function drawn(canvas: HTMLCanvasElement, box: DOMRect, recorded: Recorded): Element {
  const group = svgElement("g", { transform: `translate(${box.left.toFixed(1)} ${box.top.toFixed(1)})` });
  const marks = marksOf(canvas);
  const made = recorded.get(canvas) ?? (marks && painted(marks));
  if (!made) return image(pixels(marks?.raster?.(RASTER_RATIO) ?? canvas), box);
  group.append(made);
  return group;
}

/** What scrolls shows no more than it does on the page. */
function isCutOff(element: HTMLElement, style: CSSStyleDeclaration): boolean {
  const scrolls = style.overflowY !== "visible" && element.scrollHeight > element.clientHeight + 1;
  // A view that scrolls as a whole is taken in full.
  return scrolls && element.closest(".tab")?.firstElementChild !== element;
}

let lastId = 0;

function within(box: DOMRect, into: Element): Element {
  const id = `part-${++lastId}`;
  const clip = svgElement("clipPath", { id });
  clip.append(rect(box.left, box.top, box.width, box.height, "#000"));
  const inner = svgElement("g", { "clip-path": `url(#${id})` });
  into.append(clip, inner);
  return inner;
}

/** What legends have beside plain colours: scales, hatching and rims. */
function ornaments(style: CSSStyleDeclaration, box: DOMRect, into: Element): void {
  const colours = style.backgroundImage.match(/rgba?\([^)]*\)|#[0-9a-f]{3,8}/giu) ?? [];
  const rim = Number.parseFloat(style.borderTopWidth);
  if (box.width === 0 || box.height === 0) return;
  if (style.backgroundImage.startsWith("linear-gradient") && colours.length > 1) {
    const id = `scale-${++lastId}`;
    const gradient = svgElement("linearGradient", { id });
    colours.forEach((colour, at) => gradient.append(svgElement("stop", { offset: at / (colours.length - 1), "stop-color": colour })));
    into.append(gradient, rect(box.left, box.top, box.width, box.height, `url(#${id})`, 2));
  } else if (style.backgroundImage.startsWith("repeating-linear-gradient") && colours[0]) {
    const id = `hatch-${++lastId}`;
    const pattern = svgElement("pattern", { id, width: 4, height: 4, patternUnits: "userSpaceOnUse" });
    pattern.append(svgElement("path", { d: "M-1 5L5 -1M-1 1L1 -1M3 5L5 3", stroke: colours[0], "stroke-width": 1, fill: "none" }));
    into.append(pattern, rect(box.left, box.top, box.width, box.height, `url(#${id})`));
  }
  const isMark = box.width <= 24 && box.height <= 24 && rim > 0 && hasColour(style.borderTopColor) && style.borderTopStyle !== "none";
  if (isMark) into.append(svgElement("rect", { x: box.left + rim / 2, y: box.top + rim / 2, width: box.width - rim, height: box.height - rim, rx: 2, fill: "none", stroke: style.borderTopColor, "stroke-width": rim }));
}

function hasColour(colour: string): boolean {
  return colour !== "" && colour !== "transparent" && !/^rgba\(.*, 0\)$/.test(colour);
}

/** Text, line by line as it was broken. */
function words(node: Text, style: CSSStyleDeclaration, into: Element): void {
  const text = node.data;
  if (text.trim() === "") return;
  const range = document.createRange();
  let line = "";
  let left = 0;
  let box: DOMRect | null = null;
  const finish = (): void => {
    if (line.trim() === "" || !box) return;
    const size = Number.parseFloat(style.fontSize);
    into.append(letters(line.trimEnd(), left, box.top + box.height / 2 + size * 0.35, { size: style.fontSize, weight: style.fontWeight, family: style.fontFamily, colour: style.color }));
  };
  for (let index = 0; index < text.length; index++) {
    range.setStart(node, index);
    range.setEnd(node, index + 1);
    const at = range.getClientRects()[0];
    if (!at || at.width === 0) continue;
    if (!box || Math.abs(at.top - box.top) > at.height / 2) {
      finish();
      line = "";
      left = at.left;
      box = at;
    }
    line += text[index] ?? "";
  }
  finish();
}

function letters(text: string, x: number, y: number, look: { size: string; weight: string; family: string; colour: string }): Element {
  const element = document.createElementNS(SVG, "text");
  for (const [name, value] of Object.entries({ x: x.toFixed(1), y: y.toFixed(1), fill: look.colour, "font-size": look.size, "font-weight": look.weight, "font-family": look.family })) element.setAttribute(name, value);
  element.setAttribute("xml:space", "preserve");
  element.textContent = text;
  return element;
}

function rect(x: number, y: number, width: number, height: number, fill: string, radius = 0): Element {
  const element = document.createElementNS(SVG, "rect");
  for (const [name, value] of Object.entries({ x: x.toFixed(1), y: y.toFixed(1), width: width.toFixed(1), height: height.toFixed(1), fill, rx: radius })) element.setAttribute(name, String(value));
  return element;
}

function image(href: string, box: DOMRect): Element {
  const element = document.createElementNS(SVG, "image");
  for (const [name, value] of Object.entries({ x: box.left.toFixed(1), y: box.top.toFixed(1), width: box.width.toFixed(1), height: box.height.toFixed(1), href })) element.setAttribute(name, value);
  return element;
}

/** A chart with its styles written out. */
function chart(from: SVGSVGElement, box: DOMRect): Element {
  const made = from.cloneNode(true) as SVGSVGElement;
  const originals = [from, ...from.querySelectorAll("*")];
  [made, ...made.querySelectorAll("*")].forEach((element, index) => {
    const original = originals[index];
    if (!original) return;
    const style = getComputedStyle(original);
    if (original.matches(".control")) element.setAttribute("data-control", "");
    element.removeAttribute("class");
    element.removeAttribute("style");
    for (const name of STYLES) {
      const value = style.getPropertyValue(name);
      if (value) element.setAttribute(name, value);
    }
  });
  for (const control of made.querySelectorAll("[data-control]")) control.remove();
  for (const [name, value] of Object.entries({ x: box.left.toFixed(1), y: box.top.toFixed(1), width: box.width.toFixed(1), height: box.height.toFixed(1) })) made.setAttribute(name, value);
  return made;
}

export async function pngOf({ svg, width, height }: Picture): Promise<Blob> {
  const ratio = Math.max(2, devicePixelRatio);
  const picture = new Image();
  const address = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  try {
    picture.src = address;
    await picture.decode();
  } finally {
    URL.revokeObjectURL(address);
  }
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.getContext("2d")?.drawImage(picture, 0, 0, canvas.width, canvas.height);
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, "image/png"));
  if (blob === null) throw new Error("The browser could not make the picture.");
  return blob;
}
