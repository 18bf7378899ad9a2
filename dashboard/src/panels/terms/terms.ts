// All terms that the page explains: a sentence each, as in GLOSSARY.md, and a small picture as shapes.

export type Tone = "line" | "soft" | "accent" | "warn";
/** Of a picture of 160 by 56. */
export type Shape =
  | { kind: "bar"; x: number; y: number; width: number; height: number; tone: Tone }
  | { kind: "path"; d: string; tone: Tone; isDashed?: boolean }
  | { kind: "dot"; x: number; y: number; r: number; tone: Tone }
  | { kind: "text"; x: number; y: number; text: string };

/** `levels`: what its values mean, the best first. */
export interface Term { name: string; sentence: string; picture: readonly Shape[]; levels?: readonly string[] }

const bar = (x: number, y: number, width: number, tone: Tone, height = 12): Shape => ({ kind: "bar", x, y, width, height, tone });
const path = (d: string, tone: Tone, isDashed = false): Shape => ({ kind: "path", d, tone, isDashed });
const dot = (x: number, y: number, tone: Tone, r = 4): Shape => ({ kind: "dot", x, y, r, tone });
const text = (x: number, y: number, words: string): Shape => ({ kind: "text", x, y, text: words });

/** Two ranks as rows: a send, a receive, and the message between them. */
const message = (fromX: number, toX: number, tone: Tone): Shape[] => [bar(10, 8, 30, "soft"), bar(60, 36, toX - 60, "soft"), path(`M${fromX},20L${toX},36`, tone)];
/** How many messages took how long. */
const bell = "M10,46C40,46 44,10 62,10C82,10 86,44 150,46";

export const TERMS = {
  region: { name: "Region", sentence: "Ranks that talk mostly among themselves.", picture: [path("M30,14L50,34L24,38ZM110,12L134,28L112,42Z", "line"), path("M50,34L112,42", "soft", true), ...[[30, 14], [50, 34], [24, 38]].map(([x = 0, y = 0]) => dot(x, y, "accent")), ...[[110, 12], [134, 28], [112, 42]].map(([x = 0, y = 0]) => dot(x, y, "warn"))] },
  transfer: { name: "Transfer time", sentence: "From the moment both sides were ready to the end of the receive.", picture: [...message(40, 120, "line"), bar(60, 36, 60, "accent")] },
  expected: { name: "Expected transfer time", sentence: "What a message of that size takes when nothing disturbs it: the median.", picture: [path(bell, "line"), path("M66,6V46", "accent"), text(72, 14, "half / half")] },
  latency: { name: "Latency ratio", sentence: "L: transfer time divided by expected transfer time; 1 is as expected.", picture: [bar(10, 10, 40, "soft"), text(56, 20, "expected"), bar(10, 32, 120, "accent"), text(134, 42, "L 3")] },
  delayed: { name: "Delayed", sentence: "Took longer than 95 % of such messages in quiet windows; only exact messages count.", picture: [path(bell, "line"), path("M100,6V46", "warn"), path("M100,46L100,39C112,44 126,46 150,46Z", "warn"), text(106, 16, "5 %")] },
  exact: { name: "Exact", sentence: "The transfer time is a measurement; otherwise it is an upper bound.", picture: [bar(10, 8, 70, "accent"), text(86, 18, "exact"), bar(10, 34, 40, "accent"), path("M50,40H120", "soft", true), text(124, 44, "at most")] },
  waiting: { name: "Waiting", sentence: "Time in a call before the other side was ready.", picture: [bar(80, 8, 40, "soft"), bar(20, 36, 60, "warn"), bar(80, 36, 40, "soft"), path("M80,4V52", "line", true)] },
  avoidable: { name: "Avoidable", sentence: "What the run would save without a cause, as seconds and as a share of the ranks\u2019 time.", picture: [bar(10, 10, 130, "soft"), bar(10, 34, 90, "soft"), path("M100,40H140", "accent", true), text(102, 32, "saved")] },
  confidence: { name: "Confidence", sentence: "How many of 100 verdicts with such evidence are right: in cause, and in saving within a factor of 1.5.", picture: [bar(10, 22, 41, "soft"), bar(52, 22, 27, "line"), bar(80, 22, 41, "warn"), bar(122, 22, 28, "accent"), text(10, 16, "0"), text(45, 16, "30"), text(73, 16, "50"), text(114, 16, "80 %")],
    levels: ["80 % and more: act on it", "50 % to 80 %: likely; \u201cWhat it rests on\u201d in Causes says what is missing", "30 % to 50 %: try it in one run, and look at the next cause", "below 30 %: no clear cause"] },
  imbalance: { name: "Load imbalance", sentence: "Some ranks compute longer, and others wait for them.", picture: [bar(10, 4, 120, "accent"), bar(10, 22, 60, "accent"), bar(70, 22, 60, "warn"), bar(10, 40, 80, "accent"), bar(90, 40, 40, "warn")] },
  cpu: { name: "CPU contention", sentence: "Ranks wait for a CPU: they could run, and something else has the CPU.", picture: [bar(10, 8, 50, "accent"), path("M60,14H100", "warn", true), bar(100, 8, 50, "accent"), bar(60, 34, 40, "soft"), text(10, 44, "other")] },
  network: { name: "Network contention", sentence: "Messages exceed their expected transfer time because others use the network.", picture: [path("M10,14H60L100,28H150", "accent"), path("M10,44H60L100,28H150", "warn"), text(106, 20, "shared link")] },
  placement: { name: "Placement", sentence: "Which rank runs on which node; ranks that talk to each other belong together.", picture: [path("M10,8H66V48H10ZM94,8H150V48H94Z", "soft"), dot(28, 28, "accent"), dot(50, 28, "warn"), dot(110, 28, "accent"), path("M28,28C50,4 90,4 110,28", "line", true)] },
  criticalPath: { name: "Critical path", sentence: "The chain of computing and messages that decides how long the run takes.", picture: [bar(10, 8, 60, "accent"), path("M70,14L80,42", "accent"), bar(80, 36, 60, "accent"), bar(76, 8, 50, "soft"), bar(10, 36, 40, "soft")] },
  budget: { name: "Delay budget", sentence: "The time in MPI, split by what it was spent on.", picture: [bar(10, 20, 60, "warn", 16), bar(71, 20, 30, "accent", 16), bar(102, 20, 24, "line", 16), bar(127, 20, 20, "soft", 16)] },
  criteria: { name: "Criteria", sentence: "The expected transfer times by size: learned from the run, from a calibration, or from a good run.", picture: [path("M10,44L50,38L100,24L150,8", "accent"), ...[10, 50, 100, 150].map((x, at) => dot(x, [44, 38, 24, 8][at] ?? 0, "line", 3))] },
  growth: { name: "Growth", sentence: "A time in which the latency ratio of a region rises; a plateau stays above its average.", picture: [path("M10,44H50L100,14H150", "accent"), path("M10,30H150", "soft", true)] },
  efficiency: { name: "Parallel efficiency", sentence: "Load balance times serialization times transfer, as the POP project defines them.", picture: [bar(10, 10, 130, "soft"), bar(10, 10, 84, "accent"), bar(10, 34, 130, "soft"), bar(10, 34, 60, "accent")] },
} as const satisfies Readonly<Record<string, Term>>;

export type TermId = keyof typeof TERMS;

/** The words beside which a term is explained, as tables and lists have them. */
const WORDS: Readonly<Record<string, TermId>> = {
  "Latency L": "latency", L: "latency", Delayed: "delayed", delayed: "delayed", exact: "exact", Region: "region", Regions: "region", "Load imbalance": "imbalance", "CPU contention": "cpu",
  "Network contention": "network", Placement: "placement", Confidence: "confidence", Waiting: "waiting", Expected: "expected", "Critical path": "criticalPath",
};

export function termOf(words: string): TermId | null {
  return WORDS[words] ?? null;
}
