// When it could have been avoided: stretches of the run on the timeline's axis, coloured by cause, as high as what could
// be avoided of the ranks' time.

import { useSignal, useSignalEffect } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Found } from "../../feed/found";
import type { Span } from "../../state/perspective";
import { edgeNs } from "../../state/run";
import { timeTicks, wholeRun } from "../../state/span";
import type { Store } from "../../state/store";
import { clock } from "../../words";
import { networkWords, part, stretchWords, waitWords } from "../../words/found";
import { causeColour, CauseMark } from "../causes";
import { LEFT, nsOf, RIGHT, type Scale, xOf } from "../timeline/scale";
import { avoidableShare, disturbed, strip, stretchAt, stretchBeside } from "./layout";

const HEIGHT = 96;
const TOP = 6;
const BOTTOM = HEIGHT - 20;
const TICK_PIXELS = 116;
const TIP_PIXELS = 360;

export function OverTime({ id, store, found }: { id: string; store: Store; found: Found }) {
  const box = useRef<HTMLDivElement>(null);
  const cursor = useRef<HTMLDivElement>(null);
  const width = useSignal(0);
  const pointed = useSignal<{ index: number; x: number } | null>(null);
  const current = useSignal(-1);
  const { attribution: stretches, quiet, waits } = found.judgement;
  const run = store.figures.value;
  const { ranks } = run.job;
  const edge = edgeNs(run);
  const { rangeNs } = store.perspective.value;
  const scaleOf = (): Scale => ({ span: store.zoom.value ?? wholeRun(edgeNs(store.figures.value)), width: Math.max(1, width.value - LEFT - RIGHT) });
  const scale = scaleOf();
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    const size = new ResizeObserver(() => (width.value = element.clientWidth));
    size.observe(element);
    return () => size.disconnect();
  }, [width]);
  // The cursor moves with every frame, so it bypasses rendering.
  useSignalEffect(() => {
    const timeNs = store.timeNs.value;
    const x = Math.min(xOf(scaleOf(), timeNs), store.zoom.value ? Infinity : LEFT + scaleOf().width);
    current.value = stretchAt(store.figures.value.found?.judgement.attribution ?? [], timeNs);
    if (!cursor.current) return;
    cursor.current.hidden = x < LEFT || x > LEFT + scaleOf().width + 1;
    cursor.current.style.transform = `translateX(${Math.round(x)}px)`;
  });

  const seek = (timeNs: number): void => store.command({ do: "seek", time_ns: Math.round(timeNs) });
  const keys = (event: KeyboardEvent): void => {
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (by === 0 || event.shiftKey) return;
    event.preventDefault();
    const stretch = stretches[stretchBeside(stretches, current.peek(), by)];
    if (stretch) seek(stretch.fromS * 1e9);
  };
  const point = (event: PointerEvent): void => {
    const x = event.clientX - (box.current?.getBoundingClientRect().left ?? 0);
    const timeNs = nsOf(scale, x);
    const at = stretchAt(stretches, timeNs);
    const inside = x >= LEFT && timeNs <= (stretches[at]?.toS ?? 0) * 1e9;
    pointed.value = inside ? { index: at, x } : null;
  };
  const here = stretches[current.value];
  const tip = pointed.value && stretches[pointed.value.index];
  const tipOfNetwork = tip && networkWords(tip, quiet);
  return (
    <section id={id} tabIndex={-1} class="over-time">
      <h2>When <span class="soft">what could be avoided of the ranks’ time, by stretches of the {rangeNs ? "whole " : ""}run; a click goes there{quiet.some(({ isQuiet }) => !isQuiet) && "; below it, when the network was disturbed"}</span></h2>
      <div class="strip-box" ref={box} role="slider" tabIndex={0} aria-label="Stretches of the run" aria-valuemin={0} aria-valuemax={Math.max(0, stretches.length - 1)}
        aria-valuenow={Math.max(0, current.value)} aria-valuetext={here ? stretchWords(here, avoidableShare(here, ranks)) : "before the first stretch"}
        onKeyDown={keys} onPointerMove={point} onPointerLeave={() => (pointed.value = null)}
        onClick={(event) => {
          const x = event.clientX - event.currentTarget.getBoundingClientRect().left;
          if (x >= LEFT) seek(Math.min(edge, Math.max(0, nsOf(scale, x))));
        }}>
        {width.value > 0 && <Picture scale={scale} found={found} ranks={ranks} edge={edge} rangeNs={rangeNs} pointed={pointed.value?.index ?? -1} />}
        <div class="cursor" ref={cursor} hidden />
      </div>
      {tip && pointed.value && (
        <div class="tip" style={tipPlace(pointed.value.x, box.current?.getBoundingClientRect())}>
          <div><CauseMark cause={tip.cause} /><span>{stretchWords(tip, avoidableShare(tip, ranks))}</span></div>
          {tipOfNetwork && <div>{tipOfNetwork}</div>}
          {tip.evidence.map((place) => waits[place]).filter((wait) => wait !== undefined).map((wait) => <div key={waitWords(wait)} class="soft">{waitWords(wait)} in the run</div>)}
        </div>
      )}
    </section>
  );
}

/** Above the strip and beside the pointer; the view it scrolls with must not cut it off. */
function tipPlace(x: number, box: DOMRect | undefined): { bottom: string; left?: string; right?: string } {
  if (!box) return { bottom: "0" };
  const bottom = `${innerHeight - box.top - 2}px`;
  return x < box.width - TIP_PIXELS ? { bottom, left: `${box.left + x + 12}px` } : { bottom, right: `${innerWidth - box.left - x + 12}px` };
}

interface PictureProps { scale: Scale; found: Found; ranks: number; edge: number; rangeNs: Span | null; pointed: number }

function Picture({ scale, found, ranks, edge, rangeNs, pointed }: PictureProps) {
  const { bars, lines } = strip(found.judgement.attribution, ranks, scale, TOP, BOTTOM);
  const { atNs, digits } = timeTicks(scale.span, scale.width / TICK_PIXELS);
  const right = LEFT + scale.width;
  const clamp = (ns: number): number => Math.min(right, Math.max(LEFT, xOf(scale, ns)));
  const unjudged = [[0, found.fromS * 1e9, "not judged"], [found.untilS * 1e9, edge, found.isFinal ? "nothing to judge" : "not judged yet"]] as const;
  return (
    <svg width={LEFT + scale.width + RIGHT} height={HEIGHT} aria-hidden="true">
      {lines.map(({ share, y }) => (
        <g key={share}>
          <rect class={share > 0 ? "line" : "edge"} x={LEFT} y={Math.round(y)} width={scale.width} height={1} />
          <text x={LEFT - 8} y={Math.round(y) + (share > 0 ? 4 : 1)} text-anchor="end">{axisShare(share)}</text>
        </g>
      ))}
      {atNs.map((ns) => {
        const x = Math.round(xOf(scale, ns));
        return (
          <g key={ns}>
            <rect class="line" x={x} y={TOP} width={1} height={HEIGHT - TOP} />
            {x + 4 + 7.2 * clock(ns + 0.5, digits).length < right + RIGHT && <text x={x + 4} y={HEIGHT - 5}>{clock(ns + 0.5, digits)}</text>}
          </g>
        );
      })}
      {unjudged.map(([from, to, words]) => {
        const x = clamp(from);
        const wide = clamp(to) - x;
        return wide >= 1 && <g key={words}>
          <rect class="unjudged" x={x} y={TOP} width={wide} height={BOTTOM - TOP} />
          {wide > 96 && <text x={x + wide / 2} y={(TOP + BOTTOM) / 2 + 4} text-anchor="middle">{words}</text>}
        </g>;
      })}
      {bars.map((bar) => <rect key={bar.index} x={bar.x} y={bar.y} width={bar.width} height={bar.height} style={{ fill: causeColour(bar.cause) }} class={bar.index === pointed ? "pointed" : ""} />)}
      {disturbed(found.judgement.quiet, scale).map(({ x, width }) => <rect key={x} x={x} y={BOTTOM + 1} width={width} height={3} style={{ fill: causeColour("background") }} />)}
      {rangeNs && rangeNs[1] > scale.span[0] && rangeNs[0] < scale.span[1] && (
        <rect class="selected" x={clamp(rangeNs[0])} y={TOP} width={Math.max(1, clamp(rangeNs[1]) - clamp(rangeNs[0]))} height={BOTTOM - TOP} />
      )}
      {bars.length > 0 && bars.every(({ cause }) => cause === "none") && <text x={LEFT + 8} y={(TOP + BOTTOM) / 2 + 4}>No cause stands out in any stretch.</text>}
    </svg>
  );
}

/** Lines stand at round shares. */
function axisShare(share: number): string {
  return share === 0 ? "0" : part(share).replace(".0", "");
}
