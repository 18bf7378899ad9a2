// The delay budget in sentences: what each part of the time in MPI was, how much of the ranks' time, and what is known of
// it beyond that. Pure.

import type { Efficiency, Parts } from "../feed/found";
import type { Part } from "../palette/causes";
import { unbroken } from "./index";
import { FACTORS, mostWaitedFor, part, type Row, seconds } from "./found";

/** What "unknown" means, everywhere. */
export const NO_REASON = "records are missing, the other side of a message was never seen, or expected transfer times are not known";

/** What waiting was for, to be read after "of it 61 s". */
const WAITED_FOR: Readonly<Partial<Record<Part, string>>> = {
  compute: "while those who were waited for computed longer",
  cpuWait: "while those who were waited for waited for a CPU",
  base: "for messages that took their expected time",
  distance: "for the inter-node cost",
  excess: "for messages that were slower than expected",
  operation: "for collective operations",
  other: "for calls that transfer nothing",
  unknown: "for a reason that is not known",
};

const time = (value: number): string => unbroken(seconds(value));
const shareOf = (value: number, whole: number): string => unbroken(part(value / whole));
const ofRanks = (value: number, ranksS: number): string => `${shareOf(value, ranksS)} of the ranks\u2019 time`;

/** How much of the ranks' time was spent in MPI. */
export function budgetLead(budget: Parts, ranksS: number): string {
  const threads = budget.totalS > ranksS ? " Several threads of a rank count each." : "";
  return `MPI took ${time(budget.totalS)} of the ranks\u2019 ${time(ranksS)}, ${shareOf(budget.totalS, ranksS)}.${threads}`;
}

/** What a part of the time in MPI was. */
export function budgetSentence(row: Row, budget: Parts, ranksS: number): string {
  if (row.seconds === 0) return NOTHING[row.part] ?? "No time went there.";
  const much = ofRanks(row.seconds, ranksS);
  switch (row.part) {
    case "waiting": return `${much}${mostOf(budget)}.`;
    case "base": return `${much}: the expected transfer time of messages of such sizes within a node.`;
    case "distance": return `${much}: the inter-node cost, by which messages between nodes are expected to take longer than within. With what others waited for it, ${time(budget.distanceS + budget.waitingBy.distance)}.`;
    case "excess": return `${much}: what messages took beyond their expected time.${inside(budget)}`;
    case "operation": return `${much}: collectives, once all who were waited for had entered.`;
    case "cpuWait": return `${much}: ranks could run inside MPI, but another program or rank used the CPU.`;
    case "other": return `${much}: calls that transfer nothing.`;
    default: return `${much}: ${NO_REASON}.`;
  }
}

const NOTHING: Readonly<Partial<Record<Part, string>>> = {
  waiting: "Nobody waited for anybody.",
  distance: "None is known of: no message went between nodes, or their expected transfer time is not known.",
  excess: "No message took longer than expected, as far as that is known.",
  operation: "There were no collectives that took time of their own.",
  unknown: "No records are missing, and the other side of each message was seen.",
};

/** What most of the waiting was for. */
function mostOf({ waitingS, waitingBy }: Parts): string {
  const most = mostWaitedFor(waitingBy);
  const what = WAITED_FOR[most.part];
  if (!what || most.seconds <= 0) return "";
  // What is taken off the waiting may make one part more than all of it.
  return most.seconds > waitingS ? `, most of it ${what}` : `; of it ${time(most.seconds)} ${what}`;
}

/** What others waited for slow messages is waiting: with it there is more than the part of the bar. */
function inside({ excessS, excessInsideS, waitingBy }: Parts): string {
  const withWaiting = excessS + Math.max(0, waitingBy.excess);
  // Where it is taken off the waiting, what is left is of no place.
  const within = waitingBy.excess >= 0 && excessInsideS > 0 && excessInsideS <= withWaiting ? `${time(excessInsideS)} of it within nodes` : "";
  if (withWaiting > excessS) return ` With what others waited for it, ${time(withWaiting)}${within && `, ${within}`}.`;
  return within && ` ${within}.`;
}

/** What a part of the waiting was for. */
export function waitingSentence(row: Row, waitingS: number, ranksS: number): string {
  if (row.seconds === 0) return "Nobody waited for that.";
  return `${shareOf(row.seconds, waitingS)} of the waiting, ${ofRanks(row.seconds, ranksS)}: ${lower(row.title)}.`;
}

/** A share that may be below nothing. */
export function signedPart(value: number): string {
  return value < 0 ? `\u2212${part(-value)}` : part(value);
}

/** Why rows above nothing are more than the whole; empty where they are not. */
export function apartWords(rows: readonly Row[], waitingS: number): string {
  const lessS = rows.reduce((sum, row) => sum + Math.min(0, row.seconds), 0);
  if (lessS === 0 || !(waitingS > 0)) return "";
  return `The bar is ${time(waitingS - lessS)}, ${shareOf(waitingS - lessS, waitingS)}: less the negative rows below it, ${time(lessS)}, it is the waiting, ${time(waitingS)}.`;
}

function lower(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

const LEAVES = ["loadBalance", "serialization", "transfer"] as const;

/** Which of the factors is least, and what it costs. */
export function efficiencyLead(efficiency: Efficiency): string {
  const least = LEAVES.reduce((found, key) => (efficiency[key] < efficiency[found] ? key : found));
  const value = efficiency[least];
  const without = value > 0 ? Math.min(1, efficiency.parallel / value) : 0;
  const name = FACTORS[least].name;
  if (value >= 0.995) return "Each factor is 100\u00a0% at best, and all of these nearly are.";
  return `Each factor is 100\u00a0% at best. The least is ${name}, ${unbroken(part(value))}: with that at 100\u00a0% and the others as they are, parallel efficiency would be ${unbroken(part(without))} instead of ${unbroken(part(efficiency.parallel))}.`;
}
