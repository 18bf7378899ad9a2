// The keyboard alone suffices, and one sees where one is.

import { strict as assert } from "node:assert";
import { open } from "../lib/browser.mjs";
import { legend, state, stillPicture, time, timeText, untilMode, untilParticles, untilState } from "../lib/page.mjs";
import { replay } from "../lib/product.mjs";
import { quiet } from "../lib/recordings.mjs";
import { test } from "../lib/runner.mjs";
import { until } from "../lib/wait.mjs";

const MOST_TABS = 150;

async function opened(t) {
  const { url } = await replay(t, await quiet());
  const page = await open(t, url);
  await untilState(page, /^replay$/);
  await page.locator(".particles-functions button").first().waitFor();
  return page;
}

/** What has the focus: its name, and whether it can be seen that it has it. */
function focused(page) {
  return page.evaluate(() => {
    const element = document.activeElement;
    if (!element || element === document.body) return null;
    const style = getComputedStyle(element);
    const outlined = style.outlineStyle !== "none" && Number.parseFloat(style.outlineWidth) >= 1;
    const box = element.getBoundingClientRect();
    const label = element.getAttribute("aria-label") ?? element.labels?.[0]?.textContent ?? element.textContent ?? "";
    return {
      name: `${element.getAttribute("role") ?? element.localName} ${label.trim().slice(0, 60)}`,
      visible: outlined || style.boxShadow !== "none",
      inSight: box.width > 0 && box.height > 0 && box.bottom > 0 && box.right > 0 && box.top < innerHeight && box.left < innerWidth,
    };
  });
}

/** Tabs on until the focus is on what is meant. */
async function tabTo(page, pattern) {
  for (let tabs = 0; tabs < MOST_TABS; tabs++) {
    await page.keyboard.press("Tab");
    const at = await focused(page);
    if (at && pattern.test(at.name)) return at;
  }
  throw new Error(`Tab never reaches ${pattern}`);
}

test("keyboard::tab_reaches_everything_visibly_and_comes_round", async (t) => {
  const page = await opened(t);
  const met = [];
  for (let tabs = 0; tabs < MOST_TABS; tabs++) {
    await page.keyboard.press("Tab");
    const at = await focused(page);
    if (at === null) break;
    met.push(at);
  }
  assert.ok(met.length < MOST_TABS, `the focus never leaves the page: ${met.slice(-6).map(({ name }) => name).join(", ")}`);
  for (const wanted of [/Theme/, /Keys and help/, /^tab /, /opacity of the history/, /^application /, /MPI_Waitall/, /Zoom in/, /To the start/, /^button Play$/, /Time of the run/, /Speed/, /Follow/]) {
    assert.ok(met.some(({ name }) => wanted.test(name)), `Tab does not reach ${wanted}; it reaches:\n${met.map(({ name }) => name).join("\n")}`);
  }
  assert.deepEqual(met.filter(({ visible }) => !visible).map(({ name }) => name), [], "the focus cannot be seen there");
  assert.deepEqual(met.filter(({ inSight }) => !inSight).map(({ name }) => name), [], "the focus is out of sight there");
});

test("keyboard::keys_alone_play_seek_choose_and_explain", async (t) => {
  const page = await opened(t);
  const end = await time(page);

  // Time.
  await page.keyboard.press("Home");
  await until("Home goes to the start", async () => (await time(page)) === 0);
  await page.keyboard.press("Shift+ArrowRight");
  await until("ten steps", async () => (await time(page)) === 1e9);
  await page.keyboard.press("ArrowLeft");
  await until("one step back", async () => (await time(page)) === 9e8);
  // Slowly: time must not come to an end before somebody looks.
  for (let times = 0; times < 6; times++) await page.keyboard.press("<");
  await page.keyboard.press(" ");
  await untilMode(page, "forward");
  await page.keyboard.press(" ");
  await untilMode(page, "paused");
  await page.keyboard.press("l");
  await untilMode(page, "forward");
  await page.keyboard.press("j");
  await untilMode(page, "backward");
  await page.keyboard.press("k");
  await untilMode(page, "paused");
  await page.keyboard.press("End");
  await until("End goes to the end", async () => (await time(page)) === end);

  // A time typed into its field.
  await tabTo(page, /Time of the run/);
  await page.keyboard.type("2.5");
  await page.keyboard.press("Enter");
  await until("the typed time", async () => (await timeText(page)).startsWith("0:00:02.500"));
  await untilParticles(page);

  // A button by Enter.
  await tabTo(page, /^button Play$/);
  await page.keyboard.press("Enter");
  await untilMode(page, "forward");
  await page.keyboard.press("k");
  await untilMode(page, "paused");

  // The legend, by Space.
  await page.keyboard.press("End");
  await tabTo(page, /MPI_Isend/);
  await page.keyboard.press(" ");
  const shown = async () => (await legend(page)).find(({ name }) => name === "MPI_Isend").shown;
  await until("it is hidden", async () => !(await shown()));
  await page.keyboard.press(" ");
  await until("it is shown", shown);

  // Views.
  await page.keyboard.press("8");
  await page.locator("table[aria-label=Functions]").waitFor();
  await page.keyboard.press("2");
  await page.locator(".particles-plot").waitFor();
  await tabTo(page, /^tab Particles/);
  await page.keyboard.press("ArrowRight");
  await page.locator("table[aria-label=Regions], .tab > .message").first().waitFor();
  await page.keyboard.press("ArrowLeft");
  await page.locator(".particles-plot").waitFor();

  // Help, and back to where one was.
  await tabTo(page, /Keys and help/);
  await page.keyboard.press("Enter");
  await page.locator("dialog[open]").waitFor();
  await page.keyboard.press("Escape");
  await page.locator("dialog[open]").waitFor({ state: "detached" });
  assert.match((await focused(page)).name, /Keys and help/);
  await page.keyboard.press("?");
  await page.locator("dialog[open]").waitFor();
  await page.keyboard.press("?");
  await page.locator("dialog[open]").waitFor({ state: "detached" });

  // Theme.
  const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
  const before = await theme();
  for (let presses = 0; presses < 3 && (await theme()) === before; presses++) await page.keyboard.press("t");
  assert.notEqual(await theme(), before);
  assert.equal(await state(page), "replay");
});

test("keyboard::calls_are_found_and_pinned_without_a_mouse", async (t) => {
  const page = await opened(t);
  await page.keyboard.press("Home");
  await tabTo(page, /Time of the run/);
  await page.keyboard.type("3");
  await page.keyboard.press("Enter");
  await untilParticles(page);
  await stillPicture(page);
  await tabTo(page, /^application /);
  await page.keyboard.press("ArrowUp");
  const spoken = page.locator(".particles-spoken");
  await until("a call is named", async () => /^MPI_\w+, rank \d/.test(await spoken.innerText()));
  const first = await spoken.innerText();
  await until("an arrow goes to another call", async () => {
    await page.keyboard.press("ArrowRight");
    return (await spoken.innerText()) !== first;
  });
  assert.ok(await page.locator(".particles-tip").isVisible());
  const [, name, rank] = /^(MPI_\w+), rank (\d+)/.exec(await spoken.innerText());
  await page.keyboard.press("Enter");
  await until("the inspector shows it", async () => (await page.locator(".inspector h2").first().innerText()).startsWith(name));
  assert.match(await page.locator(".inspector dt:text-is('Rank') + dd").innerText(), new RegExp(`\\b${rank}\\b`));
  await page.keyboard.press("Escape");
  await until("it is let go", async () => (await page.locator(".inspector h2").first().innerText()) === "The run");
});
