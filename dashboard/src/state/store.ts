// Everything the page knows and what it does about it: messages in, signals out, commands back. Panels read the
// signals and call the methods; none of them knows the socket.

import { batch, computed, effect, signal } from "@preact/signals";
import { type AccessMessage, UNKNOWN_ACCESS } from "../feed/access";
import type { AnnotationsMessage } from "../feed/annotations";
import type { InFlight } from "../feed/calls";
import type { Dag } from "../feed/dag";
import type { Message } from "../feed/message";
import type { MessageText } from "../feed/messages";
import type { Selected } from "../feed/selected";
import { type Link, Net } from "../net";
import type { CallText } from "../panels/view";
import { Address } from "./address";
import { type Bounds, type Command, commanded, fadeNs, LiveTime, moves, settled, timeAt } from "./clock";
import { Echo } from "./echo";
import { MomentCalls, type Shown } from "./moment-calls";
import {
  type Choice, chosen, type Company, firstPerspective, type Perspective, received, selectCommand, type Span,
} from "./perspective";
import { Panels } from "./panels";
import { Questions } from "./questions";
import { apply, edgeNs, emptyRun, over } from "./run";
import { ServerQuestions } from "./server-questions";
import { inside, lengthOf } from "./span";
import { type SelectedFigures, type SelectedScope, knownOf, selectedScope, shownOf, subjectOf } from "./selected";

/** A place in the graph of ranks: a region, the traffic between two regions, or from one rank to another. */
export type Place = { kind: "region"; id: number } | { kind: "between"; a: number; b: number } | { kind: "pair"; src: number; dst: number };
/** A call site; null: all calls without a known one. */
export interface Site { kind: "site"; site: number | null; place: string }
/** A window of a region, or of what goes between two. */
export interface Moment { kind: "moment"; region: number; other: number | null; fromNs: number; toNs: number }
/** What of a selection an address keeps. */
export type SelectionKey =
  | Place | Moment | { kind: "rank"; rank: number } | { kind: "site"; site: number }
  | { kind: "call"; rank: number; thread: number; startNs: number } | { kind: "message"; src: number; dst: number; sendNs: number };
export type Selection = { kind: "call"; call: CallText } | { kind: "message"; message: MessageText } | { kind: "rank"; rank: number } | { kind: "dag-node"; dag: Dag; node: number } | Moment | Site | Place | null;

const FIGURES_EVERY_MS = 250;
const PAGE_MIN_S = 1;

export class Store {
  readonly run = signal(emptyRun());
  /** The same for tables and figures, a few times a second: digits that change faster cannot be read. */
  readonly figures = signal(this.run.peek());
  readonly link = signal<Link>({ phase: "connecting", retryInSeconds: 0, reason: "" });
  /** Not a number until measured. */
  readonly roundTripMs = signal(Number.NaN);
  readonly company = signal<Company>({ pages: 1, followers: 1 });
  readonly shared = signal<Perspective>(firstPerspective());
  /** Of a page that let go of the shared clock. */
  readonly own = signal<Perspective | null>(null);
  readonly perspective = computed(() => this.own.value ?? this.shared.value);
  /** What this page may do. */
  readonly access = signal<AccessMessage>(UNKNOWN_ACCESS);
  /** Whether it may move the clock and the selection: its own always. */
  readonly mayMove = computed(() => this.own.value !== null || this.access.value.canControl);
  /** Advances when something was tried that this page may not do. */
  readonly triedInVain = signal(0);
  readonly timeNs = signal(0);
  /** The speed that play takes; without a sign. */
  readonly rate = signal(1);
  readonly stepNs = signal(100e6);
  /** The figures of what is selected, as far as they are known. */
  readonly selected = signal<SelectedFigures>({ known: null, isOther: false, isAsking: false, why: "" });
  readonly scope = computed(() => selectedScope(this.figures.value, this.perspective.value));
  /** What views show: the run, or what is selected of it. */
  readonly shownFigures = computed(() => shownOf(this.figures.value, knownOf(this.scope.value, this.selected.value)));
  /** What other programs said about the run. */
  readonly annotations = signal<AnnotationsMessage>({ kind: "annotations", annotations: [], series: [] });
  /** Views of other programs. */
  readonly panels = new Panels();
  /** Programs whose annotations are not shown. */
  readonly hiddenAuthors = signal<ReadonlySet<string>>(new Set());
  readonly shownSeries = computed(() => this.annotations.value.series.filter(({ author }) => !this.hiddenAuthors.value.has(author)));
  readonly shownAnnotations = computed(() => this.annotations.value.annotations.filter(({ author }) => !this.hiddenAuthors.value.has(author)));
  readonly selection = signal<Selection>(null);
  readonly tab = signal("overview");
  /** The function whose durations are shown beside the functions; null: the ranks are. */
  readonly durationsOf = signal<number | null>(null);
  /** The visible part of the run; null is all of it. */
  readonly zoom = signal<Span | null>(null);
  /** The time under the pointer in any chart, for all others to mark. */
  readonly pointedNs = signal<number | null>(null);
  /** Where a live run was when this page looked elsewhere. */
  readonly leftLive = signal<{ nowNs: number; calls: number } | null>(null);
  /** Advances when calls to draw arrived. */
  readonly arrivals = signal(0);
  /** When the server was last heard (performance.now). */
  heardMs = performance.now();

  /** What it asks the server. */
  readonly questions = new ServerQuestions((question) => this.net.asks.ask(question), () => this.run.peek().functions.keys());
  private readonly momentCalls = new MomentCalls((fromNs, toNs, most) => this.questions.calls([fromNs, toNs], null, most), () => this.arrivals.value++);
  private readonly liveTime = new LiveTime();
  private readonly net = new Net({
    message: (message) => this.byItself(() => batch(() => this.take(message))),
    link: (link) => {
      this.link.value = link;
      if (link.phase !== "open") this.echo.reset();
      // The server counts who follows; a new connection has to announce it again.
      if (link.phase === "open" && this.own.peek()) this.net.command({ do: "follow", follow: false });
    },
    roundTrip: (ms) => (this.roundTripMs.value = ms),
    isOver: () => this.run.peek().job.source === "live" && over(this.run.peek()),
  });
  private readonly echo = new Echo<Perspective>();
  private figuresTimer = 0;
  private readonly address = new Address(this);
  /** What changes at the moment, nobody did who looks at this page. */
  isByItself = false;

  start(): void {
    this.address.start();
    // Whoever started a shared clock chose its speed for all.
    effect(() => {
      const { mode, rate } = this.perspective.value.clock;
      if (mode === "playing") this.rate.value = Math.abs(rate);
    });
    const questions = new Questions<SelectedScope, Selected>((scope) => this.questions.selected(scope), subjectOf, (figures) => (this.selected.value = figures));
    effect(() => questions.want(this.scope.value, this.link.value.phase === "open"));
    this.net.start();
  }

  private byItself(work: () => void): void {
    const before = this.isByItself;
    this.isByItself = true;
    try {
      work();
    } finally {
      this.isByItself = before;
    }
  }

  retryNow(): void {
    this.net.retryNow();
  }

  bounds(nowMs = performance.now()): Bounds {
    const run = this.run.peek();
    const done = over(run);
    return { edgeNs: edgeNs(run), liveNs: this.liveTime.at(nowMs, done), over: done };
  }

  private take(message: Message): void {
    const nowMs = performance.now();
    this.heardMs = nowMs;
    if (message.kind === "perspective") {
      this.company.value = { pages: message.pages, followers: message.followers };
      const next = received(this.shared.peek(), message, nowMs, this.bounds(nowMs));
      if (this.echo.heard(next, message.version, nowMs)) this.shared.value = next;
      this.address.heard(next);
      return;
    }
    if (message.kind === "answer") return;
    if (message.kind === "access") {
      this.access.value = message;
      return;
    }
    if (message.kind === "panels" || message.kind === "panel_message") {
      this.panels.heard(message);
      return;
    }
    if (message.kind === "annotations") {
      this.annotations.value = message;
      return;
    }
    const before = this.run.peek();
    const after = apply(before, message);
    if (after === before) return;
    if (message.kind === "snapshot") this.momentCalls.restart(after.job.run !== before.job.run);
    if (message.calls) this.momentCalls.add(message.calls);
    this.run.value = after;
    this.showFigures(message.kind === "snapshot" || after.job.state !== before.job.state);
    this.liveTime.heard(edgeNs(after), nowMs);
    this.address.restore();
  }

  private showFigures(now: boolean): void {
    if (now) this.figures.value = this.run.peek();
    else if (this.figuresTimer === 0) {
      this.figuresTimer = window.setTimeout(() => {
        this.figuresTimer = 0;
        this.figures.value = this.run.peek();
      }, FIGURES_EVERY_MS);
    }
  }

  /** Time for a new frame. Returns whether the next frame will differ by itself. */
  tick(nowMs: number): boolean {
    const late = this.echo.overdue(nowMs);
    if (late) this.byItself(() => (this.shared.value = late));
    const bounds = this.bounds(nowMs);
    const own = this.own.peek();
    if (own) {
      const clock = settled(own.clock, nowMs, bounds);
      if (clock !== own.clock) this.own.value = { ...own, clock };
    }
    const { clock } = this.perspective.peek();
    const timeNs = timeAt(clock, nowMs, bounds);
    const moved = timeNs !== this.timeNs.peek();
    const run = this.run.peek();
    if (clock.mode === "live" || bounds.over) this.leftLive.value = null;
    else if (!this.leftLive.peek()) this.leftLive.value = { nowNs: bounds.edgeNs, calls: run.totals.calls };
    if (moved && moves(clock, bounds)) this.byItself(() => this.keepInSight(this.timeNs.peek(), timeNs, bounds.edgeNs));
    this.timeNs.value = timeNs;
    return moves(clock, bounds);
  }

  /** While zoomed in, the picture turns its page when the moving cursor leaves it. */
  private keepInSight(beforeNs: number, timeNs: number, edge: number): void {
    const zoom = this.zoom.peek();
    if (!zoom || beforeNs < zoom[0] || beforeNs > zoom[1] || (timeNs >= zoom[0] && timeNs <= zoom[1])) return;
    const length = lengthOf(zoom);
    const { clock } = this.perspective.peek();
    // Pages that turn faster than this cannot be read; the picture then stays where it is.
    if (length < PAGE_MIN_S * 1e9 * (clock.mode === "live" ? 1 : Math.abs(clock.rate))) return;
    const from = timeNs > zoom[1] ? timeNs - 0.1 * length : timeNs - 0.9 * length;
    // A live edge has nothing to its right yet.
    const shift = clock.mode === "live" ? timeNs - 0.7 * length : from;
    this.zoom.value = inside([shift, shift + length], Math.max(edge, shift + length));
  }

  /** Who moves the clock wants to see where it is. */
  private bringInSight(timeNs: number): void {
    const zoom = this.zoom.peek();
    if (!zoom || (timeNs >= zoom[0] && timeNs <= zoom[1])) return;
    const half = lengthOf(zoom) / 2;
    this.zoom.value = inside([timeNs - half, timeNs + half], edgeNs(this.run.peek()));
  }

  /** The calls to draw at the moment, and what to say about those that are missing. */
  calls(): Shown {
    const { clock } = this.perspective.peek();
    return this.momentCalls.at({ clock, timeNs: this.timeNs.peek(), bounds: this.bounds(), inFlight: this.run.peek().inFlight, link: this.link.peek() });
  }

  /** Calls that are in MPI at the moment: of the past only those that still are. */
  inFlight(): InFlight | null {
    const { clock } = this.perspective.peek();
    return this.momentCalls.inFlight({ clock, timeNs: this.timeNs.peek(), inFlight: this.run.peek().inFlight });
  }

  fadeNs(): number {
    const { clock } = this.perspective.peek();
    return fadeNs(clock);
  }

  setPoints(points: number): void {
    this.momentCalls.setPoints(points);
  }

  /** Says so where the clock and the selection that all share must not be moved from here. */
  private isBarred(): boolean {
    if (this.mayMove.peek()) return false;
    this.triedInVain.value++;
    return true;
  }

  command(command: Command): void {
    if (this.isBarred()) return;
    const nowMs = performance.now();
    const before = this.perspective.peek();
    const next = { ...before, clock: commanded(before.clock, command, nowMs, this.bounds(nowMs)) };
    // At once, not with the next frame: the next key may come before it.
    this.timeNs.value = timeAt(next.clock, nowMs, this.bounds(nowMs));
    this.byItself(() => this.bringInSight(this.timeNs.peek()));
    if (this.own.peek()) {
      this.own.value = next;
      return;
    }
    this.trust(nowMs, next);
    this.net.command(command.do === "seek" ? { ...command, time_ns: Math.round(next.clock.timeNs) } : { ...command });
  }

  select(choice: Partial<Choice>): void {
    if (this.isBarred()) return;
    const next = chosen(this.perspective.peek(), choice);
    if (this.own.peek()) {
      this.own.value = next;
      return;
    }
    this.trust(performance.now(), next);
    this.net.command(selectCommand(next));
  }

  /** Shows at once what the server is going to say. */
  private trust(nowMs: number, perspective: Perspective): void {
    this.echo.sent(nowMs);
    this.shared.value = perspective;
  }

  /** Switches recording of the job on or off, for everybody. */
  record(on: boolean): void {
    this.net.command({ do: "record", on });
  }

  /** Asks for a link for somebody else; `access` brings it. */
  issueLink(label: string, control: boolean, annotate: boolean): void {
    this.net.command({ do: "issue", label, control, annotate });
  }

  /** Ends a link, and what is connected with it. */
  revokeLink(id: number): void {
    this.net.command({ do: "revoke", id });
  }

  setFollow(follow: boolean): void {
    if (follow === (this.own.peek() === null)) return;
    const nowMs = performance.now();
    const { clock } = this.shared.peek();
    // An own clock starts where the shared one is.
    this.own.value = follow
      ? null
      : { ...this.shared.peek(), clock: { ...clock, timeNs: timeAt(clock, nowMs, this.bounds(nowMs)), atMs: nowMs } };
    this.net.command({ do: "follow", follow });
  }

  /** Who sent to whom in a range; from then on all views know. */
  async askPairs(range: Span): Promise<void> {
    const pairs = await this.questions.pairs(range);
    this.run.value = { ...this.run.peek(), pairs };
    this.figures.value = this.run.peek();
  }
}
