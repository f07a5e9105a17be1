// The layers of the picture: switches that are its legend too.

import { panel, toggle } from "./controls.js";
import { h, s } from "./dom.js";
import { MARKS } from "./points.js";
import { LAYERS } from "./store.js";

const SIGNS = {
  shade: ["rect", { x: -2.4, y: -2.4, width: 4.8, height: 4.8, class: "sign-shade" }],
  boundary: ["path", { d: "M-3 2C-1-3 1 3 3-2", class: "sign-line" }],
  margins: ["path", { d: "M-3 2C-1-3 1 3 3-2", class: "sign-line sign-dash" }],
  support: ["path", { d: MARKS.margin, class: "sign-line" }],
  slack: ["path", { d: "M-2.5 2.5L2.5-2.5", class: "sign-line sign-thin" }],
  ambiguous: ["path", { d: "M-3 0L0-3M-3 3L3-3M0 3L3 0", class: "sign-line sign-thin" }],
  size: ["path", { d: "M-2.4 1.2m-.6 0a.6.6 0 1 0 1.2 0a.6.6 0 1 0-1.2 0M1.4 0m-1.6 0a1.6 1.6 0 1 0 3.2 0a1.6 1.6 0 1 0-3.2 0", class: "sign-fill" }],
};

// What a mark says of a point with α > 0, by what the machine learns.
const KINDS = {
  classes: { margin: "on the margin", inside: "inside it", wrong: "wrong side", outside: "outside it" },
  sides: { support: "right side", wrong: "wrong side" },
  curve: { margin: "on the tube's edge", wrong: "outside it", outside: "inside it" },
  region: { margin: "on the border", wrong: "outlier", outside: "inside" },
};

export function layersPanel({ store, catalogue }) {
  const switches = Object.entries(LAYERS).map(([name, label]) => {
    const [tag, attributes] = SIGNS[name];
    const sign = s("svg", { viewBox: "-3.4 -3.4 6.8 6.8", class: "sign", "aria-hidden": "true" }, s(tag, attributes));
    const change = (on) => store.set({ layers: { ...store.state.layers, [name]: on } });
    return [name, toggle(`layer-${name}`, label, change, sign)];
  });
  const legend = h("ul", { class: "legend", "aria-label": "Marks of points with α > 0" });
  const element = panel("layers", "Layers", switches.map(([, each]) => each.element), legend);
  return {
    element,
    /** `learns` is what the machine learns; while a solver steps, α > 0 can be outside the margin. */
    update({ layers, mode, settings, points }, learns) {
      const several = mode === "explore" && new Set(points.map((point) => point[2])).size > 2;
      const plain = learns === "classes" && (several || !catalogue.machines[settings.machine].margins);
      for (const [name, each] of switches) each.set(layers[name]);
      legend.replaceChildren(...Object.entries(KINDS[plain ? "sides" : learns])
        .filter(([kind]) => kind !== "outside" || mode !== "explore")
        .map(([kind, words]) => h("li", {},
          s("svg", { viewBox: "-3 -3 6 6", "aria-hidden": "true" }, s("path", { d: MARKS[kind], class: "mark" })), words)));
    },
  };
}
