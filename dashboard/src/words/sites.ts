// Call sites in words, and the waits that were there. Pure.

import type { SiteWait, Wait } from "../feed/found";

type Place = Pick<SiteWait, "site" | "place">;

/** Two places may have one name; a place without a number is all calls without a known call site. */
export function siteKey({ site }: Place): string {
  return site === null ? "not known" : String(site);
}

export function siteName({ site, place }: Place): string {
  if (place) return place;
  return site === null ? "not known where" : `call site ${site}, without a name`;
}

/** The waits of a place, the longest in all first. */
export function waitsAt(waits: readonly Wait[], site: number | null): Wait[] {
  return waits.filter((wait) => wait.site === site).sort((one, other) => other.seconds - one.seconds);
}

/** That of its waits in which the longest single one was; null where none is listed. */
export function longestAt(waits: readonly Wait[], site: number | null): Wait | null {
  return waitsAt(waits, site).reduce<Wait | null>((found, wait) => (!found || wait.longestS > found.longestS ? wait : found), null);
}

/** The ranks that waited there or were waited for, as far as they are listed; ascending. */
export function ranksAt(waits: readonly Wait[], site: number | null): number[] {
  return [...new Set(waitsAt(waits, site).flatMap(({ waiter, awaited }) => [waiter, awaited]))].sort((one, other) => one - other);
}
