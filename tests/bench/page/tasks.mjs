// Tasks of the page's main thread while something is done.

import { pause } from "../../browser/lib/wait.mjs";

const CATEGORIES = ["toplevel", "disabled-by-default-devtools.timeline", "__metadata"];

/** By CPU time and by the wall clock, in milliseconds. */
export async function tasksOf(browser, page, act) {
  await browser.startTracing(page, { categories: CATEGORIES });
  await act();
  await pause(500);
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString());
  const mains = new Set(traceEvents.filter(({ name, args }) => name === "thread_name" && args.name === "CrRendererMain").map(({ pid, tid }) => `${pid}/${tid}`));
  const tasks = traceEvents.filter(({ name, ph, pid, tid }) => /RunTask$/.test(name) && ph === "X" && mains.has(`${pid}/${tid}`));
  if (tasks.length === 0) throw new Error("the trace has no task of the page");
  return { cpu: tasks.map(({ tdur = 0 }) => tdur / 1000), wall: tasks.map(({ dur = 0 }) => dur / 1000) };
}
