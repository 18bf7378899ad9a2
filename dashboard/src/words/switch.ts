// When calls were not recorded, in words.

import { offNs } from "../feed/switch";
import { edgeNs, over, type RunState } from "../state/run";
import { clock, counted } from "./index";
import { span } from "./time";

/** The line under the header: that recording is off, or for how long it was; empty where it always was on. */
export function gapWords(run: RunState): string {
  const recording = run.switch;
  if (!recording) return "";
  const last = recording.gapsNs.at(-1);
  if (!last) return recording.unrecordedCalls > 0 ? `${counted(recording.unrecordedCalls, "call was", "calls were")} made while the program had recording paused (MPI_Pcontrol).` : "";
  const edge = edgeNs(run);
  const made = recording.unrecordedCalls > 0 ? `; ${counted(recording.unrecordedCalls, "call was", "calls were")} made meanwhile` : "";
  if (last[1] === null && !over(run)) {
    const now = recording.heldS === null ? "What happens now is not kept." : `The last ${recording.heldS} s are held back and recorded when something happens: when the job hangs, ends, or you switch recording on.`;
    return `Recording is off since ${clock(last[0], 1)}${made}. ${now}`;
  }
  const off = offNs(recording.gapsNs, 0, edge);
  // What was held back is recorded now.
  if (off === 0) return "";
  const many = recording.gapsNs.length;
  return `Recording was off for ${span(off)}${many === 1 ? `, from ${clock(last[0], 1)} on` : ` in ${many} stretches`}${made}. What happened then is not known.`;
}
