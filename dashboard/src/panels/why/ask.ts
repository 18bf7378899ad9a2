// Questions of the tab Causes that follow what is looked at, as long as somebody looks.

import type { Courses } from "../../feed/courses";
import type { Criteria } from "../../feed/criteria";
import type { Remap } from "../../feed/remap";
import { edgeNs, over } from "../../state/run";
import type { Store } from "../../state/store";
import { type Asked, useAnswers } from "../answers";
import { type CourseScope, courseScope, courseSubject, windowsIn } from "./windows";

/** A run that goes on: what is learnt from it, and what could be placed better, is asked anew so often. */
const CRITERIA_EVERY_S = 5;
const REMAP_EVERY_S = 30;

/** The courses that are drawn, and those of the selected range: the sentences are about these. */
export interface CoursesFound { seen: Courses; chosen: Courses }

export interface CourseQuestion extends CourseScope { subject: string }

export function useCourses(store: Store): Asked<CourseQuestion, CoursesFound> {
  return useAnswers(
    store,
    async ({ seen, chosen, widthNs, ranks }) => {
      const ask = ([from_ns, to_ns]: readonly [number, number]): Promise<Courses> => store.questions.answer("courses", { from_ns, to_ns, bins: windowsIn([from_ns, to_ns], widthNs), ranks });
      // One after the other: the server drops an older question of a kind for a newer one.
      const drawn = await ask(seen);
      return { seen: drawn, chosen: chosen ? await ask(chosen) : drawn };
    },
    ({ subject }) => subject,
    () => {
      const { rangeNs, ranks } = store.perspective.value;
      const run = store.figures.value;
      const zoom = store.zoom.value;
      const scope = courseScope(zoom, rangeNs, ranks, edgeNs(run), over(run));
      return scope && { ...scope, subject: courseSubject(scope, zoom) };
    },
  );
}

/** How far a run was diagnosed when something was asked, in steps of so long. */
export interface DiagnosedScope { untilS: number; isFinal: boolean }

function diagnosedScope(store: Store, everyS: number): DiagnosedScope | null {
  const { found } = store.figures.value;
  if (!found) return null;
  return { untilS: found.isFinal ? found.untilS : Math.floor(found.untilS / everyS) * everyS, isFinal: found.isFinal };
}

export function useCriteria(store: Store): Asked<DiagnosedScope, Criteria> {
  return useAnswers(store, () => store.questions.answer("criteria"), () => "", () => diagnosedScope(store, CRITERIA_EVERY_S));
}

export function useRemap(store: Store): Asked<DiagnosedScope, Remap> {
  return useAnswers(store, () => store.questions.answer("remap"), () => "", () => diagnosedScope(store, REMAP_EVERY_S));
}
