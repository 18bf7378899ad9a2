// A relief on a canvas: turned by dragging or by arrow keys, nearer by the wheel or by + and -, pointed at and clicked.

import { useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { amountRamp, STEPS, stepOf } from "../../palette/ramps";
import { theme } from "../../state/theme";
import { prepare } from "../canvas";
import { colours } from "../colours";
import { listenGestures, wheelFactor } from "../gestures";
import { useSize } from "../size";
import { Tip } from "../where/tip";
import { type Camera, lensOf, settled, turned } from "./camera";
import type { Hit } from "../chart/chart-canvas";
import { cellAt, drawRelief, edgeNames, firstCamera, type Relief } from "./relief";

const TURN_OF_PIXEL = 0.007;
const TURN = Math.PI / 24;
const ZOOM = 1.25;

interface ReliefProps {
  label: string;
  relief: Relief;
  /** Names of the two axes, or of each row. */
  columns: string;
  rows: string | readonly string[];
  /** From where it is seen first. */
  yaw?: number;
  /** Of a cell of the field. */
  hit(cell: number): Hit | null;
  choose(hit: Hit | null): void;
}

export function ReliefChart(props: ReliefProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const size = useSize(canvas);
  /** Null: all in sight, from the first side. */
  const camera = useSignal<Camera | null>(null);
  const tip = useSignal<{ hit: Hit; x: number; y: number } | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const changed = useSignal(0);
  useEffect(() => void changed.value++, [props.relief]);
  const seen = (): Camera => camera.peek() ?? firstCamera(size.peek(), latest.current.yaw);
  const lens = () => lensOf(seen(), size.peek());
  const hitAt = (x: number, y: number): Hit | null => {
    const cell = cellAt(latest.current.relief, lens(), x, y);
    return cell === null ? null : latest.current.hit(cell);
  };
  const zoom = (factor: number): void => void (camera.value = settled({ ...seen(), distance: seen().distance / factor }));
  useSignalEffect(() => {
    void [size.value, changed.value, camera.value];
    const [inks, ramp] = [colours.value, amountRamp(theme.value)];
    const sheet = canvas.current && prepare(canvas.current);
    if (!sheet) return;
    const through = lens();
    drawRelief(sheet.context, latest.current.relief, through, (part) => ramp[Math.min(STEPS, stepOf(part))] ?? inks.fill, inks.line);
    const { context } = sheet;
    context.textBaseline = "middle";
    context.lineJoin = "round";
    context.lineWidth = 4;
    context.strokeStyle = inks.ground;
    context.fillStyle = inks.soft;
    for (const { text, x, y, align } of edgeNames(through, latest.current.columns, latest.current.rows)) {
      context.textAlign = align;
      // Beside a relief that is near, or turned, names stay whole.
      const wide = context.measureText(text).width;
      const whole = align === "left" ? Math.min(x, size.peek().width - wide - 4) : Math.max(x, wide + 4);
      context.strokeText(text, whole, y);
      context.fillText(text, whole, y);
    }
    context.textAlign = "left";
  });
  useEffect(() => {
    if (!canvas.current) return undefined;
    const stop = new AbortController();
    listenGestures<true>(canvas.current, stop.signal, {
      hover: (x, y) => {
        const hit = hitAt(x, y);
        tip.value = hit && { hit, x, y };
      },
      leave: () => (tip.value = null),
      press: (_, __, event) => (event.button === 0 ? true : null),
      drag: (_, __, ___, right, down) => {
        tip.value = null;
        camera.value = turned(seen(), -right * TURN_OF_PIXEL, down * TURN_OF_PIXEL);
      },
      drop: () => undefined,
      click: (_, x, y) => latest.current.choose(hitAt(x, y)),
      rest: () => undefined,
      wheel: (event) => zoom(wheelFactor(event)),
    });
    return () => stop.abort();
  }, []);
  const key = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const turn = (x: number, y: number) => (): void => void (camera.value = turned(seen(), x * TURN, y * TURN));
    const acts: Record<string, () => void> = {
      ArrowLeft: turn(-1, 0), ArrowRight: turn(1, 0), ArrowUp: turn(0, 1), ArrowDown: turn(0, -1),
      "+": () => zoom(ZOOM), "=": () => zoom(ZOOM), "-": () => zoom(1 / ZOOM), f: () => void (camera.value = null),
    };
    const act = acts[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  };
  return (
    <div class="chart-canvas">
      <canvas ref={canvas} tabIndex={0} role="img" aria-label={`${props.label}. Arrow keys turn it, + and - zoom, f resets.`} onKeyDown={key} />
      {tip.value && <Tip text={tip.value.hit.tip} x={tip.value.x} y={tip.value.y} />}
    </div>
  );
}
