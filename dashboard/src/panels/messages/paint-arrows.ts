// Draws arrows of messages: thin and faint where there are many, with heads where there is room for them.

import { latencyRamp, latencyPart, stepOf, STEPS, UNKNOWN_TONE } from "../../palette/ramps";
import type { Context } from "../canvas";
import { type ArrowFrame, endsOf, type MessageColumns, middleOf, xOfTime } from "./arrows";

export interface ArrowLook {
  theme: "dark" | "light";
  text: string;
  ground: string;
  isLatency: boolean;
}

/** Heads from this height of rows on, and with no more arrows than this. */
const HEADS = { rowPixels: 9, arrows: 1200 };
const HEAD = { length: 7, half: 2.6 };
/** Arrows that are as opaque as can be; the more there are, the fainter each is. */
const OPAQUE = 300;
const FAINTEST = 0.2;
const HALO = { width: 3, opacity: 0.55 };
/** Over columns that say how much time was spent, arrows are a texture. */
const OVER_TIME = 0.5;
/** Steps are cut after this number of arrows. */
const STEP_ARROWS = 512;

export function opacityOf(arrows: number): number {
  return Math.max(FAINTEST, Math.min(0.85, Math.sqrt(OPAQUE / Math.max(1, arrows)) * 0.85));
}

/** By step of the colour scale; the last one is for latencies that are not known, or for all while none are asked for. */
function bySteps(messages: MessageColumns, drawn: Uint32Array, isLatency: boolean): number[][] {
  const found: number[][] = Array.from({ length: STEPS + 2 }, () => []);
  for (const at of drawn) {
    const latency = messages.latency[at] ?? Number.NaN;
    found[isLatency && !Number.isNaN(latency) ? stepOf(latencyPart(latency)) : STEPS + 1]?.push(at);
  }
  return found;
}

export function* paintArrows(context: Context, messages: MessageColumns, drawn: Uint32Array, frame: ArrowFrame, look: ArrowLook, isOverTime: boolean): Generator<void> {
  const ramp = latencyRamp(look.theme);
  const hasHeads = frame.camera.rowPixels >= HEADS.rowPixels && drawn.length <= HEADS.arrows;
  const ends = new Float64Array(4);
  if (drawn.length <= HEADS.arrows && !isOverTime) {
    yield;
    paintHalo(context, messages, drawn, frame, look, ends);
  }
  context.globalAlpha = opacityOf(drawn.length) * (isOverTime ? OVER_TIME : 1);
  context.lineWidth = drawn.length > HEADS.arrows ? 0.75 : 1;
  let painted = 0;
  for (const [step, members] of order(bySteps(messages, drawn, look.isLatency))) {
    const colour = ramp[step] ?? (look.isLatency ? UNKNOWN_TONE[look.theme] : look.text);
    for (let from = 0; from < members.length; from += STEP_ARROWS) {
      const part = members.slice(from, from + STEP_ARROWS);
      stroke(context, messages, part, frame, colour, hasHeads, ends);
      painted += part.length;
      if (painted >= STEP_ARROWS) {
        painted = 0;
        yield;
      }
    }
  }
  context.globalAlpha = 1;
}

/** Apart from bars of their own colour. */
function paintHalo(context: Context, messages: MessageColumns, members: Iterable<number>, frame: ArrowFrame, look: ArrowLook, ends: Float64Array): void {
  context.globalAlpha = HALO.opacity;
  context.lineWidth = HALO.width;
  stroke(context, messages, members, frame, look.ground, false, ends);
  context.globalAlpha = 1;
}

/** Usual ones first: those that are far from it lie on top. */
function order(members: number[][]): [step: number, members: number[]][] {
  const far = (step: number): number => (step > STEPS ? -1 : Math.abs(step - STEPS / 2));
  return members.map((each, step): [number, number[]] => [step, each]).filter(([, each]) => each.length > 0).sort(([one], [other]) => far(one) - far(other));
}

function stroke(context: Context, messages: MessageColumns, members: Iterable<number>, frame: ArrowFrame, colour: string, hasHeads: boolean, ends: Float64Array): void {
  context.strokeStyle = context.fillStyle = colour;
  context.beginPath();
  for (const at of members) {
    if (!endsOf(messages, at, frame, ends)) continue;
    context.moveTo(ends[0] ?? 0, ends[1] ?? 0);
    context.lineTo(ends[2] ?? 0, ends[3] ?? 0);
  }
  context.stroke();
  if (!hasHeads) return;
  context.beginPath();
  for (const at of members) if (endsOf(messages, at, frame, ends)) head(context, ends);
  context.fill();
}

/** Its tip is at the receive. */
function head(context: Context, [x0 = 0, y0 = 0, x1 = 0, y1 = 0]: Float64Array): void {
  const length = Math.hypot(x1 - x0, y1 - y0);
  if (length < 2 * HEAD.length) return;
  const [right, down] = [(x1 - x0) / length, (y1 - y0) / length];
  const [x, y] = [x1 - right * HEAD.length, y1 - down * HEAD.length];
  context.moveTo(x1, y1);
  context.lineTo(x - down * HEAD.half, y + right * HEAD.half);
  context.lineTo(x + down * HEAD.half, y - right * HEAD.half);
}

/** Messages that are meant: over all others, and where their receiver waited for the sender, dashed for how long. */
export function paintMeant(context: Context, messages: MessageColumns, meant: readonly number[], frame: ArrowFrame, look: ArrowLook): void {
  const ramp = latencyRamp(look.theme);
  const ends = new Float64Array(4);
  paintHalo(context, messages, meant, frame, look, ends);
  context.lineWidth = 1.75;
  for (const at of meant) {
    const latency = messages.latency[at] ?? Number.NaN;
    const colour = look.isLatency ? Number.isNaN(latency) ? UNKNOWN_TONE[look.theme] : ramp[stepOf(latencyPart(latency))] ?? look.text : look.text;
    stroke(context, messages, [at], frame, colour, frame.camera.rowPixels >= HEADS.rowPixels, ends);
    paintWaiting(context, messages, at, frame);
  }
}

function paintWaiting(context: Context, messages: MessageColumns, at: number, frame: ArrowFrame): void {
  const [late, sendNs, y] = [messages.lateSenderNs[at] ?? 0, messages.sendNs[at] ?? 0, middleOf(frame, messages.dst[at] ?? 0)];
  if (!(late > 0) || y === null) return;
  context.setLineDash([4, 3]);
  context.beginPath();
  context.moveTo(xOfTime(frame, sendNs - late), y);
  context.lineTo(xOfTime(frame, sendNs), y);
  context.stroke();
  context.setLineDash([]);
}
