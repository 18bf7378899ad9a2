// What a page says about its rights, and about links for others. Pure.

import type { AccessMessage, IssuedLink } from "../feed/access";

export const NO_CONTROL = "This link may look at the run, but not move the clock and the selection that all pages share.";
export const LET_GO = "Untick \u201cFollow the shared clock\u201d to have your own.";
export const NO_RECORDING_CONTROL = "This link may look at the run, but not pause recording.";
export const NOT_OWNER = "Only the page that was opened with the address that mpiscope printed can make links.";

type Rights = Pick<IssuedLink, "canControl" | "canAnnotate">;

export function rightsWords({ canControl, canAnnotate }: Rights): string {
  if (canControl) return canAnnotate ? "read, control, annotate" : "read, control";
  return canAnnotate ? "read, annotate" : "read";
}

/** For the header; empty for the owner, who may do everything. */
export function rightsChip(access: AccessMessage): string {
  if (access.isOwner || (access.canControl && access.canAnnotate)) return "";
  return access.canControl || access.canAnnotate ? `May ${rightsWords(access)}` : "Read only";
}

/** The address that a link has, for the view that is open. */
export function linkAddress(origin: string, token: string, hash: string): string {
  return `${origin}/?token=${token}${hash}`;
}

/** What to run on another machine before the link works there; empty where the page is served on the network already. */
export function tunnelLine(hostname: string, port: string, access: Pick<AccessMessage, "host" | "port">): string {
  const isLocal = hostname === "localhost" || hostname === "[::1]" || /^127\./.test(hostname);
  return isLocal && access.host !== "" ? `ssh -N -L ${port || "80"}:localhost:${access.port} ${access.host}` : "";
}
