// The line above the points of the tab 3D.

import { until } from "./wait.mjs";

export const words = (page) => page.locator(".space-words").innerText();
export const drawn = (page, pattern) => until(async () => `the page draws ${pattern}; it says "${await words(page).catch(String)}"`, async () => pattern.test(await words(page)));
