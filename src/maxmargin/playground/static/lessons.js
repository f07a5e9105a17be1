// Lessons: guided tours, each a few page states with a sentence or two, and exercises among them.

import { button } from "./controls.js";
import { h } from "./dom.js";
import { CHOICES } from "./exercises.js";
import { icon } from "./icons.js";

/** `apply(state)` shows a state, `judge(kind, rows)` says whether a choice is right, and why. */
export function lessons({ list, apply, judge, redraw }) {
  let lesson = null, at = 0, chosen = [], solved = false;
  const title = h("h2", {});
  const count = h("span", { class: "count" });
  const text = h("p", { class: "lesson-text", "aria-live": "polite" });
  const verdict = h("p", { class: "exercise-verdict", role: "status" });
  const back = button("lesson-back", "back", () => turn(at - 1));
  const next = button("lesson-next", "next", () => (at + 1 < lesson.steps.length ? turn(at + 1) : close()));
  const hint = button("lesson-hint", "hint", () => tell(step().hint, "hint"));
  const check = button("lesson-check", "check", () => examine());
  const end = button("lesson-close", "", () => close(), { icon: icon("close"), title: "End the lesson" });
  const card = h("section", { class: "lesson absent", "aria-label": "Lesson", "data-control": "lesson" },
    h("header", {}, title, count), h("div", {}, text, verdict),
    h("div", { class: "turn" }, hint, check, back, next, end));
  const menu = h("select", { name: "lesson", "aria-label": "Lessons", "data-control": "lessons",
    onchange: () => open(Number(menu.value)) },
    h("option", { value: -1 }, "Lessons"), list.map((each, i) => h("option", { value: i }, `${i + 1}. ${each.title}`)));

  const step = () => lesson?.steps[at] ?? {};
  const tell = (words, kind) => {
    verdict.textContent = words;
    verdict.dataset.kind = kind;
  };

  function open(i) {
    if (!list[i]) return close();
    lesson = list[i];
    menu.value = i;
    card.classList.remove("absent");
    turn(0);
  }

  function turn(to) {
    at = Math.min(Math.max(to, 0), lesson.steps.length - 1);
    [chosen, solved] = [[], false];
    title.textContent = lesson.title;
    count.textContent = `${at + 1} of ${lesson.steps.length}`;
    text.textContent = step().text;
    tell("", "");
    back.disabled = at === 0;
    next.lastChild.textContent = at + 1 < lesson.steps.length ? "next" : "done";
    hint.classList.toggle("absent", !step().hint);
    check.classList.toggle("absent", !step().exercise?.choose);
    const own = step().state;
    apply({ ...lesson.start, ...own, settings: { ...lesson.start.settings, ...own?.settings } });
  }

  function close() {
    lesson = null;
    chosen = [];
    menu.value = -1;
    card.classList.add("absent");
    redraw();
  }

  async function examine() {
    const kind = step().exercise.choose, { count: wanted } = CHOICES[kind];
    if (chosen.length < wanted) return tell(wanted === 2 ? "Click two points first." : "Click a point first.", "wrong");
    const { right, why } = await judge(kind, chosen);
    solved = right;
    tell(`${right ? "✓ Right." : "✗ Not this."} ${why}`, right ? "right" : "wrong");
  }

  return {
    menu, card, open, close,
    get id() { return lesson?.id ?? null; },
    get goal() { return solved ? null : step().exercise?.goal; },
    get choosing() { return Boolean(step().exercise?.choose); },
    get chosen() { return chosen; },
    index: (id) => list.findIndex((each) => each.id === id),
    /** A point was clicked in an exercise that asks for one: the newest clicks count. */
    choose(i) {
      const { count: wanted } = CHOICES[step().exercise.choose];
      chosen = chosen.includes(i) ? chosen.filter((one) => one !== i) : [...chosen, i].slice(-wanted);
      redraw();
    },
    /** The goal of this step is reached. */
    solve() {
      solved = true;
      tell("✓ Right.", "right");
    },
  };
}
