// The main view: tabs, and what each of them holds.

import { computed, signal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Frames } from "../../frames";
import { remembered } from "../../state/arrangement";
import { isPanelTab, tabOf } from "../../state/panels";
import { isAmong } from "../../state/perspective";
import type { Store } from "../../state/store";
import { sideways } from "../gestures";
import { How } from "../how/how";
import { Icon } from "../icons";
import { Messages } from "../messages/messages";
import { NotesOfMoment } from "../notes/moment";
import { Outside } from "../outside/outside";
import { Overview } from "../overview/overview";
import { Paths } from "../paths/paths";
import { Patterns } from "../patterns/patterns";
import { Pending } from "../pending/pending";
import { callsTable } from "../share/rows";
import { Share } from "../share/share";
import { useTable } from "../share/tables";
import { Figures } from "../tables/figures";
import { WhatView } from "../what/what";
import { Where } from "../where/where";
import { Why } from "../why/why";
import type { ParticleHost } from "./particle-host";

/** `contents`: what a view has, where its name is a question. `author`: the other program whose view it is. */
interface Tab { id: string; label: string; contents?: string; author?: string }

export const TABS = [
  { id: "overview", label: "Overview" },
  { id: "particles", label: "Particles" },
  { id: "where", label: "Where", contents: "Regions" },
  { id: "how", label: "How", contents: "Latency" },
  { id: "what", label: "What", contents: "Graph" },
  { id: "messages", label: "Messages" },
  { id: "why", label: "Why", contents: "Causes" },
  { id: "figures", label: "Figures" },
  { id: "space", label: "3D" },
  { id: "pending", label: "Pending" },
  { id: "paths", label: "Call paths" },
] as const satisfies readonly Tab[];

const LETTERS: Readonly<Record<string, string>> = { pending: "m", paths: "g" };

const NONE = "none";
const inspector = remembered("shell.inspector", "shown", ["shown", "hidden"]);
const beside = remembered<string>("shell.beside", NONE, [NONE, ...TABS.map(({ id }) => id)]);

export const isInspectorShown = computed(() => inspector.value === "shown");

export function toggleInspector(): void {
  inspector.value = isInspectorShown.peek() ? "hidden" : "shown";
}

/** Digits go to the first nine views, letters to the others. */
function keyOf(index: number): string {
  const letter = LETTERS[TABS[index]?.id ?? ""];
  return letter ? ` (${letter})` : index < 9 ? ` (${index + 1})` : "";
}

function titleOf({ label, contents, author }: Tab): string {
  if (author !== undefined) return `${label}, a view of the program ${author}`;
  return contents === undefined ? label : `${label}: ${contents.toLowerCase()}`;
}

/** The page's own views, and those of other programs. A view that is looked at stays, to say that it is gone. */
function allTabs(store: Store): readonly Tab[] {
  const all: Tab[] = [...TABS, ...store.panels.tabs.value.map((panel) => ({ id: tabOf(panel), label: panel.title, author: panel.author }))];
  const shown = store.tab.value;
  if (!isPanelTab(shown) || all.some(({ id }) => id === shown)) return all;
  const lost = store.panels.lost(shown);
  return [...all, { id: shown, label: lost ? lost.title : "Gone", author: lost ? lost.author : "that is gone" }];
}

interface StageProps { store: Store; frames: Frames; particles: ParticleHost }

export function Stage({ store, frames, particles }: StageProps) {
  const tabs = allTabs(store);
  const current: Tab = tabs.find((tab) => tab.id === store.tab.value) ?? TABS[0];
  const second = TABS.find((tab) => tab.id === beside.value && tab !== current);
  const move = (event: KeyboardEvent): void => {
    const by = sideways(event);
    if (by === 0) return;
    event.preventDefault();
    event.stopPropagation();
    const next = tabs[(tabs.indexOf(current) + by + tabs.length) % tabs.length] ?? TABS[0];
    store.tab.value = next.id;
    document.getElementById(`tab-${next.id}`)?.focus();
  };
  // Also where there is no room for all of them.
  useEffect(() => document.getElementById(`tab-${current.id}`)?.scrollIntoView({ block: "nearest", inline: "nearest" }), [current.id]);
  const shown = { store, frames, particles };
  return (
    <main class="stage">
      <div class="tabs">
        <div role="tablist" aria-label="Views" class="tablist">
          {tabs.map((tab, index) => (
            <button type="button" role="tab" key={tab.id} id={`tab-${tab.id}`} aria-selected={tab === current} aria-controls="view" tabIndex={tab === current ? 0 : -1}
              class={tab.author === undefined ? "" : "of-others"} title={`${titleOf(tab)}${keyOf(index)}`} onClick={() => (store.tab.value = tab.id)} onKeyDown={move}>
              {tab.contents === undefined ? tab.label : <>{tab.contents}<small>{tab.label.toLowerCase()}</small></>}
            </button>
          ))}
        </div>
        {current.id === "particles" && <span class="note small soft" title={particles.note.value}>{particles.note.value}</span>}
        <div class="tools">
          {!isPanelTab(current.id) && <Share store={store} frames={frames} view={current.label} part={() => document.getElementById("views")} />}
          <select aria-label="A second view beside this one" title="A second view beside this one" value={second ? second.id : NONE} onChange={(event) => (beside.value = event.currentTarget.value)}>
            <option value={NONE}>One view</option>
            {TABS.filter((tab) => tab !== current).map(({ id, label }) => <option key={id} value={id}>Beside: {label}</option>)}
          </select>
          <button type="button" class="icon" aria-pressed={!isInspectorShown.value} aria-label="Enlarge the view" title="Enlarge the view: without the inspector (i)" onClick={toggleInspector}><Icon name="enlarge" /></button>
        </div>
      </div>
      <div class={second ? "views two" : "views"} id="views">
        <div class="tab" role="tabpanel" id="view" aria-labelledby={`tab-${current.id}`}><View id={current.id} {...shown} /></div>
        {second && <div class="tab" role="region" aria-label={`${second.label}, beside`}><View id={second.id} {...shown} /></div>}
      </div>
    </main>
  );
}

function View({ id, store, frames, particles }: StageProps & { id: string }) {
  return (
    <>
      {id === "overview" && <Overview store={store} />}
      {id === "particles" && <Particles store={store} frames={frames} host={particles} />}
      {id === "figures" && <Figures store={store} />}
      {id === "why" && <Why store={store} />}
      {id === "where" && <Where store={store} frames={frames} />}
      {id === "how" && <How store={store} />}
      {id === "messages" && <Messages store={store} frames={frames} />}
      {id === "pending" && <Pending store={store} frames={frames} />}
      {id === "paths" && <Paths store={store} />}
      {id === "what" && <WhatView store={store} frames={frames} />}
      {isPanelTab(id) && <Outside store={store} tab={id} />}
      {id === "space" && <LoadedSpace store={store} frames={frames} />}
    </>
  );
}

/** The 3D view is loaded when it is opened; null until then. */
const space = signal<ComponentType<{ store: Store; frames: Frames }> | null>(null);
const spaceFailed = signal(false);

function LoadedSpace({ store, frames }: { store: Store; frames: Frames }) {
  useEffect(() => {
    if (space.peek()) return;
    void import("../space").then(({ Space }) => (space.value = Space), () => (spaceFailed.value = true));
  }, []);
  const Space = space.value;
  if (Space) return <Space store={store} frames={frames} />;
  return spaceFailed.value ? <div class="message" role="alert"><h2>The 3D view cannot be shown</h2><p>Its program could not be loaded from the server. Reload the page.</p></div> : null;
}

function Particles({ store, frames, host }: { store: Store; frames: Frames; host: ParticleHost }) {
  useTable("calls of this moment", () => {
    const [toNs, fadeNs] = [store.timeNs.peek(), store.fadeNs()];
    const { hidden, ranks } = store.perspective.peek();
    // A call that reaches into the next tile is in both.
    const known = new Set<string>();
    return callsTable(store.calls().calls, store.run.peek().functions, (calls, row) => {
      const [rank, start] = [calls.rank[row] ?? 0, calls.startNs[row] ?? 0];
      const key = `${rank} ${calls.thread[row]} ${start}`;
      const isSeen = start <= toNs && toNs - (start + (calls.durationNs[row] ?? 0)) < fadeNs && !known.has(key);
      known.add(key);
      return isSeen && !hidden.has(calls.function[row] ?? 0) && isAmong(ranks, rank);
    });
  });
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => (box.current ? host.show(box.current) : undefined), [host]);
  return (
    <>
      <div class="host" ref={box} />
      <NotesOfMoment store={store} />
      {!host.failure.value && <Patterns store={store} frames={frames} host={host} />}
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
