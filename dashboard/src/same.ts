// Whether two plain things say the same: numbers, words, lists and records of these. It ends at the first difference.

export function same(one: unknown, other: unknown): boolean {
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return one === other || (Number.isNaN(one) && Number.isNaN(other));
  if (one === other) return true;
  const [keys, others] = [Object.keys(one), Object.keys(other)];
  return keys.length === others.length && keys.every((key) => same((one as Record<string, unknown>)[key], (other as Record<string, unknown>)[key]));
}

/** The object of before as long as nothing changed: whoever draws it need not begin anew. */
export function unchanged<T>(before: T, now: T): T {
  return same(before, now) ? before : now;
}
