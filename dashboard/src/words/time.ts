// Times of the run as people type them, and rates as people read them. Pure.

import { roundDuration, significant } from "./index";

/**
 * h:mm:ss.mmm, m:ss, or seconds; or a number with a unit (12 ms, 3.5 µs). Null when it is none of these.
 */
export function parseTime(text: string): number | null {
  const trimmed = text.trim().replace(",", ".");
  const unit = /^(\d+(?:\.\d*)?|\.\d+)\s*(ns|us|µs|ms|s|min|h)$/.exec(trimmed);
  if (unit) return Math.round(Number(unit[1]) * (UNITS_NS[unit[2] ?? "s"] ?? 1e9));
  const parts = trimmed.split(":");
  if (parts.length > 3 || parts.some((part) => part === "")) return null;
  const wholes = parts.slice(0, -1);
  const last = parts.at(-1) ?? "";
  if (!wholes.every((part) => /^\d+$/.test(part)) || !/^(\d+(\.\d*)?|\.\d+)$/.test(last)) return null;
  const minutes = wholes.reduce((sum, part) => sum * 60 + Number(part), 0);
  return Math.round((minutes * 60 + Number(last)) * 1e9);
}

const UNITS_NS: Record<string, number> = { ns: 1, us: 1e3, µs: 1e3, ms: 1e6, s: 1e9, min: 60e9, h: 3600e9 };

/** x1, x0.05, x100. */
export function rate(value: number): string {
  return `x${Number(value.toPrecision(3))}`;
}

/** What a rate means. */
export function rateMeaning(value: number): string {
  return `${roundDuration(value * 1e9)} of the run per second`;
}

/** How long ago or how much meanwhile: whole seconds, then minutes. */
export function span(ns: number): string {
  const seconds = ns / 1e9;
  if (seconds < 10) return `${significant(Math.max(0, seconds))} s`;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 120 ? `${minutes} min ${Math.round(seconds % 60)} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
