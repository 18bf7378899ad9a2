// What colours mean, in numbers.

import { amountPart, amountRamp, amountTicks, LATENCY_MAX, latencyPart, latencyRamp } from "../../palette/ramps";
import { theme } from "../../state/theme";
import { axisCount, bytes, count } from "../../words";

const LATENCIES = [1 / LATENCY_MAX, 0.5, 1, 2, LATENCY_MAX];

function gradient(ramp: readonly string[]): string {
  return `linear-gradient(to right, ${ramp.filter((_, step) => step % 8 === 0).join(", ")})`;
}

function Scale({ ramp, ticks, label }: { ramp: readonly string[]; ticks: readonly { part: number; text: string }[]; label: string }) {
  return (
    <span class="scale" role="img" aria-label={label}>
      <i style={{ backgroundImage: gradient(ramp) }} />
      {ticks.map(({ part, text }) => <span key={text} style={{ left: `${(part * 100).toFixed(2)}%` }}>{text}</span>)}
    </span>
  );
}

export function LatencyLegend() {
  const ticks = LATENCIES.map((latency) => ({ part: latencyPart(latency), text: latency === LATENCY_MAX ? `${latency}+` : latency === LATENCIES[0] ? "\u2264\u2009\u00bc" : latency === 0.5 ? "\u00bd" : String(latency) }));
  return (
    <>
      <span class="soft">L, relative to the expected time</span>
      <Scale ramp={latencyRamp(theme.value)} ticks={ticks} label="Latency L from a quarter, blue, over 1, grey, to 4 and more, red" />
      <span class="key"><i class="tone unknown" /><span class="soft">not known</span></span>
    </>
  );
}

export function AmountLegend({ measure, least, most }: { measure: "messages" | "bytes"; least: number; most: number }) {
  const words = (value: number): string => (measure === "bytes" ? bytes(value).replace(".00", "").replace(/(\.\d)0/, "$1") : axisCount(value));
  const away = measure === "bytes" ? 0.28 : 0.2;
  const between = amountTicks(least, most, measure === "bytes" ? 2 : 4, measure === "bytes" ? 32 : 10)
    .filter((value) => amountPart(value, least, most) > away && amountPart(value, least, most) < 1 - away);
  const ticks = most > least ? [least, ...between, most].map((value) => ({ part: amountPart(value, least, most), text: words(value) })) : [{ part: 1, text: words(most) }];
  return (
    <>
      <span class="soft">{measure}</span>
      <Scale ramp={amountRamp(theme.value)} ticks={ticks} label={`${measure}, from ${count(least)} to ${count(most)}, by their logarithm`} />
      <span class="key"><i class="nothing" /><span class="soft">none</span></span>
    </>
  );
}
