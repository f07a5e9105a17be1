// Lessons: guided tours, each a few page states with a sentence or two.

import { button } from "./controls.js";
import { h } from "./dom.js";
import { icon } from "./icons.js";

export function lessons({ list, apply }) {
  let lesson = null, at = 0;
  const title = h("h2", {});
  const count = h("span", { class: "count" });
  const text = h("p", { class: "lesson-text", "aria-live": "polite" });
  const back = button("lesson-back", "back", () => turn(at - 1));
  const next = button("lesson-next", "next", () => (at + 1 < lesson.steps.length ? turn(at + 1) : close()));
  const end = button("lesson-close", "", () => close(), { icon: icon("close"), title: "End the lesson" });
  const card = h("section", { class: "lesson absent", "aria-label": "Lesson", "data-control": "lesson" },
    h("header", {}, title, count), text, h("div", { class: "turn" }, back, next, end));
  const menu = h("select", { name: "lesson", "aria-label": "Lessons", "data-control": "lessons",
    onchange: () => open(Number(menu.value)) },
    h("option", { value: -1 }, "Lessons"), list.map((each, i) => h("option", { value: i }, `${i + 1}. ${each.title}`)));

  function open(i) {
    if (!list[i]) return close();
    lesson = list[i];
    menu.value = i;
    card.classList.remove("absent");
    turn(0);
  }

  function turn(to) {
    at = Math.min(Math.max(to, 0), lesson.steps.length - 1);
    const step = lesson.steps[at];
    title.textContent = lesson.title;
    count.textContent = `${at + 1} of ${lesson.steps.length}`;
    text.textContent = step.text;
    back.disabled = at === 0;
    next.lastChild.textContent = at + 1 < lesson.steps.length ? "next" : "done";
    apply({ ...lesson.start, ...step.state, settings: { ...lesson.start.settings, ...step.state?.settings } });
  }

  function close() {
    lesson = null;
    menu.value = -1;
    card.classList.add("absent");
  }
  return { menu, card, open, close };
}
