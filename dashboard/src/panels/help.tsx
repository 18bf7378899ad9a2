// The dialog that lists the keys.

import { useEffect, useRef } from "preact/hooks";

const KEYS: readonly (readonly [keys: readonly string[], does: string])[] = [
  [["Space", "k"], "play or pause"], [["j"], "play backward"], [["l"], "play forward"],
  [["Left", "Right"], "one step"], [["Shift Left", "Shift Right"], "ten steps"], [[",", "."], "call before, next call"],
  [["n", "Shift n"], "next, previous call of this rank and function"], [["Home"], "to the start"], [["End"], "to now, or to the end"], [["<", ">"], "slower, faster"],
  [["w", "s"], "zoom in, out in time, at the pointer"], [["a", "d"], "earlier, later"], [["0"], "the whole run"], [["f"], "fit what is selected"],
  [["[", "]"], "range starts, ends here"], [["Esc"], "clear: kept tips, selection, range"], [["u", "Shift u"], "undo, redo what is looked at"],
  [["/"], "find"], [["p"], "keep the tooltip"], [["c"], "follow the shared clock or let go"],
  [["1", "\u2026"], "the views"], [["m"], "the messages in flight"], [["g"], "the call paths"], [["i"], "with or without inspector"], [["h"], "with or without timeline"], [["t"], "theme"], [["?"], "this help"],
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
        <p>On the timeline and in charts over time: dragging selects a range, Shift and dragging pans, the wheel zooms (in views that scroll with Ctrl), dragging the cursor scrubs, a click goes there, a double click shows the whole run.</p>
        <p>In Where, with the focus on the picture: arrows or W A S D pan, + and - zoom, f shows all, r and Shift r turn the graph. With the pointer: the wheel zooms, dragging pans, Shift and dragging turns, Alt and dragging (or Lasso) selects ranks; ranks can be dragged, regions with Ctrl. In the matrix dragging selects ranks, Shift and dragging pans.</p>
        <p>In Messages, with the focus on the rows: up and down go to a row (Alt takes it along), left and right from call to call, Enter selects; + and - zoom, A and D move in time, Page up and Page down through the rows, f shows all rows. The wheel zooms, with Ctrl the rows; dragging selects a range, Shift and dragging moves, a double click shows the whole run; rows are dragged by their numbers.</p>
        <p>In How, with the focus on a row: arrows go from window to window, Enter shows one. The handles of the range go by windows, with Shift by ten, Home and End to the ends of the run.</p>
        <p>All pages that follow the shared clock see the same time, range, ranks and functions. Let go to look around alone. The address of the page says what is looked at. Copy link makes an address for somebody else, who may read, or more, until you revoke it.</p>
        <p>In 3D, with the focus on the points: arrows turn, with Shift or as W A S D they move, + and - zoom, f fits all (again: from the first side), n and b go to the next rank and the one before. With the pointer: dragging turns, Shift and dragging moves, the wheel zooms to the pointer, Alt and dragging (or Lasso) selects ranks, a double click fits.</p>
        <p>In Pending, with the focus on the picture: arrows go from group to group, Enter selects its ranks for all views, o opens it, Backspace closes the last that was opened. With the pointer: a click selects the ranks of a group or an edge, a double click opens a group.</p>
        <p>In Call paths, with the focus on the picture: arrows go from function to function, Enter fills the width with one, Escape shows all. With the pointer: a click shows who calls a function and its source, a double click fills the width.</p>
        <p>In the graph of What, once it has the focus: arrows go along links, Enter folds what follows, W A S D move, + and - zoom, f fits. The wheel zooms, dragging moves, a double click folds.</p>
      </>}
    </dialog>
  );
}
