// Elements from JavaScript, and numbers as people read them.

const SVG_SPACE = "http://www.w3.org/2000/svg";

/** An element with attributes, listeners (`onclick` and the like) and children. */
export function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** The same for SVG. */
export function s(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG_SPACE, tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child != null));
  return element;
}

/** Set an attribute only if it changes: writing is slow, comparing is not. */
export function put(element, name, value) {
  const text = String(value);
  if (element.getAttribute(name) !== text) element.setAttribute(name, text);
}

export const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

/** Three digits, with a true minus, and powers of ten where they are shorter. */
export function show(value, digits = 3) {
  if (value == null || !Number.isFinite(value)) return "∞";
  if (value === 0) return "0";
  const size = Math.abs(value);
  const text =
    size >= 1e5 || size < 1e-3
      ? value.toExponential(digits - 1).replace(/\.?0*e([+-])(\d+)/, (_, sign, power) =>
          `·10${superscript((sign === "-" ? "-" : "") + power)}`)
      : String(Number(value.toPrecision(digits)));
  return text.replace("-", "−");
}

function superscript(text) {
  return [...text].map((c) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[c] ?? "⁻").join("");
}

/** A name for each class. */
export const letter = (k) => "ABCDEFGH"[k];

/** Ask for a function to be run at the next frame, once however often it is asked. */
export function eachFrame(work) {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      work();
    });
  };
}

/** Run some time after the last call. */
export function later(work, wait) {
  let timer;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(work, wait);
  };
}
