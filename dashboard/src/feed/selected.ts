// The figures of a selection: what all views show of a range, some ranks and some functions. Checked.

import { f64Column, type Fields, fields, natural, number, sameLength, text, u32Column } from "./columns";
import { type RangeBudget, rangeBudget } from "./found";
import type * as Wire from "./types";

export interface Selected {
  fromNs: number;
  toNs: number;
  calls: number;
  polls: number;
  mpiTimeNs: number;
  messages: number;
  intraMessages: number;
  interMessages: number;
  bytes: number;
  /** Every function of the selected ranks, whether it is selected or not. */
  functions: {
    length: number; function: Uint32Array; calls: Float64Array; polls: Float64Array; bytes: Float64Array; timeNs: Float64Array;
    p50Ns: Float64Array; p99Ns: Float64Array; maxNs: Float64Array;
  };
  /** Of the selected functions. */
  ranks: { length: number; rank: Uint32Array; calls: Float64Array; mpiTimeNs: Float64Array; sent: Float64Array; received: Float64Array; bytesSent: Float64Array };
  /** `latency` is not a number where it is not known. */
  regions: { length: number; id: Uint32Array; messages: Float64Array; exact: Float64Array; delayed: Float64Array; aboveExpected: Float64Array; latency: Float64Array };
  /** Null where that is not known. */
  budget: RangeBudget | null;
  budgetMissing: string;
}

export function selected(from: Fields<Wire.Selected>): Selected {
  return {
    fromNs: number(from, "from_ns"), toNs: number(from, "to_ns"),
    calls: natural(from, "calls"), polls: natural(from, "polls"), mpiTimeNs: natural(from, "mpi_time_ns"),
    messages: natural(from, "messages"), intraMessages: natural(from, "intra_messages"), interMessages: natural(from, "inter_messages"), bytes: natural(from, "bytes"),
    functions: functions(fields(from.functions, "The functions of the selection")),
    ranks: ranks(fields(from.ranks, "The ranks of the selection")),
    regions: regions(fields(from.regions, "The regions of the selection")),
    budget: from.budget ? rangeBudget(fields(from.budget, "The budget of the selection")) : null,
    budgetMissing: text(from, "budget_missing"),
  };
}

function functions(from: Fields<Wire.SelectedFunctions>): Selected["functions"] {
  const columns = {
    function: u32Column(from, "function"), calls: f64Column(from, "calls"), polls: f64Column(from, "polls"), bytes: f64Column(from, "bytes"),
    timeNs: f64Column(from, "time_ns"), p50Ns: f64Column(from, "p50_ns"), p99Ns: f64Column(from, "p99_ns"), maxNs: f64Column(from, "max_ns"),
  };
  return { length: sameLength("selected functions", columns), ...columns };
}

function ranks(from: Fields<Wire.SelectedRanks>): Selected["ranks"] {
  const columns = {
    rank: u32Column(from, "rank"), calls: f64Column(from, "calls"), mpiTimeNs: f64Column(from, "mpi_time_ns"),
    sent: f64Column(from, "sent"), received: f64Column(from, "received"), bytesSent: f64Column(from, "bytes_sent"),
  };
  return { length: sameLength("selected ranks", columns), ...columns };
}

function regions(from: Fields<Wire.SelectedRegions>): Selected["regions"] {
  const columns = {
    id: u32Column(from, "id"), messages: f64Column(from, "messages"), exact: f64Column(from, "exact"), delayed: f64Column(from, "delayed"), aboveExpected: f64Column(from, "above_expected"), latency: f64Column(from, "latency"),
  };
  return { length: sameLength("selected regions", columns), ...columns };
}
