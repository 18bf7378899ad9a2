// Made-up answers for the tab Why: the three views of messages, expected transfer times, a better placement, and the
// call sites where ranks wait.

const u32 = (list) => new Uint8Array(Uint32Array.from(list, (value) => value >>> 0).buffer);
const f64 = (list) => new Uint8Array(Float64Array.from(list).buffer);
const BINS_MAX = 512;
/** Sizes of messages, and how many of 100 they are. */
const SIZES = [[8, 16, 30], [512, 1024, 24], [1024, 2048, 20], [8192, 16384, 16], [65536, 131072, 8], [1 << 20, 1 << 21, 2]];
const among = (only, rank) => !only || only.some(([first, last]) => rank >= first && rank <= last);

/** Messages come in waves, and not at all in the fourth of each twenty seconds; one rank has more than the others now and then. */
export function makeCourses({ fromNs, toNs, bins, only, ranks, nodes, edgeNs, hash }) {
  const windows = Math.max(1, Math.min(BINS_MAX, bins || 1));
  const widthNs = (toNs - fromNs) / windows;
  const part = Array.from({ length: ranks }, (_, rank) => rank).filter((rank) => among(only, rank)).length / Math.max(1, ranks);
  const columns = { inter: [], intra: [], inter_bytes: [], intra_bytes: [], uneven: [], greatest_load: [], greatest_rank: [] };
  const sizes = SIZES.map(([from, to]) => ({ from, to, messages: 0, is_inter: nodes > 1 }));
  const slow = SIZES.map(() => []);
  for (let window = 0; window < windows; window++) {
    const atS = (fromNs + (window + 0.5) * widthNs) / 1e9;
    const salt = Math.round(atS * 1e6) >>> 0;
    const isThere = atS * 1e9 < edgeNs && atS % 20 < 18.5;
    const all = isThere ? Math.round(ranks * part * 90 * (widthNs / 1e9) * (1 + 0.5 * Math.sin(atS / 2) + 0.3 * hash(salt, 1, 31))) : 0;
    const inter = nodes > 1 ? Math.round(all * (0.42 + 0.2 * Math.sin(atS / 7))) : 0;
    columns.inter.push(inter);
    columns.intra.push(all - inter);
    columns.inter_bytes.push(inter * 9300);
    columns.intra_bytes.push((all - inter) * 4100);
    const uneven = all > 0 ? 0.08 + 0.05 * hash(salt, 2, 32) + (atS % 11 > 8 ? 0.5 * hash(salt, 3, 33) : 0) : Number.NaN;
    columns.uneven.push(uneven);
    columns.greatest_load.push(all > 0 ? 1.4 + (uneven > 0.3 ? Math.min(ranks / 2, 3 + 8 * hash(salt, 4, 34)) : hash(salt, 5, 35)) : Number.NaN);
    columns.greatest_rank.push(uneven > 0.3 ? Math.floor(ranks * 0.8) : Math.floor(ranks * hash(salt, 6, 36)));
    SIZES.forEach(([from, , many], size) => {
      const messages = Math.round((all * many) / 100);
      sizes[size].messages += messages;
      const disturbed = atS % 17 > 12 ? 0.4 + size * 0.35 : 0;
      slow[size].push(messages > 0 ? 0.8 + 0.3 * hash(salt, from, 37) * (1 + 0.2 * size) + disturbed * (0.5 + hash(salt, from, 38)) : Number.NaN);
    });
  }
  for (const row of slow) {
    const known = row.filter((value) => !Number.isNaN(value));
    const mean = known.reduce((sum, value) => sum + value, 0) / Math.max(1, known.length);
    row.forEach((value, window) => (row[window] = value / mean));
  }
  const range = (row) => Math.max(...row.filter((value) => !Number.isNaN(value)), 0);
  const seen = sizes.map((_, size) => size).filter((size) => sizes[size].messages > 0);
  const calmest = seen.length > 0 ? seen.reduce((found, size) => (range(slow[size]) < range(slow[found]) ? size : found)) : null;
  const messages = columns.inter.reduce((sum, value, at) => sum + value + columns.intra[at], 0);
  return {
    from_ns: fromNs, to_ns: toNs, width_ns: widthNs, bins: windows, sizes, slow: f64(slow.flat()), calmest, messages, left_out: only ? 0 : Math.round(messages * 0.002),
    ...Object.fromEntries(Object.entries(columns).map(([name, values]) => [name, name === "greatest_rank" ? u32(values) : f64(values)])),
  };
}

/** Bins of 50 bytes, wider beyond 64 KiB, about the sizes that there are. */
export function makeCriteria({ nodes, isFinal, untilS, hash }) {
  const rows = [];
  for (const isInter of nodes > 1 ? [1, 0] : [0]) {
    for (let from = 0; from < 1 << 22; from += Math.max(50, Math.floor(from / 64 / 50) * 50)) {
      const to = from + Math.max(50, Math.floor(from / 64 / 50) * 50);
      const chance = hash(from, isInter, 51);
      if (chance > (from < 4096 ? 0.8 : from < 70_000 ? 0.12 : 0.3)) continue;
      const usualNs = (isInter ? 2100 : 420) + from / (isInter ? 5.5 : 9) + (from > 4096 ? (isInter ? 2600 : 700) : 0);
      rows.push([isInter, from, to, 1 + Math.floor(hash(from, isInter, 52) ** 4 * 40_000), usualNs * (0.94 + 0.12 * hash(from, isInter, 53))]);
    }
  }
  const column = (at) => rows.map((row) => row[at]);
  const functions = [[13, "MPI_Allreduce", 8, 21_000], [13, "MPI_Allreduce", 4096, 46_000], [15, "MPI_Barrier", 0, 14_500], [18, "MPI_Bcast", 1024, 17_800]];
  return {
    version: isFinal ? 1 : Math.floor(untilS / 5) + 1, is_final: isFinal, is_inter: u32(column(0)), size_from: f64(column(1)), size_to: f64(column(2)), samples: f64(column(3)), median_ns: f64(column(4)), normal_ns: f64(column(4).map((ns) => 1.5 * ns)),
    functions: functions.map(([id, name, bytes, ns], at) => ({ function: id, name, ranks: 16 << (at % 3), bytes, is_root: name === "MPI_Bcast", samples: Math.floor(untilS * (40 + 300 * hash(at, id, 54))), median_ns: ns })),
  };
}

/** A placement that brings rows of ranks onto one node; a text where there is none. */
export function makeRemap({ ranks, nodes, gains, untilS }) {
  if (nodes < 2) return "there is one node only, so there is nothing to place better";
  const before = Math.round(ranks * untilS * 38);
  const after = gains ? Math.round(before * 0.38) : before;
  const nodeOf = (rank) => (gains ? Math.floor((((rank * 5) % ranks) * nodes) / ranks) : Math.floor((rank * nodes) / ranks));
  const lines = Array.from({ length: ranks }, (_, rank) => rank);
  const moved = gains ? Math.round(ranks * 0.72) : 0;
  const sentences = gains
    ? [`${before} messages with ${(before * 9300 / 2 ** 20).toFixed(1)} MiB go between nodes as ranks are placed; with this placement ${after} with ${(after * 9300 / 2 ** 20).toFixed(1)} MiB`, `${moved} of ${ranks} ranks move to another node, and every node has as many as now`]
    : [`nothing can be gained: ${before} messages with ${(before * 9300 / 2 ** 20).toFixed(1)} MiB go between nodes as ranks are placed, and no better placement was found`, "this is the placement as it is"];
  const hosts = lines.map((rank) => `node${nodeOf(rank) + 1}`);
  return {
    gains, inter_messages_before: before, inter_messages_after: after, inter_bytes_before: before * 9300, inter_bytes_after: after * 9300, moved, ranks, sentences,
    files: [
      { format: "rankfile", name: "halo3d.rankfile", text: lines.map((rank) => `rank ${rank}=${hosts[rank]} slot=${rank % Math.ceil(ranks / nodes)}\n`).join(""), command: `mpirun -n ${ranks} --rankfile halo3d.rankfile ./halo3d 2000 16 1` },
      { format: "machinefile", name: "halo3d.machinefile", text: hosts.map((host) => `${host}:1\n`).join(""), command: `mpiexec -n ${ranks} -f halo3d.machinefile ./halo3d 2000 16 1` },
      { format: "slurm", name: "halo3d.hosts", text: hosts.map((host) => `${host}\n`).join(""), command: `SLURM_HOSTFILE=halo3d.hosts srun -n ${ranks} --distribution=arbitrary ./halo3d 2000 16 1` },
    ],
  };
}

/** Where ranks wait, as the waits have it; the rest at places that nobody has a name for. */
export function makeSites({ budget, waits }, hash) {
  const places = new Map();
  for (const { site, place, seconds } of waits) places.set(site, { site, place, seconds: (places.get(site)?.seconds ?? 0) + seconds });
  const known = [...places.values()];
  const rest = budget.waiting_s - known.reduce((sum, { seconds }) => sum + seconds, 0);
  if (known.length > 0) known.push({ site: 9, place: "libsolver.so+0x4f21", seconds: rest * 0.7 }, { site: null, place: "", seconds: rest * 0.3 });
  const names = Object.keys(budget.waiting_by).filter((name) => name !== "no_core");
  return known.sort((one, other) => other.seconds - one.seconds).map((row, at) => {
    const weights = names.map((name, part) => [name, (budget.waiting_by[name] / Math.max(1e-9, budget.waiting_s)) * (0.4 + 1.2 * hash(at, part, 61))]);
    const sum = weights.reduce((total, [, weight]) => total + weight, 0);
    const by = Object.fromEntries(weights.map(([name, weight]) => [name, (weight / sum) * row.seconds]));
    return { ...row, by: { ...by, no_core: by.compute > 0 ? (by.compute * budget.waiting_by.no_core) / budget.waiting_by.compute : 0 } };
  });
}
