// Views of other programs: their tabs, and what a program tells its view. Checked and bounded.

import { bounded, FeedError, type Fields, fields, list, natural, text } from "./columns";
import type * as Wire from "./types";

export interface PanelTab { number: number; title: string; author: string }

export interface PanelsMessage { kind: "panels"; panels: readonly PanelTab[] }

/** `data` is whatever the program sent; only its view understands it. */
export interface PanelMessage { kind: "panel_message"; panel: number; data: unknown }

/** More than any server allows. */
const PANELS_MAX = 256;

export function panelsMessage(value: Fields<Wire.Panels>): PanelsMessage {
  const panels = bounded("panels", list(value, "panels"), PANELS_MAX).map((each) => {
    const from = fields<Wire.PanelTab>(each, "A panel");
    return { number: natural(from, "number"), title: text(from, "title"), author: text(from, "author") };
  });
  return { kind: "panels", panels };
}

export function panelMessage(value: Fields<Wire.PanelMessage>): PanelMessage {
  return { kind: "panel_message", panel: natural(value, "panel"), data: parsed(text(value, "data")) };
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw new FeedError("The message for a panel is not JSON.");
  }
}
