// A better placement of ranks on nodes, with the files that bring it about. Checked and bounded.

import { bounded, FeedError, type Fields, fields, list, natural, text, texts, truth } from "./columns";
import type * as Wire from "./types";

export type Format = Wire.RemapFormat;
const FORMATS: readonly Format[] = ["rankfile", "machinefile", "slurm"];

export interface PlacementFile {
  format: Format;
  /** What it is called. */
  name: string;
  text: string;
  /** How the launcher takes it. */
  command: string;
}

export interface Remap {
  /** Whether anything can be gained. */
  gains: boolean;
  interMessagesBefore: number;
  interMessagesAfter: number;
  interBytesBefore: number;
  interBytesAfter: number;
  /** Ranks that go to another node. */
  moved: number;
  ranks: number;
  sentences: readonly string[];
  files: readonly PlacementFile[];
}

const SENTENCES_MAX = 16;
/** Of the largest jobs it is some hundred thousand lines. */
const TEXT_MAX = 1 << 26;

export function remap(from: Fields<Wire.Remap>): Remap {
  return {
    gains: truth(from, "gains"),
    interMessagesBefore: natural(from, "inter_messages_before"),
    interMessagesAfter: natural(from, "inter_messages_after"),
    interBytesBefore: natural(from, "inter_bytes_before"),
    interBytesAfter: natural(from, "inter_bytes_after"),
    moved: natural(from, "moved"),
    ranks: natural(from, "ranks"),
    sentences: bounded("sentences", texts(from, "sentences"), SENTENCES_MAX),
    files: bounded("files", list(from, "files"), FORMATS.length).map((each) => file(fields(each, "A file of a placement"))),
  };
}

function file(from: Fields<Wire.RemapFile>): PlacementFile {
  const format = FORMATS.find((each) => each === from.format);
  if (!format) throw new FeedError("There is a format of placements that this page does not know.");
  const found = { format, name: text(from, "name"), text: text(from, "text"), command: text(from, "command") };
  if (found.text.length > TEXT_MAX) throw new FeedError("A file of a placement is too long.");
  return found;
}
