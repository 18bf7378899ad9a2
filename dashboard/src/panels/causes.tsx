// The mark of a cause: its colour and its icon, the same wherever it is named.

import type { Cause } from "../feed/found";
import { CAUSE_COLOURS, PART_TONES, type Part } from "../palette/causes";
import { theme } from "../state/theme";
import { CAUSE_NAMES } from "../words/found";
import { Icon, type IconName } from "./icons";

const ICONS: Readonly<Record<Cause, IconName>> = { mapping: "placement", pattern: "pattern", background: "background", cpu: "cpuWait", none: "nothing" };

/** No cause has the colour of the frame. */
export function causeColour(cause: Cause): string {
  return cause === "none" ? "var(--edge)" : CAUSE_COLOURS[cause][theme.value];
}

export function partTone(part: Part): string {
  return PART_TONES[part][theme.value];
}

/** Null: nothing was diagnosed. The title is what the cause is of, if its name alone does not say it. */
export function CauseMark({ cause, title }: { cause: Cause | null; title?: string }) {
  const name = title ?? (cause === null ? "no diagnosis yet" : CAUSE_NAMES[cause]);
  return <span class="cause" role="img" aria-label={name} title={name} style={{ color: causeColour(cause ?? "none") }}><Icon name={cause === null ? "pending" : ICONS[cause]} /></span>;
}
