// The main view: tabs, and what each of them holds.

import { useEffect, useMemo, useRef } from "preact/hooks";
import type { Frames } from "../../frames";
import type { Store } from "../../state/store";
import { Messages } from "../messages/messages";
import { MessagesState } from "../messages/state";
import { Figures } from "../tables/figures";
import { WhatState } from "../what/state";
import { What } from "../what/what";
import { Where } from "../where/where";
import { Why } from "../why/why";
import type { ParticleHost } from "./particle-host";

export const TABS = [
  { id: "particles", label: "Particles" },
  { id: "figures", label: "Figures" },
  { id: "why", label: "Why" },
  { id: "where", label: "Where" },
  { id: "what", label: "What" },
  { id: "messages", label: "Messages" },
] as const;

export function Stage({ store, frames, particles }: { store: Store; frames: Frames; particles: ParticleHost }) {
  const current = TABS.find((tab) => tab.id === store.tab.value) ?? TABS[0];
  // These outlive their tabs.
  const what = useMemo(() => new WhatState(store), [store]);
  const messages = useMemo(() => new MessagesState(store), [store]);
  const move = (event: KeyboardEvent): void => {
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (by === 0) return;
    event.preventDefault();
    event.stopPropagation();
    const next = TABS[(TABS.indexOf(current) + by + TABS.length) % TABS.length] ?? TABS[0];
    store.tab.value = next.id;
    document.getElementById(`tab-${next.id}`)?.focus();
  };
  return (
    <main class="stage">
      <div class="tabs">
        <div role="tablist" aria-label="Views" class="tablist">
          {TABS.map((tab, index) => (
            <button type="button" role="tab" key={tab.id} id={`tab-${tab.id}`} aria-selected={tab === current} aria-controls="view" tabIndex={tab === current ? 0 : -1}
              title={`${tab.label} (${index + 1})`} onClick={() => (store.tab.value = tab.id)} onKeyDown={move}>
              {tab.label}
            </button>
          ))}
        </div>
        {current.id === "particles" && <span class="note small soft" title={particles.note.value}>{particles.note.value}</span>}
      </div>
      <div class="tab" role="tabpanel" id="view" aria-labelledby={`tab-${current.id}`}>
        {current.id === "particles" && <Particles host={particles} />}
        {current.id === "figures" && <Figures store={store} />}
        {current.id === "why" && <Why store={store} />}
        {current.id === "where" && <Where store={store} frames={frames} />}
        {current.id === "what" && <What store={store} frames={frames} what={what} />}
        {current.id === "messages" && <Messages store={store} frames={frames} state={messages} />}
      </div>
    </main>
  );
}

function Particles({ host }: { host: ParticleHost }) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => (box.current ? host.show(box.current) : undefined), [host]);
  return (
    <>
      <div class="host" ref={box} />
      {host.failure.value && (
        <div class="message" role="alert">
          <h2>The particle view cannot be shown</h2>
          <p>{host.failure.value}</p>
          <p>The timeline below and the figures work without it.</p>
        </div>
      )}
    </>
  );
}
