// The machine panel: what to train, with which kernel, and the sliders that these have.

import { chips, panel, select, slider, toggle } from "./controls.js";
import { h } from "./dom.js";

const SHORT = {
  linear: "linear", homogeneous: "poly", polynomial: "poly+1", rbf: "Gauss",
  laplacian: "Laplace", sigmoid: "sigmoid", sum: "sum",
};

export function machinePanel({ store, catalogue }) {
  const machine = select("kind", "machine",
    Object.fromEntries(Object.entries(catalogue.machines).map(([name, { label }]) => [name, label])),
    (name) => store.setting({ machine: name }));
  const about = h("p", { class: "about" });
  const kernel = chips("kernel", "Kernel", SHORT, (name) => store.setting({ kernel: name }));
  const formula = h("p", { class: "formula" });
  const sliders = Object.fromEntries(Object.entries(catalogue.parameters).map(([name, each]) =>
    [name, slider(name, each, (value) => store.setting({ [name]: value }))]));
  const multiclass = chips("multiclass", "Several classes",
    Object.fromEntries(Object.entries(catalogue.multiclass)), (value) => store.setting({ multiclass: value }));
  const offset = toggle("offset", "offset b", (on) => store.setting({ offset: on }));
  const fourier = toggle("fourier", "Fourier features", (on) => store.setting({ fourier: on }));
  const order = ["C", "epsilon", "nu", "ridge", "gamma", "degree", "coef0", "mix"];
  const element = panel("machine", "Machine", machine.element, about, kernel.element, formula,
    order.map((name) => sliders[name].element), multiclass.element,
    h("div", { class: "row" }, offset.element, fourier.element), sliders.features.element);
  const shown = (control, on) => control.element.classList.toggle("absent", !on);

  return {
    element,
    update({ settings, points }) {
      const chosen = catalogue.machines[settings.machine];
      const k = catalogue.kernels[settings.kernel];
      machine.set(settings.machine);
      kernel.set(settings.kernel);
      multiclass.set(settings.multiclass);
      offset.set(settings.offset);
      fourier.set(settings.fourier);
      about.textContent = `${chosen.about}; learns ${
        { classes: "the class of a point", curve: "the height from x", region: "a region" }[chosen.learns]}`;
      formula.textContent = `k(x, z) = ${k.formula}`;
      const used = [...chosen.parameters, ...k.parameters];
      for (const name of order) {
        shown(sliders[name], used.includes(name));
        sliders[name].set(settings[name]);
      }
      const spectral = chosen.switches.includes("fourier") && k.spectral;
      const several = new Set(points.map((point) => point[2])).size > 2;
      shown(multiclass, chosen.switches.includes("multiclass") && several);
      shown(offset, chosen.switches.includes("offset"));
      shown(fourier, spectral);
      shown(sliders.features, spectral && settings.fourier);
      sliders.features.set(settings.features);
    },
  };
}
