// The connection to mpiscope, in words. Pure.

import type { Link } from "../net";

/** Beside the last live picture, while no other can be asked for; empty while the server is there. */
export function keptPicture({ phase }: Link): string {
  return phase === "open" ? "" : "The connection to mpiscope is gone: this is the last live picture.";
}
