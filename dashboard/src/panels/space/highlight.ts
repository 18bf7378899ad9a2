// The text of a layout as pieces with a kind, for colours in the editor. Pure.

export type PieceKind = "comment" | "block" | "set" | "given" | "function" | "number" | "plain";
export interface Piece { text: string; kind: PieceKind }

const BLOCK = /^\s*(begin_viz|topology_map|topology_equation|end_viz|end_topology)\b/i;
const GIVEN = /^(rank|maxrank|node|context|thread|event[0-3]\.(val|min|max|mean)|axisdim[xyz])$/i;
const TOKEN = /(#.*$)|([A-Za-z_][\w.]*)|(\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+)|(\s+)|(.)/g;

/** Long texts are shown without colours: nobody waits for them. */
export const HIGHLIGHTED_MAX = 20_000;

export function piecesOf(text: string): Piece[] {
  const found: Piece[] = [];
  const add = (piece: string, kind: PieceKind): void => {
    const last = found.at(-1);
    if (last?.kind === kind) last.text += piece;
    else found.push({ text: piece, kind });
  };
  for (const [number, line] of text.split("\n").entries()) {
    if (number > 0) add("\n", "plain");
    if (BLOCK.test(line)) {
      const comment = line.indexOf("#");
      add(comment < 0 ? line : line.slice(0, comment), "block");
      if (comment >= 0) add(line.slice(comment), "comment");
      continue;
    }
    for (const match of line.matchAll(TOKEN)) {
      const [piece, comment, name, numeral] = match;
      const rest = line.slice(match.index + piece.length);
      if (comment !== undefined) add(piece, "comment");
      else if (numeral !== undefined) add(piece, "number");
      else if (name === undefined) add(piece, "plain");
      else if (/^\s*\(/.test(rest)) add(piece, "function");
      else if (/^\s*=/.test(rest)) add(piece, "set");
      else add(piece, GIVEN.test(name) ? "given" : "plain");
    }
  }
  return found;
}
