// Numbers and states in words. Pure.

const THIN_SPACE = "\u2009";

/** 1234567 as 1 234 567, with thin spaces. */
export function count(value) {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, THIN_SPACE);
}

/** A count with its word, in the right number. */
export function counted(value, one, many) {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** Three significant digits, and never fewer digits than the whole part has. */
export function significant(value) {
  const size = Math.abs(value);
  if (size >= 999.5) return count(value);
  if (size === 0) return "0";
  return value.toFixed(size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
}

function scaled(value, units, factor) {
  let unit = 0;
  while (unit < units.length - 1 && value >= factor * 0.9995) {
    value /= factor;
    unit++;
  }
  return `${unit === 0 ? count(value) : significant(value)} ${units[unit]}`;
}

export function duration(nanoseconds) {
  return scaled(nanoseconds, ["ns", "us", "ms", "s"], 1000);
}

export function bytes(value) {
  return scaled(value, ["B", "KiB", "MiB", "GiB", "TiB", "PiB"], 1024);
}

/** Of an axis, whose steps are round: 150 k, 2.5 M. */
export function short(value) {
  const units = ["", "k", "M", "G", "T"];
  let unit = 0;
  while (unit < units.length - 1 && value >= 1000) {
    value /= 1000;
    unit++;
  }
  return `${Number(value.toPrecision(3))} ${units[unit]}`.trim();
}

/** Of a whole; 0 only when it is 0. */
export function share(part, whole) {
  if (!(whole > 0)) return "";
  const percent = (100 * part) / whole;
  if (percent === 0) return `0${THIN_SPACE}%`;
  return percent < 0.1 ? `<${THIN_SPACE}0.1${THIN_SPACE}%` : `${percent.toFixed(1)}${THIN_SPACE}%`;
}

/** Run time as h:mm:ss, with milliseconds when asked. */
export function clock(nanoseconds, exact = false) {
  const milliseconds = Math.floor(nanoseconds / 1e6);
  const seconds = Math.floor(milliseconds / 1000);
  const two = (value) => String(value).padStart(2, "0");
  const whole = `${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  return exact ? `${whole}.${String(milliseconds % 1000).padStart(3, "0")}` : whole;
}

export function lost(losses) {
  return losses.ring_full + losses.no_ring + losses.unreadable;
}

const FIRST_SECONDS_NS = 5e9;
const QUIET_MS = 2000;

/**
 * How things stand: a word for the header, a mood (good, bad, warn or none), and one sentence.
 * `link` is {phase: connecting | open | lost | refused | full | outdated, retryInSeconds, quietMs}.
 */
export function standing(state, link) {
  if (link.phase === "refused") {
    return say("refused", "bad", "This page is no longer let in: the server was started anew, or the cookie is gone. Open the address with its token that mpiscope printed.");
  }
  if (link.phase === "outdated") {
    return say("page too old", "bad", "The server speaks another version of the feed than this page. Reload the page.");
  }
  const known = state.number >= 0;
  const job = jobStanding(state, link);
  const ended = state.job.state === "ended" || state.job.state === "killed";
  const at = `What is shown is the state at ${clock(state.clock.now_ns)}.`;
  const again = link.retryInSeconds > 0 ? `Trying again in ${link.retryInSeconds} s.` : "Trying again now.";
  if (link.phase === "connecting" && !known) return say("connecting", "", "Connecting to the server.");
  switch (link.phase) {
    case "full":
      return say("no place", "warn", `As many pages are open as the server allows. Close one. ${again}`);
    case "connecting":
    case "lost":
      if (ended) return say(job.word, job.mood, `${job.sentence} The server cannot be reached since; this is its last state.`);
      return say("connection lost", "warn", `The connection to mpiscope is lost; the job may well go on. ${again} ${known ? at : ""}`);
    default:
      return job;
  }
}

function say(word, mood, sentence) {
  return { word, mood, sentence: sentence.trim() };
}

function jobStanding(state, link) {
  const { job, clock: { now_ns } } = state;
  const ran = `after ${clock(now_ns, true)}`;
  switch (job.state) {
    case "waiting":
      return say("waiting", "", job.command
        ? "Nothing is recorded yet. This page fills by itself."
        : "Nothing runs under mpiscope yet. This page fills by itself.");
    case "ended":
      if (job.exit === 0) return say("ended, exit status 0", "", `The job ended well ${ran}.`);
      if (job.exit === null) return say("ended", "warn", `The job ended ${ran}; its exit status is not known.`);
      return say(`ended, exit status ${job.exit}`, "bad", `The job ended badly ${ran}, with exit status ${job.exit}.`);
    case "killed":
      return say(`killed, exit status ${job.exit ?? "unknown"}`, "bad", `The job was killed ${ran}${signal(job.exit)}. Everything recorded until then is here.`);
    default:
      return running(state, link);
  }
}

function signal(exit) {
  return exit > 128 ? ` by signal ${exit - 128}` : "";
}

function running(state, link) {
  const { job, clock: { now_ns, lag_ns } } = state;
  if (link.quietMs > QUIET_MS) {
    return say("no news", "warn", `No news for ${Math.floor(link.quietMs / 1000)} s. What is shown is the state at ${clock(now_ns)}.`);
  }
  if (job.ranks > 0 && state.ranks.count < job.ranks) {
    return say("live", "good", `${count(state.ranks.count)} of ${counted(job.ranks, "rank", "ranks")} heard so far.`);
  }
  if (now_ns < FIRST_SECONDS_NS) {
    return say("live", "good", "First seconds: shares and percentiles still rest on few calls.");
  }
  if (lag_ns > 2e9) {
    return say("lagging", "warn", `The figures are ${duration(lag_ns)} behind the job: calls come faster than they are worked through.`);
  }
  const missing = lost(state.losses);
  if (missing > 0) {
    return say("live, calls lost", "warn", `${counted(missing, "call was", "calls were")} made and not recorded (${share(missing, missing + state.totals.calls + state.totals.polls)} of all); the figures are without them.`);
  }
  return say("live", "good", `Everything until ${clock(Math.max(0, now_ns - lag_ns))} is counted; no calls were lost.`);
}

/** Why calls were lost, one sentence for each reason. */
export function lossSentences(losses) {
  const sentences = [];
  if (losses.ring_full > 0) sentences.push(`${counted(losses.ring_full, "call was", "calls were")} dropped because a ring was full.`);
  if (losses.no_ring > 0) sentences.push(`${counted(losses.no_ring, "call", "calls")} of threads that found no ring left.`);
  if (losses.unreadable > 0) sentences.push(`${counted(losses.unreadable, "call", "calls")} whose records could not be read.`);
  return sentences;
}
