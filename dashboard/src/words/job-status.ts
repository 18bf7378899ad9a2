// How things stand, for the header and the notice under it. Pure.

import type { Link } from "../net";
import { lost, type RunState } from "../state/run";
import { bytes, clock, count, counted, duration, share } from "./index";

export type Mood = "good" | "bad" | "warn" | "";

export interface JobStatus {
  word: string;
  mood: Mood;
  /** What to know beyond the word; empty when the word says it all. */
  sentence: string;
}

const FIRST_SECONDS_NS = 5e9;
const QUIET_MS = 3000;
const LAG_WARN_NS = 2e9;

export function jobStatus(state: RunState, link: Link, quietMs: number): JobStatus {
  if (link.phase === "refused") {
    return say("refused", "bad", "This page is no longer let in: its link was revoked, or mpiscope was started anew. Ask for a new link, or open the address with its token that mpiscope printed.");
  }
  if (link.phase === "outdated") {
    return say("page too old", "bad", "The server speaks another version of the feed than this page. Reload the page.");
  }
  const known = state.number >= 0;
  const again = link.retryInSeconds > 0 ? `Trying again in ${link.retryInSeconds} s.` : "Trying again now.";
  if (link.phase === "full") return say("no place", "warn", `As many pages are open as the server allows. Close one. ${again}`);
  if (link.reason) return say("message refused", "warn", `A message of the server was not as agreed and is not shown: ${link.reason} ${again}`);
  if (link.phase === "connecting" && !known) return say("connecting", "", "Connecting to the server.");
  const job = stateOfJob(state, quietMs);
  if (link.phase === "open") return job;
  if (state.job.source === "replay") {
    return say(job.word, "warn", `${job.sentence} The server cannot be reached since; what this page holds can still be looked at. ${again}`);
  }
  if (state.job.state === "ended" || state.job.state === "killed") {
    const recording = state.job.run ? `\u201cmpiscope replay ${state.job.run}\u201d` : "mpiscope replay";
    return say(job.word, job.mood || "warn", `${job.sentence} This page keeps its last picture; ${recording} shows the whole run.`);
  }
  const at = known ? `What is shown is the state at ${clock(state.clock.nowNs)}.` : "";
  return say("connection lost", "warn", `The connection to mpiscope is lost; the job may well go on. ${again} ${at}`);
}

function say(word: string, mood: Mood, sentence: string): JobStatus {
  return { word, mood, sentence: sentence.trim() };
}

function stateOfJob(state: RunState, quietMs: number): JobStatus {
  const { job, clock: { nowNs } } = state;
  const ran = `after ${clock(nowNs)}`;
  if (job.source === "replay") {
    const sentence = replayed(state);
    return say("replay", sentence ? "warn" : "", sentence);
  }
  switch (job.state) {
    case "waiting":
      return say("waiting", "", "");
    case "ended":
      if (job.exit === 0) return say("ended well", "good", `The job ended well ${ran}.`);
      if (job.exit === null) return say("ended", "warn", `The job ended ${ran}; its exit status is not known.`);
      return say(`ended, exit status ${job.exit}`, "bad", `The job ended badly ${ran}, with exit status ${job.exit}.`);
    case "killed":
      return say("killed", "bad", `The job was killed ${ran}${signal(job.exit)}. Everything recorded until then is here.`);
    case "running":
      return running(state, quietMs);
  }
}

/** Of a recording, only what is not as it should be. */
function replayed({ job, losses }: RunState): string {
  const sentences: string[] = [];
  if (job.state === "killed") sentences.push(job.exit === null ? "How the job ended is not known." : `The job was killed${signal(job.exit)}.`);
  else if (job.exit) sentences.push(`The job ended badly, with exit status ${job.exit}.`);
  if (lost(losses) > 0) sentences.push(`${counted(lost(losses), "call was", "calls were")} made and not recorded.`);
  return sentences.join(" ");
}

function signal(exit: number | null): string {
  return exit !== null && exit > 128 ? ` by signal ${exit - 128}` : "";
}

function running(state: RunState, quietMs: number): JobStatus {
  const { job, clock: { nowNs, lagNs } } = state;
  if (quietMs > QUIET_MS) {
    return say("no news", "warn", `No news for ${Math.floor(quietMs / 1000)} s. What is shown is the state at ${clock(nowNs)}.`);
  }
  if (lagNs > LAG_WARN_NS) {
    return say("lagging", "warn", `What is shown is ${duration(lagNs)} behind the job: calls come faster than they are worked through.`);
  }
  const missing = lost(state.losses);
  if (missing > 0) {
    return say("live, calls lost", "warn", `${counted(missing, "call was", "calls were")} made and not recorded (${share(missing, missing + state.totals.calls + state.totals.polls)} of all); everything shown is without them.`);
  }
  if (job.ranks > 0 && state.ranks.count < job.ranks) {
    return say("live", "good", `${count(state.ranks.count)} of ${counted(job.ranks, "rank", "ranks")} heard so far.`);
  }
  if (nowNs < FIRST_SECONDS_NS) return say("live", "good", "First seconds: shares and percentiles still rest on few calls.");
  return say("live", "good", "");
}

/** Why calls were lost, one sentence for each reason. */
export function lossSentences(losses: RunState["losses"]): string[] {
  const sentences: string[] = [];
  if (losses.ringFull > 0) sentences.push(`${counted(losses.ringFull, "call was", "calls were")} dropped because a ring was full.`);
  if (losses.noRing > 0) sentences.push(`${counted(losses.noRing, "call", "calls")} of threads that found no ring left.`);
  if (losses.unreadable > 0) sentences.push(`${counted(losses.unreadable, "call", "calls")} whose records could not be read.`);
  if (losses.unsaved > 0) sentences.push(`${counted(losses.unsaved, "call was", "calls were")} recorded and could not be saved.`);
  return sentences;
}

/** The run's figures, as rows of a name, a value and what to add. */
export function figures(state: RunState): [name: string, value: string, note: string][] {
  const { totals, job } = state;
  const running = job.state === "running" && job.source === "live";
  const sends = counted(totals.unmatchedSends, "send", "sends");
  const receives = counted(totals.unmatchedReceives, "receive", "receives");
  return [
    ["Calls", count(totals.calls), ""],
    ["Polls", count(totals.polls), totals.polls > 0 ? "folded into rows" : ""],
    ["Messages", count(totals.messages), totals.uncertainMessages > 0 ? `${count(totals.uncertainMessages)} by best fit` : ""],
    ["Payload", bytes(totals.bytes), ""],
    ["Within nodes", share(totals.intraMessages, totals.messages) || "\u2013", "of messages"],
    // While the job runs, a message on its way has been sent and not yet received.
    [running ? "On the way" : "Unmatched", count(totals.unmatchedSends + totals.unmatchedReceives), `${sends}, ${receives}`],
    ["Lost calls", count(lost(state.losses)), ""],
    ["Faults", count(state.faults.count), ""],
  ];
}
