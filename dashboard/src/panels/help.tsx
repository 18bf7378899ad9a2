// The dialog that lists the keys.

import { useEffect, useRef } from "preact/hooks";

const KEYS: readonly (readonly [keys: readonly string[], does: string])[] = [
  [["Space", "k"], "play or pause"], [["j"], "play backward"], [["l"], "play forward"],
  [["Left", "Right"], "one step"], [["Shift Left", "Shift Right"], "ten steps"],
  [["Home"], "to the start"], [["End"], "to now, or to the end"],
  [[",", "."], "slower, faster"], [["+", "-"], "zoom the timeline"], [["0"], "the whole run"],
  [["[", "]"], "range starts, ends here"], [["f"], "follow or let go"], [["1", "2", "3", "4"], "the views"],
  [["t"], "theme"], [["Esc"], "clear the selection"], [["?"], "this help"],
];

/** Of a comparison, in which no time passes. */
const KEYS_COMPARED: typeof KEYS = [[["Left", "Right"], "one slot of time, with the focus on the picture"], [["t"], "theme"], [["?"], "this help"]];

export function Help({ open, close, isComparison = false }: { open: boolean; close: () => void; isComparison?: boolean }) {
  // Opened and closed from here alone: the browser's own close event comes late, and may belong to an earlier closing.
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (open && !dialog.current?.open) dialog.current?.showModal();
    if (!open && dialog.current?.open) dialog.current.close();
  }, [open]);
  return (
    <dialog ref={dialog} aria-labelledby="help-title" onCancel={(event) => { event.preventDefault(); close(); }}>
      <h2><span id="help-title">Keys</span><button type="button" onClick={close}>Close</button></h2>
      <dl class="keys">
        {(isComparison ? KEYS_COMPARED : KEYS).map(([keys, does]) => <div key={does}><dt>{keys.map((key) => <kbd key={key}>{key}</kbd>)}</dt><dd>{does}</dd></div>)}
      </dl>
      {!isComparison && <>
        <p>On the timeline: the wheel zooms, dragging pans, dragging the cursor scrubs, Shift and dragging (or dragging on the ruler) selects a range, a double click shows the whole run.</p>
        <p>In Where, with the focus on the picture: arrows pan, + and - zoom, 0 shows all, r and Shift r turn the graph. With the pointer: the wheel zooms, dragging pans, Shift and dragging turns, Alt and dragging (or Lasso) selects ranks; ranks can be dragged, regions with Ctrl. In the matrix dragging selects ranks, Shift and dragging pans.</p>
        <p>In How, with the focus on a row: arrows go from window to window, Enter shows one. The handles of the range go by windows, with Shift by ten, Home and End to the ends of the run.</p>
        <p>All pages that follow the shared clock see the same time, range and functions. Let go to look around alone.</p>
        <p>In the graph of What, once it has the focus: arrows go along links, Enter folds what follows, W A S D move, + and - zoom, f fits. The wheel zooms, dragging moves, a double click folds.</p>
      </>}
    </dialog>
  );
}
