// Answers to what the page asked: about a range of the run, or none.

import { type Calls, calls, type History } from "./calls";
import { FeedError, type Fields, f64Column, fields, number, sameLength, u32Column } from "./columns";
import { type Courses, courses } from "./courses";
import { type Criteria, criteria } from "./criteria";
import { type Cone, cone, type Dag, dag } from "./dependencies";
import { type RangeBudget, rangeBudget } from "./found";
import { type Pairs, pairs } from "./regions";
import { type Remap, remap } from "./remap";
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

export interface AnswerMessage {
  kind: "answer";
  id: number;
  error?: string;
  calls?: Calls;
  timeline?: TimelineAnswer;
  count?: RangeCounts;
  history?: History;
  budget?: RangeBudget;
  dag?: Dag;
  cone?: Cone;
  pairs?: Pairs;
  courses?: Courses;
  criteria?: Criteria;
  remap?: Remap;
}

export function answer(value: Fields<Wire.Answer>): AnswerMessage {
  const message: AnswerMessage = { kind: "answer", id: number(value, "id") };
  if (typeof value.error === "string") message.error = value.error;
  if (value.calls) message.calls = calls(fields(value.calls, "The calls"));
  if (value.timeline) message.timeline = timelineAnswer(fields(value.timeline, "The timeline"));
  if (value.count) message.count = rangeCounts(fields(value.count, "The counts"));
  if (value.history) message.history = history(fields(value.history, "The history"));
  if (value.budget) message.budget = rangeBudget(fields(value.budget, "The budget of the range"));
  if (value.dag) message.dag = dag(fields(value.dag, "The graph"));
  if (value.cone) message.cone = cone(fields(value.cone, "The past or the future"));
  if (value.pairs) message.pairs = pairs(fields(value.pairs, "The pairs"));
  if (value.courses) message.courses = courses(fields(value.courses, "The courses"));
  if (value.criteria) message.criteria = criteria(fields(value.criteria, "The criteria"));
  if (value.remap) message.remap = remap(fields(value.remap, "The placement"));
  return message;
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
