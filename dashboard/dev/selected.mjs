// Made-up figures of a selection, summed over the calls and messages of the made-up job.

const u32 = (list) => new Uint8Array(Uint32Array.from(list, (value) => value >>> 0).buffer);
const f64 = (list) => new Uint8Array(Float64Array.from(list).buffer);
/** A slice of a long range stands for the whole. */
const SLICE_NS = 1e9;

function quantile(sorted, part) {
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0;
}

export function makeSelected({ fromNs, toNs, only, hidden, ranks, edgeNs, job, nodeOf, regions, budget }) {
  const endNs = Math.min(toNs, edgeNs);
  const sliceNs = Math.min(endNs, fromNs + SLICE_NS);
  const scale = Math.max(1, (endNs - fromNs) / Math.max(1, sliceNs - fromNs));
  const isMeant = (rank) => !only || only.some(([first, last]) => rank >= first && rank <= last);
  const calls = job.calls(fromNs, sliceNs, (call) => call.startNs >= fromNs && call.startNs < sliceNs && isMeant(call.rank));
  const messages = job.messages(fromNs, sliceNs, ({ src, dst, sendNs }) => sendNs >= fromNs && sendNs < sliceNs && (isMeant(src) || isMeant(dst)));
  const sum = (list, of) => Math.round(scale * list.reduce((total, each) => total + of(each), 0));
  const shown = calls.filter(({ id }) => !hidden.includes(id));
  const functions = job.names.map(([id]) => ({ id, calls: calls.filter((call) => call.id === id) })).filter((row) => row.calls.length > 0);
  const lengths = functions.map((row) => row.calls.map(({ durationNs }) => durationNs).sort((one, other) => one - other));
  const meant = Array.from({ length: ranks }, (_, rank) => rank).filter(isMeant);
  const of = (list, key, value) => {
    const sums = new Float64Array(ranks);
    for (const each of list) sums[each[key]] += scale * value(each);
    return f64(meant.map((rank) => Math.round(sums[rank])));
  };
  const regionOf = (rank) => regions.find((region) => region.ranks.some(([first, last]) => rank >= first && rank <= last))?.id;
  const inside = regions.map(({ id }) => messages.filter(({ src, dst }) => regionOf(src) === id && regionOf(dst) === id));
  const exact = inside.map((list) => list.filter(({ isExact }) => isExact));
  const inter = messages.filter(({ src, dst }) => nodeOf(src) !== nodeOf(dst));
  return {
    from_ns: fromNs, to_ns: endNs, calls: sum(shown, () => 1), polls: sum(shown, ({ count }) => count - 1), mpi_time_ns: sum(shown, ({ durationNs }) => durationNs),
    messages: sum(messages, () => 1), inter_messages: sum(inter, () => 1), intra_messages: sum(messages, () => 1) - sum(inter, () => 1), bytes: sum(messages, ({ bytes }) => bytes),
    functions: {
      function: u32(functions.map(({ id }) => id)), calls: f64(functions.map((row) => sum(row.calls, () => 1))), polls: f64(functions.map((row) => sum(row.calls, ({ count }) => count - 1))),
      bytes: f64(functions.map((row) => sum(row.calls, ({ bytes }) => bytes))), time_ns: f64(functions.map((row) => sum(row.calls, ({ durationNs }) => durationNs))),
      p50_ns: f64(lengths.map((list) => quantile(list, 0.5))), p99_ns: f64(lengths.map((list) => quantile(list, 0.99))), max_ns: f64(lengths.map((list) => list.at(-1) ?? 0)),
    },
    ranks: {
      rank: u32(meant), calls: of(shown, "rank", () => 1), mpi_time_ns: of(shown, "rank", ({ durationNs }) => durationNs),
      sent: of(messages, "src", () => 1), received: of(messages, "dst", () => 1), bytes_sent: of(messages, "src", ({ bytes }) => bytes),
    },
    regions: {
      id: u32(regions.map(({ id }) => id)), messages: f64(inside.map((list) => sum(list, () => 1))), exact: f64(exact.map((list) => sum(list, () => 1))),
      delayed: f64(exact.map((list) => sum(list, ({ latency }) => (latency > 1.5 ? 1 : 0)))), above_expected: f64(exact.map((list) => sum(list, ({ latency }) => (latency > 1 ? 1 : 0)))),
      latency: f64(exact.map((list) => (list.length > 0 ? list.reduce((total, { latency }) => total + latency, 0) / list.length : Number.NaN))),
    },
    budget: typeof budget === "string" ? null : budget, budget_missing: typeof budget === "string" ? budget : "",
  };
}
