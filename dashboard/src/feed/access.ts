// What this page may do, and the links that its owner made for others. Checked and bounded.

import { bounded, FeedError, type Fields, fields, list, natural, text, truth } from "./columns";
import type * as Wire from "./types";

export interface IssuedLink {
  number: number;
  label: string;
  canControl: boolean;
  canAnnotate: boolean;
  /** Pages and programs that are connected with it. */
  connections: number;
}

export interface AccessMessage {
  kind: "access";
  /** Whether the page was opened with the address that mpiscope printed. */
  isOwner: boolean;
  canControl: boolean;
  canAnnotate: boolean;
  links: readonly IssuedLink[];
  linksMax: number;
  /** Where the page is served; empty and 0 for all but the owner. */
  host: string;
  port: number;
  /** The link that this page asked for. */
  made: { number: number; token: string } | null;
  /** Why the last request of this page was not carried out. */
  refused: string;
}

/** More than any server allows. */
const LINKS_MAX = 1024;

/** Until the server says what this page may do. */
export const UNKNOWN_ACCESS: AccessMessage = { kind: "access", isOwner: false, canControl: true, canAnnotate: true, links: [], linksMax: 0, host: "", port: 0, made: null, refused: "" };

export function accessMessage(value: Fields<Wire.Access>): AccessMessage {
  const made = value.made === null || value.made === undefined ? null : fields<Wire.NewLink>(value.made, "A new link");
  return {
    kind: "access",
    isOwner: truth(value, "is_owner"),
    canControl: truth(value, "can_control"),
    canAnnotate: truth(value, "can_annotate"),
    links: bounded("links", list(value, "links"), LINKS_MAX).map((link) => issued(fields<Wire.IssuedLink>(link, "A link"))),
    linksMax: natural(value, "links_max"),
    host: text(value, "host"),
    port: natural(value, "port"),
    made: made && { number: natural(made, "number"), token: secret(made) },
    refused: text(value, "refused"),
  };
}

function issued(from: Fields<Wire.IssuedLink>): IssuedLink {
  return { number: natural(from, "number"), label: text(from, "label"), canControl: truth(from, "can_control"), canAnnotate: truth(from, "can_annotate"), connections: natural(from, "connections") };
}

/** It becomes part of an address. */
function secret(from: Fields<Wire.NewLink>): string {
  const token = text(from, "token");
  if (!/^[0-9a-f]{32}$/.test(token)) throw new FeedError("The token of a new link is not 32 hexadecimal digits.");
  return token;
}
