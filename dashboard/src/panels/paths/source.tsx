// The source of a function, with the time that its lines lead to.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { GivenUp } from "../../asks";
import type { SourceText } from "../../feed/call-sites";
import type { Store } from "../../state/store";
import { duration } from "../../words";
import { noSource } from "../../words/paths";
import type { Sums } from "./tree";

interface SourceProps { store: Store; site: number; line: number; lines: ReadonlyMap<number, Sums> }

export function Source({ store, site, line, lines }: SourceProps) {
  const text = useSignal<{ site: number; text: SourceText | null; why: string } | null>(null);
  useEffect(() => {
    let isWanted = true;
    store.questions.answer("source_text", { site }).then(
      (found) => { if (isWanted) text.value = { site, text: found, why: "" }; },
      (reason: unknown) => { if (isWanted && !(reason instanceof GivenUp)) text.value = { site, text: null, why: reason instanceof Error ? reason.message : String(reason) }; },
    );
    return () => { isWanted = false; };
  }, [site]);
  const box = useRef<HTMLDivElement>(null);
  const shown = text.value?.site === site ? text.value : null;
  useEffect(() => {
    const row = box.current?.querySelector<HTMLElement>("tr.current");
    if (row && box.current) box.current.scrollTop = row.offsetTop - box.current.clientHeight / 2;
  }, [shown?.text, line]);
  if (!shown) return <p class="soft">The source is on its way.</p>;
  if (!shown.text) return <p class="soft">{noSource(shown.why)}</p>;
  const { fromLine, lines: rows, file, isNewer } = shown.text;
  const most = Math.max(1, ...rows.map((_, at) => lines.get(fromLine + at)?.timeNs ?? 0));
  return (
    <>
      <p class="small file" title={file}><span>{file}</span>{isNewer && <span class="warn"> was written after the program was built: lines may differ</span>}</p>
      <div class="scroll source" ref={box} tabIndex={0} role="region" aria-label="Source with the time in MPI that each line leads to">
        <table>
          <tbody>
            {rows.map((row, at) => {
              const sums = lines.get(fromLine + at);
              return (
                <tr key={fromLine + at} class={fromLine + at === line ? "current" : ""}>
                  <td class="time" style={sums ? { "--part": `${((sums.timeNs / most) * 100).toFixed(1)}%` } : {}}>{sums ? duration(sums.timeNs) : ""}</td>
                  <td class="number soft">{fromLine + at}</td>
                  <td><code>{row}</code></td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </>
  );
}
