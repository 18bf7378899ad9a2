// Beside the points: the text of a layout, what is wrong with it, and its result while it is written.

import { useSignal } from "@preact/signals";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { LayoutNote } from "../../feed/ranks";
import { HIGHLIGHTED_MAX, piecesOf } from "./highlight";
import { SOURCE_BYTES_MAX, type SpaceState } from "./state";

const FIRST = `# Where each rank is drawn. Names: rank, maxRank, event0.val, metadata(host), ...
BEGIN_VIZ=mine
columns=ceil(sqrt(maxRank))
x=mod(rank, columns)
y=floor(rank/columns)
z=0
END_VIZ
`;

export function Editor({ state }: { state: SpaceState }) {
  const area = useRef<HTMLTextAreaElement>(null);
  const gutter = useRef<HTMLDivElement>(null);
  const top = useSignal(0);
  const left = useSignal(0);
  const saved = useSignal("");
  const hasLayouts = state.layouts.value !== null;
  // What is being looked at is what one begins with, before anybody can write into the empty field.
  useLayoutEffect(() => {
    if (!hasLayouts) return;
    if (state.draft.peek() === null) state.write(state.layouts.peek()?.items.find(({ name, isFile }) => !isFile && name === state.layout.peek())?.source || FIRST);
    state.choose("draft", "");
  }, [state, hasLayouts]);
  useLayoutEffect(() => area.current?.focus(), []);
  const text = state.draft.value ?? "";
  // Scrolling draws again what was read before.
  const coloured = useMemo(() => (text.length <= HIGHLIGHTED_MAX ? piecesOf(text).map(({ text: piece, kind }, at) => (kind === "plain" ? piece : <span key={at} class={kind}>{piece}</span>)) : text), [text]);
  const lines = text.split("\n").length;
  const { known, why } = state.points.value;
  const isOwn = known?.scope.from === "draft" && known.scope.source === state.settledDraft.value;
  const errors = isOwn ? known.answer.errors : [];
  const warnings = isOwn ? known.answer.warnings : [];
  const bytes = new TextEncoder().encode(text).length;
  const isLong = bytes > SOURCE_BYTES_MAX;
  const go = (note: LayoutNote): void => {
    const element = area.current;
    if (!element) return;
    const before = text.split("\n").slice(0, note.line - 1).reduce((sum, line) => sum + line.length + 1, 0);
    element.focus();
    element.setSelectionRange(before + note.column - 1, before + note.column);
  };
  const marked = new Map([...warnings.map(({ line }) => [line, "warn"] as const), ...errors.map(({ line }) => [line, "bad"] as const)]);
  return (
    <aside class="space-editor" aria-label="Layout editor">
      <div class="head">
        <h2>Your layout</h2>
        <select aria-label="Begin with a layout" value="" onChange={(event) => {
          const item = state.layouts.peek()?.items.find(({ name, isFile }) => !isFile && name === event.currentTarget.value);
          if (item) state.write(item.source);
          else if (event.currentTarget.value === "/file") state.write(state.layouts.peek()?.text ?? "");
        }}>
          <option value="">Begin with{"\u2026"}</option>
          {state.layouts.value?.file && <option value="/file">{state.layouts.value.file}</option>}
          {state.layouts.value?.items.filter(({ isFile }) => !isFile).map(({ name }) => <option key={name} value={name}>{name}</option>)}
        </select>
        {state.layouts.value?.hasStore && (["recording", "user"] as const).map((keeper) => (
          <button type="button" key={keeper} disabled={!isOwn || errors.length > 0 || isLong} title={keeper === "recording" ? "Keep it with this recording, for everybody who opens it" : "Keep it for you, for all runs"} onClick={() => {
            state.save(keeper).then(() => (saved.value = keeper === "recording" ? "Kept with the recording." : "Kept for you."), (error: unknown) => (saved.value = error instanceof Error ? error.message : String(error)));
          }}>{keeper === "recording" ? "Keep" : "Keep for me"}</button>
        ))}
        <button type="button" onClick={() => (state.isEditing.value = "closed")}>Close</button>
      </div>
      <div class="text">
        <div class="gutter" ref={gutter} aria-hidden="true"><div style={{ transform: `translateY(${-top.value}px)` }}>{Array.from({ length: lines }, (_, at) => <span key={at} class={marked.get(at + 1) ?? ""}>{at + 1}</span>)}</div></div>
        <div class="coloured">
        <pre aria-hidden="true"><code style={{ transform: `translate(${-left.value}px, ${-top.value}px)` }}>{coloured}</code></pre>
        <textarea ref={area} spellcheck={false} wrap="off" aria-label="Source of the layout" aria-invalid={errors.length > 0} aria-describedby="layout-notes" value={text}
          onInput={(event) => {
            saved.value = "";
            state.write(event.currentTarget.value);
          }} onScroll={(event) => {
            top.value = event.currentTarget.scrollTop;
            left.value = event.currentTarget.scrollLeft;
          }}
          onKeyDown={(event) => {
            if (event.key !== "Escape") return;
            event.preventDefault();
            event.stopPropagation();
            state.isEditing.value = "closed";
          }} />
        </div>
      </div>
      <div class="notes" id="layout-notes" role="status">
        {isLong && <p class="bad">{`${bytes} bytes are too many: a layout written here has at most ${SOURCE_BYTES_MAX}. Use --layout FILE for a longer one.`}</p>}
        {isOwn && why && <p class="bad">{why}</p>}
        {[...errors.map((note) => ["bad", note] as const), ...warnings.map((note) => ["warn", note] as const)].map(([kind, note], at) => (
          <p key={at} class={kind}><button type="button" title="Go there" onClick={() => go(note)}>{`${note.line}:${note.column}`}</button> {note.text}</p>
        ))}
        {isOwn && !isLong && errors.length === 0 && !why && <p class="soft">{`Drawn: ${known.answer.name}${known.answer.names.length > 1 ? `, the first of ${known.answer.names.length} layouts` : ""}.`}</p>}
        {saved.value && <p class="soft">{saved.value}</p>}
        {errors.length > 0 && <p class="soft">The last good layout is drawn.</p>}
      </div>
    </aside>
  );
}
