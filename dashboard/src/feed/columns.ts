// Fields and columns of a decoded MessagePack map, each checked for what it must be.
// A message that does not fit is refused with one sentence: showing half of it would be untrue.

export class FeedError extends Error {}

/** A map that should be a `T` of the wire; of its fields only the names are believed yet. */
export type Fields<T> = { readonly [Name in keyof T]?: unknown };
/** The names of a map that has several forms. */
export type NameOf<T> = T extends unknown ? keyof T : never;

export function fields<T>(value: unknown, what: string): Fields<T> {
  if (typeof value !== "object" || value === null || Array.isArray(value) || ArrayBuffer.isView(value)) {
    throw new FeedError(`${what} is not a map.`);
  }
  return value as Fields<T>;
}

export function number<T>(from: Fields<T>, name: keyof T & string): number {
  const value = from[name];
  if (typeof value !== "number" || !Number.isFinite(value)) throw new FeedError(`The field "${name}" is not a number.`);
  return value;
}

/** What the page calls a field of the wire. */
type Camel<Name extends string> = Name extends `${infer First}_${infer Rest}` ? `${First}${Capitalize<Camel<Rest>>}` : Name;

/** Several fields that are numbers, by the page's names. */
export function numbers<T, const Name extends keyof T & string>(
  from: Fields<T>, ...names: readonly Name[]
): { [Each in Name as Camel<Each>]: number } {
  const camel = (name: string) => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  return Object.fromEntries(names.map((name) => [camel(name), number(from, name)])) as { [Each in Name as Camel<Each>]: number };
}

export function text<T>(from: Fields<T>, name: keyof T & string): string {
  const value = from[name];
  if (typeof value !== "string") throw new FeedError(`The field "${name}" is not a text.`);
  return value;
}

export function truth<T>(from: Fields<T>, name: keyof T & string): boolean {
  const value = from[name];
  if (typeof value !== "boolean") throw new FeedError(`The field "${name}" is neither true nor false.`);
  return value;
}

export function list<T>(from: Fields<T>, name: keyof T & string): readonly unknown[] {
  const value = from[name];
  if (!Array.isArray(value)) throw new FeedError(`The field "${name}" is not a list.`);
  return value;
}

export function texts<T>(from: Fields<T>, name: keyof T & string): readonly string[] {
  const values = list(from, name);
  for (const value of values) {
    if (typeof value !== "string") throw new FeedError(`The list "${name}" holds something that is not a text.`);
  }
  return values as readonly string[];
}

/** A list with at most this number of entries. */
export function bounded<T>(name: string, values: readonly T[], most: number): readonly T[] {
  if (values.length > most) throw new FeedError(`The list "${name}" is longer than ${most}.`);
  return values;
}

export function isNatural(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0;
}

/** A count, a rank, a number of something. */
export function natural<T>(from: Fields<T>, name: keyof T & string): number {
  const value = from[name];
  if (!isNatural(value)) throw new FeedError(`The field "${name}" is not a whole number.`);
  return value;
}

/** A pair of numbers, the first not above the second. */
export function pair(value: unknown, name: string): [number, number] {
  if (!Array.isArray(value) || value.length !== 2) throw new FeedError(`"${name}" is not a pair.`);
  const [first, last] = value as unknown[];
  if (typeof first !== "number" || typeof last !== "number" || !(first <= last)) {
    throw new FeedError(`"${name}" is not an ordered pair of numbers.`);
  }
  return [first, last];
}

/** The bytes of a column. */
function blob<T>(from: Fields<T>, name: keyof T & string, valueBytes: number): Uint8Array {
  const value = from[name];
  if (!(value instanceof Uint8Array)) throw new FeedError(`The column "${name}" is not a blob.`);
  if (value.length % valueBytes !== 0) throw new FeedError(`The column "${name}" is not a multiple of ${valueBytes} bytes long.`);
  return value;
}

/** The copy of the bytes is what makes them aligned. */
export function u32Column<T>(from: Fields<T>, name: keyof T & string): Uint32Array {
  return new Uint32Array(blob(from, name, 4).slice().buffer);
}

export function i32Column<T>(from: Fields<T>, name: keyof T & string): Int32Array {
  return new Int32Array(blob(from, name, 4).slice().buffer);
}

export function f64Column<T>(from: Fields<T>, name: keyof T & string): Float64Array {
  return new Float64Array(blob(from, name, 8).slice().buffer);
}

/** The common length of columns; throws when they differ. */
export function sameLength(what: string, columns: Readonly<Record<string, { readonly length: number }>>): number {
  let length = -1;
  for (const [name, column] of Object.entries(columns)) {
    if (length < 0) length = column.length;
    if (column.length !== length) {
      throw new FeedError(`The column "${name}" of ${what} is ${column.length} long where others are ${length}.`);
    }
  }
  return Math.max(0, length);
}
