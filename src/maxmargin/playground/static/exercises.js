// Exercises: steps of a lesson that check themselves. A goal is a list of [measure, relation,
// value] that the page must reach; a choice is made by clicking points.

import { describe, violation } from "./words.js";

const TOLERANCE = 0.01; // of KKT, as the marks have it

const RELATIONS = {
  "=": (a, b) => a === b,
  "<": (a, b) => a < b,
  ">": (a, b) => a > b,
  "≤": (a, b) => a <= b,
  "≥": (a, b) => a >= b,
  contains: (a, b) => Boolean(a?.includes(b)),
};

/** How many points a choice has, and whether a point is a right one: of α, its bound, and KKT. */
export const CHOICES = {
  pair: { count: 2 },
  idle: { count: 1, right: (at, i) => at.alpha[i] === 0 },
  bound: { count: 1, right: (at, i) => at.alpha[i] >= at.upper * (1 - 1e-9) },
  violator: { count: 1, right: (at, i) => violation(at, i) > TOLERANCE },
  satisfied: { count: 1, right: (at, i) => violation(at, i) <= TOLERANCE },
};

/** Whether a goal is reached; the value of a condition may be another measure. */
export function reached(goal, measures) {
  return goal.every(([name, relation, value]) =>
    measures[name] != null && RELATIONS[relation](measures[name], measures[value] ?? value));
}

/** What is known of the page now: settings by their names, and what the machine has come to. */
export function measures({ state, model, lane, ended }) {
  const { points, settings, solver, mode } = state;
  const fit = model.fit?.points === points && model.fit?.settings === settings ? model.fit : null;
  const told = mode === "explore"
    ? { "support vectors": fit?.support, accuracy: fit?.score.value, gap: fit?.certificate?.gap,
      "α of the last point": fit?.at.alpha?.at(-1), problem: model.problem }
    : { status: ended ? lane?.status : null, steps: lane?.steps, gap: lane?.gap, accuracy: lane?.accuracy };
  return { ...settings, solver, mode, points: points.length, ...told };
}

/** Whether a point was the right choice, and the words that say why. */
export function judged(kind, i, point, at, learns) {
  return { right: CHOICES[kind].right(at, i), why: describe(i, point, at, learns, at.upper).words };
}
