// The tab 3D: ranks where a layout puts them, and the same figures as charts.

import { strict as assert } from "node:assert";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkAll } from "../lib/axe.mjs";
import { open, SMALL } from "../lib/browser.mjs";
import { shot, tab, untilState } from "../lib/page.mjs";
import { coloured, count } from "../lib/pixels.mjs";
import { folder, replay } from "../lib/product.mjs";
import { quiet, slowRack } from "../lib/recordings.mjs";
import { test } from "../lib/runner.mjs";
import { drawn } from "../lib/space.mjs";
import { settled, until } from "../lib/wait.mjs";

const colours = async (page) => count(await shot(page, ".space-picture"), coloured).pixels;
const hash = (page) => page.evaluate(() => decodeURIComponent(location.hash));
const inspected = (page, pattern) => until(`the inspector shows ${pattern}`, async () => pattern.test(await page.locator(".inspector h2").first().innerText()));

async function opened(t, settings = "", options = {}, ...words) {
  const { url } = await replay(t, await quiet(), ...words);
  const page = await open(t, `${url}#tab=space${settings}`, options);
  await untilState(page, /^replay$/);
  await drawn(page, /4 ranks/);
  return { page, url };
}

/** A place of the picture where the tooltip names this rank. */
async function placeOf(page, rank) {
  const { x, y, width, height } = await page.locator(".space-picture > .host").boundingBox();
  for (let row = 1; row < 12; row++) {
    for (let column = 1; column < 60; column++) {
      const at = { x: x + (width * column) / 60, y: y + (height * row) / 12 };
      await page.mouse.move(at.x, at.y);
      const tip = page.locator(".space-picture .tip b");
      if ((await tip.count()) > 0 && (await tip.innerText()) === `Rank ${rank}`) return at;
    }
  }
  throw new Error(`rank ${rank} is nowhere in the picture`);
}

test("space::a_click_on_a_point_selects_that_rank_in_another_view", async (t) => {
  const { page, url } = await opened(t, "&space.layout=plane");
  await drawn(page, /plane; colour: time in MPI/);
  await until("points in colour", async () => (await colours(page)) > 200);
  const at = await placeOf(page, 2);
  await page.mouse.click(at.x, at.y);
  await inspected(page, /^Rank 2/);
  await tab(page, "figures");
  await page.locator("table[aria-label=Ranks] tr[aria-selected=true] button.rank", { hasText: /^2$/ }).waitFor();
  await tab(page, "space");
  // Drawn, it listens.
  await until("points in colour", async () => (await colours(page)) > 200);
  // By keyboard: turned, nearer, moved, the next rank; all of it is in the address.
  await page.locator(".space-picture > .host").focus();
  for (const key of ["ArrowLeft", "ArrowDown", "+", "Shift+ArrowRight", "n"]) await page.keyboard.press(key);
  await inspected(page, /^Rank 3/);
  await until("the camera is in the address", async () => /space\.camera=-?[\d._-]+/.test(await hash(page)));
  const link = await hash(page);
  const other = await open(t, `${url}${link}`, {});
  await drawn(other, /plane/);
  await until("the same camera", async () => /space\.camera=([^&]+)/.exec(await hash(other))?.[1] === /space\.camera=([^&]+)/.exec(link)[1]);
});

test("space::a_lasso_selects_ranks_for_all_views_and_a_filter_hides_some", async (t) => {
  const { page } = await opened(t, "&space.layout=line&space.color=layout");
  await drawn(page, /line; colour: the layout/);
  const { x, y, width, height } = await page.locator(".space-picture > .host").boundingBox();
  await page.getByRole("button", { name: "Lasso" }).click();
  await page.mouse.move(x + 4, y + 4);
  await page.mouse.down();
  for (const [right, down] of [[width / 2, 4], [width / 2, height - 4], [4, height - 4]]) await page.mouse.move(x + right, y + down, { steps: 3 });
  await page.mouse.up();
  await until("two ranks are selected", async () => /Ranks 0\u20131/.test(await page.locator(".scope .parts").innerText()));
  await page.locator(".space-side select").first().selectOption("mpi_time");
  await drawn(page, /colour: time in MPI/);
  await page.getByRole("button", { name: "Hide the middle" }).click();
  await page.getByRole("button", { name: "Draw all" }).click();
  await page.locator("input[aria-label='Least value drawn']").fill("100");
  await drawn(page, /filtered out/);
});

test("space::a_layout_file_is_read_again_and_an_error_leaves_the_last_good_layout", async (t) => {
  const file = join(folder("layout"), "mine.viz");
  writeFileSync(file, "BEGIN_VIZ=mine\nx=rank\ny=0\nz=0\nEND_VIZ\n");
  const { page } = await opened(t, "&space.from=file&space.layout=mine", {}, "--layout", file);
  await drawn(page, /4 ranks, mine/);
  writeFileSync(file, "BEGIN_VIZ=mine\nx=rnak\ny=0\nz=0\nEND_VIZ\n");
  await page.locator(".space-side .warn", { hasText: "mine.viz:2:3: unknown name `rnak`; did you mean `rank`?" }).waitFor();
  await drawn(page, /4 ranks, mine.*last good layout/s);
  writeFileSync(file, "BEGIN_VIZ=mine\nx=rank\ny=0\nz=0\nEND_VIZ\nBEGIN_VIZ=other\nx=0\ny=rank\nz=0\nEND_VIZ\n");
  await page.getByRole("button", { name: "other" }).click();
  await drawn(page, /4 ranks, other/);
  // A layout of one's own, while it is written.
  await page.getByRole("button", { name: "Edit layout" }).click();
  const text = page.getByLabel("Source of the layout");
  await text.fill("BEGIN_VIZ=own\nx0=rank\ny0=0\nz0=0\nx1=rank\ny1=1\nz1=1\nEND_VIZ\n");
  await drawn(page, /4 ranks, own/);
  await text.fill("BEGIN_VIZ=own\nx=sqrt(rank\ny=0\nz=0\nEND_VIZ\n");
  await page.locator(".space-editor .notes .bad", { hasText: "expected an operator" }).waitFor();
  await drawn(page, /4 ranks, own/);
});

test("space::it_is_drawn_through_webgl_and_turns", async (t) => {
  const { page } = await opened(t, "&space.layout=sphere", { gpu: "emulated" });
  await page.locator(".space-picture canvas[data-engine]").waitFor();
  await until("points in colour", async () => (await colours(page)) > 200);
  const { x, y, width, height } = await page.locator(".space-picture > .host").boundingBox();
  assert.doesNotMatch(await hash(page), /space\.camera=/);
  await page.mouse.move(x + width / 2, y + height / 2);
  await page.mouse.down();
  await page.mouse.move(x + width / 2 + 120, y + height / 2 + 20, { steps: 6 });
  await page.mouse.up();
  await until("the camera moved", async () => /space\.camera=/.test(await hash(page)));
  await until("points in colour", async () => (await colours(page)) > 200);
});

test("space::all_faces_have_figures_and_nothing_serious", async (t) => {
  const { page } = await opened(t, "", { viewport: SMALL });
  const face = (name) => page.getByRole("button", { name, exact: true }).click();
  await face("Bars");
  await drawn(page, /mean .* standard deviation/);
  await face("Scatter");
  await drawn(page, /correlation/);
  await face("Landscape");
  await drawn(page, /functions/);
  await face("Histogram");
  await drawn(page, /mean/);
  const { x, y, width, height } = await page.locator(".chart-canvas").boundingBox();
  // Drawn, it listens.
  await until("the last bin is pointed at", async () => {
    await page.mouse.move(x + width - 36, y + height - 40);
    return (await page.locator(".chart-canvas .tip").count()) > 0;
  });
  await page.mouse.click(x + width - 36, y + height - 40);
  await until("the ranks of a bin are selected", async () => !/all ranks/.test(await page.locator(".scope .parts").innerText()));
  assert.equal(await page.locator(".chart-canvas canvas").count(), 1);
  await checkAll(page, [
    ["histogram", async () => undefined],
    ["layout", () => face("Layout")],
    ["editor", () => page.getByRole("button", { name: "Edit layout" }).click()],
  ]);
});

test("space::slices_links_and_means_say_what_is_left", async (t) => {
  const { page } = await opened(t, "&space.layout=line");
  await drawn(page, /line; colour: time in MPI/);
  await page.getByRole("button", { name: "x", exact: true }).click();
  await drawn(page, /Slice x = 2\.00: 1 rank, value [\d.]+\sm?s/);
  await page.getByLabel("Place of the slice along x").fill("0");
  await drawn(page, /Slice x = 0(\.0+)?: 1 rank/);
  await page.getByRole("button", { name: "x", exact: true }).click();
  await page.getByRole("button", { name: "Mean per node" }).click();
  // All ranks of the one node have one value: the least is the greatest.
  await drawn(page, /; colour: time in MPI,\s(.+)\sto\s\1\./);
  await page.getByRole("button", { name: "Heaviest messages" }).click();
  await until("the address has it", async () => /space\.links=yes/.test(await hash(page)));
  await page.getByRole("button", { name: /clock.s moment/ }).click();
  await drawn(page, /At the clock/);
});

test("space::a_relief_and_a_matrix_show_who_sends_to_whom", async (t) => {
  const { page } = await opened(t);
  await page.getByRole("button", { name: "Matrix", exact: true }).click();
  await drawn(page, /pairs of ranks exchanged messages/);
  await page.getByRole("button", { name: "3D", exact: true }).click();
  const relief = page.locator(".chart-canvas canvas[tabindex]");
  await relief.focus();
  const picture = async () => (await relief.screenshot()).toString("base64");
  const before = await settled("the relief", picture);
  await page.keyboard.press("ArrowLeft");
  await until("the relief turned", async () => (await picture()) !== before);
  await page.getByRole("button", { name: "Landscape" }).click();
  await drawn(page, /functions/);
  await page.getByRole("button", { name: "Table", exact: true }).click();
  await drawn(page, /All 4 ranks: .* in MPI/);
  await page.locator(".space-rank input").fill("2");
  await page.keyboard.press("Enter");
  await drawn(page, /Rank 2 on .* in MPI/);
  await page.locator(".space-table td", { hasText: "MPI_" }).first().waitFor();
});

test("space::the_editor_opens_with_the_text_of_what_is_drawn", async (t) => {
  const { page } = await opened(t);
  await drawn(page, /4 ranks, sphere/);
  await page.getByRole("button", { name: "plane", exact: true }).waitFor();
  // Before anything can be typed: only what the click itself has set off runs until the text is read.
  const text = await page.getByRole("button", { name: "Edit layout" }).evaluate(async (button) => {
    button.click();
    for (let turn = 0; turn < 100; turn++) await Promise.resolve();
    return document.querySelector(".space-editor textarea")?.value;
  });
  assert.match(text ?? "there is no editor", /BEGIN_VIZ=sphere/);
});

test("space::a_layout_is_kept_with_the_recording_and_forgotten", async (t) => {
  const { page } = await opened(t);
  await page.getByRole("button", { name: "Edit layout" }).click();
  await page.getByLabel("Source of the layout").fill("# Mine.\nBEGIN_VIZ=stairs\nx=rank\ny=0\nz=rank\nEND_VIZ\n");
  await drawn(page, /4 ranks, stairs/);
  assert.ok(await page.locator(".space-editor .function, .space-editor .given").count() > 0);
  await page.getByRole("button", { name: "Keep", exact: true }).click();
  await page.locator(".space-editor .notes", { hasText: "Kept with the recording." }).waitFor();
  await page.getByRole("button", { name: "Close", exact: true }).click();
  await page.getByRole("button", { name: "stairs" }).click();
  await drawn(page, /4 ranks, stairs/);
  await page.getByRole("button", { name: "Forget" }).click();
  await drawn(page, /4 ranks, sphere/);
  await until("it is gone", async () => (await page.getByRole("button", { name: "stairs" }).count()) === 0);
});

test("space::one_slow_rack_of_a_torus_is_found_in_this_view_alone", async (t) => {
  // Which rack it is, the seed decides; who looks at the view does not know.
  const found = [];
  for (const seed of [2, 3]) {
    const recording = await slowRack(seed);
    const { url } = await replay(t, recording);
    const page = await open(t, `${url}#tab=space`);
    await drawn(page, /256 ranks/);
    const suggested = page.locator(".space-side .suggested");
    const [, rack] = await until("the page names one rack", async () => /They are one rack, R(\d+)\./.exec(await suggested.innerText().catch(() => "")));
    await page.getByRole("button", { name: "Show", exact: true }).click();
    await drawn(page, /256 ranks, racks/);
    await page.getByRole("button", { name: "Select", exact: true }).click();
    // The rack is every sixteenth node: four ranks of each.
    const node = (at) => `${4 * rack + 64 * at}\u2013${4 * rack + 64 * at + 3}`;
    await until("the ranks of that rack are selected", async () => new RegExp(`${node(0)}, ${node(1)}, \u2026 \\(16 ranks\\)`).test(await page.locator(".scope .parts").innerText()));
    await page.getByRole("button", { name: "torus", exact: true }).click();
    await drawn(page, /256 ranks, torus/);
    found.push(Number(rack));
    assert.equal(Number(rack), JSON.parse(readFileSync(join(recording, "truth.json"), "utf8")).slow_rack);
  }
  assert.notEqual(found[0], found[1]);
});
