// The expected times of messages and collectives, as learnt so far or loaded. Checked and bounded.

import { bounded, f64Column, FeedError, type Fields, fields, list, natural, number, sameLength, text, truth, u32Column } from "./columns";
import type * as Wire from "./types";

/** `normalNs`: the 95th percentile of quiet windows; null where that is not known. */
export interface Criterion { fromBytes: number; toBytes: number; samples: number; medianNs: number; normalNs: number | null }

export interface CollectiveCriterion {
  function: number;
  name: string;
  ranks: number;
  bytes: number;
  /** Of the root, where it has a part of its own. */
  isRoot: boolean;
  samples: number;
  medianNs: number;
}

export interface Criteria {
  /** How often they changed. */
  version: number;
  isFinal: boolean;
  /** In the order of sizes; empty where nothing is known. */
  inter: readonly Criterion[];
  intra: readonly Criterion[];
  collectives: readonly CollectiveCriterion[];
}

/** More than any daemon keeps. */
const BINS_MAX = 100_000;
const FUNCTIONS_MAX = 20_000;

export function criteria(from: Fields<Wire.Criteria>): Criteria {
  const columns = {
    isInter: u32Column(from, "is_inter"), fromBytes: f64Column(from, "size_from"), toBytes: f64Column(from, "size_to"),
    samples: f64Column(from, "samples"), medianNs: f64Column(from, "median_ns"), normalNs: f64Column(from, "normal_ns"),
  };
  const length = sameLength("criteria", columns);
  if (length > BINS_MAX) throw new FeedError(`There are more than ${BINS_MAX} criteria.`);
  const bins: { inter: Criterion[]; intra: Criterion[] } = { inter: [], intra: [] };
  for (let row = 0; row < length; row++) {
    const [fromBytes = 0, toBytes = 0] = [columns.fromBytes[row], columns.toBytes[row]];
    const [samples = 0, medianNs = 0] = [columns.samples[row], columns.medianNs[row]];
    if (!(fromBytes >= 0 && toBytes > fromBytes && toBytes < Infinity)) throw new FeedError("A criterion is of sizes that are not in order.");
    if (!(samples >= 0 && samples < Infinity && medianNs >= 0 && medianNs < Infinity)) throw new FeedError("A criterion has an invalid time or number of samples.");
    (columns.isInter[row] === 1 ? bins.inter : bins.intra).push({ fromBytes, toBytes, samples, medianNs, normalNs: Number.isFinite(columns.normalNs[row]) ? columns.normalNs[row]! : null });
  }
  for (const scope of [bins.inter, bins.intra]) scope.sort((one, other) => one.fromBytes - other.fromBytes);
  const collectives = bounded("functions", list(from, "functions"), FUNCTIONS_MAX).map((each) => collective(fields(each, "A collective")));
  return { version: natural(from, "version"), isFinal: truth(from, "is_final"), ...bins, collectives };
}

function collective(from: Fields<Wire.FunctionCriterion>): CollectiveCriterion {
  const medianNs = number(from, "median_ns");
  if (medianNs < 0) throw new FeedError("A collective takes less than no time.");
  return {
    function: natural(from, "function"), name: text(from, "name"), ranks: natural(from, "ranks"), bytes: natural(from, "bytes"),
    isRoot: truth(from, "is_root"), samples: natural(from, "samples"), medianNs,
  };
}
