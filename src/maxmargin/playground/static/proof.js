// The certificate as it closes, and what the hovered point is to the machine.

import { panel, toggle } from "./controls.js";
import { h, put, show } from "./dom.js";
import { describe } from "./words.js";

const ROWS = { primal: "primal", dual: "dual", gap: "gap", kkt_violation: "worst KKT violation" };

export function proofPanel() {
  const cells = Object.fromEntries(Object.keys(ROWS).map((name) => [name, h("dd", { "data-value": name })]));
  const bar = h("div", { class: "bracket", "aria-hidden": "true" },
    h("span", { class: "dual" }), h("span", { class: "gap" }), h("span", { class: "primal" }));
  const status = h("p", { class: "status" });
  const cost = h("p", { class: "about" });
  const element = panel("certificate", "Certificate", bar,
    h("dl", { class: "numbers" }, Object.entries(ROWS).map(([name, label]) =>
      [h("dt", { class: name }, label), cells[name]])), status, cost);
  return {
    element,
    /** The numbers of a fit's certificate, or of a step; null with the reason why there are none. */
    update(proof, note = "", why = "") {
      element.classList.toggle("empty", !proof);
      for (const name of Object.keys(ROWS)) {
        const unbounded = name === "gap" && proof?.no_bound;
        cells[name].textContent = !proof ? "–" : unbounded ? "no bound" : show(proof[name], 5);
        if (proof) put(cells[name], "data-exact", unbounded ? "" : proof[name]);
      }
      const known = proof && Number.isFinite(proof.primal) && Number.isFinite(proof.gap);
      const scale = known ? Math.max(Math.abs(proof.primal), Math.abs(proof.dual), 1e-12) : 1;
      bar.style.setProperty("--share", known ? `${100 * Math.min(proof.gap / scale, 1)}%` : "100%");
      const claim = proof?.no_bound || (proof?.status ?? why);
      status.textContent = claim;
      put(status, "data-status", proof?.no_bound ? "no bound" : proof?.status ?? "");
      cost.textContent = note;
    },
  };
}

export function pointPanel({ store }) {
  const title = h("h3", {});
  const numbers = h("dl", { class: "numbers" });
  const words = h("p", { class: "words" });
  const leave = toggle("leave-out", "leave it out", (on) => store.set({ leaveOut: on }));
  const verdict = h("p", { class: "verdict", "aria-live": "polite" });
  const element = panel("point", "Point under the pointer", leave.element, title, numbers, words, verdict);
  return {
    element,
    update(i, point, at, learns, without) {
      leave.set(store.state.leaveOut);
      const told = point ? describe(i, point, at, learns, at?.upper) : null;
      title.textContent = told ? `${told.title} at ${told.place}` : "Point at one to read it";
      numbers.replaceChildren(...(told?.numbers ?? []).flatMap(([name, value]) =>
        [h("dt", {}, name), h("dd", {}, value)]));
      words.textContent = told?.words ?? "";
      verdict.textContent = told && without?.row === i ? leftOut(without) : "";
    },
  };
}

function leftOut({ row, change, support, why }) {
  if (why) return `Without point ${row}: ${why}`;
  if (change === null) return `Without point ${row} there is another number of classes.`;
  const by = `f changes by at most ${show(change, 2)}`;
  return support
    ? `Without point ${row}, a support vector, the machine moves: ${by}.`
    : `Without point ${row} nothing moves: ${by}. It is not a support vector.`;
}
