// Recordings that several tests look at; each is made once in a run of the tests.

import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { ENVIRONMENT, folder, mpi } from "./product.mjs";
import { PROGRAM } from "./paths.mjs";

const made = new Map();

async function record(name, words, options = []) {
  const out = join(folder(name), "recording");
  await promisify(execFile)(PROGRAM, ["run", "--no-dashboard", "--out", out, ...options, "--", ...words], { env: ENVIRONMENT, maxBuffer: 64 << 20 });
  return out;
}

/** Five seconds of steady traffic on four ranks, few enough calls that each can be drawn. */
export function quiet() {
  if (!made.has("quiet")) made.set("quiet", record("quiet", mpi(4, "tests/apps/linger.c", 5, 80)));
  return made.get("quiet");
}

/** As `uneven`, but all have as much to do. */
export function even() {
  if (!made.has("even")) made.set("even", record("even", mpi(4, "tests/apps/uneven.c", 800, 0)));
  return made.get("even");
}

/** Some seconds in which rank 1 of four has more to do than the others. */
export function uneven() {
  if (!made.has("uneven")) made.set("uneven", record("uneven", mpi(4, "tests/apps/uneven.c", 800, 9000)));
  return made.get("uneven");
}

/** A main loop of 300 turns in three phases. */
export function steady() {
  if (!made.has("steady")) made.set("steady", record("steady", mpi(4, "tests/apps/stretched.c", 300)));
  return made.get("steady");
}

/** As `steady`, with turns 101 to 150 longer on rank 1. */
export function stretched() {
  if (!made.has("stretched")) made.set("stretched", record("stretched", mpi(4, "tests/apps/stretched.c", 300, 101, 150, 60000)));
  return made.get("stretched");
}

/** As `uneven`, with more calls in the same time than a picture has columns. */
export function dense() {
  if (!made.has("dense")) made.set("dense", record("dense", mpi(4, "tests/apps/uneven.c", 6000, 1000)));
  return made.get("dense");
}

/** Calls through functions that are known, with the paths to them. */
export function pathed() {
  if (!made.has("pathed")) made.set("pathed", record("pathed", mpi(4, "tests/apps/paths.c", 300, 1000), ["--call-paths"]));
  return made.get("pathed");
}

/** A simulated job on four nodes: ranks that talk to each other are on different ones. */
export function scattered() {
  if (!made.has("scattered")) made.set("scattered", model("scattered", ["--pattern", "halo2d", "--ranks", "16", "--nodes", "4", "--seconds", "6", "--rate", "20000", "--style", "blocking", "--disturb", "bad-mapping"]));
  return made.get("scattered");
}

/** A simulated job whose network others use in the middle of the run. */
export function crowded() {
  // words: allow the name of one of the simulator's disturbances
  if (!made.has("crowded")) made.set("crowded", model("crowded", ["--pattern", "halo2d", "--ranks", "16", "--nodes", "2", "--seconds", "6", "--rate", "20000", "--style", "blocking", "--disturb", "background-traffic"]));
  return made.get("crowded");
}

/** A simulated job with too many ranks to show them one by one. */
export function wide() {
  if (!made.has("wide")) made.set("wide", model("wide", ["--pattern", "halo2d", "--ranks", "512", "--nodes", "16", "--seconds", "1", "--rate", "200000"]));
  return made.get("wide");
}

/** A simulated job on a torus of 4 x 4 x 4 nodes; those of one rack, a column that the seed chooses, compute slower. */
export function slowRack(seed) {
  const name = `slow-rack-${seed}`;
  if (!made.has(name)) made.set(name, model(name, ["--pattern", "halo3d", "--ranks", "256", "--nodes", "64", "--seconds", "2", "--rate", "100000", "--disturb", "slow-rack", "--seed", String(seed)]));
  return made.get(name);
}

/** A simulated job of 64 ranks on four nodes that others steal CPU time from. */
export function stolen() {
  if (!made.has("stolen")) made.set("stolen", model("stolen", ["--pattern", "halo2d", "--ranks", "64", "--nodes", "4", "--seconds", "4", "--rate", "100000", "--disturb", "stolen-cpu"]));
  return made.get("stolen");
}

/** A simulated job of 64 ranks on eight nodes; others use the network for some time. */
export function sharedNetwork() {
  // words: allow the name of one of the simulator's disturbances
  if (!made.has("shared-network")) made.set("shared-network", model("shared-network", ["--pattern", "halo2d", "--ranks", "64", "--nodes", "8", "--seconds", "4", "--rate", "50000", "--disturb", "background-traffic"]));
  return made.get("shared-network");
}

async function model(name, words) {
  const out = join(folder(name), "recording");
  await promisify(execFile)(PROGRAM, ["synth", ...words, "-o", out], { maxBuffer: 64 << 20 });
  return out;
}
