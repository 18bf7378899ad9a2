import { describe, expect, it } from "vitest";
import { arcsOf, BARS_MAX, BORDER, ELLIPSE, ellipse, flatness, glyphOf, glyphScale, heightOf, INSIDE_MAX, OUTSIDE_MAX } from "./glyph";
import { graphOf } from "./graph";
import { madeDag, type MadeBar } from "./made-dag";

const TURN = 2 * Math.PI;

function bars(count: number, more: (at: number) => Partial<MadeBar> = () => ({})): MadeBar[] {
  return Array.from({ length: count }, (_, at) => ({ node: 0, isSent: true, other: 1, tMsgNs: 10, latency: 1, ...more(at) }));
}

const glyphFor = (made: MadeBar[], sent = made.length) => {
  const graph = graphOf(madeDag([{ rank: 3, layer: 0, sent, received: 0 }, { rank: 1, layer: 1 }], [[0, 1]], made));
  return glyphOf(graph, 0, glyphScale(graph));
};

describe("the ellipse", () => {
  it("is as flat as the load says", () => {
    expect(flatness(0)).toBe(0);
    expect(flatness(3)).toBeCloseTo(0.5);
    expect(flatness(6)).toBeCloseTo(2 / 3);
    expect(flatness(9)).toBeCloseTo(0.75);
  });

  it("has half the area at a flatness of one half", () => {
    const area = (load: number): number => Math.PI * ellipse(load).radiusX * ellipse(load).radiusY;
    expect(area(0)).toBeCloseTo(Math.PI * ELLIPSE ** 2);
    expect(area(3) / area(0)).toBeCloseTo(0.5);
  });

  it("leaves room for the bars inside the border, and all of it fits into a cell", () => {
    expect(ELLIPSE).toBeLessThan(BORDER - INSIDE_MAX);
    expect(BORDER + OUTSIDE_MAX).toBeLessThanOrEqual(0.5);
  });
});

describe("the height of a bar", () => {
  it("grows by the same with each doubling", () => {
    const at = (bytes: number): number => heightOf(bytes, 2 ** 20 - 1);
    expect(at(2 ** 20 - 1)).toBeCloseTo(1);
    expect(at(2 ** 11 - 1) - at(2 ** 10 - 1)).toBeCloseTo(at(2 ** 6 - 1) - at(2 ** 5 - 1));
    expect(at(0)).toBeGreaterThan(0);
  });

  it("never leaves its room", () => {
    expect(heightOf(1e12, 8)).toBe(1);
    expect(heightOf(0, 0)).toBeGreaterThan(0);
  });
});

describe("the arcs of bars", () => {
  it.each([[[0.25, 0.5]], [[3, 4, 5]], [Array.from({ length: 24 }, () => 0.001)], [Array.from({ length: 200 }, (_, at) => at / 10)], [[0, 0]]])("never overlap nor make more than a turn: %#", (turns) => {
    const { arcs } = arcsOf(turns);
    arcs.forEach(({ from, to }, at) => {
      expect(to).toBeGreaterThan(from);
      expect(from).toBeGreaterThanOrEqual(at === 0 ? 0 : (arcs[at - 1]?.to ?? TURN));
    });
    expect(arcs.at(-1)?.to).toBeLessThanOrEqual(TURN);
  });

  it("are as long as the times", () => {
    const { arcs, isSqueezed } = arcsOf([0.25, 0.5]);
    expect(arcs.map(({ from, to }) => (to - from) / TURN)).toEqual([expect.closeTo(0.25), expect.closeTo(0.5)]);
    expect(isSqueezed).toBe(false);
  });

  it("are shorter alike where there is no room, and say so", () => {
    const { arcs, isSqueezed } = arcsOf([1, 2]);
    const [one = 0, other = 0] = arcs.map(({ from, to }) => to - from);
    expect(other / one).toBeCloseTo(2);
    expect(isSqueezed).toBe(true);
  });

  it("are none for no messages", () => {
    expect(arcsOf([])).toEqual({ arcs: [], isSqueezed: false });
  });
});

describe("a glyph", () => {
  it("has a bar for each message, on its side, as they came", () => {
    const { received, sent } = glyphFor([{ node: 0, isSent: false, other: 1, tMsgNs: 4, latency: 5, isExact: false }, ...bars(2, (at) => ({ bytes: 8 * (at + 1) }))]);
    expect(received.bars).toMatchObject([{ message: 0, count: 1, latency: 5, isExact: false }]);
    expect(sent.bars.map(({ message }) => message)).toEqual([1, 2]);
    expect(sent.bars[1]?.height).toBe(1);
  });

  it("joins many messages: the longest stay, the others are one with their number and their mean", () => {
    const { sent } = glyphFor(bars(BARS_MAX + 6, (at) => ({ tMsgNs: at < 7 ? 1 : 100, latency: at < 7 ? at : 1, isExact: at !== 0 })));
    expect(sent.bars).toHaveLength(BARS_MAX);
    const others = sent.bars.at(-1);
    expect(others).toMatchObject({ message: -1, count: 7, isExact: true });
    expect(others?.latency).toBeCloseTo((1 + 2 + 3 + 4 + 5 + 6) / 6);
    expect(sent.bars.reduce((sum, bar) => sum + bar.count, 0)).toBe(BARS_MAX + 6);
  });

  it("counts what the server left out", () => {
    expect(glyphFor(bars(3), 40).sent.missing).toBe(37);
  });

  it("keeps the scale of all glyphs: a few long ones are squeezed and others are not", () => {
    const nodes = Array.from({ length: 20 }, (_, at) => ({ rank: at, layer: 0, place: at, sent: 1 }));
    const graph = graphOf(madeDag(nodes, [], nodes.map((_, node) => ({ node, isSent: true, other: 1, tMsgNs: node === 19 ? 1e6 : 10 * (node + 1) }))));
    const scale = glyphScale(graph);
    expect(scale.turnNs).toBeLessThanOrEqual(190);
    expect([glyphOf(graph, 19, scale).sent.isSqueezed, glyphOf(graph, 3, scale).sent.isSqueezed]).toEqual([true, false]);
  });
});
