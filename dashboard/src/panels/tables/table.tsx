// A table that is sorted by its headings and draws only the rows in sight: jobs have thousands of ranks.

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { useSize } from "../size";
import { TermMark } from "../terms/term";
import type { TermId } from "../terms/terms";

export interface Column<Row> {
  key: string;
  label: string;
  title: string;
  sort: (row: Row) => number | string;
  cell: (row: Row) => ComponentChildren;
  /** From 0 to 1: a bar behind the text. */
  part?: (row: Row) => number;
  className?: (row: Row) => string;
  /** The first click sorts the smallest first. */
  ascending?: boolean;
  /** Explained beside its heading. */
  term?: TermId;
}

interface Order { key: string; descending: boolean }

interface TableProps<Row> {
  label: string;
  /** What all tables of a kind have in common; else their label. */
  name?: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => number | string;
  first: Order;
  selected: number | string | null;
  /** A click anywhere in a row; a button in it clicks for the keyboard. */
  act?: (row: Row) => void;
  /** The row under the pointer or with the focus; null when none is any more. */
  point?: (row: Row | null) => void;
}

const ROW_PIXELS = 25;
const MARGIN_ROWS = 8;

/** How tables were sorted and how far they were scrolled when somebody went to another view. */
const left = new Map<string, { order: Order; top: number }>();

export function Table<Row>({ label, name = label, columns, rows, rowKey, first, selected, act, point }: TableProps<Row>) {
  const before = left.get(name);
  const order = useSignal(before?.order ?? first);
  const scroll = useSignal(before?.top ?? 0);
  const box = useRef<HTMLDivElement>(null);
  const { height } = useSize(box).value;
  useLayoutEffect(() => {
    box.current?.scrollTo(0, scroll.peek());
    return () => void left.set(name, { order: order.peek(), top: scroll.peek() });
  }, [name]);

  const sorted = sortRows(rows, columns, order.value, rowKey);
  const start = Math.max(0, Math.min(sorted.length, Math.floor(scroll.value / ROW_PIXELS) - MARGIN_ROWS));
  const end = Math.min(sorted.length, start + Math.ceil(height / ROW_PIXELS) + 2 * MARGIN_ROWS);
  const sortBy = (column: Column<Row>): void => {
    const { key, descending } = order.value;
    order.value = { key: column.key, descending: key === column.key ? !descending : !column.ascending };
  };
  return (
    <div class="scroll" ref={box} tabIndex={0} role="region" aria-label={label} onScroll={(event) => (scroll.value = event.currentTarget.scrollTop)}>
      <table aria-label={label} aria-rowcount={sorted.length + 1}>
        <thead>
          <tr>
            {columns.map((column) => {
              const mine = order.value.key === column.key;
              return (
                <th scope="col" key={column.key} aria-sort={mine ? (order.value.descending ? "descending" : "ascending") : "none"}>
                  <button type="button" title={column.title} onClick={() => sortBy(column)}>
                    {column.label}{mine ? (order.value.descending ? " \u2193" : " \u2191") : ""}
                  </button>
                  {column.term && <TermMark id={column.term} />}
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody>
          <Spacer rows={start} columns={columns.length} />
          {sorted.slice(start, end).map((row, index) => (
            <tr key={rowKey(row)} aria-rowindex={start + index + 2} aria-selected={rowKey(row) === selected} class={act ? "acts" : ""} onClick={() => act?.(row)}
              onPointerEnter={() => point?.(row)} onPointerLeave={() => point?.(null)} onFocusIn={() => point?.(row)} onFocusOut={() => point?.(null)}>
              {columns.map((column) => (
                <td key={column.key} class={`${column.part ? "part" : ""} ${column.className?.(row) ?? ""}`}>
                  {column.part && <i style={{ width: `calc((100% - var(--value-width, 60px)) * ${Math.min(1, column.part(row)).toFixed(4)})` }} />}
                  <span>{column.cell(row)}</span>
                </td>
              ))}
            </tr>
          ))}
          <Spacer rows={sorted.length - end} columns={columns.length} />
        </tbody>
      </table>
    </div>
  );
}

/** Stands for rows that are out of sight. */
function Spacer({ rows, columns }: { rows: number; columns: number }) {
  return rows > 0 ? <tr aria-hidden="true"><td colSpan={columns} style={{ height: `${rows * ROW_PIXELS}px` }} /></tr> : null;
}

function sortRows<Row>(
  rows: readonly Row[], columns: readonly Column<Row>[], order: Order, rowKey: (row: Row) => number | string,
): Row[] {
  const column = columns.find(({ key }) => key === order.key) ?? columns[0];
  if (!column) return [...rows];
  const sign = order.descending ? -1 : 1;
  return [...rows].sort((a, b) => {
    return sign * compare(column.sort(a), column.sort(b)) || compare(rowKey(a), rowKey(b));
  });
}

function compare(one: number | string, other: number | string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
