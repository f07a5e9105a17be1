// The code beside the picture: the solver's own lines, the one that ran last lit, and the values
// that lines left in the margin. The arrow keys go through the lines of a step one by one.

import { h, show } from "./dom.js";

export function listingCard() {
  const lines = h("ol", { class: "listing", tabindex: "0", "aria-label": "The solver's code; arrows go line by line",
    onkeydown: (event) => {
      const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!by) return;
      event.preventDefault();
      light(at + by);
    } });
  const element = h("figure", { class: "card wide", "data-control": "listing" }, h("figcaption", {}, "The solver, line by line"), lines);
  let shown = null, ran = [], at = -1;

  /** Light one of the lines that ran; the margin has what is known by then. */
  function light(to) {
    at = Math.min(Math.max(to, 0), ran.length - 1);
    for (const item of lines.children) {
      item.classList.remove("ran", "now");
      item.lastChild.textContent = "";
    }
    ran.slice(0, at + 1).forEach(({ line, values }, k) => {
      const item = lines.children[line];
      item.classList.add("ran");
      item.classList.toggle("now", k === at);
      const told = Object.entries(values).map(([name, value]) => `${name} = ${show(value)}`).join(", ");
      if (told) item.lastChild.textContent = told;
    });
    const item = lines.children[ran[at]?.line];
    if (item) lines.scrollTop = item.offsetTop - lines.offsetTop - lines.clientHeight / 2;
  }

  return {
    element,
    next: () => light(at + 1),
    /** The lines of a solver, and those that ran in its last step. */
    update(listing, steps) {
      element.classList.toggle("absent", !listing.length);
      if (listing !== shown) {
        shown = listing;
        lines.replaceChildren(...listing.map(({ text }) =>
          h("li", {}, h("code", {}, text || " "), h("span", { class: "margin" }))));
      }
      ran = steps;
      light(ran.length - 1);
    },
  };
}
