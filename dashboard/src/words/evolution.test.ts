import { describe, expect, it } from "vitest";
import type { Segment } from "../feed/evolution";
import { course, evolution, windows } from "../panels/how/made-up";
import { emptyRun, type RunState } from "../state/run";
import {
  aboutEvolution, bandWords, courseFigures, courseName, disturbanceWords, noEvolution, pendingOf, pendingWords, pointTold, ranksOfCourse, segmentWords, trendWords, windowAt, windowOf,
} from "./evolution";

const plain = (text: string): string => text.replace(/[\u00a0\u202f\u2009]/g, " ");
const segment = (change: Partial<Segment>): Segment => ({ kind: "rest", fromS: 70, toS: 90, isClosed: false, windows: 12, messages: 100, exact: 50, delayed: 20, aboveExpected: 30, latency: 2.4, rise: 0, ...change });
const running = (change: Partial<RunState> = {}): RunState => ({ ...emptyRun(), number: 1, job: { ...emptyRun().job, state: "running" }, clock: { nowNs: 10e9, lagNs: 0 }, evolution: evolution(), ...change });

describe("rows in words", () => {
  it("have the names of their ranks", () => {
    const all = evolution({ regions: [course(0), course(1, { ranks: [[4, 4]] }), course(2, { ranks: [] })] });
    expect([courseName(course(0), all), courseName(course(1), all), courseName(course(2), all)]).toEqual(["Ranks 0\u20133", "Rank 4", "Region 2, no more there"]);
    expect(courseName({ region: 0, other: 1 }, all)).toBe("Between 0\u20133 and 4");
    expect(ranksOfCourse({ region: 1, other: 0 }, all)).toEqual([[0, 3], [4, 4]]);
  });

  it("have figures, and say what is not known", () => {
    expect(plain(courseFigures(course(0), true))).toBe("100 messages, 50.0 % exact, 20.0 % of these delayed");
    expect(courseFigures(course(0, { exact: 0, delayed: 0, latency: null }), true)).toBe("100 messages, the time of none known exactly");
    expect(courseFigures(course(0, { messages: 0, exact: 0, delayed: 0, latency: null }), true)).toBe("no message in a final window yet");
  });

  it("say what the latest stretch is", () => {
    const trend = (change: Partial<Segment>, isOver = false): string => plain(trendWords(course(0, { segments: [segment({}), segment(change)] }), isOver));
    expect(trend({ kind: "growth", rise: 0.451 })).toBe("grows since 0:01:10, +45 %");
    expect(trend({ kind: "growth", rise: 0.451 }, true)).toBe("grew to the end from 0:01:10, +45 %");
    expect(trend({ kind: "steady" })).toBe("above its average since 0:01:10, L 2.40");
    expect(trend({})).toBe("no growth, no plateau");
    expect(trendWords(course(0), false)).toBe("");
    expect([bandWords(segment({ kind: "growth", rise: 3.2 })), bandWords(segment({ kind: "steady" })), bandWords(segment({}))].map(plain)).toEqual(["+320 %", "above average", ""]);
    expect(plain(segmentWords(segment({ kind: "growth", rise: 0.2 }), false))).toBe("growth, +20 %, 0:01:10.0 to 0:01:30.0 so far: L 2.40 in 12 windows");
    expect(segmentWords(segment({}), true)).not.toContain("so far");
  });
});

describe("the line above the rows", () => {
  const about = (run: RunState, isBetween = false): string => plain(aboutEvolution(run.evolution ?? evolution(), run, isBetween).join("; "));

  it("says by what, from what windows, and how final", () => {
    expect(about(running({ evolution: evolution({ regions: [course(0, { provisional: windows(0.3, [1, 1]) })] }) })))
      .toBe("By regions, version 2; windows of 100 ms; live, final up to 0:00:00.3, then 2 windows provisional; 50.0 % of 100 messages exact; three windows kept of quiet stretches");
    expect(about(running({ evolution: evolution({ by: "node", otherInside: 0 }) }))).toMatch(/^By nodes, until regions are known; .*200 messages exact; three windows/);
    expect(about(running(), true)).toMatch(/; 7 messages between regions that are not shown; three windows/);
  });

  it("says when it is the last word", () => {
    const ended = { ...running(), job: { ...emptyRun().job, state: "ended" as const } };
    expect(about(ended)).toContain("as diagnosed while the job ran, up to 0:00:00.3");
    expect(about({ ...ended, found: { isFinal: true } as RunState["found"] })).toContain("; final; ");
  });
});

describe("a window", () => {
  const of = course(0, { points: windows(1, [1, 0, 4], [0, 0, 5]), provisional: windows(1.3, [2], [1]), segments: [segment({ kind: "growth", fromS: 1.2, toS: 1.3, rise: 0.3 })] });
  const rows = (timeS: number) => Object.fromEntries(pointTold(of, windowAt(of, timeS)!, evolution(), false).rows.map(([name, value, note]) => [name, plain(`${value}|${note}`)]));

  it("is named with what it is part of", () => {
    expect(rows(1.2)).toEqual({
      Window: "0:00:01.200|100 ms", "Latency L": "4.00|messages take 4.00 times as long as expected for their size", Delayed: "5 messages|100.0 % of the exact ones took longer than 95 % of such messages in quiet windows",
      Messages: "10|50.0 % exact", Average: "1.50|L of all messages up to here", "Part of": "growth|growth, +30 %, 0:00:01.2 to 0:00:01.3 so far: L 2.40 in 12 windows",
    });
  });

  it("says what is not known, and not final", () => {
    expect(rows(1.1)).toMatchObject({ Delayed: "not known|", Messages: "10|0 % exact" });
    expect(rows(1.1)["Latency L"]).toMatch(/^not known\|no message/);
    expect(rows(1.3)).toMatchObject({ Window: "0:00:01.300|100 ms, provisional: calls may still enter it", Average: "not known yet|" });
    const old = { ...of, points: { ...of.points, version: [1, 1, 1] } };
    expect(pointTold(old, windowAt(old, 1)!, evolution(), false).rows.at(-1)).toEqual(["Regions", "version 1", "it was counted before version 2 was found"]);
  });

  it("is found again by its time", () => {
    const all = evolution({ regions: [of] });
    expect(windowOf({ kind: "moment", region: 0, other: null, fromNs: 1.2e9, toNs: 1.3e9 }, all)?.found).toMatchObject({ at: 2, isFinal: true });
    expect(windowOf({ kind: "moment", region: 0, other: null, fromNs: 1.25e9, toNs: 1.3e9 }, all)).toBeNull();
    expect(windowOf({ kind: "moment", region: 5, other: null, fromNs: 1.2e9, toNs: 1.3e9 }, all)).toBeNull();
  });
});

describe("calls in flight", () => {
  const pending = { length: 2, region: [0, 1], calls: [3, 1], sinceNs: [8e9, 9.99e9], totalNs: [4.5e9, 1e7] };

  it("are named where they reach back further than a window", () => {
    expect(pendingOf(course(0), evolution(), pending, 10e9)).toEqual({ calls: 3, sinceNs: 8e9, totalNs: 4.5e9 });
    expect([pendingOf(course(1), evolution(), pending, 10e9), pendingOf(course(2), evolution(), pending, 10e9), pendingOf(course(0), evolution(), null, 10e9), pendingOf(course(0, { other: 1 }), evolution(), pending, 10e9)]).toEqual([null, null, null, null]);
    expect(pendingWords({ calls: 3, sinceNs: 8e9, totalNs: 4.5e9 }, 10e9)).toBe("3 calls in flight, the first for 2.00 s, 4.50 s in all so far");
    expect(pendingWords({ calls: 1, sinceNs: 8e9, totalNs: 2e9 }, 10e9)).toBe("1 call in flight, 2.00 s so far");
  });
});

describe("where there is nothing", () => {
  it("they say why", () => {
    expect(noEvolution(running({ evolution: null }))?.title).toBe("No latency over time yet");
    expect(noEvolution({ ...running({ evolution: null }), job: { ...emptyRun().job, source: "replay" } })?.text).toBe("Nothing of it was recorded.");
    expect(noEvolution(running({ evolution: evolution({ regions: [course(0, { exact: 0 })], links: [] }) }))?.title).toBe("No latency over time is known yet");
    expect(noEvolution(running({ evolution: evolution({ regions: [course(0, { exact: 0, provisional: windows(1, [2]) })], links: [] }) }))).toBeNull();
    expect(noEvolution(running())).toBeNull();
  });
});

describe("a disturbance", () => {
  it("has its times, finer where it is short", () => {
    const long = { cause: "cpu", fromS: 10.25, toS: 15 } as const;
    expect(disturbanceWords(long).replaceAll("\u00a0", " ")).toBe("CPU contention 0:00:10.2 to 0:00:15.0");
    expect(disturbanceWords({ ...long, toS: 10.5 }).replaceAll("\u00a0", " ")).toBe("CPU contention 0:00:10.250 to 0:00:10.500");
  });
});
