import { describe, expect, it } from "vitest";
import { FeedError, fields } from "./columns";
import { unchanged } from "../same";
import { evolution, pending } from "./evolution";
import type * as Wire from "./types";

const points: Wire.Points = { time_s: [0, 0.1], latency: [1.5, 0], average: [1.5, 1.5], messages: [10, 4], exact: [5, 0], delayed: [2, 0], above_expected: [3, 0], version: [1, 1] };
const none: Wire.Points = { time_s: [], latency: [], average: [], messages: [], exact: [], delayed: [], above_expected: [], version: [] };
const segment: Wire.SegmentRow = { kind: "growth", from_s: 0, to_s: 0.2, is_closed: false, windows: 1, messages: 14, exact: 5, delayed: 2, above_expected: 3, latency: 1.5, rise: 0.3 };
const bands: Wire.Bands = { width_s: 0.1, time_s: [0], latency: [1.5], p10: [0.9], p50: [1.4], p90: [3], exact: [5] };
const region: Wire.RegionCourse = { region: 3, other: null, ranks: [[0, 1], [4, 4]], messages: 14, exact: 5, delayed: 2, above_expected: 3, latency: 1.5, segments: [segment], points, provisional: none, bands, joined: 1 };
const link: Wire.RegionCourse = { ...region, other: 5, ranks: [], latency: null, segments: [] };
const wire: Wire.Evolution = { by: "traffic", version: 7, window_s: 0.1, final_s: 0.2, has_normal: true, regions: [region], links: [link], other_messages: [8, 9] };

function read(change: (from: Wire.Evolution) => unknown = () => undefined): ReturnType<typeof evolution> {
  const sent = structuredClone(wire);
  change(sent);
  return evolution(fields(sent, "The evolution"));
}

const first = (from: Wire.Evolution): Record<string, unknown> => from.regions[0] as unknown as Record<string, unknown>;

describe("how latency went", () => {
  it("is read", () => {
    const found = read();
    expect(found).toMatchObject({ by: "traffic", version: 7, windowS: 0.1, finalS: 0.2, hasNormal: true, otherInside: 8, otherBetween: 9 });
    expect(found.regions[0]).toMatchObject({ region: 3, other: null, ranks: [[0, 1], [4, 4]], messages: 14, exact: 5, delayed: 2, aboveExpected: 3, latency: 1.5, joined: 1 });
    expect(found.regions[0]?.segments[0]).toEqual({ kind: "growth", fromS: 0, toS: 0.2, isClosed: false, windows: 1, messages: 14, exact: 5, delayed: 2, aboveExpected: 3, latency: 1.5, rise: 0.3 });
    expect(found.regions[0]?.points).toEqual({ length: 2, timeS: [0, 0.1], latency: [1.5, 0], average: [1.5, 1.5], messages: [10, 4], exact: [5, 0], delayed: [2, 0], aboveExpected: [3, 0], version: [1, 1] });
    expect(found.regions[0]?.bands).toEqual({ length: 1, widthS: 0.1, timeS: [0], latency: [1.5], p10: [0.9], p50: [1.4], p90: [3], exact: [5] });
    expect(found.links[0]).toMatchObject({ region: 3, other: 5, ranks: [], latency: null });
  });

  it("stays the same object as long as nothing changed", () => {
    const before = read();
    expect(unchanged(before, read())).toBe(before);
    const later = read((from) => (from.regions[0]!.points.delayed[1] = 1));
    expect(unchanged(before, later)).toBe(later);
    expect(unchanged(before, null)).toBeNull();
  });

  it.each<[string, (from: Wire.Evolution) => unknown]>([
    ["regions by something else", (from) => (from.by = "colour")],
    ["a window that is no length", (from) => (from.window_s = -1)],
    ["one count of two", (from) => ((from.other_messages as unknown[]).length = 1)],
    ["a region of two", (from) => (first(from)["other"] = 4)],
    ["a link to itself", (from) => (from.links[0]!.other = 3)],
    ["a link to nowhere", (from) => (from.links[0]!.other = null)],
    ["ranks out of order", (from) => (first(from)["ranks"] = [[4, 4], [0, 1]])],
    ["a latency below nothing", (from) => (first(from)["latency"] = -1)],
    ["part of a message", (from) => (first(from)["messages"] = 0.5)],
    ["columns of unlike length", (from) => from.regions[0]!.points.delayed.pop()],
    ["a window before the one before it", (from) => from.regions[0]!.points.time_s.reverse()],
    ["a time that is none", (from) => (from.regions[0]!.points.time_s[1] = Number.NaN)],
    ["an average below nothing", (from) => (from.regions[0]!.points.average[1] = -2)],
    ["a stretch of another kind", (from) => (from.regions[0]!.segments[0]!.kind = "fall")],
    ["a stretch that ends before it begins", (from) => (from.regions[0]!.segments[0]!.to_s = -1)],
    ["a stretch perhaps closed", (from) => Object.assign(from.regions[0]!.segments[0]!, { is_closed: 1 })],
    ["more regions than a page can draw", (from) => (from.regions = Array.from({ length: 1025 }, () => region))],
  ])("is refused with %s", (_, change) => {
    expect(() => read(change)).toThrow(FeedError);
  });
});

describe("calls in flight by region", () => {
  const sent: Wire.Pending = { region: [0, 3], calls: [1, 2], since_ns: [5, 9], total_ns: [10, 20] };

  it("are read", () => {
    expect(pending(fields(sent, "Pending"))).toEqual({ length: 2, region: [0, 3], calls: [1, 2], sinceNs: [5, 9], totalNs: [10, 20] });
  });

  it.each([["a region without calls", { ...sent, calls: [1] }], ["half a call", { ...sent, calls: [1, 0.5] }], ["no time", { ...sent, since_ns: [5, null] }]])("are refused with %s", (_, from) => {
    expect(() => pending(fields(from, "Pending"))).toThrow(FeedError);
  });
});
