// The two pictures that can be saved: what is seen now, and the history of the whole run without watching it.
import { clock, count } from "../../words";
import { fileName, save } from "../save";
import type { ParticleFrame, ParticleServices } from "../view";
import type { GroundShape } from "./ground";
import { HistoryRaster, type HistoryImage } from "./history-raster";
import { entriesOf } from "./legend";
import type { Moment } from "./moment";
import { drawPicture, grainsOf } from "./picture";
import type { Selected } from "./sampling";
import type { Scale } from "./scale";

const RUN_WIDTH_PX = 1600;
const RUN_HEIGHT_PX = 840;
/** 2400 pixels across. */
const RUN_PIXEL_RATIO = 1.5;
const SLICE_MS = 12;
/** In a picture without particles the history need not step back behind them. */
const ALONE_OPACITY = 0.45;

export interface ShownParticles {
  frame: ParticleFrame;
  ground: GroundShape;
  moment: Moment;
  groups: readonly Selected[];
  /** A copy: the view goes on while the picture is made. */
  history: HistoryImage | null;
  leastOpacity: number;
  sampling: string;
}

export async function saveView(shown: ShownParticles, runName: string): Promise<void> {
  const { frame, ground, moment, groups, history, leastOpacity, sampling } = shown;
  const time = clock(frame.timeNs);
  const canvas = await drawPicture({
    ground, moment, groups, history, leastOpacity,
    pixelRatio: Math.max(2, devicePixelRatio),
    title: `${runName}, calls at ${time}`,
    subtitle: `${count(frame.ranks)} ranks; ${sampling}`,
    legend: entriesOf(frame.functions),
    hidden: frame.hidden,
  });
  await save(canvas, fileName(runName, `at-${time.replace(/[:.]/g, "-")}`));
}

export async function saveRun(
  frame: ParticleFrame, scale: Scale, tables: { colours: Uint8Array; ranksShown: Uint8Array | null },
  leastOpacity: number, services: ParticleServices,
): Promise<void> {
  const toNs = services.wholeRunNs();
  const runName = services.runName();
  const history = await services.history(0, toNs);
  const ground: GroundShape = {
    widthPx: RUN_WIDTH_PX, heightPx: RUN_HEIGHT_PX, scale, ranks: frame.ranks, nodes: frame.nodes, theme: frame.theme,
  };
  const raster = new HistoryRaster();
  raster.configure({ ...grainsOf(ground), scale, ranks: Math.max(1, frame.ranks), ...tables });
  raster.add(history);
  while (!raster.complete) {
    raster.work(performance.now() + SLICE_MS, () => performance.now());
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
  const canvas = await drawPicture({
    ground,
    history: raster.image(),
    leastOpacity: Math.max(leastOpacity, ALONE_OPACITY),
    pixelRatio: RUN_PIXEL_RATIO,
    title: `${runName}, all calls from ${clock(0)} to ${clock(toNs)}`,
    subtitle: `${count(history.total)} calls on ${count(frame.ranks)} ranks, by how long they took; the denser, the more opaque`,
    legend: entriesOf(frame.functions),
    hidden: frame.hidden,
    moment: null,
    groups: [],
  });
  await save(canvas, fileName(runName, "history"));
}
