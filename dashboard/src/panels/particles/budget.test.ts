import { expect, it } from "vitest";
import { Budget, CPU_LIMITS, GPU_LIMITS } from "./budget";

it("comes down after three long frames, not after one", () => {
  const budget = new Budget(CPU_LIMITS, 40_000);
  expect(budget.measured(40, 40_000)).toBe(false);
  expect(budget.measured(5, 40_000)).toBe(false);
  expect([budget.measured(40, 40_000), budget.measured(40, 40_000), budget.measured(40, 40_000)]).toEqual([false, false, true]);
  expect(budget.points).toBe(30_000);
});

it("goes up slowly, and only when all of it is used", () => {
  const budget = new Budget(GPU_LIMITS, 40_000);
  for (let frame = 0; frame < 200; frame++) expect(budget.measured(3, 1000)).toBe(false);
  const changes = Array.from({ length: 60 }, () => budget.measured(3, 40_000)).filter(Boolean);
  expect(changes.length).toBeLessThanOrEqual(2);
  expect(budget.points).toBeGreaterThan(40_000);
});

it("rests between its limits", () => {
  const budget = new Budget(CPU_LIMITS, 40_000);
  for (let frame = 0; frame < 500; frame++) expect(budget.measured(18, 40_000)).toBe(false);
});

it("stays within its bounds, and says when even the least is too much", () => {
  const budget = new Budget(GPU_LIMITS, 40_000);
  for (let frame = 0; frame < 200; frame++) budget.measured(100, budget.points);
  expect(budget.points).toBe(GPU_LIMITS.least);
  expect(budget.hopeless).toBe(true);
  for (let frame = 0; frame < 5000; frame++) budget.measured(1, budget.points);
  expect(budget.points).toBe(GPU_LIMITS.most);
  expect(budget.hopeless).toBe(false);
});
