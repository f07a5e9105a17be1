// The box of a pair step: α_i and α_j between 0 and C, the line they move along, L and H, where
// the step would go without bounds, and where it ends.

import { h, s, show } from "./dom.js";

const SIDE = 150;
const MARGIN = 30;

export function stepBox() {
  const svg = s("svg", { viewBox: `0 0 ${SIDE + 2 * MARGIN} ${SIDE + 2 * MARGIN}`, class: "box", role: "img" });
  const numbers = h("dl", { class: "numbers filled" });
  const hint = h("p", { class: "about" }, "Take a step that moves a pair: its box appears here.");
  const element = h("figure", { class: "card wide", "data-control": "box" },
    h("figcaption", {}, "The step and its box"), h("div", { class: "step" }, svg, numbers), hint);
  return {
    element,
    update(box) {
      svg.replaceChildren(...(box ? drawn(box) : []));
      element.classList.toggle("empty", !box);
      hint.classList.toggle("absent", Boolean(box));
      const told = box?.formulas ?? [];
      numbers.replaceChildren(...told.flatMap(([name, formula, value]) =>
        [h("dt", {}, name), h("dd", { title: formula, "data-value": name, "data-exact": value }, show(value)),
          h("dd", { class: "formula" }, formula)]));
      svg.setAttribute("aria-label", told.map(([name, , value]) => `${name} ${show(value)}`).join(", "));
    },
  };
}

function drawn({ names, bounds, along }) {
  const single = names.length === 1;
  const pair = (place) => (single ? [place[0], 0] : place);
  const most = Math.max(...Object.values(along).map((place) => Math.max(...place.map(Math.abs))), 1e-9);
  const ends = [bounds[0] ?? 1.25 * most, (single ? bounds[0] : bounds[1]) ?? 1.25 * most];
  const xy = (place) => {
    const [a, b] = pair(place);
    return [MARGIN + (a / ends[0]) * SIDE, MARGIN + SIDE - (b / ends[1]) * SIDE];
  };
  const [start, low, high, best, end] = ["start", "low", "high", "unclipped", "clipped"].map(
    (key) => along[key] && xy(along[key]));
  const shown = within(start, best);
  const cut = shown !== best;
  const line = (from, to, name) => s("line", { x1: from[0], y1: from[1], x2: to[0], y2: to[1], class: name });
  const dot = (at, name, r) => s("circle", { cx: at[0], cy: at[1], r, class: name });
  const text = (x, y, content, name = "") => s("text", { x, y, class: name }, content);
  const label = (at, content) => {
    const left = at[0] < MARGIN + SIDE / 2;
    return text(at[0] + (left ? -8 : 8), at[1] + 4, content, left ? "name end" : "name");
  };
  const range = low && high;
  return [
    s("rect", { x: MARGIN, y: MARGIN, width: SIDE, height: SIDE, class: "bounds" }),
    text(MARGIN + SIDE / 2, SIDE + 2 * MARGIN - 6, `α${small(names[0])}`, "middle axis"),
    single ? null : text(MARGIN, MARGIN - 10, `α${small(names[1])}`, "middle axis"),
    text(MARGIN, MARGIN + SIDE + 14, "0", "middle"),
    text(MARGIN + SIDE, MARGIN + SIDE + 14, bounds[0] == null ? "→ ∞" : "C", "middle"),
    single ? null : text(MARGIN - 6, MARGIN + 4, bounds[1] == null ? "∞" : "C", "end"),
    line(start, shown, "wish"),
    range ? line(low, high, "range") : null,
    range ? label(low, "L") : null,
    range ? label(high, "H") : null,
    range ? dot(low, "end", 3) : null,
    range ? dot(high, "end", 3) : null,
    line(start, end, "taken"),
    cut ? null : s("path", { d: `M${best[0] - 4} ${best[1] - 4}l8 8m0-8l-8 8`, class: "best" }),
    dot(start, "start", 4.5),
    dot(end, "clipped", 5),
  ].filter(Boolean);
}

/** The unclipped optimum, or where the way to it leaves the picture. */
function within(from, to) {
  const size = SIDE + 2 * MARGIN - 6;
  let t = 1;
  for (const axis of [0, 1]) {
    const d = to[axis] - from[axis];
    if (d > 0) t = Math.min(t, (size - from[axis]) / d);
    if (d < 0) t = Math.min(t, (6 - from[axis]) / d);
  }
  return t >= 1 ? to : [from[0] + t * (to[0] - from[0]), from[1] + t * (to[1] - from[1])];
}

const small = (name) => [...name].map((c) => "₀₁₂₃₄₅₆₇₈₉"[c] ?? c).join("");
