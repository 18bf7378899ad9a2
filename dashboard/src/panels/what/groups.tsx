// What opens with this: the critical path and what it is made of, then states of groups by turns of the main loop with the
// messages between them.

import { type Signal, useComputed, useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { GroupGraph } from "../../feed/group-graph";
import { SHARE_KINDS } from "../../feed/shares";
import { latencyColour } from "../../palette/ramps";
import type { RankRanges } from "../../state/perspective";
import { rangesOf } from "../../state/ranks";
import type { Store } from "../../state/store";
import { theme } from "../../state/theme";
import { worstOfLink } from "../../state/wanted-message";
import { bytes, clock, count, counted, duration, share, significant } from "../../words";
import { nodeName } from "../../words/hosts";
import { rangesShort, ranksWords, type TipText } from "../../words/regions";
import { pathColour } from "../critical/paint";
import { pathOf } from "../critical/state";
import { KIND_WORDS, partsOf, pathWords, ranksOf } from "../critical/words";
import { placeIn } from "../gestures";
import { kindColour, kindOpacity, kindText, STACKED } from "../messages/share-kinds";
import { ReplayNote } from "../replay-note";
import { useSize } from "../size";
import { Tip } from "../where/tip";
import { cellBox, cellParts, type Frame, HEAD, headStep, linkLines, LINKS_MOST, pathParts } from "./groups-layout";
import { type GroupsState, groupsOf, type KnownGroups } from "./groups-state";

const PARTS_SHOWN = 6;
const RANKS_SHOWN = 6;

export function Groups({ store }: { store: Store }) {
  const state = groupsOf(store);
  useEffect(() => state.watch(), [state]);
  const { known, isAsking, why } = state.figures.value;
  return (
    <div class="groups">
      <Path store={store} />
      <Bar store={store} state={state} />
      {known ? <Graph store={store} state={state} known={known} /> : (
        <div class="message">
          <h2>{why ? "There is no graph of this" : isAsking ? "The graph is on its way" : "No message yet"}</h2>
          <p>{why || "States are groups of ranks in turns of the main loop; links are the messages between them."}</p>
        </div>
      )}
      <ul class="groups-key small" aria-label="What states spent their time on">
        {STACKED.map((kind) => <li key={kind} title={kindText(kind).meaning}><span class="swatch" style={{ backgroundColor: kindColour(kind, theme.value), opacity: kindOpacity(kind) }} />{kindText(kind).label}</li>)}
        <li><span class="swatch accent" />On the critical path</li>
        <li class="note"><ReplayNote store={store} /></li>
      </ul>
    </div>
  );
}

/** The critical path first: how long, what it is made of, which ranks. */
function Path({ store }: { store: Store }) {
  const state = pathOf(store);
  const { known, isAsking, why } = state.figures.value;
  const path = known?.path ?? null;
  if (!path) return <section class="groups-path" aria-label="Critical path"><h2>Critical path</h2><p class={why ? "warn" : "soft"}>{why || (isAsking ? "It is on its way." : "No call yet.")}</p></section>;
  const parts = partsOf(path, store.figures.value, state.sites.value);
  const all = parts.reduce((sum, { ns }) => sum + ns, 0);
  const ranks = ranksOf(path);
  return (
    <section class="groups-path" aria-label="Critical path">
      <h2>Critical path <span class="soft">{pathWords(path)}</span></h2>
      <div class="composition" role="img" aria-label={pathWords(path)}>
        {parts.map((part, at) => <span key={at} title={`${KIND_WORDS[part.kind]}: ${part.what}${part.site ? ` at ${part.site}` : ""}, ${share(part.ns, all)}`} style={{ flexGrow: part.ns / Math.max(1, all), backgroundColor: pathColour(part.kind, theme.value) }} />)}
      </div>
      <div class="groups-parts">
        <table aria-label="What the critical path is made of">
          <tbody>
            {parts.slice(0, PARTS_SHOWN).map((part, at) => (
              <tr key={at}><td class="number">{share(part.ns, all)}</td><td class="number">{duration(part.ns)}</td><td><span class="swatch" style={{ backgroundColor: pathColour(part.kind, theme.value) }} />{part.what}</td><td class="soft site" title={part.site}>{part.site}</td></tr>
            ))}
          </tbody>
        </table>
        <p>Ranks: {ranks.slice(0, RANKS_SHOWN).map(([rank, ns]) => (
          <button type="button" key={rank} onClick={() => (store.selection.value = { kind: "rank", rank })}>{rank} <span class="soft">{share(ns, all)}</span></button>
        ))}{ranks.length > RANKS_SHOWN && <span class="soft"> and {count(ranks.length - RANKS_SHOWN)} more</span>}</p>
      </div>
    </section>
  );
}

function Bar({ store, state }: { store: Store; state: GroupsState }) {
  const { known, why } = state.figures.value;
  const opened = state.opened.value;
  const hasRegions = (store.figures.value.regions?.regions.length ?? 0) > 0;
  const graph = known?.graph;
  const run = store.figures.value;
  const loop = graph?.loop;
  const words = !graph ? "" : loop ? `${counted(loop.turns, "turn", "turns")} of the loop that calls ${run.functions.get(loop.function)?.name ?? "MPI"}` : "No loop was found: columns are equally long";
  return (
    <div class="groups-bar">
      <label>Groups by
        <select value={state.by.value} disabled={opened.length > 0} onChange={(event) => (state.by.value = event.currentTarget.value as "node" | "region")}>
          <option value="node">node</option><option value="region" disabled={!hasRegions}>region</option>
        </select>
      </label>
      <nav aria-label="Opened groups">
        {opened.length > 0 && <button type="button" onClick={() => state.back(0)}>All ranks</button>}
        {opened.map((ranks, at) => <button type="button" key={at} disabled={at === opened.length - 1} onClick={() => state.back(at + 1)}>{rangesShort(ranks)}</button>)}
      </nav>
      <button type="button" aria-pressed={state.frozen.value !== null} disabled={!known} title="Hold this graph where it is while other ranges are selected" onClick={() => state.hold(state.frozen.peek() === null)}>Hold</button>
      <p class={known && why ? "warn" : "soft"} role="status">{known && why ? `What is selected now is missing: ${why}` : words}</p>
    </div>
  );
}

interface GraphProps { store: Store; state: GroupsState; known: KnownGroups }
type Pointed = { x: number; y: number; text: TipText };

function Graph({ store, state, known: { graph, shares, scope } }: GraphProps) {
  const box = useRef<HTMLDivElement>(null);
  const size = useSize(box);
  const pointed = useSignal<Pointed | null>(null);
  const path = useComputed(() => pathOf(store).figures.value.known?.path ?? null).value;
  const frame: Frame = { width: Math.max(200, size.value.width), height: Math.max(120, size.value.height) };
  const cells = useMemo(() => cellParts(graph, shares), [graph, shares]);
  const onPath = useMemo(() => (path ? pathParts(graph, path) : []), [graph, path]);
  const lines = useMemo(() => linkLines(graph, frame), [graph, frame.width, frame.height]);
  const step = headStep(graph, frame);
  const mode = theme.value;
  const nodes = useComputed(() => store.figures.value.nodes).value;
  const name = (group: number): string => groupName(graph, group, scope.by, (node) => nodeName({ nodes }, node));
  const tell = (event: PointerEvent, text: TipText): void => {
    if (!box.current) return;
    const [x, y] = placeIn(box.current, event);
    pointed.value = { x, y, text };
  };
  const leave = (): void => void (pointed.value = null);
  return (
    <div class="groups-graph" ref={box}>
      <svg width={frame.width} height={frame.height} role="group" aria-label={`States of ${counted(graph.groups.length, "group", "groups")} in ${counted(graph.turns.length, "column", "columns")}`}>
        {Array.from(graph.turns, (turns, column) => {
          if (column % step !== 0) return null;
          const { x } = cellBox(graph, frame, 0, column);
          return <text key={column} x={x} y={12} class="head">{graph.loop ? turnWords(graph, column, turns) : ""}<tspan x={x} dy={13} class="time">{clock(graph.edgesNs[column] ?? 0, 2)}</tspan></text>;
        })}
        {lines.map(({ link, x0, y0, x1, y1 }) => (
          <path key={link} class="link" d={`M${x0} ${y0} C${x0 + 14} ${y0} ${x1 - 14} ${y1} ${x1} ${y1}`} stroke={latencyColour(graph.links.worst[link] ?? Number.NaN, mode)} stroke-width={1 + Math.min(4, Math.log10(1 + (graph.links.messages[link] ?? 0)))}
            onPointerMove={(event) => tell(event, linkTold(graph, link, name))} onPointerLeave={leave} onClick={() => void chooseLink(store, graph, link)} />
        ))}
        {graph.groups.map(({ ranks }, group) => (
          <g key={group}>
            <GroupHead y={cellBox(graph, frame, group, 0)} name={name(group)} ranks={ranks} open={ranks.length > 1 ? () => state.open(ranks) : () => (store.selection.value = { kind: "rank", rank: ranks[0] ?? 0 })} />
            {Array.from(graph.turns, (_, column) => {
              const cell = cellBox(graph, frame, group, column);
              const parts = cells[group]?.[column];
              const part = onPath[group]?.[column] ?? 0;
              let y = cell.y + cell.height;
              return (
                <g key={column} class="state" role="button" tabIndex={-1} aria-label={`${name(group)}, column ${column + 1}`} onPointerMove={(event) => tell(event, cellTold(graph, group, column, parts, part, name(group)))} onPointerLeave={leave}
                  onClick={() => store.select({ rangeNs: [graph.edgesNs[column] ?? 0, graph.edgesNs[column + 1] ?? 0] })}>
                  <rect class="frame" x={cell.x} y={cell.y} width={cell.width} height={cell.height} />
                  {parts && STACKED.map((kind) => {
                    const height = (parts[SHARE_KINDS.indexOf(kind)] ?? 0) * cell.height;
                    y -= height;
                    return height > 0.2 && <rect key={kind} x={cell.x} y={y} width={cell.width} height={height} fill={kindColour(kind, mode)} opacity={kindOpacity(kind)} />;
                  })}
                  {part > 0.01 && <rect class="critical" x={cell.x} y={cell.y - 5} width={Math.max(2, part * cell.width)} height={4} />}
                </g>
              );
            })}
          </g>
        ))}
        {lines.filter(({ hasWords }) => hasWords).map(({ link, x0, y0, x1, y1 }) => (
          <text key={link} class="link-words" x={(x0 + x1) / 2} y={(y0 + y1) / 2 - 3}>{linkWords(graph, link)}</text>
        ))}
      </svg>
      <PointedTip pointed={pointed} />
      <p class="unseen">{graph.links.length > LINKS_MOST ? `The ${LINKS_MOST} links that were waited for longest are drawn.` : ""}</p>
    </div>
  );
}

/** By itself: the graph is not made anew with each move of the pointer. */
function PointedTip({ pointed }: { pointed: Signal<Pointed | null> }) {
  const at = pointed.value;
  return at && <Tip text={at.text} x={at.x} y={at.y} />;
}

function GroupHead({ y: { y, height }, name, ranks, open }: { y: { y: number; height: number }; name: string; ranks: Uint32Array; open(): void }) {
  const which = ranksWords(rangesOf(ranks), 1);
  return (
    <g class="group" role="button" tabIndex={0} aria-label={ranks.length > 1 ? `Open ${name} ${which}: ${counted(ranks.length, "rank", "ranks")}` : name} onClick={open} onKeyDown={(event) => { if (event.key === "Enter") open(); }}>
      <rect x={0} y={y} width={HEAD.left - 8} height={height} />
      <text x={12} y={y + Math.min(height / 2 + 4, 16)}>{name}</text>
      {height > 28 && ranks.length > 1 && <text x={12} y={y + 31} class="soft">{which}</text>}
    </g>
  );
}

function groupName({ groups }: GroupGraph, group: number, by: string, node: (id: number) => string): string {
  const of = groups[group];
  if (!of) return "";
  if (by === "rank") return of.ranks.length === 1 ? `Rank ${of.firstKey}` : rangesShort(rangesOf(of.ranks) as RankRanges, 1);
  const key = (id: number): string => (by === "node" ? node(id) : `Region ${id}`);
  return of.firstKey === of.lastKey ? key(of.firstKey) : `${key(of.firstKey)} \u2013 ${key(of.lastKey)}`;
}

function turnWords({ turns }: GroupGraph, column: number, count_: number): string {
  const before = turns.subarray(0, column).reduce((sum, each) => sum + each, 0);
  return count_ === 1 ? `turn ${before + 1}` : `turns ${before + 1}\u2013${before + count_}`;
}

function linkWords({ links }: GroupGraph, link: number): string {
  const worst = links.worst[link] ?? Number.NaN;
  return `${count(links.messages[link] ?? 0)}${Number.isNaN(worst) ? "" : `, L ${significant(worst)}`}`;
}

function linkTold({ links }: GroupGraph, link: number, name: (group: number) => string): TipText {
  const worst = links.worst[link] ?? Number.NaN;
  return {
    title: `${name(links.from[link] ?? 0)} to ${name(links.to[link] ?? 0)}`,
    rows: [
      ["Messages", count(links.messages[link] ?? 0), ""], ["Bytes", bytes(links.bytes[link] ?? 0), ""], ["Receivers waited", duration(links.waitedNs[link] ?? 0), ""],
      ["Highest latency", Number.isNaN(worst) ? "not known" : `L ${significant(worst)}`, `rank ${links.worstSrc[link]} to ${links.worstDst[link]}`], ["Click", "goes to that message", ""],
    ],
  };
}

function cellTold(graph: GroupGraph, group: number, column: number, parts: Float64Array | undefined, onPath: number, name: string): TipText {
  const [from, to] = [graph.edgesNs[column] ?? 0, graph.edgesNs[column + 1] ?? 0];
  const { links } = graph;
  const inside = Array.from({ length: links.length }, (_, at) => at).filter((at) => links.column[at] === column && links.from[at] === group && links.to[at] === group);
  return {
    title: name,
    rows: [
      ["From", clock(from, 3), ""], ["Length", duration(to - from), ""],
      ...(parts ? STACKED.map((kind) => [kindText(kind).label, parts[SHARE_KINDS.indexOf(kind)] ?? 0] as const).filter(([, part]) => part >= 0.005).map(([label, part]) => [label, share(part, 1), ""] as const) : []),
      ["Critical path", share(onPath, 1), "of this time"],
      ["Messages inside", count(inside.reduce((sum, at) => sum + (links.messages[at] ?? 0), 0)), ""], ["Click", "selects this time in all views", ""],
    ],
  };
}

/** The message with the highest latency: selected, and in sight in Messages. */
async function chooseLink(store: Store, { links }: GroupGraph, link: number): Promise<void> {
  const before = store.selection.peek();
  const message = await worstOfLink(store.questions, links, link).catch(() => null);
  // Something else may have been chosen meanwhile.
  if (message && store.selection.peek() === before) store.selection.value = { kind: "message", message };
}
