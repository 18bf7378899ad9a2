// Runs inside the page, before its own scripts: looks at the particles' canvas after each frame that the page draws.

/**
 * `colour` (#rrggbb) and `slots`: notes when pixels of that colour, fresh or half faded, appear in a rank's slot where
 * none were before.
 * Without a colour: notes the first particles of any colour.
 */
export function watch({ colour, slots }) {
  const LEAST_PIXELS = 4;
  const STEP = 1;
  /** The dark theme's ground: particles fade towards it. What is fainter than this share of a colour is history. */
  const GROUND = [20, 23, 27];
  const LEAST_SHARE = 0.3;
  const OFF = 26;
  // The bottom of the plot is crowded with short calls; marks stand above.
  const PART = 0.7;
  const seen = (globalThis.__seen = { first: null, marks: [], frames: 0, costMs: 0, longTasks: [] });
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) seen.longTasks.push({ startTime, duration });
  }).observe({ type: "longtask", buffered: true });
  if (slots === 0) return;
  const wanted = colour && [0, 1, 2].map((part) => Number.parseInt(colour.slice(2 * part + 1, 2 * part + 3), 16) - GROUND[part]);
  const length = wanted && wanted.reduce((sum, part) => sum + part * part, 0);
  const before = new Array(slots).fill(null);
  const request = globalThis.requestAnimationFrame.bind(globalThis);

  function pixels() {
    const canvas = [...document.querySelectorAll(".particles-plot canvas")].slice(1).find((each) => !each.hidden);
    if (!canvas || canvas.width < 50) return null;
    const { width } = canvas;
    const height = Math.floor(canvas.height * (wanted ? PART : 1));
    const flat = canvas.getContext("2d");
    if (flat) return { width, height, data: flat.getImageData(0, 0, width, height).data };
    const gl = canvas.getContext("webgl2");
    if (!gl) return null;
    const data = new Uint8Array(width * height * 4);
    gl.readPixels(0, canvas.height - height, width, height, gl.RGBA, gl.UNSIGNED_BYTE, data);
    return { width, height, data };
  }

  function look() {
    const startMs = performance.now();
    const found = pixels();
    if (!found) return;
    seen.frames++;
    const { width, height, data } = found;
    const counts = new Uint16Array(slots);
    let any = 0;
    for (let y = 0; y < height; y += STEP) {
      for (let x = 0; x < width; x += STEP) {
        const at = (y * width + x) * 4;
        const [r, g, b] = [data[at], data[at + 1], data[at + 2]];
        if (wanted) {
          const [dr, dg, db] = [r - GROUND[0], g - GROUND[1], b - GROUND[2]];
          const share = (dr * wanted[0] + dg * wanted[1] + db * wanted[2]) / length;
          const off = Math.abs(dr - share * wanted[0]) + Math.abs(dg - share * wanted[1]) + Math.abs(db - share * wanted[2]);
          if (share > LEAST_SHARE && off < OFF) counts[Math.floor((x / width) * slots)]++;
        } else if (Math.max(r, g, b) - Math.min(r, g, b) > 50) any++;
      }
    }
    if (any >= LEAST_PIXELS) seen.first ??= startMs;
    for (let slot = 0; slot < slots; slot++) {
      const is_drawn = counts[slot] >= LEAST_PIXELS;
      if (is_drawn && !before[slot]) {
        const mark = { slot, drawnMs: startMs, nextMs: Number.NaN, goneMs: Infinity };
        seen.marks.push(mark);
        // By the next frame, this one was handed over to be shown.
        request(() => (mark.nextMs = performance.now()));
        before[slot] = mark;
      } else if (!is_drawn && before[slot]) {
        before[slot].goneMs = startMs;
        before[slot] = null;
      }
    }
    seen.costMs += performance.now() - startMs;
  }

  globalThis.requestAnimationFrame = (callback) => request((time) => {
    callback(time);
    if (wanted || seen.first === null) look();
  });
}
