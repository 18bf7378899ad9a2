// Two small charts on canvases: a rate over run time, and the share of run time in MPI by rank.

import { clock, short } from "./words.js";

const LEFT = 56;
const RIGHT = 8;
const TOP = 8;
const BOTTOM = 20;
/** A last window shorter than this part of a whole one says nothing as a rate. */
const TAIL_MIN = 0.2;
const STEPS_S = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21600, 43200, 86400];
const RANKS_MAX = 1 << 20;
/** Process states from here on: aborted, vanished. */
const GONE = 2;

/** Prepares a canvas for this frame; returns its context, and its size in CSS pixels. */
function prepare(canvas, colours) {
  const ratio = devicePixelRatio || 1;
  const width = canvas.clientWidth;
  const height = canvas.clientHeight;
  if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio);
  if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = `12px ${getComputedStyle(canvas).fontFamily}`;
  context.fillStyle = colours.soft;
  return { context, plot: { left: LEFT, top: TOP, width: Math.max(1, width - LEFT - RIGHT), height: height - TOP - BOTTOM } };
}

/** A horizontal line with its label. */
function level({ context, plot }, colours, part, label) {
  const y = Math.round(plot.top + plot.height * (1 - part)) + 0.5;
  context.strokeStyle = colours.line;
  context.beginPath();
  context.moveTo(plot.left, y);
  context.lineTo(plot.left + plot.width, y);
  context.stroke();
  context.fillStyle = colours.soft;
  context.textAlign = "right";
  context.textBaseline = "middle";
  context.fillText(label, plot.left - 8, y);
}

/** A label under the plot, kept inside it. */
function under({ context, plot }, colours, x, label) {
  const half = context.measureText(label).width / 2;
  const inside = Math.min(Math.max(x, plot.left + half), plot.left + plot.width - half);
  context.fillStyle = colours.soft;
  context.textAlign = "center";
  context.textBaseline = "alphabetic";
  context.fillText(label, inside, plot.top + plot.height + 16);
}

function cursorLine({ context, plot }, colours, x) {
  context.strokeStyle = colours.text;
  context.beginPath();
  context.moveTo(Math.round(x) + 0.5, plot.top);
  context.lineTo(Math.round(x) + 0.5, plot.top + plot.height);
  context.stroke();
}

/** The smallest 1, 2 or 5 times a power of ten that is not below. */
function nice(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= value * 0.999999);
}

/** How many windows can be drawn, and how long each lasted: a window that still fills up would look like a drop. */
export function settledWindows(state) {
  const { windows, clock: { now_ns, lag_ns }, job } = state;
  const over = job.state === "ended" || job.state === "killed";
  const length = windows.window_ns;
  const until = over ? now_ns : now_ns - lag_ns;
  const whole = Math.min(windows.count, Math.max(0, Math.floor(until / length)));
  const tail = over && whole < windows.count && now_ns - whole * length >= TAIL_MIN * length;
  return {
    count: whole + (tail ? 1 : 0),
    lengthOf: (row) => (row < whole ? length : now_ns - whole * length),
  };
}

/** Draws a measure per second over run time; returns which window the cursor is in, or -1. */
export function drawOverTime(canvas, state, measure, cursor, colours) {
  const frame = prepare(canvas, colours);
  const { context, plot } = frame;
  const { windows } = state;
  const settled = settledWindows(state);
  const spanNs = Math.max(state.clock.now_ns, 1e9);
  const rate = (row) => windows[measure][row] / (settled.lengthOf(row) / 1e9);
  let highest = 0;
  for (let row = 0; row < settled.count; row++) highest = Math.max(highest, rate(row));
  timeAxis(frame, colours, spanNs);
  const step = highest > 0 ? nice(highest / 3) : 1;
  const top = highest > 0 ? Math.ceil(highest / step) * step : 1;
  const labelled = highest > 0 ? Math.round(top / step) : 0;
  for (let index = 0; index <= labelled; index++) level(frame, colours, (index * step) / top, measureLabel(measure, index * step));
  if (settled.count === 0) {
    context.textAlign = "left";
    context.fillText("The first window is not full yet.", plot.left + 8, plot.top + plot.height / 2);
    return -1;
  }
  context.beginPath();
  for (let x = 0; x < plot.width; x++) {
    const first = Math.floor(((x / plot.width) * spanNs) / windows.window_ns);
    const last = Math.min(settled.count, Math.max(first + 1, Math.floor((((x + 1) / plot.width) * spanNs) / windows.window_ns)));
    if (first >= settled.count) break;
    let sum = 0;
    let most = 0;
    for (let row = first; row < last; row++) {
      sum += rate(row);
      most = Math.max(most, rate(row));
    }
    column(context, plot, x, most / top, colours.bar);
    const mean = sum / (last - first) / top;
    column(context, plot, x, mean, colours.fill);
    context.lineTo(plot.left + x + 0.5, plot.top + (plot.height - 1) * (1 - mean));
  }
  context.strokeStyle = colours.accent;
  context.lineWidth = 1.5;
  context.stroke();
  context.lineWidth = 1;
  if (cursor === null) return -1;
  cursorLine(frame, colours, plot.left + cursor * plot.width);
  const row = Math.floor((cursor * spanNs) / windows.window_ns);
  return row < settled.count ? row : -1;
}

/** One pixel wide; the edge is what must stand out, the body only says which side is which. */
function column(context, plot, x, part, body, edge = null, width = 1) {
  const height = plot.height * part;
  const y = plot.top + plot.height - height;
  context.fillStyle = body;
  context.fillRect(plot.left + x, y, width, height);
  if (edge === null) return;
  context.fillStyle = edge;
  context.fillRect(plot.left + x, Math.min(y, plot.top + plot.height - 2), width, 2);
}

function timeAxis(frame, colours, spanNs) {
  const room = Math.max(2, Math.floor(frame.plot.width / 96));
  const seconds = spanNs / 1e9;
  const step = STEPS_S.find((value) => seconds / value <= room) ?? Math.ceil(seconds / room / 86400) * 86400;
  for (let at = 0; at <= seconds; at += step) {
    under(frame, colours, frame.plot.left + (at / seconds) * frame.plot.width, clock(at * 1e9 + 1, step < 1).replace(/00$/, step < 1 ? "" : "00"));
  }
}

function measureLabel(measure, value) {
  if (measure !== "bytes") return short(value);
  const power = value > 0 ? Math.min(5, Math.floor(Math.log2(value) / 10)) : 0;
  const scaled = value / 1024 ** power;
  return `${scaled >= 100 ? scaled.toFixed(0) : Number(scaled.toPrecision(2))} ${["B", "KiB", "MiB", "GiB", "TiB", "PiB"][power]}`;
}

/** Draws one bar a rank; returns the rank under the cursor, or -1. */
export function drawStrip(canvas, state, cursor, colours) {
  const frame = prepare(canvas, colours);
  const { context, plot } = frame;
  const { ranks, clock: { now_ns } } = state;
  let size = state.job.ranks;
  for (let row = 0; row < ranks.count; row++) size = Math.max(size, ranks.rank[row] + 1);
  size = Math.min(size, RANKS_MAX);
  for (const part of [0, 0.5, 1]) level(frame, colours, part, `${part * 100}\u2009%`);
  if (size === 0 || !(now_ns > 0)) return -1;
  const slot = Math.min(48, plot.width / size);
  const used = slot * size;
  if (slot >= 1) drawRanks(frame, colours, state, size, slot);
  else drawNeighbours(frame, colours, state, size);
  rankAxis(frame, colours, size, slot);
  if (cursor === null) return -1;
  const at = cursor * plot.width;
  if (at >= used) return -1;
  const rank = Math.min(size - 1, Math.floor(at / slot));
  cursorLine(frame, colours, plot.left + (rank + 0.5) * slot);
  return rank;
}

/** One bar a rank. A rank without time in MPI still has an edge, and one that is gone has another colour. */
function drawRanks({ context, plot }, colours, { ranks, clock: { now_ns } }, size, slot) {
  for (let rank = 0; rank < size; rank++) {
    const row = ranks.rowOf.get(rank);
    if (row === undefined) continue;
    const part = Math.min(1, ranks.mpi_time_ns[row] / now_ns);
    const edge = ranks.state[row] >= GONE ? colours.bad : colours.accent;
    column(context, plot, rank * slot, part, ranks.state[row] >= GONE ? colours.bad : colours.fill, edge, slot >= 4 ? slot - 1 : slot);
  }
}

/** More ranks than pixels: of those in one pixel the lowest is solid, the highest pale. */
function drawNeighbours({ context, plot }, colours, { ranks, clock: { now_ns } }, size) {
  const each = size / plot.width;
  for (let x = 0; x < plot.width; x++) {
    let lowest = 1;
    let highest = -1;
    let gone = false;
    for (let rank = Math.floor(x * each); rank < Math.max(Math.floor(x * each) + 1, Math.floor((x + 1) * each)); rank++) {
      const row = ranks.rowOf.get(rank);
      if (row === undefined) continue;
      const part = Math.min(1, ranks.mpi_time_ns[row] / now_ns);
      lowest = Math.min(lowest, part);
      highest = Math.max(highest, part);
      gone ||= ranks.state[row] >= GONE;
    }
    if (highest < 0) continue;
    column(context, plot, x, highest, colours.bar);
    column(context, plot, x, lowest, colours.fill, gone ? colours.bad : colours.accent);
  }
}

function rankAxis(frame, colours, size, slot) {
  let step = 1;
  while (step * slot < 40) step *= 2;
  for (let rank = 0; rank < size; rank += step) under(frame, colours, frame.plot.left + (rank + 0.5) * slot, String(rank));
}

/** Pointer and arrow keys move a cursor from 0 to 1 over the plot; null is none. `steps()` is how many places there are. */
export function followCursor(canvas, steps, moved) {
  let cursor = null;
  const set = (value) => {
    cursor = value === null ? null : Math.min(0.999999, Math.max(0, value));
    moved(cursor);
  };
  canvas.addEventListener("pointermove", (event) => {
    const box = canvas.getBoundingClientRect();
    const at = (event.clientX - box.left - LEFT) / Math.max(1, box.width - LEFT - RIGHT);
    set(at >= 0 && at < 1 ? at : null);
  });
  canvas.addEventListener("pointerleave", () => set(null));
  canvas.addEventListener("blur", () => set(null));
  canvas.addEventListener("keydown", (event) => {
    const step = 1 / Math.max(1, steps());
    const here = cursor ?? 0.5;
    const target = { ArrowLeft: here - step, ArrowRight: here + step, Home: 0, End: 1, Escape: null }[event.key];
    if (target === undefined) return;
    event.preventDefault();
    set(target);
  });
}
