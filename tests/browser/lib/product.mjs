// The product under test: `mpiscope run` with MPI programs, `mpiscope replay`, `mpiscope report`.

import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { find, OWN, PROGRAM, ROOT, RUNS } from "./paths.mjs";
import { pause, until } from "./wait.mjs";

const HEADERS = join(ROOT, "tests/apps");

export const ENVIRONMENT = {
  ...process.env,
  OMPI_ALLOW_RUN_AS_ROOT: "1",
  OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: "1",
  OMPI_MCA_rmaps_base_oversubscribe: "1",
  OMPI_MCA_mpi_yield_when_idle: "1",
  // The browser needs the processors while ranks wait.
  ...(process.env.MPISCOPE_TEST_SHARES === "1" ? { LD_PRELOAD: naps() } : {}),
};

/** The library that lets ranks sleep while they wait. */
function naps() {
  return compile("tests/apps/support/naps.c", ["cc"], ["-std=gnu11", "-shared", "-fPIC", "-ldl"]);
}

/** Compiles a C program of the tree when it or a header is newer than what was made of it; the path of the program. */
function compile(source, compilers = ["mpicc.openmpi", "mpicc"], flags = ["-std=c11", "-g"]) {
  const program = join(OWN, basename(source, ".c"));
  mkdirSync(OWN, { recursive: true });
  const path = join(ROOT, source);
  const headers = readdirSync(HEADERS).filter((name) => name.endsWith(".h")).map((name) => join(HEADERS, name));
  const newestMs = Math.max(...[path, ...headers].map((file) => statSync(file).mtimeMs));
  if (existsSync(program) && statSync(program).mtimeMs > newestMs) return program;
  const compiler = find(...compilers);
  if (!compiler) throw new Error(`there is no ${compilers.at(-1)}`);
  execFileSync(compiler, ["-Wall", "-Wextra", "-O2", `-I${HEADERS}`, "-o", program, path, ...flags], { stdio: ["ignore", "inherit", "inherit"] });
  return program;
}

export function mpi(ranks, source, ...words) {
  return [find("mpirun.openmpi", "mpirun"), "-n", String(ranks), compile(source), ...words.map(String)];
}

/** A new folder for what one test leaves behind. */
export function folder(name) {
  return mkdtempSync(join(RUNS, `${name}-`));
}

export function report(recording, options = []) {
  return JSON.parse(execFileSync(PROGRAM, ["report", recording, "--json", ...options], { maxBuffer: 64 << 20 }).toString());
}

/** The messages of a recording between two times, in seconds; what is no number is text. */
export function messagesOf(recording, fromS, toS) {
  const words = ["export", recording, "--format", "csv", "--table", "messages", "--from", String(fromS), "--to", String(toS), "-o", "-"];
  const [head, ...rows] = execFileSync(PROGRAM, words, { maxBuffer: 1 << 28 }).toString().trim().split(/\r?\n/);
  const names = head.split(",");
  const read = (value) => (Number.isNaN(Number(value)) ? value : Number(value));
  return rows.map((row) => Object.fromEntries(row.split(",").map((value, at) => [names[at], read(value)])));
}

function facts(process) {
  try {
    const words = readFileSync(`/proc/${process}/stat`, "utf8").split(")").at(-1).trim().split(" ");
    return { state: words[0], parent: Number(words[1]) };
  } catch {
    return null;
  }
}

function commandLine(process) {
  try {
    return readFileSync(`/proc/${process}/cmdline`, "utf8").split("\0").filter(Boolean);
  } catch {
    return [];
  }
}

const isRunning = (process) => !["Z", "X", undefined].includes(facts(process)?.state);

function children(process) {
  return readdirSync("/proc").map(Number).filter((each) => each > 0 && facts(each)?.parent === process && isRunning(each));
}

function descendants(process) {
  return children(process).flatMap((child) => [child, ...descendants(child)]);
}

/** A started program: what it wrote to stderr so far, and its end. */
class Started {
  errors = "";
  output = "";
  status = null;

  constructor(command, words, options = {}) {
    this.child = spawn(command, words, { env: ENVIRONMENT, stdio: ["ignore", "pipe", "pipe"], ...options });
    this.child.stderr.on("data", (bytes) => (this.errors += bytes));
    this.child.stdout.on("data", (bytes) => (this.output += bytes));
    this.ended = new Promise((resolve) => {
      this.child.on("error", (error) => resolve((this.status = String(error))));
      this.child.on("close", (status, signal) => resolve((this.status = status ?? signal)));
    });
  }

  /** The address that it prints behind these words. */
  async address(words) {
    const pattern = new RegExp(`${words}\\s+(http://\\S+)\n`);
    const found = await until(
      () => `the address of the page; ${this.status === null ? "" : `it ended with ${this.status}; `}it said: ${this.errors}`,
      () => pattern.exec(this.errors) ?? (this.status === null ? null : ["", ""]),
    );
    if (!found[1]) throw new Error(`it ended with ${this.status} and printed no address: ${this.errors}`);
    return found[1];
  }

  /** Its end, by itself. */
  async end(limitMs = 60_000) {
    await until(() => `the end of ${this.child.spawnargs.join(" ")}; it said: ${this.errors}`, () => this.status !== null, limitMs);
    return this.status;
  }

  /** Ends it, and what it started, however it stands. */
  async stop(signal = "SIGTERM") {
    if (this.status !== null) return;
    const all = [this.child.pid, ...descendants(this.child.pid)];
    process.kill(this.child.pid, "SIGCONT");
    process.kill(this.child.pid, signal);
    for (let tries = 0; tries < 150 && all.some(isRunning); tries++) await pause(100);
    for (const each of all) if (isRunning(each)) process.kill(each, "SIGKILL");
    await this.ended;
  }
}

/** A program under `mpiscope run`, with its page. */
export class Run extends Started {
  constructor(words, name, options = []) {
    const place = folder(name);
    const recording = join(place, "recording");
    super(PROGRAM, ["run", "--out", recording, ...options, "--", ...words], { cwd: place });
    Object.assign(this, { place, recording });
  }

  /** The process that serves the page and records. */
  async daemon() {
    return until("the daemon of mpiscope run", () => children(this.child.pid).find((child) => commandLine(child)[1] === "record"));
  }
}

/** Starts a program on a number of ranks under `mpiscope run`; it is ended with the test. */
export async function run(t, name, words, options = []) {
  const started = new Run(words, name, options);
  t.after(() => started.stop());
  started.url = await started.address("live page");
  return started;
}

/** A program that goes on until a file tells it to end: `steady` (see there), on `ranks` ranks. `rate`: its first number. */
export async function steady(t, name, { ranks = 4, rate = 300, source = "tests/browser/apps/steady.c", words = [] } = {}) {
  const stopFile = join(folder(`${name}-stop`), "stop");
  const started = await run(t, name, mpi(ranks, source, stopFile, rate, ...words));
  started.finish = async () => {
    writeFileSync(stopFile, "");
    const status = await started.end();
    if (status !== 0) throw new Error(`the program ended with ${status}: ${started.errors}`);
  };
  return started;
}

/** A recording on its page, with these options; ended with the test. */
export async function replay(t, recording, ...options) {
  const started = new Started(PROGRAM, ["replay", recording, ...options]);
  t.after(() => started.stop("SIGINT"));
  started.url = await started.address("replay");
  return started;
}

/** Two recordings on one page; ended with the test. */
export async function compare(t, a, b) {
  const started = new Started(PROGRAM, ["compare", a, b, "--listen", "127.0.0.1:0"]);
  t.after(() => started.stop("SIGINT"));
  started.url = await started.address("compare");
  return started;
}

/** What `mpiscope compare --json` says. */
export function compared(a, b) {
  return JSON.parse(execFileSync(PROGRAM, ["compare", a, b, "--json"], { maxBuffer: 64 << 20 }).toString());
}

export function start(t, command, words, options) {
  const started = new Started(command, words, options);
  t.after(() => started.stop());
  return started;
}
