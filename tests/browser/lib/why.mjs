// The verdict on the page: its line, the tab Why, and what the feed says of both.

import { decode } from "@msgpack/msgpack";
import { strict as assert } from "node:assert";
import { quantity } from "./compare.mjs";
import { timelineX } from "./page.mjs";
import { until } from "./wait.mjs";

/** What the pages of a visitor receive, as it comes; to be called before one is opened. */
export function receivedFindings(visitor) {
  const received = [];
  const hear = ({ payload }) => {
    const { found } = typeof payload === "string" ? {} : decode(payload);
    if (found) received.push(found);
  };
  visitor.on("page", (page) => page.on("websocket", (socket) => socket.on("framereceived", hear)));
  return received;
}

const plain = (text) => text.replace(/[\u00a0\u202f]/g, " ");

/** The line under the header: its sentence, and what stands beside it. */
export async function verdict(page) {
  // All of it at one moment.
  const line = page.locator("section.verdict");
  await line.locator(".sentence").waitFor();
  const { about, sentence, notes } = await line.evaluate((element) => {
    const texts = (wanted) => [...element.querySelectorAll(wanted)].map((each) => each.innerText);
    return { about: texts(".about").join(""), sentence: texts(".sentence").join(""), notes: texts(".remark") };
  });
  return { about: plain(about).trim(), sentence: plain(sentence), notes: notes.map((note) => plain(note).replace(/^\s*\u00b7\s*/, "")) };
}

/** Waits until the line says what the feed said last. */
export async function untilLast(page, received) {
  let shown = null;
  await until(() => `the line says "${received.at(-1)?.headline}"; it says "${shown?.sentence}"`, async () => {
    shown = await verdict(page);
    return shown.sentence === received.at(-1)?.headline;
  });
  return shown;
}

/** The figures of the tab Why at one moment, in seconds, and what they are of. */
export async function whyFigures(page) {
  const texts = await page.evaluate(() => {
    const part = (title) => {
      const heading = [...document.querySelectorAll(".why section h2")].find((each) => each.firstChild.textContent.trim() === title);
      const section = heading.closest("section");
      const rows = [...section.querySelectorAll("ul.parts > li, ul.rows > li")];
      return {
        of: heading.querySelector(".soft")?.textContent ?? "",
        rows: rows.map((row) => [".name", ".value", ".share"].map((each) => row.querySelector(each).textContent)),
      };
    };
    const range = document.querySelector(".why section.range");
    return {
      heading: range?.querySelector("h2").textContent ?? "", note: range?.querySelector("p").textContent ?? "",
      causes: part("Avoidable time"), budget: part("Where time in MPI went"), waiting: part("What was waited for"),
      meaning: part("What it rests on").of, efficiency: part("Efficiency").of, waits: part("Who waited for whom").of,
    };
  });
  const read = ({ of, rows }) => ({ of, totalS: quantity(/[\d.\u2009]+ \w+/.exec(of)?.[0] ?? ""), rows: rows.map(([name, value, share]) => ({ name, s: quantity(value), share })) });
  return {
    ...texts, heading: plain(texts.heading), note: plain(texts.note),
    causes: read(texts.causes), budget: read(texts.budget), waiting: read(texts.waiting),
  };
}

/** Figures of three digits each sum to their total. */
export function sumsUp({ rows, totalS }) {
  const sum = rows.reduce((total, { s }) => total + s, 0);
  assert.ok(rows.length > 0 && Math.abs(sum - totalS) <= 0.006 * (sum + totalS), `${JSON.stringify(rows)} sum to ${sum}, not ${totalS}`);
}

/** Selects a part of what the timeline shows. */
export async function brush(page, from, to) {
  const { y } = await page.locator(".timeline .plot").boundingBox();
  const [start, end] = [await timelineX(page, from), await timelineX(page, to)];
  await page.mouse.move(start.x, y + 8);
  await page.mouse.down();
  await page.mouse.move(end.x, y + 8, { steps: 6 });
  await page.mouse.up();
}

/** Waits until the tab has figures of a range of its own, and returns them. */
export async function untilRange(page, isWanted = () => true) {
  let figures = null;
  await until(() => `figures of the range; it says "${figures?.heading}" and "${figures?.note}"`, async () => {
    figures = await whyFigures(page);
    return / to /.test(figures.heading) && isWanted(figures);
  });
  return figures;
}
