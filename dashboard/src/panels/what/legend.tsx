// What colours and glyphs mean: a line that is always there, and an explanation beside a drawn example.

import { useEffect, useRef } from "preact/hooks";
import type { Dag } from "../../feed/dag";
import { hostColour, isRepeated, LINKS } from "../../palette/hosts";
import { latencyColour, LATENCY_MAX } from "../../palette/ramps";
import type { Store } from "../../state/store";
import { theme } from "../../state/theme";
import { prepare } from "../canvas";
import { colours } from "../colours";
import { arcsOf, type Bar, ellipse, type Glyph, heightOf } from "./glyph";
import { paintGlyph } from "./glyph-paint";
import type { WhatState } from "./state";
import { hostName } from "./words";

/** More hosts are counted. */
const HOSTS_NAMED = 8;

export function Key({ store, dag }: { store: Store; dag: Dag }) {
  const hosts = [...new Set(dag.nodes.host)].sort((one, other) => one - other);
  const run = store.figures.value;
  const rest = hosts.length - HOSTS_NAMED;
  return (
    <div class="what-key small">
      <span class="group" title="The latency of a message: its transfer time divided by the expected one">Latency <span class="soft">{"\u00bc"}</span><Scale /><span class="soft">{LATENCY_MAX}+ times expected</span></span>
      <span class="group"><Outlined />not known</span>
      <span class="group hosts"><span class="soft">Nodes</span>
        {hosts.slice(0, HOSTS_NAMED).map((host) => (
          <span class="host" key={host}><span class={`swatch ${isRepeated(host) ? "again" : ""}`} style={{ backgroundColor: hostColour(host, theme.value) }} />{hostName(run, host)}</span>
        ))}
        {rest > 0 && <span class="soft">and {rest} more</span>}
      </span>
    </div>
  );
}

function Scale() {
  const canvas = useRef<HTMLCanvasElement>(null);
  const mode = theme.value;
  useEffect(() => {
    const prepared = canvas.current && prepare(canvas.current);
    if (!prepared) return;
    const { context, width, height } = prepared;
    for (let x = 0; x < width; x++) {
      context.fillStyle = latencyColour(LATENCY_MAX ** ((2 * (x + 0.5)) / width - 1), mode);
      context.fillRect(x, 0, 1.5, height);
    }
  }, [mode]);
  return <canvas class="scale" ref={canvas} aria-hidden="true" />;
}

function Outlined() {
  return <span class="swatch hollow" style={{ borderColor: latencyColour(Number.NaN, theme.value) }} />;
}

/** Turn, latency, size in KiB, exact. */
const RECEIVED: readonly (readonly [number, number, number, boolean])[] = [[0.1, 0.8, 2, true], [0.22, 1, 64, true], [0.32, 4.5, 8, true], [0.1, 1.6, 8, false]];
const SENT: readonly (readonly [number, number, number, boolean])[] = [[0.2, 0.4, 8, true], [0.1, Number.NaN, 2, true], [0.3, 2.4, 64, true]];

function example(): Glyph {
  const side = (rows: typeof SENT) => {
    const { arcs, isSqueezed } = arcsOf(rows.map(([turn]) => turn));
    const bars: Bar[] = rows.map(([, latency, size, isExact], at) => ({ ...arcs[at]!, height: heightOf(size, 64), message: at, count: 1, latency, isExact }));
    return { bars, isSqueezed, missing: 0 };
  };
  return { ...ellipse(1.5), received: side(RECEIVED), sent: side(SENT) };
}

export function Legend({ what }: { what: WhatState }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [look, mode] = [colours.value, theme.value];
  useEffect(() => {
    const prepared = canvas.current && prepare(canvas.current);
    if (!prepared || !canvas.current) return;
    const { ground, text, edge, soft } = look;
    paintGlyph(prepared.context, example(), "3", 0, prepared.width / 2, prepared.height / 2, Math.min(prepared.width, prepared.height), { theme: mode, ground, text, edge, soft, font: getComputedStyle(canvas.current).fontFamily });
  }, [look, mode]);
  const links = LINKS[mode];
  return (
    <aside class="glyph-legend" aria-label="What a glyph says" tabIndex={0}>
      <h2>What a glyph says<button type="button" onClick={() => what.explain(false)}>Close</button></h2>
      <canvas ref={canvas} role="img" aria-label="A glyph: an ellipse with the number 3, four bars inside its border, three outside" />
      <dl>
        <dt>A glyph</dt><dd>The state of one rank for a while: it receives, then sends. What it receives next begins a new state.</dd>
        <dt>Ellipse</dt><dd>Its colour is the node, the number the rank. The flatter, the further the rank's messages are from the mean.</dd>
        <dt>Bars inside</dt><dd>Messages received, clockwise from the top as they came.</dd>
        <dt>Bars outside</dt><dd>Messages sent.</dd>
        <dt>Length</dt><dd>How long a message took, alike in all glyphs of a graph. A bold border: more than a turn, made to fit.</dd>
        <dt>Height</dt><dd>Its size; twice the size adds the same height everywhere.</dd>
        <dt>Colour</dt><dd>Its latency: blue is faster than expected, grey as expected, red slower. Hollow: not known. Split in two: an upper bound.</dd>
        <dt>Links</dt><dd>Messages, from left to right. Of the selected state <span class="link" style={{ color: links.former }}>red</span> lead to it, <span class="link" style={{ color: links.latter }}>blue</span> leave it; pale are all before and after.</dd>
        <dt>Far away</dt><dd>A dot has the colour of its slowest message; nearer, that is the ring around the colour of the node.</dd>
        <dt>Hands</dt><dd>Double click or Enter folds what follows; the wheel zooms, dragging moves; arrows go along links, F fits.</dd>
      </dl>
    </aside>
  );
}
