// The figures by which parallel programs are compared, as the multiplication that they are.

import type { Efficiency } from "../../feed/found";
import { type Factor, FACTORS, isKnown, part } from "../../words/found";

export function EfficiencyFigures({ efficiency, isRanged }: { efficiency: Efficiency; isRanged: boolean }) {
  const figure = (factor: Factor) => <Figure factor={factor} value={efficiency[factor.key]} />;
  return (
    <section>
      <h2>Efficiency{isRanged && <span class="soft">of the whole run</span>}</h2>
      {isKnown(efficiency) ? (
        <div class="product">
          {figure(FACTORS.parallel)}<Sign text="=" />{figure(FACTORS.loadBalance)}<Sign text={"\u00d7"} />
          <div class="nested">
            {figure(FACTORS.communication)}<Sign text="=" />{figure(FACTORS.serialization)}<Sign text={"\u00d7"} />{figure(FACTORS.transfer)}
          </div>
        </div>
      ) : <p class="soft">Not known: no rank has computed yet between its calls.</p>}
    </section>
  );
}

function Figure({ factor, value }: { factor: Factor; value: number }) {
  return (
    <div class="figure" title={factor.title}>
      <b>{part(value)}</b>
      <span>{factor.name}</span>
      <small>{factor.reads}</small>
    </div>
  );
}

function Sign({ text }: { text: string }) {
  return <span class="sign">{text}</span>;
}
