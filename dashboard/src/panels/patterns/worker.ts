// Finds patterns beside the page: counts of one stretch come in, its patterns go out.

import type { History } from "../../feed/calls";
import { patternsIn } from "./detect";

addEventListener("message", ({ data }: MessageEvent<{ number: number; history: History }>) => {
  postMessage({ number: data.number, patterns: patternsIn(data.history) });
});
