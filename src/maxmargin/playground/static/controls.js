// Sliders, switches and choices, with labels that a screen reader finds.

import { clamp, h, put, show } from "./dom.js";

const NOTCHES = 1000; // positions of a slider

/** A number as it can be typed again. */
const plain = (v) => String(Number(v.toPrecision(6)));

let numbered = 0;
const fresh = () => `playground-${numbered++}`;

/** A slider for a parameter of the catalogue; `change(value)` while it moves. */
export function slider(name, { label, low, high, log, whole, about }, change) {
  const id = fresh();
  const input = h("input", { type: "range", id, min: 0, max: NOTCHES, step: 1, name });
  const typed = h("input", { type: "text", inputmode: "decimal", class: "typed", "aria-label": `${label}, typed`,
    title: `${plain(low)} to ${plain(high)}`, onchange: () => type() });
  const element = h("div", { class: "slider", "data-control": name, title: about },
    h("label", { for: id }, label), typed, input);
  const value = (at) => {
    const t = at / NOTCHES;
    const raw = log ? low * (high / low) ** t : low + (high - low) * t;
    return whole ? Math.round(raw) : clamp(Number(raw.toPrecision(3)), low, high);
  };
  const notch = (v) => {
    const t = log ? Math.log(v / low) / Math.log(high / low) : (v - low) / (high - low);
    return Math.round(t * NOTCHES);
  };
  let displayed;
  const display = (v) => {
    if (v === displayed) return;
    displayed = v;
    typed.value = plain(v);
    put(input, "aria-valuetext", `${label} ${show(v)}`);
    input.style.setProperty("--filled", `${notch(v) / (NOTCHES / 100)}%`);
  };
  /** What is typed counts if it is a number of the range; else the value stays as it is. */
  const type = () => {
    const v = Number(typed.value.trim().replace(",", ".").replace("−", "-"));
    const right = typed.value.trim() !== "" && v >= low && v <= high && (!whole || Number.isInteger(v));
    typed.setCustomValidity(right ? "" : `${label} goes from ${plain(low)} to ${plain(high)}${whole ? ", whole" : ""}`);
    if (!right) {
      typed.reportValidity();
      typed.value = plain(displayed);
      return;
    }
    input.value = notch(v);
    display(v);
    change(v);
  };
  input.addEventListener("input", () => {
    display(value(Number(input.value)));
    change(value(Number(input.value)));
  });
  // A page key or an arrow should do something that can be seen.
  input.addEventListener("keydown", (event) => {
    const by = { ArrowUp: 20, ArrowRight: 20, ArrowDown: -20, ArrowLeft: -20 }[event.key];
    if (!by) return;
    event.preventDefault();
    const one = whole && !log; // whole numbers one by one, if they are few
    const next = one
      ? notch(clamp(value(Number(input.value)) + Math.sign(by), low, high))
      : Number(input.value) + by;
    input.value = clamp(next, 0, NOTCHES);
    input.dispatchEvent(new Event("input"));
  });
  return {
    element,
    set(v) {
      if (v === displayed) return;
      input.value = notch(v);
      display(v);
    },
  };
}

/** A switch. */
export function toggle(name, label, change, icon = null) {
  const id = fresh();
  const input = h("input", { type: "checkbox", id, name, role: "switch",
    onchange: () => change(input.checked) });
  const element = h("label", { class: "toggle", for: id, "data-control": name },
    input, h("span", { class: "knob", "aria-hidden": "true" }), icon, h("span", {}, label));
  return { element, set: (on) => { input.checked = on; } };
}

/** A list of names to choose one from. */
export function select(name, label, choices, change) {
  const id = fresh();
  const input = h("select", { id, name, onchange: () => change(input.value) },
    Object.entries(choices).map(([value, text]) => h("option", { value }, text)));
  const element = h("div", { class: "select", "data-control": name },
    h("label", { for: id }, label), input);
  return { element, set: (value) => { input.value = value; } };
}

/** A few choices side by side, of which one is pressed. */
export function chips(name, label, choices, change) {
  const buttons = Object.entries(choices).map(([value, content]) =>
    h("button", { type: "button", role: "radio", "data-value": value, class: "chip",
      onclick: () => change(value), onkeydown: (event) => walk(event) }, content));
  const element = h("div", { class: "chips", role: "radiogroup", "aria-label": label, "data-control": name },
    buttons);
  const walk = (event) => {
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    const next = buttons[(buttons.indexOf(event.target) + by + buttons.length) % buttons.length];
    next.focus();
    next.click();
  };
  return {
    element,
    set(value) {
      for (const button of buttons) {
        const on = button.dataset.value === value;
        put(button, "aria-checked", on);
        put(button, "tabindex", on ? 0 : -1);
      }
    },
  };
}

/** A button with an icon and a name. */
export function button(name, label, action, { icon = null, title = label } = {}) {
  return h("button", { type: "button", class: "button", "data-control": name, title, "aria-label": title,
    onclick: action }, icon, icon && !label ? null : h("span", {}, label));
}

/** A titled part of the page that can be folded and hidden. */
export function panel(name, title, ...children) {
  return h("details", { class: "panel", "data-control": name, open: true },
    h("summary", {}, h("h2", {}, title)), h("div", { class: "content" }, children));
}
