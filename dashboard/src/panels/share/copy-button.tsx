// A button that copies a text and says so.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

const SAID_MS = 2000;

export function CopyButton({ text, label }: { text: string; label: string }) {
  const outcome = useSignal("");
  useEffect(() => {
    if (!outcome.value) return undefined;
    const timer = setTimeout(() => (outcome.value = ""), SAID_MS);
    return () => clearTimeout(timer);
  }, [outcome.value, outcome]);
  const copy = async (): Promise<void> => {
    outcome.value = (await copied(text)) ? "Copied" : "Not copied";
  };
  return (
    <button type="button" class="copy" aria-label={label} title={outcome.value === "Not copied" ? "The browser did not allow it; select the text and copy it yourself" : label} onClick={() => void copy()}>
      <span aria-live="polite">{outcome.value || "Copy"}</span>
    </button>
  );
}

/** Pages that come over the network without encryption have no clipboard of their own: there it goes as it did of old. */
export async function copied(text: string, into: HTMLElement = document.body): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copiedAsSelection(text, into);
  }
}

/** An open dialog keeps the focus to itself, and the text has to be in it. */
function copiedAsSelection(text: string, into: HTMLElement): boolean {
  const before = document.activeElement;
  const area = document.createElement("textarea");
  area.value = text;
  area.style.position = "fixed";
  area.style.opacity = "0";
  into.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  if (before instanceof HTMLElement) before.focus();
  return done;
}
