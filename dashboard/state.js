// From feed messages to what the page knows. No socket, no clock, no document.

export const PROTOCOL = 1;

const FUNCTION_NUMBERS = ["calls", "polls", "bytes", "time_ns", "p50_ns", "p99_ns", "max_ns"];
const RANK_NUMBERS = ["node", "calls", "sent", "received", "bytes_sent", "mpi_time_ns", "state"];
const WINDOW_NUMBERS = ["calls", "messages", "bytes"];
/** More than any feed sends; a wrong start must not make an array without end. */
const WINDOWS_MAX = 65536;

/** What a page knows before anything came. */
export function empty() {
  return {
    number: -1,
    clock: { now_ns: 0, lag_ns: 0 },
    job: { run: "", command: "", nodes: 0, ranks: 0, mpi: "", state: "waiting", exit: null, started_unix_ns: 0 },
    totals: { calls: 0, polls: 0, messages: 0, bytes: 0, intra_messages: 0, inter_messages: 0, unmatched_sends: 0, unmatched_receives: 0, uncertain_messages: 0 },
    losses: { ring_full: 0, no_ring: 0, unreadable: 0 },
    faults: { count: 0, newest: [] },
    functions: { count: 0, rowOf: new Map(), id: [], name: [], family: [], ...columns(FUNCTION_NUMBERS, 64) },
    ranks: { count: 0, rowOf: new Map(), rank: [], ...columns(RANK_NUMBERS, 64) },
    windows: { count: 0, window_ns: 0, ...columns(WINDOW_NUMBERS, 256) },
  };
}

/** Returns the state after a message, the same object where that saves a copy; throws when the message does not fit, and then a snapshot is needed. */
export function apply(before, message) {
  if (message.protocol !== PROTOCOL) throw new Error("protocol");
  const snapshot = message.kind === "snapshot";
  if (!snapshot && message.number !== before.number + 1) throw new Error("gap");
  const state = snapshot ? empty() : before;
  state.number = message.number;
  state.clock = message.clock;
  for (const part of ["job", "totals", "losses", "faults"]) {
    if (message[part]) state[part] = message[part];
  }
  if (message.functions) applyFunctions(state.functions, message.functions);
  if (message.ranks) applyRanks(state.ranks, message.ranks);
  if (message.windows) applyWindows(state.windows, message.windows);
  return state;
}

function columns(names, room) {
  return Object.fromEntries(names.map((name) => [name, new Float64Array(room)]));
}

/** Makes room for one more row than `row`, doubling. */
function reserve(table, names, row) {
  if (row < table[names[0]].length) return;
  const room = 2 ** Math.ceil(Math.log2(row + 1));
  for (const name of names) {
    const wider = new Float64Array(room);
    wider.set(table[name]);
    table[name] = wider;
  }
}

function rowFor(table, names, key) {
  let row = table.rowOf.get(key);
  if (row === undefined) {
    row = table.count++;
    reserve(table, names, row);
    table.rowOf.set(key, row);
  }
  return row;
}

function applyFunctions(table, part) {
  for (let index = 0; index < part.id.length; index++) {
    const row = rowFor(table, FUNCTION_NUMBERS, part.id[index]);
    table.id[row] = part.id[index];
    table.name[row] = part.name[index];
    table.family[row] = part.family[index];
    for (const name of FUNCTION_NUMBERS) table[name][row] = part[name][index];
  }
}

function applyRanks(table, part) {
  for (let index = 0; index < part.rank.length; index++) {
    const row = rowFor(table, RANK_NUMBERS, part.rank[index]);
    table.rank[row] = part.rank[index];
    for (const name of RANK_NUMBERS) table[name][row] = part[name][index];
  }
}

function applyWindows(table, part) {
  if (part.window_ns !== table.window_ns) {
    Object.assign(table, { count: 0, window_ns: part.window_ns, ...columns(WINDOW_NUMBERS, 256) });
  }
  for (let index = 0; index < part.start_ns.length; index++) {
    const row = Math.round(part.start_ns[index] / table.window_ns);
    if (row >= WINDOWS_MAX) throw new Error("a window lies too far away");
    reserve(table, WINDOW_NUMBERS, row);
    table.count = Math.max(table.count, row + 1);
    for (const name of WINDOW_NUMBERS) table[name][row] = part[name][index];
  }
}
