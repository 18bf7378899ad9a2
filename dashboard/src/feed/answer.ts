// Answers to what the page asked: about a range of the run, or none.

import { type ProgramPlaces, programPlaces, type SiteTimes, siteTimes, type SourceText, sourceText } from "./call-sites";
import { type Calls, calls, type History } from "./calls";
import { FeedError, type Fields, f64Column, fields, natural, number, sameLength, u32Column } from "./columns";
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

export interface AnswerMessage {
  kind: "answer";
  id: number;
  error?: string;
  calls?: Calls;
  timeline?: TimelineAnswer;
  count?: RangeCounts;
  history?: History;
  durations?: CallDurations;
  budget?: RangeBudget;
  selected?: Selected;
  shares?: Shares;
  critical?: CriticalPath;
  group_graph?: GroupGraph;
  dag?: Dag;
  cone?: Cone;
  pairs?: Pairs;
  pending?: PendingMessages;
  event?: NextEvent;
  sites?: ProgramPlaces;
  site_times?: SiteTimes;
  source_text?: SourceText;
  messages?: MessageRows;
  courses?: Courses;
  criteria?: Criteria;
  remap?: Remap;
  rank_metrics?: RankMetrics;
  rank_layout?: RankLayout;
  layouts?: Layouts;
  landscape?: Landscape;
  suggestion?: Suggestion;
}

export function answer(value: Fields<Wire.Answer>): AnswerMessage {
  const message: AnswerMessage = { kind: "answer", id: number(value, "id") };
  if (typeof value.error === "string") message.error = value.error;
  if (value.calls) message.calls = calls(fields(value.calls, "The calls"));
  if (value.timeline) message.timeline = timelineAnswer(fields(value.timeline, "The timeline"));
  if (value.count) message.count = rangeCounts(fields(value.count, "The counts"));
  if (value.history) message.history = history(fields(value.history, "The history"));
  if (value.durations) message.durations = callDurations(fields(value.durations, "The durations"));
  if (value.budget) message.budget = rangeBudget(fields(value.budget, "The budget of the range"));
  if (value.selected) message.selected = selected(fields(value.selected, "The figures of the selection"));
  if (value.critical) message.critical = criticalPath(fields(value.critical, "The critical path"));
  if (value.group_graph) message.group_graph = groupGraph(fields(value.group_graph, "The graph of groups"));
  if (value.shares) message.shares = shares(fields(value.shares, "The shares of time"));
  if (value.dag) message.dag = dag(fields(value.dag, "The graph"));
  if (value.cone) message.cone = cone(fields(value.cone, "The past or the future"));
  if (value.pairs) message.pairs = pairs(fields(value.pairs, "The pairs"));
  if (value.pending) message.pending = pendingMessages(fields(value.pending, "The messages in flight"));
  if (value.event) message.event = nextEvent(fields(value.event, "The event"));
  if (value.sites) message.sites = programPlaces(fields(value.sites, "The call sites"));
  if (value.site_times) message.site_times = siteTimes(fields(value.site_times, "The times of call sites"));
  if (value.source_text) message.source_text = sourceText(fields(value.source_text, "The source text"));
  if (value.messages) message.messages = messageRows(fields(value.messages, "The messages"));
  if (value.courses) message.courses = courses(fields(value.courses, "The courses"));
  if (value.criteria) message.criteria = criteria(fields(value.criteria, "The criteria"));
  if (value.rank_metrics) message.rank_metrics = rankMetrics(fields(value.rank_metrics, "The figures of the ranks"));
  if (value.rank_layout) message.rank_layout = rankLayout(fields(value.rank_layout, "The points of the layout"));
  if (value.layouts) message.layouts = layouts(fields(value.layouts, "The layouts"));
  if (value.landscape) message.landscape = landscape(fields(value.landscape, "The landscape"));
  if (value.suggestion) message.suggestion = suggestion(fields(value.suggestion, "The suggestion"));
  if (value.remap) message.remap = remap(fields(value.remap, "The placement"));
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
