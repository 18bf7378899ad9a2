// Colours of hosts: twelve that stay apart under usual and dichromatic vision; more hosts repeat them with a second mark.
// Numbers come from a search for the greatest least distance; the tests hold them.

import { NONE } from "../feed/calls";

export type Theme = "dark" | "light";

export const HOSTS: Readonly<Record<Theme, readonly string[]>> = {
  dark: ["#5d7bf1", "#de7c00", "#3cc96a", "#e87ce0", "#f7ea3c", "#68ffff", "#9b4bbb", "#b5e09e", "#bd4d00", "#dbafc7", "#5b7f62", "#947c9f"],
  light: ["#5d7bf1", "#ec5d4b", "#2f6100", "#b464ae", "#6c9173", "#0061be", "#603b93", "#660000", "#18188c", "#7c556b", "#b21f41", "#451f55"],
};

/** In place of a host that is not known. */
export const NO_HOST = NONE;
const NO_HOST_TONE: Readonly<Record<Theme, string>> = { dark: "#8a8f96", light: "#767b82" };

export function hostColour(host: number, theme: Theme): string {
  if (host === NO_HOST) return NO_HOST_TONE[theme];
  return HOSTS[theme][host % HOSTS[theme].length] ?? "";
}

/** Whether another host has the colour as well. It needs the second mark then. */
export function isRepeated(host: number): boolean {
  return host >= HOSTS.dark.length && host !== NO_HOST;
}

/** What leads to the selected node, and what it leads to; their paler forms are these, half seen. */
export const LINKS: Readonly<Record<Theme, { former: string; latter: string }>> = {
  dark: { former: "#ff6b5e", latter: "#58a6ff" },
  light: { former: "#c9251c", latter: "#1263c7" },
};
