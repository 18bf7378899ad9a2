import { defineConfig } from "vitest/config";

// The server forbids inline scripts and styles, so nothing may be inlined and no polyfill be injected.
export default defineConfig({
  // Each link to the page has a path of its own.
  base: "./",
  publicDir: "public",
  build: {
    outDir: "dist",
    target: "es2023",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    cssCodeSplit: false,
  },
  // A test reads the colours of the style sheet. Files share their workers: a new one for each took four fifths of the time.
  test: { css: true, pool: "threads", isolate: false },
  server: { proxy: { "/feed": { target: "ws://127.0.0.1:4180", ws: true }, "/health": "http://127.0.0.1:4180" } },
});
