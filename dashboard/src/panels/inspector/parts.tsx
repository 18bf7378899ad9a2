// What sections of the inspector are made of.

import type { ComponentChildren } from "preact";
import { TermMark } from "../terms/term";
import { termOf } from "../terms/terms";

export function Row({ name, note, children }: { name: string; note?: string; children: ComponentChildren }) {
  const term = termOf(name);
  return <><dt>{name}{term && <TermMark id={term} />}</dt><dd>{children}{note && <small>{note}</small>}</dd></>;
}

export function Title({ text, clear, label }: { text: ComponentChildren; clear: () => void; label: string }) {
  return <h2>{text}<button type="button" onClick={clear} title={`${label} (Esc)`}>{label}</button></h2>;
}
