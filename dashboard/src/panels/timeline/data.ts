// The bins that the timeline draws: from the summary while that is fine enough, else from the server. Until an answer
// comes, the older picture stays, stretched to where it belongs.

import { signal } from "@preact/signals";
import { Asking, type Outcome } from "../../state/asking";
import { type Bins, covers, fromAnswer, fromSummary, question, summarySuffices } from "../../state/bins";
import type { Span } from "../../state/perspective";
import { edgeNs, over, type Timeline } from "../../state/run";
import type { Store } from "../../state/store";

/** From the first change to the question; it asks for what is visible by then. */
const GATHER_MS = 120;
/** At a moving edge, the newest bins are asked for so often. */
const EDGE_AGAIN_MS = 250;
/** An answer that lacks more than this part of the picture is not shown any more. */
const LATE_PART = 0.15;

interface Asked { fromNs: number; toNs: number; bins: number; edgeNs: number; run: string }

export class TimelineData {
  /** Why finer counts are missing; else empty. */
  readonly error = signal("");
  private answer: { bins: Bins; edgeNs: number; run: string } | null = null;
  private askedMs = -Infinity;
  private wanted: { span: Span; pixels: number } = { span: [0, 1], pixels: 1 };
  private summary: { bins: Bins; timeline: Timeline; from: number; to: number; pixels: number } | null = null;

  private readonly asking: Asking<Asked, Bins>;

  constructor(private readonly store: Store, private readonly changed: () => void) {
    this.asking = new Asking(() => this.question(), async ({ fromNs, toNs, bins }) => fromAnswer(await store.questions.timeline(fromNs, toNs, bins)), (outcome, asked) => this.take(outcome, asked));
  }

  /** What to draw for a span, and up to where its counts are complete. */
  bins(span: Span, pixels: number): { bins: Bins; edgeNs: number } | null {
    const run = this.store.run.peek();
    const edge = edgeNs(run);
    if (run.timeline.windowNs <= 0) return null;
    if (summarySuffices(run.timeline, span, pixels, this.store.zoom.peek() === null)) return { bins: this.summed(run.timeline, span, pixels), edgeNs: edge };
    const known = this.answer?.run === run.job.run ? this.answer : null;
    const covered = known !== null && covers(known.bins, span, pixels, Math.min(edge, known.edgeNs));
    const grows = known !== null && !over(run) && span[1] > known.edgeNs && edge > known.edgeNs;
    if (!covered) this.askSoon(span, pixels, GATHER_MS);
    else if (grows) this.askSoon(span, pixels, Math.max(GATHER_MS, EDGE_AGAIN_MS - (performance.now() - this.askedMs)));
    // A slow answer must not look like a job that does nothing.
    if (known && grows && Math.min(edge, span[1]) - known.edgeNs > LATE_PART * (span[1] - span[0])) return { bins: this.summed(run.timeline, span, pixels), edgeNs: edge };
    // Of a picture that has nothing to do with the span any more, the coarse one is better.
    if (known && known.bins.fromNs < span[1] && known.bins.fromNs + known.bins.bins * known.bins.binNs > span[0] && (covered || near(known.bins, span))) return known;
    return { bins: this.summed(run.timeline, span, pixels), edgeNs: edge };
  }

  private summed(timeline: Timeline, span: Span, pixels: number): Bins {
    const known = this.summary;
    if (known && known.timeline === timeline && known.from === span[0] && known.to === span[1] && known.pixels === pixels) return known.bins;
    const bins = fromSummary(timeline, span, pixels);
    this.summary = { bins, timeline, from: span[0], to: span[1], pixels };
    return bins;
  }

  private askSoon(span: Span, pixels: number, waitMs: number): void {
    this.wanted = { span, pixels };
    if (!this.asking.isAway && !this.asking.isWaiting) this.asking.askIn(waitMs);
  }

  private question(): Asked {
    const run = this.store.run.peek();
    const edge = edgeNs(run);
    this.askedMs = performance.now();
    return { ...question(this.wanted.span, this.wanted.pixels, edge), edgeNs: edge, run: run.job.run };
  }

  private take(outcome: Outcome<Bins>, { edgeNs: edge, run }: Asked): void {
    // What was given up is asked for again with the next picture.
    if (outcome && "answer" in outcome) this.answer = { bins: outcome.answer, edgeNs: edge, run };
    if (outcome) this.error.value = "why" in outcome ? outcome.why : "";
    this.changed();
  }
}

/** Not more than about eight times too coarse or too fine. */
function near(bins: Bins, span: Span): boolean {
  const ratio = (bins.bins * bins.binNs) / (span[1] - span[0]);
  return ratio > 0.25 && ratio < 16;
}
