// The figures by which parallel programs are compared, as the multiplication that they are.

import type { Efficiency } from "../../feed/found";
import { efficiencyLead } from "../../words/budget";
import { type Factor, FACTORS, isKnown, part } from "../../words/found";
import { TermMark } from "../terms/term";
import { useTable } from "../share/tables";

export function EfficiencyFigures({ efficiency, isRanged }: { efficiency: Efficiency; isRanged: boolean }) {
  const figure = (factor: Factor) => <Figure factor={factor} value={efficiency[factor.key]} />;
  useTable("efficiency", () => ({ columns: ["factor", "value"], rows: Object.values(FACTORS).map(({ key, name }) => [name, isKnown(efficiency) ? efficiency[key] : null]) }));
  return (
    <section>
      <h2>Efficiency<TermMark id="efficiency" />{isRanged && <span class="soft">of the whole run</span>}</h2>
      {isKnown(efficiency) ? <>
        <p class="lead soft">{efficiencyLead(efficiency)}</p>
        <div class="product">
          {figure(FACTORS.parallel)}<Sign text="=" />{figure(FACTORS.loadBalance)}<Sign text={"\u00d7"} />
          <div class="nested">
            {figure(FACTORS.communication)}<Sign text="=" />{figure(FACTORS.serialization)}<Sign text={"\u00d7"} />{figure(FACTORS.transfer)}
          </div>
        </div>
      </> : <p class="soft">Not known: no rank has computed yet between its calls.</p>}
    </section>
  );
}

function Figure({ factor, value }: { factor: Factor; value: number }) {
  return (
    <div class="figure" title={factor.title}>
      <b>{part(value)}</b>
      <span class="gauge"><i style={{ width: `${100 * Math.min(1, Math.max(0, value))}%` }} /></span>
      <span>{factor.name}</span>
      <small>{factor.reads}</small>
      <small>{factor.explains}</small>
    </div>
  );
}

function Sign({ text }: { text: string }) {
  return <span class="sign">{text}</span>;
}
