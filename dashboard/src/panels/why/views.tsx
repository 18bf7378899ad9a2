// The three views of the published method: where messages go, how evenly they are spread over ranks, and how steadily they
// take what they take. Each over time, with a sentence that says it in numbers.

import type { Store } from "../../state/store";
import { duration, unbroken } from "../../words";
import { courseNotes } from "../../words/courses";
import { ranksWords } from "../../words/regions";
import { spanWords } from "../../words/range";
import { useTable } from "../share/tables";
import { type CourseQuestion, type CoursesFound, useCourses } from "./ask";
import { BackgroundView } from "./background-view";
import { MappingView } from "./mapping-view";
import { PatternView } from "./pattern-view";
import { VIEWS } from "./sections";

export interface ViewProps { store: Store; found: CoursesFound }

export function ThreeViews({ store }: { store: Store }) {
  const { known, isOther, isAsking, why, again } = useCourses(store);
  const found = known?.answer;
  const notes = found ? courseNotes(found.chosen) : "";
  return (
    <section id={VIEWS} tabIndex={-1} class="views" aria-busy={isAsking && (isOther || !found)}>
      <h2>Three views of the messages <span class="soft">{known ? ofWords(known.scope, known.answer) : "where they go, how evenly, and how steadily"}</span></h2>
      {/* Always there: nothing moves when it has something to say. */}
      <p class="soft note-line">{isOther ? "What is selected now is being asked for. " : ""}{why && <>They are {found ? "not the newest" : "missing"}: {why.replace(/\.$/, "")}. <button type="button" class="link" onClick={again}>Ask again</button> </>}{notes}</p>
      {found
        ? <div class={isOther ? "old" : ""}>
          <CourseTables found={found} />
          <MappingView store={store} found={found} />
          <PatternView store={store} found={found} />
          <BackgroundView store={store} found={found} />
        </div>
        : !why && <p class="soft">{isAsking ? "Asking for them." : "There are no windows of time yet."}</p>}
    </section>
  );
}

/** What the sentences are of. */
function ofWords({ seen, chosen, ranks }: CourseQuestion, { chosen: { widthNs } }: CoursesFound): string {
  const of = ranks ? `, messages of ${ranksWords(ranks)}` : "";
  return unbroken(`${chosen ? "selected range " : ""}${spanWords(chosen ?? seen)}`) + `${of}, in windows of ${unbroken(duration(widthNs))}`;
}

function CourseTables({ found: { seen } }: { found: CoursesFound }) {
  const timeS = (window: number): number => (seen.fromNs + window * seen.widthNs) / 1e9;
  const windows = Array.from({ length: seen.windows }, (_, window) => window);
  useTable("messages over time", () => ({
    columns: ["time_s", "width_s", "inter_messages", "intra_messages", "inter_bytes", "intra_bytes", "uneven", "greatest_load", "greatest_rank"],
    rows: windows.map((at) => {
      const load = seen.greatestLoad[at] ?? Number.NaN;
      const rank = Number.isNaN(load) ? null : (seen.greatestRank[at] ?? null);
      return [timeS(at), seen.widthNs / 1e9, seen.inter[at] ?? 0, seen.intra[at] ?? 0, seen.interBytes[at] ?? 0, seen.intraBytes[at] ?? 0, seen.uneven[at] ?? null, load, rank];
    }),
  }));
  useTable("transmission by size over time", () => ({
    columns: ["time_s", "size_from_bytes", "size_to_bytes", "inter", "t_msg_for_its_mean"],
    rows: seen.sizes.flatMap(({ fromBytes, toBytes, isInter }, size) => windows.map((at) => [timeS(at), fromBytes, toBytes, isInter, seen.slow[size * seen.windows + at] ?? null])),
  }));
  return null;
}
