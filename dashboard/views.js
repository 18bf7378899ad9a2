// The two tables: which columns they have and what is in them.

import { familyColour } from "./colours.js";
import { makeTable } from "./tables.js";
import * as words from "./words.js";

const STATES = ["running", "finalized", "aborted", "vanished"];

/** Functions, the one with most time first. `view` has the state of the moment. */
export function functionTable(table, view, changed) {
  const rows = () => view.state.functions;
  const number = (key, label, title, format) => ({
    key, label, title,
    sort: (row) => rows()[key][row],
    text: (row) => format(rows()[key][row]),
  });
  const shareOf = (row) => rows().time_ns[row] / Math.max(1, total(rows().time_ns, rows().count));
  const columns = [
    {
      key: "name", label: "function", title: "Sort by name",
      sort: (row) => rows().name[row],
      text: (row) => rows().name[row],
      colour: (row) => familyColour(rows().family[row], memberOf(rows(), row), view.dark),
      hint: (row) => `family: ${rows().family[row]}`,
    },
    number("calls", "calls", "Rows of calls: a run of failed polls is one row", words.count),
    number("polls", "polls", "Failed polls folded into those rows", words.count),
    number("time_ns", "time", "Time between entry and return, summed over all ranks and threads", words.duration),
    {
      key: "share", label: "share", title: "Share of the time in all MPI functions",
      sort: (row) => rows().time_ns[row],
      text: (row) => words.share(shareOf(row), 1),
      part: shareOf,
    },
    number("p50_ns", "p50", "Half of the calls took at most this long", words.duration),
    number("p99_ns", "p99", "99 of 100 calls took at most this long", words.duration),
    number("max_ns", "max", "The longest call", words.duration),
    number("bytes", "bytes", "What the calls sent, or received where they sent nothing", words.bytes),
  ];
  return makeTable(table, columns, { key: "time_ns", descending: true }, changed);
}

/** Which of its family, by number, so that a function keeps its colour. */
function memberOf(functions, row) {
  let member = 0;
  for (let other = 0; other < functions.count; other++) {
    if (functions.family[other] === functions.family[row] && functions.id[other] < functions.id[row]) member++;
  }
  return member;
}

function total(column, count) {
  let sum = 0;
  for (let row = 0; row < count; row++) sum += column[row];
  return sum;
}

/** Ranks, in their order. */
export function rankTable(table, view, changed) {
  const rows = () => view.state.ranks;
  const number = (key, label, title, format) => ({
    key, label, title,
    sort: (row) => rows()[key][row],
    text: (row) => format(rows()[key][row]),
  });
  const shareOf = (row) => rows().mpi_time_ns[row] / Math.max(1, view.state.clock.now_ns);
  const columns = [
    number("rank", "rank", "Sort by rank", String),
    number("calls", "calls", "Rows of calls: a run of failed polls is one row", words.count),
    number("sent", "sent", "Messages sent", words.count),
    number("received", "received", "Messages received", words.count),
    number("bytes_sent", "bytes sent", "Payload of the messages sent", words.bytes),
    {
      key: "share", label: "in MPI", title: "Time in MPI as a share of run time; above 100 % when several threads are in MPI",
      sort: (row) => rows().mpi_time_ns[row],
      text: (row) => words.share(shareOf(row), 1),
      part: shareOf,
      hint: (row) => `${words.duration(rows().mpi_time_ns[row])} in MPI`,
    },
    number("node", "node", "Number of the node", String),
    number("state", "state", "How the process stands", (state) => STATES[state] ?? "unknown"),
  ];
  return makeTable(table, columns, { key: "rank", descending: false }, changed);
}
