// The page in its address: what differs from the defaults, as readable names, and the points as
// sixteen-bit numbers. A teacher can hide panels and sliders with `hide=`.

import { h } from "./dom.js";

const UNIT = 1000; // of a coordinate: the page's three decimals
const PLAIN = ["mode", "solver", "rival", "goal", "speed", "theme", "size"];

export function encodeState(state, base) {
  const parts = new URLSearchParams();
  for (const [name, value] of Object.entries(state.settings)) {
    if (value !== base.settings[name]) parts.set(name, value);
  }
  for (const name of PLAIN) if (state[name] !== base[name]) parts.set(name, state[name]);
  const off = Object.keys(state.layers).filter((name) => !state.layers[name]);
  if (off.length) parts.set("off", off.join(","));
  if (state.hide.length) parts.set("hide", state.hide.join(","));
  const { name, n, noise, seed } = state.preset;
  parts.set("preset", [name, n, noise, seed].join(","));
  parts.set("points", packed(state.points));
  return parts.toString().replaceAll("%2C", ",");
}

/** A patch of the state; what cannot be read, or is not in the catalogue, is left as it is. */
export function decodeState(text, base, catalogue) {
  const parts = new URLSearchParams(text.replace(/^#/, ""));
  const patch = { settings: { ...base.settings }, layers: { ...base.layers } };
  for (const [name, value] of parts) {
    if (name in base.settings) patch.settings[name] = typed(name, value, base.settings[name], catalogue);
    else if (PLAIN.includes(name)) patch[name] = typed(name, value, base[name], catalogue);
    else if (name === "off") for (const layer of value.split(",")) patch.layers[layer] = false;
    else if (name === "hide") patch.hide = value.split(",").filter(Boolean);
    else if (name === "preset") {
      const [preset, ...numbers] = value.split(",");
      const [n, noise, seed] = numbers.map(Number);
      if (preset in catalogue.presets && [n, noise, seed].every(Number.isFinite)) patch.preset = { name: preset, n, noise, seed };
    } else if (name === "points") {
      const points = unpacked(value);
      if (points && points.length <= catalogue.limits.points) patch.points = points;
    }
  }
  return patch;
}

function typed(name, text, like, catalogue) {
  if (typeof like === "boolean") return text === "true";
  if (typeof like === "number") {
    const { low = -Infinity, high = Infinity } = catalogue.parameters[name] ?? {};
    return text !== "" && Number(text) >= low && Number(text) <= high ? Number(text) : like;
  }
  const words = { machine: catalogue.machines, kernel: catalogue.kernels, multiclass: catalogue.multiclass,
    solver: catalogue.solvers, rival: catalogue.solvers, mode: { explore: 1, steps: 1, race: 1 },
    theme: { auto: 1, light: 1, dark: 1 }, size: { page: 1, lecture: 1 } }[name];
  return text in words ? text : like;
}

function packed(points) {
  const numbers = Int16Array.from(points.flatMap(([x, y, k]) => [Math.round(x * UNIT), Math.round(y * UNIT), k]));
  let raw = "";
  for (const byte of new Uint8Array(numbers.buffer)) raw += String.fromCharCode(byte);
  return btoa(raw).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function unpacked(text) {
  try {
    const raw = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    if (raw.length % 6) return null;
    const numbers = new Int16Array(Uint8Array.from(raw, (c) => c.charCodeAt(0)).buffer);
    return Array.from({ length: numbers.length / 3 }, (_, i) =>
      [numbers[3 * i] / UNIT, numbers[3 * i + 1] / UNIT, numbers[3 * i + 2]]);
  } catch {
    return null;
  }
}

/** The dialog: which parts to hide, and the address that carries all. */
export function shareDialog({ store, address, tell, parts }) {
  const url = h("input", { type: "text", readonly: true, "aria-label": "Address of this page", name: "address" });
  const frame = h("input", { type: "text", readonly: true, "aria-label": "The same as a frame for slides", name: "embed" });
  const boxes = parts.map(([name, label]) => h("label", {},
    h("input", { type: "checkbox", value: name, onchange: () => change() }), label));
  const element = h("dialog", { class: "share", "aria-label": "Share" },
    h("h2", {}, "Share this page"),
    h("p", {}, "The address carries the points and all settings. Hide what your students should not see:"),
    h("div", { class: "hidables" }, boxes), url,
    h("p", {}, "In slides or a course page, as a frame:"), frame,
    h("div", { class: "row buttons" },
      h("button", { type: "button", class: "button primary", onclick: () => copyAddress() }, "Copy the address"),
      h("button", { type: "button", class: "button", onclick: () => element.close() }, "Close")));
  let hide = [];

  function change() {
    hide = boxes.map((label) => label.firstChild).filter((box) => box.checked).map((box) => box.value);
    url.value = address({ ...store.state, hide });
    frame.value = `<iframe src="${url.value.replaceAll("&", "&amp;")}" width="1100" height="760" title="maxmargin playground"></iframe>`;
  }

  async function copyAddress() {
    url.select();
    try {
      await navigator.clipboard.writeText(url.value);
      tell("The address is copied.");
    } catch {
      tell("Press Ctrl-C to copy the address.");
    }
  }
  return {
    element,
    open() {
      for (const label of boxes) label.firstChild.checked = store.state.hide.includes(label.firstChild.value);
      change();
      element.showModal();
    },
  };
}

/** What a teacher may hide: panels, then single controls. */
export function hidables(catalogue) {
  const panels = { data: "Data", layers: "Layers", machine: "Machine", certificate: "Certificate",
    point: "Point under the pointer", code: "Code", mode: "Step by step, race", lessons: "Lessons" };
  const controls = { preset: "presets", n: "number of points", noise: "noise", kind: "choice of machine",
    kernel: "choice of kernel", offset: "offset", fourier: "Fourier features" };
  const sliders = Object.entries(catalogue.parameters).map(([name, { label }]) => [name, `slider ${label}`]);
  return [...Object.entries(panels), ...Object.entries(controls), ...sliders];
}
