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
const [SEND, WAIT] = [11, 12];
const MESSAGE_BYTES = 8192;

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
  // Iterations come faster and slower in waves, to give the timeline something to show.
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

  // Ranks are late at random, and some of them now and then by more.
  const late = (i, rank) => 0.02 * hash(i, rank, 7) + (hash(Math.floor(i / 16), rank, 9) < 0.08 ? 0.12 * hash(i, rank, 8) : 0);
  const startIn = (i, rank, place, call) => Math.round(startOf(i) + (place + 0.01 * call + late(i, rank)) * periodNs);
  const [sendPlace, waitPlace] = [SEND, WAIT].map((id) => FUNCTIONS.find(([each]) => each === id)[5]);
  const partner = (rank, call) => (rank + (call ? ranks - 1 : 1)) % ranks;
  const sentNs = (i, rank, call) => startIn(i, rank, sendPlace, call);
  /** Times as long as usual. */
  const latency = (i, src, call) => (0.6 + 0.8 * hash(i, src, 40 + call)) * (hash(i, src, 50 + call) < 0.06 ? 4 : 1);
  const usualNs = () => 0.05 * periodNs;
  const arrivedNs = (i, src, call) => Math.round(sentNs(i, src, call) + latency(i, src, call) * usualNs());
  /** A rank waits in each iteration for both its neighbours. */
  const waited = (i, rank) => {
    const fromNs = startIn(i, rank, waitPlace, 0);
    const toNs = Math.max(fromNs + 600, ...[0, 1].map((call) => arrivedNs(i, partner(rank, 1 - call), call)));
    return { fromNs, toNs };
  };

  function* madeCalls(i) {
    for (const [id, , , every, calls, place, shortest, longest] of FUNCTIONS) {
      if (i % every !== 0) continue;
      for (let rank = 0; rank < ranks; rank++) {
        for (let call = 0; call < calls; call++) {
          const chance = hash(i, rank, id * 4 + call);
          // Barriers end together: those who come early wait long.
          const slant = id === 15 ? rank / ranks : chance ** 3;
          const startNs = startIn(i, rank, place, call);
          const durationNs = id === WAIT ? waited(i, rank).toNs - startNs : Math.min(Math.round(shortest * (longest / shortest) ** slant), (id <= SEND ? 0.008 : 0.25) * periodNs);
          const peer = id <= SEND ? partner(rank, call) : 0xffffffff;
          yield { id, rank, thread: 0, startNs, durationNs, peer, tag: id <= SEND ? call : -2147483648, bytes: id <= SEND ? MESSAGE_BYTES : id === 13 ? 8 : 0, comm: id <= 15 ? 0 : 0xffffffff, count: id === 16 ? 1 + Math.floor(chance * 40) : 1 };
        }
      }
    }
  }

  // Several questions are about the same calls: the newest million of them stays.
  const made = new Map();
  function callsOf(i) {
    const known = made.get(i) ?? [...madeCalls(i)];
    made.delete(i);
    made.set(i, known);
    if (made.size * perIteration * ranks > 1.5e6) made.delete(made.keys().next().value);
    return known;
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

  /** Messages that are in the range, also in part: what was sent in an iteration, and completed by the receiver's wait in it. */
  function messages(fromNs, toNs, keep) {
    const found = [];
    const end = iterationAt(toNs) + 1;
    for (let i = Math.max(0, iterationAt(fromNs) - 2); i < end; i++) {
      for (let src = 0; src < ranks; src++) {
        for (let call = 0; call < 2; call++) {
          const dst = partner(src, call);
          const [sendNs, wait] = [sentNs(i, src, call), waited(i, dst)];
          if (sendNs >= toNs || wait.toNs < fromNs) continue;
          const message = {
            src, dst, tag: call, comm: 0, bytes: MESSAGE_BYTES, sendNs, recvNs: wait.toNs, tMsgNs: wait.toNs - Math.max(sendNs, wait.fromNs), lateSenderNs: Math.max(0, sendNs - wait.fromNs), lateReceiverNs: 0,
            latency: hash(src, dst, 17) < 0.1 ? Number.NaN : latency(i, src, call), isExact: arrivedNs(i, src, call) === wait.toNs && sendNs >= wait.fromNs,
          };
          if (keep(message)) found.push(message);
        }
      }
    }
    return found;
  }

  const names = [...FUNCTIONS.map(([id, name, family]) => [id, name, family]), [LONG.id, LONG.name, LONG.family]];
  return { ranks, periodNs, names, counts, calls, messages, hash, longNs: LONG };
}
