// What a point is to the machine, in words: its α, y·f(x), slack, and the KKT case it is in.

import { letter, show } from "./dom.js";

const ROUNDING = 1e-9; // slack below is that of a point on its margin

/** Lines of [name, value], and the case as a sentence. */
export function describe(i, point, at, learns, upper) {
  const place = `(${show(point[0])}, ${show(point[1])})`;
  const title = learns === "classes" ? `Point ${i}, class ${letter(point[2])}` : `Point ${i}`;
  if (!at || at.alpha?.[i] === undefined) return { title, place, numbers: [], words: "" };
  const alpha = at.alpha[i];
  const numbers = [["α", show(alpha)]];
  if (at.margin) numbers.push(["y·f(x)", show(at.margin[i])]);
  if (at.residual) numbers.push(["y − f(x)", show(at.residual[i])]);
  if (learns === "region" && at.f) numbers.push(["f(x)", show(at.f[i])]);
  if (at.slack) numbers.push(["slack ξ", show(at.slack[i] < ROUNDING ? 0 : at.slack[i])]);
  return { title, place, numbers, words: kkt(at.kind?.[i] ?? "", alpha, upper, learns) };
}

function kkt(kind, alpha, upper, learns) {
  const bound = upper == null ? "" : ` = C = ${show(upper)}`;
  const full = upper != null && alpha >= upper * (1 - 1e-9);
  if (learns === "curve") {
    if (!kind) return alpha ? "Every point has a weight here." : "α = 0: inside the tube, it costs nothing.";
    return kind === "margin"
      ? "0 < α < C: on the edge of the tube, a support vector."
      : `α${full ? bound : ""}: outside the tube, at the price of its slack.`;
  }
  if (learns === "region") {
    if (!kind) return "α = 0: well inside the region, not needed.";
    return kind === "margin" ? "On the border of the region." : "α = its bound: an outlier.";
  }
  const cases = {
    "": "α = 0, y·f(x) ≥ 1: outside the margin. The machine would be the same without it.",
    margin: full
      ? `α${bound}, y·f(x) = 1: on the margin, at its bound.`
      : "0 < α < C, y·f(x) = 1: on the margin. It holds the boundary.",
    inside: `α${bound}, 0 < y·f(x) < 1: inside the margin, at the price of its slack.`,
    wrong: `α${bound}, y·f(x) ≤ 0: on the wrong side. Its slack is more than 1.`,
    support: "A support vector of at least one of the binary machines.",
  };
  return cases[kind] ?? "";
}
