// Which names find a place beside what they name: the important ones first, none over another. Pure.

export interface Label {
  text: string;
  /** The middle of what is named, and how far it reaches. */
  x: number;
  y: number;
  reach: number;
  width: number;
  bold: boolean;
  /** Important enough to lie over what it does not name. */
  must?: boolean;
}

/** Something round that names of its kind may not hide. */
export interface Obstacle { x: number; y: number; radius: number; bold: boolean }

export interface PlacedLabel { text: string; left: number; middle: number; bold: boolean }

interface Box { left: number; right: number; top: number; bottom: number }

/** More than these nobody reads, and each is held against all others. */
const LABELS_MAX = 300;
const HALF = 8;
const AWAY = 4;

/** How far a name may reach into a disc. */
const INTO = 5;

/** `width` and `height` of the picture: a name is whole in it, or not there. */
export function placeLabels(labels: readonly Label[], obstacles: readonly Obstacle[], width: number, height: number): PlacedLabel[] {
  const taken: Box[] = [];
  const found: PlacedLabel[] = [];
  let tried = 0;
  for (const { text, x, y, reach, width: wide, bold, must } of labels) {
    if (x < -reach || y < -reach || x > width + reach || y > height + reach) continue;
    if (++tried > LABELS_MAX) break;
    const places: [number, number][] = [
      [x - wide / 2, y - reach - AWAY - HALF], [x - wide / 2, y + reach + AWAY + HALF],
      [x + reach + AWAY, y], [x - reach - AWAY - wide, y],
    ];
    for (const [left, middle] of places) {
      const box = { left: left - 2, right: left + wide + 2, top: middle - HALF, bottom: middle + HALF };
      if (box.left < 0 || box.top < 0 || box.right > width || box.bottom > height) continue;
      if (taken.some((other) => box.left < other.right && box.right > other.left && box.top < other.bottom && box.bottom > other.top)) continue;
      if (!must && obstacles.some((disc) => disc.bold === bold && covers(box, disc))) continue;
      taken.push(box);
      found.push({ text, left, middle, bold });
      break;
    }
  }
  return found;
}

function covers(box: Box, { x, y, radius }: Obstacle): boolean {
  const dx = Math.max(box.left - x, 0, x - box.right);
  const dy = Math.max(box.top - y, 0, y - box.bottom);
  return Math.hypot(dx, dy) < radius - INTO;
}
