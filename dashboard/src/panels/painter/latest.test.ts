import { expect, it } from "vitest";
import { Latest } from "./latest";

it("one ask is under way at a time, then the newest that waits", () => {
  const sent: number[] = [];
  const latest = new Latest<number>((ask) => sent.push(ask));
  for (const ask of [1, 2, 3]) latest.ask(ask);
  expect(sent).toEqual([1]);
  latest.answered();
  expect(sent).toEqual([1, 3]);
  latest.answered();
  latest.ask(4);
  expect(sent).toEqual([1, 3, 4]);
});

it("asks that must all be done wait as one", () => {
  const sent: number[] = [];
  const latest = new Latest<number>((ask) => sent.push(ask), (before, next) => before + next);
  for (const ask of [1, 2, 3]) latest.ask(ask);
  latest.answered();
  expect(sent).toEqual([1, 5]);
});

it("nothing is waited for once it is forgotten", () => {
  const sent: number[] = [];
  const latest = new Latest<number>((ask) => sent.push(ask));
  for (const ask of [1, 2]) latest.ask(ask);
  latest.forget();
  latest.ask(3);
  latest.answered();
  expect(sent).toEqual([1, 3]);
});
