import { expect, it } from "vitest";
import { HistoryQuestions } from "./history-questions";

it("asks from the start, then only for what is new", () => {
  const questions = new HistoryQuestions();
  const first = questions.next(5e9, true, 0)!;
  expect(first).toEqual({ fromNs: 0, toNs: 5e9, anew: true });
  expect(questions.next(6e9, true, 5000)).toBeNull();
  expect(questions.answered(first, 5e9)).toBe(true);
  expect(questions.next(6e9, true, 900)).toBeNull();
  expect(questions.waits(6e9)).toBe(true);
  expect(questions.next(6e9, true, 1000)).toEqual({ fromNs: 5e9, toNs: 6e9, anew: false });
});

it("asks nothing before the first call can have faded, nor twice for the same", () => {
  const questions = new HistoryQuestions();
  expect(questions.next(-1e9, true, 0)).toBeNull();
  const question = questions.next(1e9, false, 0)!;
  questions.answered(question, 1e9);
  expect(questions.waits(1e9)).toBe(false);
  expect(questions.next(1e9, false, 1e6)).toBeNull();
});

it("asks all again when time goes back", () => {
  const questions = new HistoryQuestions();
  questions.answered(questions.next(8e9, false, 0)!, 8e9);
  const back = questions.next(3e9, false, 1000)!;
  expect(back).toEqual({ fromNs: 0, toNs: 3e9, anew: true });
  questions.answered(back, 3e9);
  expect(questions.next(4e9, false, 1900)).toBeNull();
  expect(questions.next(4e9, false, 2000)).toEqual({ fromNs: 3e9, toNs: 4e9, anew: false });
});

it("begins where it was cleared, drops the answer under way, and is empty before that point", () => {
  const questions = new HistoryQuestions();
  const late = questions.next(5e9, true, 0)!;
  questions.begin(4e9);
  expect(questions.answered(late, 5e9)).toBe(false);
  const question = questions.next(6e9, true, 1)!;
  expect(question).toEqual({ fromNs: 4e9, toNs: 6e9, anew: true });
  questions.answered(question, 6e9);
  expect(questions.next(1e9, false, 5000)).toEqual({ fromNs: 4e9, toNs: 4e9, anew: true });
});

it("waits after an error", () => {
  const questions = new HistoryQuestions();
  questions.failed(questions.next(5e9, false, 0)!, 10);
  expect(questions.next(5e9, false, 2000)).toBeNull();
  expect(questions.next(5e9, false, 3010)).not.toBeNull();
});
