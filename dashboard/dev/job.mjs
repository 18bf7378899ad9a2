// A made-up job whose calls are a pure function of time: any range can be asked again and gives the same calls.

const FUNCTIONS = [
  // id, name, family, every how many iterations, calls an iteration, place in the iteration, shortest and longest in ns
  [10, "MPI_Irecv", "receive", 1, 2, 0.02, 250, 900],
  [11, "MPI_Isend", "send", 1, 2, 0.06, 400, 6000],
  [12, "MPI_Waitall", "complete", 1, 1, 0.1, 800, 400_000],
  [13, "MPI_Allreduce", "all", 8, 1, 0.55, 9000, 300_000],
  [14, "MPI_Bcast", "rooted", 64, 1, 0.9, 3000, 60_000],
  [15, "MPI_Barrier", "barrier", 256, 1, 0.93, 5000, 70_000],
  [16, "MPI_Iprobe", "probe", 4, 1, 0.88, 180, 500],
];
/** One thread of rank 0 that receives work for most of a second, again and again. */
const LONG = { id: 17, name: "MPI_Recv", family: "receive", everyNs: 0.9e9, durationNs: 0.7e9 };
const WAVE_NS = 20e9;

/** 0..1, the same for the same numbers. */
function hash(a, b, c) {
  let h = Math.imul(a ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(b + 0x7f4a7c15, 0xc2b2ae35) ^ Math.imul(c + 1, 0x27d4eb2f);
  h = Math.imul(h ^ (h >>> 15), 0x2c1b3c6d);
  h = Math.imul(h ^ (h >>> 12), 0x297a2d39);
  return ((h ^ (h >>> 15)) >>> 0) / 2 ** 32;
}

export function makeJob({ ranks, callsPerSecond }) {
  const perIteration = FUNCTIONS.reduce((sum, [, , , every, calls]) => sum + calls / every, 0);
  const periodNs = (perIteration * ranks * 1e9) / callsPerSecond;
  // Iterations come faster and slower in waves, so that the timeline has something to show.
  const startOf = (i) => i * periodNs + 0.6 * (WAVE_NS / 2 / Math.PI) * Math.sin((2 * Math.PI * i * periodNs) / WAVE_NS);
  function iterationAt(ns) {
    let low = Math.floor((ns - WAVE_NS) / periodNs);
    let high = Math.ceil((ns + WAVE_NS) / periodNs);
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (startOf(middle) < ns) low = middle + 1;
      else high = middle;
    }
    return Math.max(0, low);
  }
  const multiples = (from, to, every) => Math.max(0, Math.ceil(to / every) - Math.ceil(from / every));
  const longs = (from, to) => Math.max(0, Math.ceil(to / LONG.everyNs) - Math.ceil(Math.max(0, from) / LONG.everyNs));

  /** Starts in [from, to) by function. */
  function counts(fromNs, toNs) {
    const first = iterationAt(fromNs);
    const end = iterationAt(toNs);
    const rows = FUNCTIONS.map(([id, , , every, calls]) => [id, multiples(first, end, every) * calls * ranks]);
    rows.push([LONG.id, longs(fromNs, toNs)]);
    return rows;
  }

  function* callsOf(i) {
    for (const [id, , , every, calls, place, shortest, longest] of FUNCTIONS) {
      if (i % every !== 0) continue;
      for (let rank = 0; rank < ranks; rank++) {
        for (let call = 0; call < calls; call++) {
          const chance = hash(i, rank, id * 4 + call);
          // Barriers end together: those who come early wait long.
          const slant = id === 15 ? rank / ranks : chance ** 3;
          const durationNs = Math.min(Math.round(shortest * (longest / shortest) ** slant), 0.4 * periodNs);
          const startNs = Math.round(startOf(i) + (place + 0.01 * call + 0.02 * hash(i, rank, 7)) * periodNs);
          const peer = id <= 11 ? (rank + (call ? ranks - 1 : 1)) % ranks : 0xffffffff;
          yield { id, rank, thread: 0, startNs, durationNs, peer, tag: id <= 11 ? call : -2147483648, bytes: id <= 11 ? 8192 : id === 13 ? 8 : 0, comm: id <= 15 ? 0 : 0xffffffff, count: id === 16 ? 1 + Math.floor(chance * 40) : 1 };
        }
      }
    }
  }

  /** Calls for which `keep(call)`, of those that may overlap the range. */
  function calls(fromNs, toNs, keep) {
    const found = [];
    const end = iterationAt(toNs) + 1;
    for (let i = Math.max(0, iterationAt(fromNs) - 2); i < end; i++) {
      for (const call of callsOf(i)) if (keep(call)) found.push(call);
    }
    for (let k = Math.max(0, Math.floor(fromNs / LONG.everyNs) - 1); k * LONG.everyNs < toNs; k++) {
      const call = { id: LONG.id, rank: 0, thread: 1, startNs: k * LONG.everyNs, durationNs: LONG.durationNs, peer: 0xffffffff, tag: 7, bytes: 1 << 20, comm: 0, count: 1 };
      if (keep(call)) found.push(call);
    }
    return found;
  }

  const names = [...FUNCTIONS.map(([id, name, family]) => [id, name, family]), [LONG.id, LONG.name, LONG.family]];
  return { ranks, periodNs, names, counts, calls, hash, longNs: LONG };
}
