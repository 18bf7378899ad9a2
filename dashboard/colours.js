// Colours for canvases and marks: those of page.css, resolved for the theme of the moment, and the families' hues.

const probe = document.createElement("span");

/** The colours of page.css as a canvas understands them. */
export function palette() {
  probe.hidden = true;
  document.body.append(probe);
  const resolve = (name) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const names = ["ground", "raised", "line", "text", "soft", "accent", "bar", "fill", "bad"];
  const colours = Object.fromEntries(names.map((name) => [name, resolve(name)]));
  probe.remove();
  return colours;
}

/** Hue and chroma of a family; its members differ in lightness. */
const FAMILIES = {
  send: [255, 0.14],
  receive: [190, 0.09],
  complete: [295, 0.15],
  probe: [295, 0.04],
  rooted: [55, 0.14],
  all: [25, 0.18],
  barrier: [0, 0],
  communicator: [65, 0.06],
  "one-sided": [340, 0.17],
  io: [115, 0.1],
  setup: [230, 0.03],
  other: [0, 0],
};

/** The colour of the n-th member of a family; every one has a contrast of 3 or more to the ground. */
export function familyColour(family, member, dark) {
  const [hue, chroma] = FAMILIES[family] ?? FAMILIES.other;
  const middle = dark ? 0.72 : 0.5;
  const lightness = middle + 0.05 * ([0, 1, -1, 2, -2][member % 5]);
  return `oklch(${lightness.toFixed(2)} ${chroma} ${hue})`;
}
