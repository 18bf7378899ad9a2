// Questions that follow what is looked at, as long as somebody looks.

import { useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { type Figures, Questions } from "../state/questions";
import type { Store } from "../state/store";

/** What is known, and how to ask once more where there was no answer. */
export interface Asked<Scope, Answer> extends Figures<Scope, Answer> { again(): void }

/** `scopeOf` reads signals: what is asked for follows them. */
export function useAnswers<Scope, Answer>(
  store: Store, ask: (scope: Scope) => Promise<Answer>, subjectOf: (scope: Scope) => string, scopeOf: () => Scope | null,
): Asked<Scope, Answer> {
  const figures = useSignal<Figures<Scope, Answer>>({ known: null, isOther: false, isAsking: true, why: "" });
  const questions = useMemo(() => new Questions<Scope, Answer>(ask, subjectOf, (next) => (figures.value = next)), [store]);
  useSignalEffect(() => questions.want(scopeOf(), store.link.value.phase === "open"));
  useEffect(() => () => questions.stop(), [questions]);
  return { ...figures.value, again: () => questions.again() };
}
