// Answers to what the page asked: about a range of the run, or none.

import { type ProgramPlaces, programPlaces, type SiteTimes, siteTimes, type SourceText, sourceText } from "./call-sites";
import { type Calls, calls, type History } from "./calls";
import { FeedError, type Fields, type NameOf, f64Column, fields, natural, number, sameLength, u32Column } from "./columns";
import { type Courses, courses } from "./courses";
import { type Criteria, criteria } from "./criteria";
import { type CriticalPath, criticalPath } from "./critical";
import { type Cone, cone, type Dag, dag } from "./dependencies";
import { type CallDurations, callDurations } from "./durations";
import { type RangeBudget, rangeBudget } from "./found";
import { type GroupGraph, groupGraph } from "./group-graph";
import { type MessageRows, messageRows } from "./messages";
import { type PendingMessages, pendingMessages } from "./pending";
import { type Landscape, landscape, type Layouts, layouts, type RankLayout, rankLayout, type RankMetrics, rankMetrics, type Suggestion, suggestion } from "./ranks";
import { type Pairs, pairs } from "./regions";
import { type Remap, remap } from "./remap";
import { type Selected, selected } from "./selected";
import { type Shares, shares } from "./shares";
import type * as Wire from "./types";

/** Counts of call starts in a range: `counts[f * bins + bin]` belongs to `functions[f]`. */
export interface RangeCounts {
  length: number;
  function: Uint32Array;
  calls: Float64Array;
}

export interface TimelineAnswer {
  fromNs: number;
  toNs: number;
  bins: number;
  functions: Uint32Array;
  counts: Float64Array;
}

/** The call that begins next; of none its time is null. */
export interface NextEvent { atNs: number | null; rank: number; function: number }

/** What answers bring; each has one of them. */
interface Contents {
  error: string;
  calls: Calls;
  timeline: TimelineAnswer;
  count: RangeCounts;
  history: History;
  durations: CallDurations;
  budget: RangeBudget;
  selected: Selected;
  shares: Shares;
  critical: CriticalPath;
  group_graph: GroupGraph;
  dag: Dag;
  cone: Cone;
  pairs: Pairs;
  pending: PendingMessages;
  event: NextEvent;
  sites: ProgramPlaces;
  site_times: SiteTimes;
  source_text: SourceText;
  messages: MessageRows;
  courses: Courses;
  criteria: Criteria;
  remap: Remap;
  rank_metrics: RankMetrics;
  rank_layout: RankLayout;
  layouts: Layouts;
  landscape: Landscape;
  suggestion: Suggestion;
}

export type AnswerMessage = { kind: "answer"; id: number } & Partial<Contents>;

/** What may be in an answer; of its fields only the names are believed yet. */
export type AnswerFields = Fields<Wire.Answer & Record<ContentName, unknown>>;
type ContentName = NameOf<Wire.Content>;

const READERS: { readonly [Name in ContentName]: (value: unknown) => Contents[Name] } = {
  error: (value) => String(value),
  calls: (value) => calls(fields(value, "The calls")),
  timeline: (value) => timelineAnswer(fields(value, "The timeline")),
  count: (value) => rangeCounts(fields(value, "The counts")),
  history: (value) => history(fields(value, "The history")),
  durations: (value) => callDurations(fields(value, "The durations")),
  budget: (value) => rangeBudget(fields(value, "The budget of the range")),
  selected: (value) => selected(fields(value, "The figures of the selection")),
  shares: (value) => shares(fields(value, "The shares of time")),
  critical: (value) => criticalPath(fields(value, "The critical path")),
  group_graph: (value) => groupGraph(fields(value, "The graph of groups")),
  dag: (value) => dag(fields(value, "The graph")),
  cone: (value) => cone(fields(value, "The past or the future")),
  pairs: (value) => pairs(fields(value, "The pairs")),
  pending: (value) => pendingMessages(fields(value, "The messages in flight")),
  event: (value) => nextEvent(fields(value, "The event")),
  sites: (value) => programPlaces(fields(value, "The call sites")),
  site_times: (value) => siteTimes(fields(value, "The times of call sites")),
  source_text: (value) => sourceText(fields(value, "The source text")),
  messages: (value) => messageRows(fields(value, "The messages")),
  courses: (value) => courses(fields(value, "The courses")),
  criteria: (value) => criteria(fields(value, "The criteria")),
  remap: (value) => remap(fields(value, "The placement")),
  rank_metrics: (value) => rankMetrics(fields(value, "The figures of the ranks")),
  rank_layout: (value) => rankLayout(fields(value, "The points of the layout")),
  layouts: (value) => layouts(fields(value, "The layouts")),
  landscape: (value) => landscape(fields(value, "The landscape")),
  suggestion: (value) => suggestion(fields(value, "The suggestion")),
};

export function answer(value: AnswerFields): AnswerMessage {
  const message: AnswerMessage = { kind: "answer", id: number(value, "id") };
  for (const name of Object.keys(READERS) as ContentName[]) {
    if (value[name] !== undefined && value[name] !== null) Object.assign(message, { [name]: READERS[name](value[name]) });
  }
  return message;
}

function nextEvent(from: Fields<Wire.Event>): NextEvent {
  return { atNs: from.at_ns === null ? null : number(from, "at_ns"), rank: natural(from, "rank"), function: natural(from, "function") };
}

function rangeCounts(from: Fields<Wire.RangeCounts>): RangeCounts {
  const columns = { function: u32Column(from, "function"), calls: f64Column(from, "calls") };
  return { length: sameLength("count", columns), ...columns };
}

function timelineAnswer(from: Fields<Wire.TimelineBins>): TimelineAnswer {
  const answered = {
    fromNs: number(from, "from_ns"),
    toNs: number(from, "to_ns"),
    bins: number(from, "bins"),
    functions: u32Column(from, "functions"),
    counts: f64Column(from, "counts"),
  };
  if (answered.counts.length !== answered.functions.length * answered.bins) {
    throw new FeedError("The timeline's counts are not one for each function and bin.");
  }
  return answered;
}

function history(from: Fields<Wire.History>): History {
  const columns = {
    row: u32Column(from, "row"),
    function: u32Column(from, "function"),
    bin: u32Column(from, "bin"),
    count: f64Column(from, "count"),
  };
  return {
    fromNs: number(from, "from_ns"),
    toNs: number(from, "to_ns"),
    binsPerOctave: number(from, "bins_per_octave"),
    ranksPerRow: number(from, "ranks_per_row"),
    length: sameLength("history", columns),
    ...columns,
    total: number(from, "total"),
  };
}
