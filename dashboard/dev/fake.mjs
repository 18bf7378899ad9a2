// A feed server with a made-up job, to work on the page without MPI. Serves dist/ as the real server does.
// node dev/fake.mjs [--port 4180] [--ranks 4] [--nodes 1] [--calls 20000] [--seconds 30] [--scene live] [--silence 60]
// Scenes: live, hang (no call begins for a quarter of a minute, and all ranks but one are in MPI_Barrier), replay, waiting, first, ended, failed, killed, lossy, lagging, silent, full, refused, mismatch, broken.
// Verdicts (--verdict): yet, unsettled, none, placement, pattern, background, cpu; a finished run has its final one.
// Regions (--regions): slow, calm, unknown, one, yet (none: their latency goes by nodes, --evolution none says nothing of it).
// Rights (--rights): owner, read, read-control.
// Graphs of What follow from the ranks: up to 16 a ring, up to 128 rows, above a halo; 512 ranks of it make 5,000 states.
// In the scene "silent" the last node is not heard of until a number of seconds after the first page opened.

import { decode, encode } from "@msgpack/msgpack";
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { WebSocketServer } from "ws";
import { makeDag } from "./dags.mjs";
import { makeEvolution, makePending } from "./evolution.mjs";
import { makeFound, makeRangeBudget } from "./found.mjs";
import { makeCritical, makeGroups, makeShares } from "./groups.mjs";
import { makeJob } from "./job.mjs";
import { makeRegions } from "./regions.mjs";
import { makeSelected } from "./selected.mjs";
import { makeCourses, makeCriteria, makeRemap } from "./why.mjs";

const { values } = parseArgs({ options: {
  port: { type: "string", default: "4180" }, ranks: { type: "string", default: "4" }, nodes: { type: "string" }, silence: { type: "string", default: "60" },
  calls: { type: "string", default: "20000" }, seconds: { type: "string", default: "30" }, scene: { type: "string", default: "live" },
  verdict: { type: "string", default: "pattern" }, regions: { type: "string", default: "slow" }, evolution: { type: "string", default: "full" }, rights: { type: "string", default: "owner" },
} });
const scene = values.scene;
const ranks = Number(values.ranks);
const nodes = Number(values.nodes ?? Math.ceil(ranks / 32));
const nodeOf = (rank) => Math.floor((rank * nodes) / ranks);
const job = makeJob({ ranks, callsPerSecond: Number(values.calls) });
const DIST = fileURLToPath(new URL("../dist/", import.meta.url));
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };
const u32 = (list) => new Uint8Array(Uint32Array.from(list, (value) => value >>> 0).buffer);
const f64 = (list) => new Uint8Array(Float64Array.from(list).buffer);

const over = ["replay", "ended", "failed", "killed"].includes(scene);
const startedMs = Date.now() - (scene === "first" ? 0.8 : Number(values.seconds)) * 1000;
const endNs = over ? Number(values.seconds) * 1e9 + 123456789 : Infinity;
const lagNs = () => (over ? 0 : scene === "lagging" ? 4.2e9 : 80e6);
let silentUntilMs = Infinity;
const isSilent = (node) => scene === "silent" && node === nodes - 1 && Date.now() < silentUntilMs;
const nowNs = () => Math.min(endNs, Math.round((Date.now() - startedMs) * 1e6));
const edgeNs = () => Math.max(0, nowNs() - lagNs());

const STATES = { waiting: "waiting", ended: "ended", failed: "ended", killed: "killed", replay: "ended" };
const EXITS = { ended: 0, failed: 3, killed: 137, replay: 0 };
function jobPart() {
  const waiting = scene === "waiting";
  return {
    run: "halo3d-20261120-152444", command: waiting && ranks === 0 ? "" : `mpirun -n ${ranks} ./halo3d 2000 16 1`, nodes: waiting ? 0 : nodes,
    ranks: waiting ? 0 : ranks, mpi: waiting ? "" : "Open MPI v4.1.4", state: STATES[scene] ?? "running", exit: EXITS[scene] ?? null,
    started_unix_ns: startedMs * 1e6, source: scene === "replay" ? "replay" : "live", second: "",
  };
}

const lossy = ["lossy", "killed"].includes(scene);
const losses = () => (lossy ? { ring_full: 12345, no_ring: 17, unreadable: 2, unsaved: 0 } : { ring_full: 0, no_ring: 0, unreadable: 0, unsaved: 0 });
const faults = () => (lossy ? { count: 3, newest: [
  { rank: 3, at_ns: 4e9, text: "The ring of thread 2 was full for 40 ms." },
  { rank: null, at_ns: 9e9, text: "The clock of node 1 is uncertain by 3.2 ms." },
  { rank: 2, at_ns: 2.1e10, text: "The process vanished without MPI_Finalize." },
] } : { count: 0, newest: [] });

const hangNs = scene === "hang" ? (Number(values.seconds) - 14) * 1e9 : Infinity;
const counted = (fromNs, toNs) => job.counts(Math.min(fromNs, hangNs), Math.min(toNs, hangNs));

function figures() {
  const rows = counted(0, edgeNs());
  const calls = rows.reduce((sum, [, n]) => sum + n, 0);
  const sends = rows.find(([id]) => id === 11)?.[1] ?? 0;
  const median = { 10: 410, 11: 900, 12: 9000, 13: 45_000, 14: 11_000, 15: 21_000, 16: 240, 17: 7e8 };
  const longest = { 10: 900, 11: 6000, 12: 400_000, 13: 300_000, 14: 60_000, 15: 70_000, 16: 500, 17: 7e8 };
  return {
    totals: { calls, polls: (rows.find(([id]) => id === 16)?.[1] ?? 0) * 20, messages: sends, bytes: sends * 8192, intra_messages: sends * 0.8, inter_messages: sends * 0.2, unmatched_sends: 6, unmatched_receives: 2, uncertain_messages: 0 },
    losses: losses(), faults: faults(),
    functions: {
      id: u32(rows.map(([id]) => id)), name: job.names.map(([, name]) => name), family: job.names.map(([, , family]) => family),
      calls: f64(rows.map(([, n]) => n)), polls: f64(rows.map(([id, n]) => (id === 16 ? n * 20 : 0))), bytes: f64(rows.map(([id, n]) => (id <= 11 ? n * 8192 : 0))),
      time_ns: f64(rows.map(([id, n]) => n * median[id] * 1.7)), p50_ns: f64(rows.map(([id]) => median[id])),
      p99_ns: f64(rows.map(([id]) => longest[id] * 0.8)), max_ns: f64(rows.map(([id]) => longest[id])),
    },
    ranks: (() => {
      const all = Array.from({ length: ranks }, (_, rank) => rank);
      return {
        rank: u32(all), node: u32(all.map(nodeOf)), calls: f64(all.map(() => calls / ranks)), sent: f64(all.map(() => sends / ranks)), received: f64(all.map(() => sends / ranks)),
        bytes_sent: f64(all.map(() => (sends / ranks) * 8192)), mpi_time_ns: f64(all.map((rank) => edgeNs() * (0.1 + 0.5 * job.hash(rank, 1, 1)))),
        // On the last node there are more ranks than cores.
        run_ns: f64(all.map((rank) => edgeNs() * (nodeOf(rank) === nodes - 1 ? 0.6 : 0.97))), wait_ns: f64(all.map((rank) => edgeNs() * (nodeOf(rank) === nodes - 1 ? 0.2 + 0.2 * job.hash(rank, 2, 2) : 0.0004))),
        involuntary: f64(all.map((rank) => Math.round((edgeNs() / 1e7) * (nodeOf(rank) === nodes - 1 ? 1 : 0.02)))),
        ended_ns: f64(all.map((rank) => (over || (scene === "killed" && rank === 2) ? edgeNs() * (rank === 2 ? 0.8 : 1) : 0))),
        state: u32(all.map((rank) => (scene === "killed" && rank === 2 ? 3 : over ? 1 : isSilent(nodeOf(rank)) ? 4 : 0))),
      };
    })(),
    nodes: (() => {
      const all = Array.from({ length: nodes }, (_, node) => node);
      return { node: u32(all), name: all.map((node) => `node${node + 1}`), clock_uncertainty_ns: f64(all.map((node) => 19_700 * node)), state: u32(all.map((node) => (isSilent(node) ? 1 : 0))),
        // Twice as many CPUs as ranks, and each rank has its own.
        ranks: u32(all.map(() => Math.ceil(ranks / nodes))), cpus_on_host: u32(all.map(() => 2 * Math.ceil(ranks / nodes))), cpus_usable: f64(all.map(() => Math.ceil(ranks / nodes))), bound: u32(all.map(() => 1)) };
    })(),
  };
}

const found = () => {
  const made = makeFound(values.verdict, { ranks, untilS: over ? edgeNs() / 1e9 : Math.floor(edgeNs() / 1e9), isFinal: over, hash: job.hash });
  const evolution = () => makeEvolution(values.evolution, { regions: talk().regions, ranks, nodes, nodeOf, untilS: edgeNs() / 1e9, isFinal: over, hash: job.hash });
  return made && { ...made, evolution: evolution(), judgement: { ...made.judgement, regions: talk().regions } };
};
const talk = () => makeRegions(values.regions, { ranks, nodeOf, untilS: Math.floor(edgeNs() / 1e9), hash: job.hash });

const WINDOW_NS = 100e6;
function timelinePart(fromWindow, toWindow) {
  const rows = [];
  for (let window = fromWindow; window < toWindow; window++) {
    for (const [id, n] of counted(window * WINDOW_NS, Math.min((window + 1) * WINDOW_NS, edgeNs()))) if (n > 0) rows.push([window * WINDOW_NS, id, n]);
  }
  return { window_ns: WINDOW_NS, start_ns: f64(rows.map((row) => row[0])), function: u32(rows.map((row) => row[1])), calls: f64(rows.map((row) => row[2])) };
}

function callsPart(fromNs, toNs, most, keep) {
  let found = job.calls(fromNs, toNs, (call) => call.startNs < hangNs && keep(call));
  const total = found.length;
  let share = 1;
  let allFromNs = 0;
  if (total > most) {
    const lengths = Float64Array.from(found, (call) => call.durationNs).sort().reverse();
    allFromNs = lengths[Math.floor(most / 2)];
    const longer = lengths.findIndex((length) => length < allFromNs);
    share = Math.max(0.0001, (most - longer) / (total - longer));
    found = found.filter((call) => call.durationNs >= allFromNs || job.hash(call.startNs, call.rank, call.id) < share);
  }
  const column = (name) => found.map((call) => call[name]);
  return {
    from_ns: fromNs, to_ns: toNs, total, share, all_from_ns: allFromNs, rank: u32(column("rank")), thread: u32(column("thread")), function: u32(column("id")),
    start_ns: f64(column("startNs")), duration_ns: f64(column("durationNs")), peer: u32(column("peer")), tag: u32(column("tag")), bytes: f64(column("bytes")), comm: u32(column("comm")), count: f64(column("count")),
  };
}

const isMeant = (only, rank) => !only || only.some(([first, last]) => rank >= first && rank <= last);

function messagesPart({ from_ns, to_ns, ranks: only, most }) {
  let found = job.messages(from_ns, to_ns, ({ src, dst, recvNs }) => recvNs <= edgeNs() && (isMeant(only, src) || isMeant(only, dst)));
  const total = found.length;
  const share = Math.min(1, Math.min(most, 200_000) / Math.max(1, total));
  if (share < 1) found = found.filter(({ src, tag, sendNs }) => job.hash(sendNs, src, tag) < share);
  const column = (name) => found.map((message) => message[name]);
  return {
    from_ns, to_ns, total, share, src: u32(column("src")), dst: u32(column("dst")), tag: u32(column("tag")), comm: u32(column("comm")), bytes: f64(column("bytes")),
    send_ns: f64(column("sendNs")), recv_ns: f64(column("recvNs")), t_msg_ns: f64(column("tMsgNs")), late_sender_ns: f64(column("lateSenderNs")), late_receiver_ns: f64(column("lateReceiverNs")),
    latency: f64(column("latency")), is_inter: u32(found.map(({ src, dst }) => Number(nodeOf(src) !== nodeOf(dst)))), is_exact: u32(found.map(({ isExact }) => Number(isExact))),
  };
}

function inFlightPart() {
  if (scene === "hang") {
    const stuck = Array.from({ length: ranks }, (_, rank) => rank).filter((rank) => rank !== Math.floor(ranks / 4) + 1);
    return { total: stuck.length, rank: u32(stuck), thread: u32(stuck.map(() => 0)), function: u32(stuck.map((rank) => (rank % 9 === 5 ? 12 : 15))), since_ns: f64(stuck.map((rank) => hangNs - rank * 1e6).reverse()) };
  }
  const now = edgeNs();
  const found = job.calls(now - 1e6, now, (call) => call.startNs <= now && call.startNs + call.durationNs > now).sort((a, b) => a.startNs - b.startNs).slice(0, 4096);
  return { total: found.length, rank: u32(found.map((c) => c.rank)), thread: u32(found.map((c) => c.thread)), function: u32(found.map((c) => c.id)), since_ns: f64(found.map((c) => c.startNs)) };
}

const answers = {
  ping: () => ({}),
  pairs: ({ from_ns, to_ns }) => ({ pairs: { from_ns, to_ns, ...talk().pairs } }),
  dag: ({ from_ns, to_ns, ranks: only, most }) => ({ dag: makeDag({ fromNs: from_ns, toNs: to_ns, edgeNs: edgeNs(), only, most, ranks, hostOf: nodeOf, hash: job.hash }) }),
  shares: ({ from_ns, to_ns, ranks: only, ranks_per_row, bins }) => ({ shares: makeShares({ fromNs: from_ns, toNs: to_ns, edgeNs: edgeNs(), only, ranks, ranksPerRow: ranks_per_row, bins, hash: job.hash }) }),
  critical: ({ from_ns, to_ns }) => ({ critical: makeCritical({ fromNs: from_ns, toNs: to_ns, edgeNs: edgeNs(), ranks, functions: job.names.map(([id]) => id), hash: job.hash }) }),
  group_graph: ({ from_ns, to_ns, ranks: only, by }) => ({ group_graph: makeGroups({ fromNs: from_ns, toNs: to_ns, edgeNs: edgeNs(), only, by, ranks, nodeOf, functions: job.names.map(([id]) => id), hash: job.hash }) }),
  selected: ({ from_ns, to_ns, ranks: only, hidden }) => {
    const budget = makeRangeBudget(found(), { fromNs: from_ns, toNs: to_ns, only, ranks, hash: job.hash });
    return { selected: makeSelected({ fromNs: from_ns, toNs: to_ns, only, hidden, ranks, edgeNs: edgeNs(), job, nodeOf, regions: talk().regions.regions, budget }) };
  },
  event: ({ time_ns, is_back, ranks: only, hidden }) => {
    const span = 2e9;
    const calls = [...job.calls(Math.max(0, time_ns - (is_back ? span : 0)), Math.min(edgeNs(), time_ns + (is_back ? 0 : span)), () => true)]
      .filter((c) => (is_back ? c.startNs < time_ns : c.startNs > time_ns) && !hidden.includes(c.id) && (!only || only.some(([first, last]) => c.rank >= first && c.rank <= last)))
      .sort((one, other) => (is_back ? other.startNs - one.startNs : one.startNs - other.startNs));
    return { event: { at_ns: calls[0]?.startNs ?? null, rank: calls[0]?.rank ?? 0, function: calls[0]?.id ?? 0 } };
  },
  calls: ({ from_ns, to_ns, ranks: only, most }) => ({ calls: callsPart(from_ns, to_ns, Math.min(most, 200_000), (c) => c.startNs < to_ns && c.startNs + c.durationNs >= from_ns && c.startNs + c.durationNs <= edgeNs() && isMeant(only, c.rank)) }),
  messages: (asked) => ({ messages: messagesPart(asked) }),
  courses: ({ from_ns, to_ns, bins, ranks: only }) => ({ courses: makeCourses({ fromNs: from_ns, toNs: to_ns, bins, only, ranks, nodes, edgeNs: edgeNs(), hash: job.hash }) }),
  criteria: () => ({ criteria: makeCriteria({ nodes, isFinal: over, untilS: edgeNs() / 1e9, hash: job.hash }) }),
  remap: () => {
    const remap = makeRemap({ ranks, nodes, gains: values.verdict !== "none", untilS: edgeNs() / 1e9 });
    return typeof remap === "string" ? { error: remap } : { remap };
  },
  sites: () => {
    const { sites } = found()?.judgement ?? { sites: [] };
    const named = sites.filter(({ site }) => site !== null);
    const none = u32(named.map(() => 0xffffffff));
    return { sites: { id: u32(named.map(({ site }) => site)), place: named.map(({ place }) => place), parent: none, names: [], function: none, file: none, line: u32(named.map(() => 0)), module: none, has_paths: false } };
  },
  timeline: ({ from_ns, to_ns, bins }) => {
    const ids = job.names.map(([id]) => id);
    const width = (to_ns - from_ns) / bins;
    const counts = new Float64Array(ids.length * bins);
    for (let bin = 0; bin < bins; bin++) counted(from_ns + bin * width, Math.min(edgeNs(), from_ns + (bin + 1) * width)).forEach(([, n], row) => (counts[row * bins + bin] = n));
    return { timeline: { from_ns, to_ns, bins, functions: u32(ids), counts: f64(counts) } };
  },
  history: ({ from_ns, to_ns }) => {
    const cells = new Map();
    // A slice stands for the whole: this is a made-up job.
    const slice = Math.min(to_ns - from_ns, 2e9);
    for (const call of job.calls(from_ns, from_ns + slice, (c) => c.startNs + c.durationNs < from_ns + slice)) {
      const key = `${call.rank}/${call.id}/${Math.floor(16 * Math.log2(1 + call.durationNs))}`;
      cells.set(key, (cells.get(key) ?? 0) + (to_ns - from_ns) / slice);
    }
    const rows = [...cells].map(([key, n]) => [...key.split("/").map(Number), Math.round(n)]);
    const column = (at) => rows.map((row) => row[at]);
    return { history: { from_ns, to_ns, bins_per_octave: 16, ranks_per_row: 1, row: u32(column(0)), function: u32(column(1)), bin: u32(column(2)), count: f64(column(3)), total: column(3).reduce((a, b) => a + b, 0) } };
  },
};

const isOwner = values.rights === "owner";
const links = [];
let lastLink = 0;
const access = (more = {}) => ({
  kind: "access", is_owner: isOwner, can_control: values.rights !== "read", can_annotate: isOwner, links: isOwner ? links : [], links_max: isOwner ? 64 : 0,
  host: isOwner ? "node1" : "", port: isOwner ? Number(values.port) : 0, made: null, refused: "", ...more,
});
/** Links that open nothing: this server lets everybody in. */
const linkCommands = {
  issue: ({ label, control, annotate }) => {
    links.push({ number: ++lastLink, label, can_control: control, can_annotate: annotate, connections: 0 });
    return { made: { number: lastLink, token: String(lastLink).padStart(32, "0") } };
  },
  revoke: ({ id }) => {
    const at = links.findIndex(({ number }) => number === id);
    if (at < 0) return { refused: `there is no link ${id}; it may be revoked already` };
    links.splice(at, 1);
    return {};
  },
};

const shared = { version: 1, mode: "live", time_ns: 0, rate: 1, range_ns: null, ranks: null, hidden: [], atMs: Date.now() };
const pages = new Set();
const timeNs = () => (shared.mode === "live" ? edgeNs() : Math.min(edgeNs(), Math.max(0, shared.time_ns + (shared.mode === "playing" ? shared.rate * (Date.now() - shared.atMs) * 1e6 : 0))));
const perspective = () => {
  const { version, mode, rate, range_ns, ranks: only, hidden } = shared;
  return { kind: "perspective", version, mode, time_ns: Math.round(timeNs()), rate, range_ns, ranks: only, hidden, pages: pages.size, followers: [...pages].filter((page) => page.follows).length };
};
const commands = {
  live: () => ({ mode: "live", rate: 1 }),
  pause: () => ({ mode: "paused" }),
  play: ({ rate }) => ({ mode: "playing", rate }),
  rate: ({ rate }) => (shared.mode === "live" ? {} : { rate }),
  seek: ({ time_ns }) => ({ mode: shared.mode === "playing" ? "playing" : "paused", time_ns }),
  step: ({ by_ns }) => ({ mode: "paused", time_ns: Math.min(edgeNs(), Math.max(0, timeNs() + by_ns)) }),
  select: ({ range_ns, ranks: only, hidden }) => ({ range_ns, ranks: only, hidden }),
  follow: () => ({}),
};
function tell() {
  shared.version++;
  for (const page of pages) page.send(encode(perspective()));
}
setInterval(() => {
  if (shared.mode !== "playing") return;
  if (timeNs() >= edgeNs()) Object.assign(shared, over ? { mode: "paused", time_ns: edgeNs() } : { mode: "live" });
  else if (timeNs() <= 0) Object.assign(shared, { mode: "paused", time_ns: 0 });
  tell();
}, 1000);

const server = createServer(async (request, response) => {
  const path = new URL(request.url, "http://x").pathname;
  response.setHeader("Content-Security-Policy", `default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self' ws://${request.headers.host}; img-src 'self' data: blob:; worker-src 'self'`);
  if (path === "/health") {
    response.statusCode = scene === "refused" ? 403 : 200;
    response.end(JSON.stringify({ status: "ok", viewers: scene === "full" ? 8 : pages.size, viewers_max: 8 }));
    return;
  }
  try {
    const file = normalize(path === "/" ? "/index.html" : path);
    const body = await readFile(join(DIST, file));
    response.setHeader("Content-Type", TYPES[extname(file)] ?? "application/octet-stream");
    response.end(body);
  } catch {
    response.statusCode = 404;
    response.end("There is no such file.");
  }
});
const sockets = new WebSocketServer({ noServer: true });
server.on("upgrade", (request, socket, head) => {
  if (scene === "refused" || scene === "full") socket.end("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n");
  else sockets.handleUpgrade(request, socket, head, open);
});

function open(socket) {
  const page = { follows: true, send: (bytes) => socket.send(bytes) };
  let number = 1;
  let edge = edgeNs();
  const snapshot = { protocol: scene === "mismatch" ? 3 : 2, kind: "snapshot", number, clock: { now_ns: nowNs(), lag_ns: lagNs() }, job: jobPart() };
  if (scene !== "waiting") Object.assign(snapshot, figures(), { timeline: timelinePart(0, Math.ceil(edge / WINDOW_NS)), found: found(), ...(over ? {} : { in_flight: inFlightPart() }) });
  if (scene === "broken") snapshot.functions.calls = f64([1]);
  if (scene === "waiting") Object.assign(snapshot.clock, { now_ns: 0, lag_ns: 0 });
  silentUntilMs = Math.min(silentUntilMs, Date.now() + Number(values.silence) * 1000);
  pages.add(page);
  page.send(encode(access()));
  page.send(encode(snapshot));
  tell();
  const timer = setInterval(() => {
    if (over || scene === "waiting") return;
    const from = edge;
    edge = edgeNs();
    const isSecond = Math.floor(from / 1e9) < Math.floor(edge / 1e9);
    page.send(encode({
      protocol: 2, kind: "delta", number: ++number, clock: { now_ns: nowNs(), lag_ns: lagNs() }, ...figures(),
      timeline: timelinePart(Math.floor(from / WINDOW_NS), Math.ceil(edge / WINDOW_NS)), in_flight: inFlightPart(), pending: makePending(nowNs(), talk().regions),
      ...(isSecond ? { found: found() } : {}),
      calls: callsPart(from, edge, 50_000, (c) => c.startNs + c.durationNs >= from && c.startNs + c.durationNs < edge),
    }));
  }, 100);
  socket.on("message", (bytes) => {
    const message = decode(bytes);
    if (message.ask) page.send(encode({ kind: "answer", id: message.id, ...(answers[message.ask]?.(message) ?? { error: `there is no question ${message.ask}` }) }));
    if (!message.do) return;
    if (linkCommands[message.do]) {
      page.send(encode(access(isOwner ? linkCommands[message.do](message) : { refused: "only the owner of the run can make or revoke links" })));
      return;
    }
    if (values.rights === "read" && message.do !== "follow") {
      page.send(encode(access({ refused: "this token does not give the right to control" })));
      return;
    }
    if (message.do === "follow") page.follows = message.follow;
    Object.assign(shared, { time_ns: timeNs() }, commands[message.do](message), { atMs: Date.now() });
    tell();
  });
  socket.on("close", () => {
    clearInterval(timer);
    pages.delete(page);
    tell();
  });
}
server.listen(Number(values.port), "127.0.0.1", () => console.log(`http://127.0.0.1:${values.port}/`));
