// Wires the feed to what is seen. Messages change the state; one animation frame later everything is drawn from it.

import { drawOverTime, drawStrip, followCursor, settledWindows } from "./charts.js";
import { palette } from "./colours.js";
import { decode } from "./decode.js";
import { connect } from "./net.js";
import { apply, empty } from "./state.js";
import { functionTable, rankTable } from "./views.js";
import * as words from "./words.js";

const MEASURES = { calls: "calls", messages: "messages", bytes: "bytes" };
const RANKS_PER_PAGE = 16;
const element = (id) => document.getElementById(id);
const system = matchMedia("(prefers-color-scheme: dark)");

const view = {
  state: empty(),
  link: { phase: "connecting", retryInSeconds: 0 },
  heardAt: performance.now(),
  measure: "calls",
  timeCursor: null,
  rankCursor: null,
  firstRank: 0,
  colours: null,
  dark: false,
  drawn: false,
};

function schedule() {
  if (view.drawn) return;
  view.drawn = true;
  requestAnimationFrame(draw);
}

function draw() {
  view.drawn = false;
  view.colours ??= palette();
  const { state } = view;
  drawHeader(state);
  const waiting = state.job.state === "waiting";
  element("main").hidden = waiting;
  element("waiting").hidden = !waiting || state.number < 0;
  if (waiting) {
    drawWaiting(state);
    return;
  }
  drawTotals(state);
  drawCharts(state);
  drawTables(state);
  drawFaults(state);
}

function set(id, text, mood) {
  const target = element(id);
  if (target.textContent !== text) target.textContent = text;
  if (mood !== undefined) {
    target.classList.remove("good", "bad", "warn");
    if (mood) target.classList.add(mood);
  }
}

function drawHeader(state) {
  const { job, clock } = state;
  const known = state.number >= 0;
  const live = known && view.link.phase === "open";
  const standing = words.standing(state, { ...view.link, quietMs: performance.now() - view.heardAt });
  set("command", job.command);
  element("command").title = job.mpi ? `${job.command}\n${job.mpi}` : job.command;
  const nodes = job.nodes > 0 ? ` on ${words.counted(job.nodes, "node", "nodes")}` : "";
  set("size", job.ranks > 0 ? words.counted(job.ranks, "rank", "ranks") + nodes : "");
  set("state-word", standing.word);
  element("state").className = `state fixed ${standing.mood}`;
  set("time", known ? words.clock(clock.now_ns) : "");
  set("lag", live || !known || job.state !== "running" ? lagWords(state) : "lag unknown");
  const missing = words.lost(state.losses);
  set("lost", known ? `${words.count(missing)} lost` : "", missing > 0 ? "warn" : "");
  set("sentence", standing.sentence, standing.mood === "good" ? "" : standing.mood);
  document.title = `${standing.word} \u2013 ${job.command ? `${job.command} \u2013 ` : ""}mpiscope`;
}

function drawWaiting({ job }) {
  set("waiting-title", job.command ? "Waiting for the job" : "No job yet");
  set("waiting-command", job.command || "mpiscope run -- mpirun -n 4 ./program");
  set("waiting-next", job.command
    ? "Figures appear when its first rank calls MPI_Init; a program that never does stays invisible here."
    : "This starts one. Figures appear when its first rank calls MPI_Init.");
}

function lagWords({ number, job, clock }) {
  if (number < 0 || job.state === "waiting") return "";
  return clock.lag_ns < 1e6 ? "lag 0 ms" : `lag ${words.duration(clock.lag_ns)}`;
}

function drawTotals({ totals, job }) {
  const running = job.state === "running";
  const certain = totals.uncertain_messages > 0 ? `${words.count(totals.uncertain_messages)} paired by best fit` : "";
  const rows = [
    ["Calls", words.count(totals.calls), totals.polls > 0 ? `and ${words.count(totals.polls)} polls` : ""],
    ["Messages", words.count(totals.messages), certain],
    ["Payload", words.bytes(totals.bytes), ""],
    ["Within nodes", words.share(totals.intra_messages, totals.messages) || "\u2013", "of messages"],
    // While the job runs, a message on its way has been sent and not yet received.
    [running ? "On the way" : "Unmatched", words.count(totals.unmatched_sends + totals.unmatched_receives), unmatched(totals)],
  ];
  const list = element("totals");
  while (list.children.length < rows.length) {
    const group = document.createElement("div");
    const value = document.createElement("dd");
    value.append(document.createElement("span"), document.createElement("small"));
    group.append(document.createElement("dt"), value);
    list.append(group);
  }
  rows.forEach(([label, value, note], index) => {
    const [term, figure] = list.children[index].children;
    term.textContent = label;
    figure.children[0].textContent = value;
    figure.children[1].textContent = note;
  });
}

function unmatched({ unmatched_sends, unmatched_receives }) {
  const sends = words.counted(unmatched_sends, "send", "sends");
  return `${sends}, ${words.counted(unmatched_receives, "receive", "receives")}`;
}

function drawCharts(state) {
  // What may be out of date is drawn grey; its labels stay as readable as ever.
  const stale = view.link.phase !== "open" && state.job.state === "running";
  const colours = stale ? { ...view.colours, accent: view.colours.soft, fill: view.colours.line } : view.colours;
  const row = drawOverTime(element("over-time"), state, view.measure, view.timeCursor, colours);
  set("over-time-value", row >= 0 ? windowWords(state, row) : chartWords(state));
  const rank = drawStrip(element("strip"), state, view.rankCursor, colours);
  set("strip-value", rank >= 0 ? rankWords(state, rank) : stripWords(state));
}

function windowWords({ windows, ...state }, row) {
  const start = words.clock(row * windows.window_ns, true);
  const length = settledWindows({ windows, ...state }).lengthOf(row);
  const calls = words.counted(windows.calls[row], "call", "calls");
  const messages = words.counted(windows.messages[row], "message", "messages");
  return `${start}, ${words.duration(length)}: ${calls}, ${messages}, ${words.bytes(windows.bytes[row])}`;
}

function chartWords({ windows, clock }) {
  const several = clock.now_ns / Math.max(1, windows.window_ns) > element("over-time").clientWidth;
  const pale = several ? "; solid: mean, pale: highest" : "";
  return windows.window_ns > 0 ? `per second, in windows of ${words.duration(windows.window_ns)}${pale}` : "";
}

function rankWords({ ranks, clock }, rank) {
  const row = ranks.rowOf.get(rank);
  if (row === undefined) return `rank ${rank}: not heard yet`;
  const time = ranks.mpi_time_ns[row];
  return `rank ${rank}: ${words.duration(time)} in MPI, ${words.share(time, clock.now_ns)}`;
}

function stripWords({ job }) {
  const several = job.ranks > element("strip").clientWidth;
  return `share of run time in MPI${several ? "; several ranks a pixel: solid the lowest, pale the highest" : ""}`;
}

let functions = null;
let ranks = null;

function drawTables(state) {
  const { count } = state.functions;
  set("functions-note", count > 0 ? `${words.counted(count, "function", "functions")}; times are summed over all ranks` : "none called yet");
  functions.draw(functions.sorted([...Array(count).keys()]));
  const rows = ranks.sorted([...Array(state.ranks.count).keys()]);
  view.firstRank = Math.max(0, Math.min(view.firstRank, rows.length - 1));
  view.firstRank -= view.firstRank % RANKS_PER_PAGE;
  const end = Math.min(rows.length, view.firstRank + RANKS_PER_PAGE);
  ranks.draw(rows.slice(view.firstRank, end));
  element("pager").hidden = rows.length <= RANKS_PER_PAGE;
  element("earlier").disabled = view.firstRank === 0;
  element("later").disabled = end >= rows.length;
  set("pager-note", `rows ${words.count(view.firstRank + 1)} to ${words.count(end)} of ${words.count(rows.length)}`);
}

function drawFaults({ losses, faults }) {
  const reasons = words.lossSentences(losses);
  element("losses").hidden = reasons.length === 0 && faults.count === 0;
  const hiddenCount = faults.count - faults.newest.length;
  set("losses-note", hiddenCount > 0 ? `the newest ${faults.newest.length} of ${words.counted(faults.count, "report", "reports")}` : "");
  const lines = reasons.map((text) => ["lost", "", text]);
  for (const fault of [...faults.newest].reverse()) {
    lines.push([words.clock(fault.at_ns), fault.rank === null ? "" : `rank ${fault.rank}`, fault.text]);
  }
  const list = element("faults");
  while (list.children.length > lines.length) list.lastElementChild.remove();
  while (list.children.length < lines.length) {
    const item = document.createElement("li");
    item.append(...[0, 1, 2].map(() => document.createElement("span")));
    list.append(item);
  }
  lines.forEach((parts, index) => parts.forEach((text, part) => {
    const span = list.children[index].children[part];
    if (span.textContent !== text) span.textContent = text;
  }));
}

function chooseTheme() {
  const chosen = localStorage.getItem("mpiscope-theme");
  if (chosen === "dark" || chosen === "light") document.documentElement.dataset.theme = chosen;
  view.dark = chosen ? chosen === "dark" : system.matches;
  view.colours = null;
  set("theme", view.dark ? "Light" : "Dark");
  element("theme").title = view.dark ? "Use light colours" : "Use dark colours";
  schedule();
}

function makeControls() {
  for (const [measure, label] of Object.entries(MEASURES)) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = label;
    button.setAttribute("aria-pressed", String(measure === view.measure));
    button.addEventListener("click", () => {
      view.measure = measure;
      for (const other of element("measures").children) other.setAttribute("aria-pressed", String(other === button));
      schedule();
    });
    element("measures").append(button);
  }
  const turn = (rows) => () => {
    view.firstRank += rows;
    schedule();
  };
  element("earlier").addEventListener("click", turn(-RANKS_PER_PAGE));
  element("later").addEventListener("click", turn(RANKS_PER_PAGE));
  element("theme").addEventListener("click", () => {
    localStorage.setItem("mpiscope-theme", view.dark ? "light" : "dark");
    chooseTheme();
  });
  system.addEventListener("change", chooseTheme);
  followCursor(element("over-time"), () => view.state.windows.count, (cursor) => {
    view.timeCursor = cursor;
    schedule();
  });
  followCursor(element("strip"), () => view.state.job.ranks, (cursor) => {
    view.rankCursor = cursor;
    schedule();
  });
  new ResizeObserver(schedule).observe(document.body);
}

function start() {
  functions = functionTable(element("functions"), view, schedule);
  ranks = rankTable(element("ranks"), view, schedule);
  makeControls();
  chooseTheme();
  const connection = connect(
    (buffer) => {
      try {
        view.state = apply(view.state, decode(buffer));
        view.heardAt = performance.now();
      } catch (error) {
        if (error.message === "protocol") connection.giveUp("outdated");
        else connection.resync();
      }
      schedule();
    },
    (link) => {
      view.link = link;
      schedule();
    },
  );
  // "No news for 3 s" must appear without news.
  setInterval(schedule, 1000);
}

start();
