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
  /** Of calls, it can be of one function or call site. */
  isOfFunction: boolean;
  /** It comes from windows that were diagnosed whole. */
  isDiagnosed: boolean;
  /** Of calls or messages, it can be of one phase. */
  isOfPhase: boolean;
}

function metric(group: string, id: string, label: string, unit: Unit, isRead = false, isOfFunction = false): Metric {
  return { id, label, unit, group, isRead, isOfFunction, isDiagnosed: false, isOfPhase: true };
}

function diagnosed(group: string, id: string, label: string): Metric {
  return { ...metric(group, id, label, "time"), isDiagnosed: true, isOfPhase: false };
}

function scheduled(id: string, label: string, unit: Unit): Metric {
  return { ...metric("Time", id, label, unit), isOfPhase: false };
}

export const METRICS: readonly Metric[] = [
  metric("Time", "mpi_time", "time in MPI", "time", false, true),
  metric("Time", "outside_mpi", "time outside MPI (computing)", "time"),
  metric("Time", "finished", "time after the last MPI call", "time"),
  metric("Time", "load", "load: computing by the mean", "factor"),
  scheduled("cpu_wait", "waiting for a CPU", "time"),
  scheduled("preemptions", "preemptions", "count"),
  diagnosed("Waiting", "waiting", "waiting for other ranks"),
  diagnosed("Waiting", "waiting_compute", "waiting for ranks that compute"),
  diagnosed("Waiting", "waiting_cpu", "waiting for ranks without a CPU"),
  diagnosed("Waiting", "waiting_base", "waiting for expected transfers"),
  diagnosed("Waiting", "waiting_distance", "waiting for the inter-node cost"),
  diagnosed("Waiting", "waiting_excess", "waiting for slow messages"),
  diagnosed("Waiting", "waiting_operation", "waiting for collectives"),
  metric("Waiting", "late_sender", "waiting for late senders", "time", true),
  diagnosed("Avoidable", "mapping", "avoidable: placement"),
  diagnosed("Avoidable", "pattern", "avoidable: load imbalance"),
  diagnosed("Avoidable", "background", "avoidable: network contention"),
  diagnosed("Avoidable", "cpu", "avoidable: CPU contention"),
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
