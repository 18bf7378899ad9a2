// What a user reads off the page, and what a user does to it.

import { strict as assert } from "node:assert";
import { coloured, count, decodePng, fingerprint } from "./pixels.mjs";
import { settled, until } from "./wait.mjs";

/** The timeline's margins, as the page has them. */
const TIMELINE_LEFT = 56;
const TIMELINE_RIGHT = 12;

/** A number as the page writes it: with thin spaces between the thousands. */
export const number = (text) => Number(text.replace(/[\u2009\s]/g, ""));

/** h:mm:ss.mmm as nanoseconds. */
export function nanoseconds(text) {
  const [hours, minutes, seconds] = text.split(":").map(Number);
  return Math.round(((hours * 60 + minutes) * 60 + seconds) * 1e9);
}

export const state = (page) => page.locator("header .state").innerText();

export const notice = (page) => page.locator("[role=status]").first().innerText();

export async function untilState(page, pattern, limitMs) {
  await until(async () => `the header says ${pattern}; it says "${await state(page).catch(String)}"`, async () => pattern.test(await state(page)), limitMs);
}

/** The rows of the inspector, by name; the small notes beside the values are left out. */
export function inspector(page) {
  return page.evaluate(() => {
    const rows = {};
    for (const name of document.querySelectorAll(".inspector dt")) {
      const value = name.nextElementSibling;
      rows[name.textContent] = [...value.childNodes].filter((node) => node.nodeName !== "SMALL").map((node) => node.textContent).join("");
    }
    return rows;
  });
}

/** The figures of the run, exact ones as numbers. */
export async function figures(page) {
  const rows = await inspector(page);
  const exact = (name) => number(rows[name] ?? "NaN");
  return { calls: exact("Calls"), polls: exact("Polls"), messages: exact("Messages"), payload: rows.Payload, lost: exact("Lost calls"), faults: exact("Faults") };
}

/** A table of the figures' tab, as a list of rows of its cells' texts by heading. */
export function table(page, label) {
  return page.evaluate((wanted) => {
    const found = document.querySelector(`table[aria-label="${wanted}"]`);
    const heads = [...found.querySelectorAll("th")].map((head) => head.textContent.replace(/ [\u2191\u2193]$/, ""));
    return [...found.querySelectorAll("tbody tr:not([aria-hidden])")].map((row) =>
      Object.fromEntries([...row.children].map((cell, at) => [heads[at], cell.textContent])));
  }, label);
}

/** The legend: functions with their counts, colours, and whether they are shown. */
export function legend(page) {
  return page.evaluate(() => [...document.querySelectorAll(".particles-functions button")].map((button) => ({
    name: button.querySelector(".particles-name").textContent,
    calls: Number(button.querySelector(".particles-number").textContent.replace(/[\u2009\s]/g, "")),
    colour: button.querySelector(".particles-swatch").style.getPropertyValue("--swatch"),
    shown: button.getAttribute("aria-pressed") === "true",
  })));
}

/** What the particle view says of itself. */
export const words = (page) => page.locator(".particles-status").innerText();

const TIME = "input[aria-label='Time of the run']";

export const timeText = (page) => page.locator(TIME).inputValue();

export async function time(page) {
  return nanoseconds(await timeText(page));
}

export async function seek(page, text) {
  await page.locator(TIME).fill(text);
  await page.locator(TIME).press("Enter");
}

export const mode = (page) => page.evaluate(() => {
  const pressed = (label) => document.querySelector(`.transport button[aria-label="${label}"]`)?.getAttribute("aria-pressed") === "true";
  const live = document.querySelector(".transport button.live")?.getAttribute("aria-pressed") === "true";
  if (live) return "live";
  if (pressed("Play backward")) return "backward";
  return document.querySelector('.transport button[aria-label="Pause"]') ? "forward" : "paused";
});

export async function untilMode(page, wanted) {
  await until(async () => `the transport stands on ${wanted}; it stands on ${await mode(page)}`, async () => (await mode(page)) === wanted);
}

/** A picture of a part of the page. */
export async function shot(page, selector) {
  const box = await page.locator(selector).first().boundingBox();
  return decodePng(await page.screenshot({ clip: box, animations: "disabled", caret: "hide" }));
}

/** Where particles are, without the axes around them. */
export async function plotShot(page) {
  const { x, y, width, height } = await page.locator(".particles-plot").boundingBox();
  return decodePng(await page.screenshot({ clip: { x: x + 52, y: y + 22, width: width - 60, height: height - 66 }, caret: "hide" }));
}

export async function colouredPixels(page) {
  return count(await plotShot(page), coloured).pixels;
}

export async function untilParticles(page, least = 50) {
  let pixels = 0;
  await until(() => `particles in the pixels; coloured ones: ${pixels}`, async () => (pixels = await colouredPixels(page)) >= least);
  return pixels;
}

/** The picture once nothing about it changes any more: history is asked for at leisure, a second after it was last. */
export async function stillPicture(page) {
  const note = () => page.locator(".tabs .note").innerText();
  // The note is about the moment only once that was drawn, and a picture does not change while calls are on their way.
  return until("the calls of the moment are there", async () => {
    const still = await settled("the picture of the particles", async () => {
      const picture = await plotShot(page);
      return { print: fingerprint(picture), words: await words(page), time: await timeText(page), note: await note() };
    }, 8, 200);
    return still.note === "" && still;
  });
}

/** Where on the page the timeline shows a time; the whole run must be visible. */
/** On small screens the timeline is folded at first. */
export async function showTimeline(page) {
  await page.getByRole("button", { name: "Show the timeline" }).click();
  await page.locator(".timeline .plot").waitFor();
}

export async function timelineX(page, part) {
  const { x, y, width, height } = await page.locator(".timeline .plot").boundingBox();
  return { x: x + TIMELINE_LEFT + part * (width - TIMELINE_LEFT - TIMELINE_RIGHT), y: y + height * 0.6 };
}

/** Takes hold of the timeline at one part of the run and lets go at another. */
export async function drag(page, from, to, steps = 6) {
  const start = await timelineX(page, from);
  const end = await timelineX(page, to);
  await page.mouse.move(start.x, start.y);
  await page.mouse.down();
  await page.mouse.move(end.x, end.y, { steps });
  await page.mouse.up();
}

export async function tab(page, id) {
  await page.locator(`#tab-${id}`).click();
  await page.locator(`#tab-${id}[aria-selected=true]`).waitFor();
}

/** Fails where a column of the table beside the graph of regions is cut off. */
export async function columnsFit(page) {
  const { scrollWidth, clientWidth } = await page.locator(".where .side .scroll").evaluate((element) => ({ scrollWidth: element.scrollWidth, clientWidth: element.clientWidth }));
  assert.ok(scrollWidth <= clientWidth, `${scrollWidth} of ${clientWidth} pixels`);
}
