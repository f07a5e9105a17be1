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
  return { title, place, numbers, words: kkt(at, i, learns, upper) };
}

/** By how much a point of a classifier violates KKT: y·f(x) ≥ 1, = 1 or ≤ 1, by its α. */
export function violation({ alpha, margin, upper }, i) {
  const full = upper != null && alpha[i] >= upper * (1 - 1e-9);
  return alpha[i] === 0 ? 1 - margin[i] : full ? margin[i] - 1 : Math.abs(margin[i] - 1);
}

const NEAR = 0.01; // of its margin: on it, as picture.py has it

/** The case of α, what KKT asks of it, and whether that holds; true at every step of a solver. */
function kkt(at, i, learns, upper) {
  const alpha = at.alpha[i], kind = at.kind?.[i] ?? "";
  const full = upper != null && alpha >= upper * (1 - 1e-9);
  const which = alpha === 0 ? "α = 0" : full ? `α = C = ${show(upper)}` : upper == null ? "α > 0" : "0 < α < C";
  if (learns === "curve") {
    if (alpha && !kind) return "Every point has a weight here.";
    const beyond = at.slack[i];
    const where = kind === "margin" ? "on the edge of the tube" : beyond > NEAR ? "outside the tube, at the price of its slack" : "inside the tube";
    const asks = alpha === 0 ? beyond > NEAR && "a point inside the tube" : full ? kind === "outside" && "a point outside the tube" : kind !== "margin" && "a point on its edge";
    return `${which}: ${where}.${asks ? ` KKT asks for ${asks}.` : ""}`;
  }
  if (learns === "region") {
    const where = kind === "margin" ? "on the border of the region" : at.f[i] < 0 ? "an outlier" : "inside the region";
    return `${alpha === 0 ? "α = 0" : full ? "α at its bound" : "0 < α"}: ${where}.`;
  }
  if (!at.margin) return alpha ? "A support vector of at least one of the binary machines." : "No support vector of any of the binary machines.";
  const m = at.margin[i];
  if (at.kkt === false) return `${alpha ? "Mistakes made here: " + alpha : "No mistake was made here"}. It is on the ${m > 0 ? "right" : "wrong"} side.`;
  const where = Math.abs(m - 1) <= NEAR ? "on the margin" : m > 1 ? "outside the margin" : m > 0 ? "inside the margin" : "on the wrong side";
  const by = violation(at, i), sign = alpha === 0 ? "≥" : full ? "≤" : "=";
  return by > NEAR
    ? `${which}, but ${where}: KKT asks y·f(x) ${sign} 1, violated by ${show(by)}.`
    : `${which}, y·f(x) ${sign} 1: ${where}.${alpha === 0 ? " The machine would be the same without it." : ""}`;
}
