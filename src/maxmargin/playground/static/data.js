// The data panel: presets, noise and size, the class and the tool in hand, and files.

import { button, chips, panel, slider } from "./controls.js";
import { formatCSV, parseCSV, sampled } from "./csv.js";
import { h, letter, s } from "./dom.js";
import { icon } from "./icons.js";
import { shapePath } from "./points.js";

const SIZE = { label: "points", low: 10, high: 400, log: true, whole: true, about: "how many" };
const NOISE = { label: "noise", low: 0, high: 1, log: false, about: "how much" };
const COLUMNS = 4; // classes that are offered; more by number keys

export function dataPanel({ store, catalogue, ask, tell }) {
  const fetch = (patch) => {
    const preset = { ...store.state.preset, ...patch };
    store.set({ preset });
    ask("preset", preset);
  };
  const presets = chips("preset", "Presets", Object.fromEntries(
    Object.entries(catalogue.presets).map(([name, each]) => [name, thumbnail(each)])), (name) => fetch({ name }));
  const size = slider("n", SIZE, (n) => fetch({ n }));
  const noise = slider("noise", NOISE, (value) => fetch({ noise: value }));
  const classes = chips("klass", "Class to draw", Object.fromEntries(
    Array.from({ length: COLUMNS }, (_, k) => [k, swatch(k)])), (k) => store.set({ klass: Number(k), tool: "add" }));
  const tools = chips("tool", "Tool", {
    add: [icon("add"), "draw"], brush: [icon("brush"), "brush"], erase: [icon("erase"), "erase"],
  }, (tool) => store.set({ tool }));
  const input = h("input", { type: "file", accept: ".csv,.txt,text/csv", hidden: true,
    onchange: async () => {
      if (input.files[0]) load(await input.files[0].text());
      input.value = "";
    } });

  function load(text) {
    try {
      const { points, scaled, names } = parseCSV(text, catalogue.limits);
      const most = catalogue.limits.points, number = (n) => n.toLocaleString("en");
      const show = (shown) => {
        store.set({ points: shown });
        tell(`${number(shown.length)} points${shown.length < points.length ? ` of ${number(points.length)}` : ""}, `
          + `${names.length} ${names.length === 1 ? "class" : "classes"}`
          + (scaled ? ", moved and scaled into the square" : ""));
      };
      if (points.length <= most) show(points);
      else tell(`${number(points.length)} rows are more than the ${number(most)} that the page takes.`, true,
        button("sample", `take ${number(most)} at random`, () => show(sampled(points, most))));
    } catch (error) {
      tell(`This CSV could not be read: ${error.message}.`, true);
    }
  }

  const element = panel("data", "Data", presets.element, size.element, noise.element,
    h("div", { class: "row drawing" }, classes.element),
    h("div", { class: "row drawing" }, tools.element),
    h("div", { class: "row buttons" },
      button("open", "CSV", () => input.click(), { icon: icon("file"), title: "Open a CSV file, or drop or paste one" }),
      button("clear", "clear", () => store.set({ points: [] }), { icon: icon("trash"), title: "Remove all points" }),
      button("seed", "again", () => fetch({ seed: store.state.preset.seed + 1 }),
        { icon: icon("restart"), title: "Other points of the same preset" })),
    input);
  return {
    element,
    load,
    csv: () => formatCSV(store.state.points),
    update(state) {
      presets.set(state.preset.name);
      size.set(state.preset.n);
      noise.set(state.preset.noise);
      classes.set(state.tool === "erase" ? "" : String(state.klass));
      tools.set(state.tool);
    },
  };
}

/** A preset in small. */
function thumbnail({ label, sample }) {
  const dots = sample.map(([x, y, k]) =>
    s("path", { class: `class-${k}`, d: shapePath(k), transform: `translate(${x * 8} ${-y * 8}) scale(1.7)` }));
  return [s("svg", { viewBox: "-26 -26 52 52", class: "thumbnail", "aria-hidden": "true" }, dots),
    h("span", {}, label)];
}

function swatch(k) {
  return [s("svg", { viewBox: "-2 -2 4 4", class: `swatch class-${k}`, "aria-hidden": "true" },
    s("path", { d: shapePath(k) })), h("span", {}, letter(k))];
}
