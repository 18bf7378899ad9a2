// Dark or light: as the system has it, or as chosen here and remembered.

import { computed, effect, signal } from "@preact/signals";
import { storedText, storeText } from "./storage";

export type ThemeChoice = "auto" | "dark" | "light";

const KEY = "mpiscope-theme";
const system = matchMedia("(prefers-color-scheme: dark)");
const systemDark = signal(system.matches);
system.addEventListener("change", () => (systemDark.value = system.matches));

const still = matchMedia("(prefers-reduced-motion: reduce)");
export const reducedMotion = signal(still.matches);
still.addEventListener("change", () => (reducedMotion.value = still.matches));

const before = storedText(KEY);

export const themeChoice = signal<ThemeChoice>(before === "dark" || before === "light" ? before : "auto");
export const theme = computed<"dark" | "light">(() =>
  themeChoice.value === "auto" ? (systemDark.value ? "dark" : "light") : themeChoice.value,
);

effect(() => {
  document.documentElement.dataset["theme"] = theme.value;
});

export function nextTheme(): void {
  const order: readonly ThemeChoice[] = ["auto", "dark", "light"];
  themeChoice.value = order[(order.indexOf(themeChoice.value) + 1) % order.length] ?? "auto";
  storeText(KEY, themeChoice.value);
}
