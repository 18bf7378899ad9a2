// What a view shows as tables, for those who take the numbers elsewhere. A view says what it has; the menu beside the
// tabs asks for it when somebody wants it.

import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

export type Value = string | number | boolean | null;

export interface SharedTable {
  /** Names with units: `time_s`, `t_msg_ns`. */
  columns: readonly string[];
  rows: Iterable<readonly Value[]>;
}

type Make = () => SharedTable;

/** By name, in the order in which the views came up. */
export const sharedTables = signal<ReadonlyMap<string, Make>>(new Map());

/** Offers a table as long as the component lives. `make` may use the newest properties; it is called when wanted. */
export function useTable(name: string, make: Make): void {
  const newest = useRef(make);
  newest.current = make;
  useEffect(() => {
    const own: Make = () => newest.current();
    sharedTables.value = new Map([...sharedTables.peek(), [name, own]]);
    return () => {
      const rest = new Map(sharedTables.peek());
      if (rest.get(name) === own) rest.delete(name);
      sharedTables.value = rest;
    };
  }, [name]);
}

export function csv({ columns, rows }: SharedTable): string {
  const lines = [columns.map(field).join(",")];
  for (const row of rows) lines.push(row.map(field).join(","));
  return `${lines.join("\r\n")}\r\n`;
}

/** What a spreadsheet would take for a formula stays text; so do numbers that are none. */
function field(value: Value): string {
  if (value === null || (typeof value === "number" && !Number.isFinite(value))) return "";
  if (typeof value !== "string") return String(value);
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
