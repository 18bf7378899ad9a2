// Numbers in words. Pure; the whole page and its canvases say numbers through these.

const THIN_SPACE = "\u2009";

/** 1234567 as 1 234 567, with thin spaces. */
export function count(n: number): string {
  return String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, THIN_SPACE);
}

/** In running text a number stays on one line, and with its unit. */
export function unbroken(text: string): string {
  return text.replaceAll(THIN_SPACE, "\u202f").replaceAll(" ", "\u00a0");
}

/** With a capital letter at its beginning. */
export function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** A sentence of the daemon's, which begins small where it stands behind the program's name. */
export function sentenceOf(text: string): string {
  const first = capital(text);
  return /[.!?]$/.test(first) ? first : `${first}.`;
}

/** A count with its word, in the right number. */
export function counted(n: number, one: string, many: string): string {
  return `${count(n)} ${Math.round(n) === 1 ? one : many}`;
}

/** Three significant digits, and never fewer digits than the whole part has. */
export function significant(value: number): string {
  const size = Math.abs(value);
  if (size >= 999.5) return count(value);
  if (size === 0) return "0";
  return value.toFixed(size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
}

function scaled(value: number, units: readonly string[], factor: number): string {
  let rest = value;
  let unit = 0;
  while (unit < units.length - 1 && Math.abs(rest) >= factor * 0.9995) {
    rest /= factor;
    unit++;
  }
  return `${unit === 0 ? count(rest) : significant(rest)} ${units[unit] ?? ""}`.trimEnd();
}

export function duration(ns: number): string {
  return scaled(ns, ["ns", "µs", "ms", "s"], 1000);
}

/** A duration that was chosen, not measured: without zeros that say nothing. */
export function roundDuration(ns: number): string {
  return duration(ns).replace(/\.0+(?= )|(\.\d*?[1-9])0+(?= )/, "$1");
}

export function bytes(n: number): string {
  return scaled(n, ["B", "KiB", "MiB", "GiB", "TiB", "PiB"], 1024);
}

/** Three digits and a unit: 240 k, 2.5 M. Below 1000 exact. */
export function short(n: number): string {
  return scaled(n, ["", "k", "M", "G", "T"], 1000);
}

/** A round value of an axis, without zeros that say nothing: 150 k, 2.5 M. */
export function axisCount(n: number): string {
  const units = ["", "k", "M", "G", "T"];
  let rest = n;
  let unit = 0;
  while (unit < units.length - 1 && Math.abs(rest) >= 1000) {
    rest /= 1000;
    unit++;
  }
  return `${Number(rest.toPrecision(3))} ${units[unit] ?? ""}`.trimEnd();
}

/** Of a whole; 0 only when it is 0. */
export function share(part: number, whole: number): string {
  if (!(whole > 0)) return "";
  const percent = (100 * part) / whole;
  if (percent === 0) return `0${THIN_SPACE}%`;
  return percent < 0.1 ? `<${THIN_SPACE}0.1${THIN_SPACE}%` : `${percent.toFixed(1)}${THIN_SPACE}%`;
}

/** Run time as h:mm:ss.mmm; `digits` behind the point from 0 to 9 (cut, never rounded up into the future). */
export function clock(ns: number, digits = 3): string {
  const sign = ns < 0 ? "-" : "";
  const whole = Math.floor(Math.abs(ns));
  const seconds = Math.floor(whole / 1e9);
  const two = (value: number): string => String(value).padStart(2, "0");
  const text = `${sign}${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  return digits > 0 ? `${text}.${String(whole % 1e9).padStart(9, "0").slice(0, digits)}` : text;
}
