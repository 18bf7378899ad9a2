// Gives the particle view its frames and its services, and says so when it cannot work.

import { effect, signal } from "@preact/signals";
import type { Frames } from "../../frames";
import { edgeNs, over, type RunState } from "../../state/run";
import type { Store } from "../../state/store";
import { moves } from "../../state/clock";
import { reducedMotion, theme } from "../../state/theme";
import type { GroundShape } from "../particles/ground";
import { watchSize } from "../size";
import type { ParticleFrame, ParticleServices } from "../view";

/** What the shell needs of the view. */
interface View {
  draw(frame: ParticleFrame): void;
  resize(): void;
  dispose(): void;
  readonly ground: { ground: GroundShape; left: number; top: number } | null;
  readonly words: { sampling: string; renderer: string };
}

export class ParticleHost {
  /** Why there is no view; empty when there is one. */
  readonly failure = signal("");
  /** Why calls of the moment are missing; empty when they are not. */
  readonly note = signal("");
  private view: View | null = null;
  private nodes = new Uint32Array(0);
  private nodesKey = "";

  constructor(private readonly store: Store, private readonly frames: Frames) {}

  /** Shows the view in an element until the returned function is called. */
  show(element: HTMLElement): () => void {
    let gone = false;
    const stops: (() => void)[] = [];
    void import("../particles").then(({ ParticleView }) => {
      if (gone) return;
      this.guarded(() => {
        this.view = new ParticleView(element, this.services());
      });
      stops.push(this.frames.add(() => this.draw()));
      stops.push(watchSize(element, () => {
        this.guarded(() => this.view?.resize());
        this.frames.request();
      }));
    }, () => {
      this.failure.value = "Its program could not be loaded from the server. Reload the page.";
    });
    return () => {
      gone = true;
      for (const stop of stops) stop();
      this.guarded(() => this.view?.dispose());
      this.view = null;
      element.replaceChildren();
    };
  }

  /** Where things are in the plot; null while there is no view. */
  ground(): View["ground"] {
    return this.view?.ground ?? null;
  }

  private draw(): void {
    const view = this.view;
    if (!view) return;
    const { frame, note } = this.frame();
    this.guarded(() => view.draw(frame));
    this.note.value = note;
  }

  private frame(): { frame: ParticleFrame; note: string } {
    const { store } = this;
    const run = store.run.peek();
    const perspective = store.perspective.peek();
    const { calls, live, note } = store.calls();
    const frame: ParticleFrame = {
      timeNs: store.timeNs.peek(),
      fadeNs: store.fadeNs(),
      live,
      moving: moves(perspective.clock, store.bounds()),
      tiles: calls,
      inFlight: store.inFlight(),
      longestNs: run.longestNs,
      ranks: Math.max(run.job.ranks, run.ranks.length),
      nodes: this.nodesFor(run),
      functions: run.functions,
      hidden: perspective.hidden,
      rankRanges: perspective.ranks?.map(([first, last]): [number, number] => [first, last]) ?? null,
      theme: theme.peek(),
      reducedMotion: reducedMotion.peek(),
    };
    return { frame, note };
  }

  /** Nodes as whole numbers; made anew only when more ranks were heard. */
  private nodesFor(run: RunState): Uint32Array {
    const ranks = Math.max(run.job.ranks, run.ranks.length);
    const key = `${run.job.run}/${ranks}/${run.ranks.count}`;
    if (this.nodesKey !== key) {
      this.nodesKey = key;
      this.nodes = new Uint32Array(ranks);
      for (let rank = 0; rank < run.ranks.length; rank++) this.nodes[rank] = run.ranks.node[rank] ?? 0;
    }
    return this.nodes;
  }

  private services(): ParticleServices {
    const { store } = this;
    return {
      history: (fromNs, toNs) => store.questions.history(fromNs, toNs),
      setHidden: (hidden) => store.select({ hidden }),
      hover: () => undefined,
      select: (call) => (store.selection.value = call && { kind: "call", call }),
      runName: () => store.run.peek().job.run || "mpiscope",
      wholeRunNs: () => edgeNs(store.run.peek()),
      budgetChanged: (points) => store.setPoints(points),
    };
  }

  private guarded(act: () => void): void {
    if (this.failure.peek()) return;
    try {
      act();
    } catch (error) {
      this.view = null;
      this.failure.value = error instanceof Error ? error.message : String(error);
    }
  }
}

/** Asks for a frame whenever something changed that a frame shows. */
export function drawOnChange(store: Store, frames: Frames): void {
  effect(() => {
    void [store.run.value, store.perspective.value, store.arrivals.value, store.zoom.value, store.tab.value];
    void [store.selection.value, theme.value, reducedMotion.value, over(store.run.value)];
    frames.request();
  });
}
