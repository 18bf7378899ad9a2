// A view of another program: its HTML in a frame that has no origin, which gets the clock, the selection, and what its
// program has to say. Nothing that the frame sends is listened to.

import { useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { PanelTab } from "../../feed/panels";
import { edgeNs } from "../../state/run";
import type { Store } from "../../state/store";
import { theme } from "../../state/theme";

/** A view need not draw more often. */
const CLOCK_EVERY_MS = 50;

export function Outside({ store, tab }: { store: Store; tab: string }) {
  const panel = store.panels.find(tab);
  if (panel) return <Frame key={panel.number} store={store} panel={panel} />;
  const lost = store.panels.lost(tab);
  return (
    <div class="message" role="alert">
      <h2>{lost ? `${lost.title} is gone` : "This view is gone"}</h2>
      <p>{lost ? `The program \u201c${lost.author}\u201d made it and is not connected any more.` : "A program made it that is not connected to this run."} Start the program again, or open another view.</p>
    </div>
  );
}

function Frame({ store, panel }: { store: Store; panel: PanelTab }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const isLoaded = useRef(false);
  const timer = useRef(0);
  const end = useRef<() => void>(() => undefined);
  // The frame has no origin that could be named; its messages are for whatever is in it.
  const tell = (message: Record<string, unknown>): void => frame.current?.contentWindow?.postMessage(message, "*");
  const tellClock = (): void => {
    timer.current = 0;
    const { clock, rangeNs, ranks, hidden } = store.perspective.peek();
    tell({
      kind: "clock", mode: clock.mode, time_ns: store.timeNs.peek(), rate: clock.rate, until_ns: edgeNs(store.run.peek()),
      range_ns: rangeNs, ranks, hidden: [...hidden], theme: theme.peek(),
    });
  };
  useSignalEffect(() => {
    void [store.perspective.value, store.timeNs.value, theme.value];
    if (isLoaded.current && timer.current === 0) timer.current = window.setTimeout(tellClock, CLOCK_EVERY_MS);
  });
  useEffect(() => () => {
    clearTimeout(timer.current);
    end.current();
  }, []);
  const loaded = (): void => {
    isLoaded.current = true;
    end.current();
    tellClock();
    end.current = store.panels.listen(panel.number, (data) => tell({ kind: "message", data }));
  };
  return (
    <div class="outside-panel">
      <div class="by small soft">A view of the program <b>{panel.author}</b>, not of mpiscope. It can reach neither this page nor the network.</div>
      <iframe ref={frame} title={`${panel.title}, by ${panel.author}`} sandbox="allow-scripts" referrerpolicy="no-referrer" src={`panels/${panel.number}`} onLoad={loaded} />
    </div>
  );
}
