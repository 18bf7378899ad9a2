// What tooltips of the three views begin with.

import type { Courses } from "../../feed/courses";
import { clock, duration, unbroken } from "../../words";

export function windowWords({ fromNs, widthNs }: Courses, window: number): string {
  const digits = widthNs >= 1e9 ? 0 : widthNs >= 1e6 ? 3 : 6;
  return unbroken(`${duration(widthNs)} from ${clock(fromNs + window * widthNs + 0.5, digits)}`);
}
