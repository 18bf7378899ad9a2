// Questions of the tab Why that follow what is looked at, as long as somebody looks.

import { useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import type { Courses } from "../../feed/courses";
import type { Criteria } from "../../feed/criteria";
import type { Remap } from "../../feed/remap";
import { type Figures, Questions } from "../../state/questions";
import { edgeNs, over } from "../../state/run";
import type { Store } from "../../state/store";
import { type CourseScope, courseScope, courseSubject, windowsIn } from "./windows";

/** A run that goes on: what is learnt from it, and what could be placed better, is asked anew so often. */
const CRITERIA_EVERY_S = 5;
const REMAP_EVERY_S = 30;

/** What is known, and how to ask once more where there was no answer. */
export interface Asked<Scope, Answer> extends Figures<Scope, Answer> { again(): void }

function useAnswers<Scope, Answer>(
  store: Store, ask: (scope: Scope) => Promise<Answer>, subjectOf: (scope: Scope) => string, scopeOf: () => Scope | null,
): Asked<Scope, Answer> {
  const figures = useSignal<Figures<Scope, Answer>>({ known: null, isOther: false, isAsking: true, why: "" });
  const questions = useMemo(() => new Questions<Scope, Answer>(ask, subjectOf, (next) => (figures.value = next)), [store]);
  useSignalEffect(() => questions.want(scopeOf(), store.link.value.phase === "open"));
  useEffect(() => () => questions.stop(), [questions]);
  return { ...figures.value, again: () => questions.again() };
}

/** The courses that are drawn, and those of the selected range: the sentences are about these. */
export interface CoursesFound { seen: Courses; chosen: Courses }

export interface CourseQuestion extends CourseScope { subject: string }

export function useCourses(store: Store): Asked<CourseQuestion, CoursesFound> {
  return useAnswers(
    store,
    async ({ seen, chosen, widthNs, ranks }) => {
      const ask = ([from_ns, to_ns]: readonly [number, number]): Promise<Courses> => store.answer("courses", { from_ns, to_ns, bins: windowsIn([from_ns, to_ns], widthNs), ranks });
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
  return useAnswers(store, () => store.answer("criteria"), () => "", () => diagnosedScope(store, CRITERIA_EVERY_S));
}

export function useRemap(store: Store): Asked<DiagnosedScope, Remap> {
  return useAnswers(store, () => store.answer("remap"), () => "", () => diagnosedScope(store, REMAP_EVERY_S));
}
