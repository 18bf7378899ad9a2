// Figures that every rank has, in words. Pure.

import { bytes, count, duration, significant } from "./index";

export type Unit = "time" | "count" | "bytes" | "factor";

export interface Metric {
  /** As the server names it. */
  id: string;
  label: string;
  unit: Unit;
  group: string;
  /** Reading it takes the messages, or the calls, of the range. */
  isRead: boolean;
  /** Of calls, it can be of one function. */
  isOfFunction: boolean;
}

function metric(group: string, id: string, label: string, unit: Unit, isRead = false, isOfFunction = false): Metric {
  return { id, label, unit, group, isRead, isOfFunction };
}

export const METRICS: readonly Metric[] = [
  metric("Time", "mpi_time", "time in MPI", "time", false, true),
  metric("Time", "outside_mpi", "time outside MPI (computing)", "time"),
  metric("Time", "finished", "time after the last MPI call", "time"),
  metric("Time", "load", "load: computing by the mean", "factor"),
  metric("Time", "cpu_wait", "waiting for a CPU", "time"),
  metric("Time", "preemptions", "preemptions", "count"),
  metric("Waiting", "waiting", "waiting for other ranks", "time"),
  metric("Waiting", "waiting_compute", "waiting for ranks that compute", "time"),
  metric("Waiting", "late_sender", "waiting for late senders", "time", true),
  metric("Avoidable", "mapping", "avoidable: placement", "time"),
  metric("Avoidable", "pattern", "avoidable: load imbalance", "time"),
  metric("Avoidable", "background", "avoidable: network contention", "time"),
  metric("Avoidable", "cpu", "avoidable: CPU contention", "time"),
  metric("Messages", "calls", "calls", "count", false, true),
  metric("Messages", "messages", "messages", "count"),
  metric("Messages", "sent", "messages sent", "count"),
  metric("Messages", "received", "messages received", "count"),
  metric("Messages", "bytes_sent", "bytes sent", "bytes"),
  metric("Messages", "bytes_received", "bytes received", "bytes", true),
  metric("Messages", "latency", "mean latency L", "factor", true),
  metric("Messages", "delayed", "messages slower than expected", "count", true),
];

const byId = new Map(METRICS.map((each) => [each.id, each]));

export function metricOf(id: string): Metric | null {
  return byId.get(id) ?? null;
}

/** A value with its unit; seconds become what suits them. */
export function valueWords(value: number, unit: Unit | null): string {
  if (!Number.isFinite(value)) return "not known";
  switch (unit) {
    case "time":
      return value === 0 ? "0 s" : duration(value * 1e9);
    case "count":
      return Number.isInteger(value) ? count(value) : significant(value);
    case "bytes":
      return bytes(value);
    default:
      return significant(value);
  }
}
