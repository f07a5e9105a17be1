// The plane: a square with the field below and the points above. A race has two.

import { unpack } from "./arrays.js";
import { colorsOf } from "./colors.js";
import { h, s } from "./dom.js";
import { Field } from "./field.js";
import { PointLayer } from "./points.js";

export class Plane {
  constructor(label) {
    this.canvas = h("canvas", { class: "field", "aria-hidden": "true" });
    this.svg = s("svg", { class: "points", "aria-hidden": "true" });
    this.caption = h("div", { class: "caption" });
    this.tip = h("div", { class: "tip", hidden: true, "aria-hidden": "true" });
    this.element = h("div", { class: "plane", role: "application", tabindex: "0", "aria-label": label },
      this.canvas, this.svg, this.caption, this.tip);
    this.field = new Field(this.canvas);
    this.points = new PointLayer(this.svg);
    this.size = 0;
    this.shown = { from: undefined, to: null }; // the field that was unpacked last
  }

  /** Call `changed` whenever the plane gets another width. */
  watch(changed) {
    new ResizeObserver(([entry]) => {
      this.size = entry.contentRect.width;
      if (!this.size) return;
      this.field.resize(this.size);
      this.points.resize(this.size);
      changed();
    }).observe(this.element);
  }

  unpacked(field) {
    if (this.shown.from !== field) this.shown = { from: field, to: unpack(field) };
    return this.shown.to;
  }

  /** `what` has points, field, at, layers, chosen, hover, other, learns; the field is drawn only
   * if it is another one, for most frames of a drag just move a point. */
  draw(what) {
    if (!this.size) return;
    const field = this.unpacked(what.field);
    const present = [...new Set(what.points.map((point) => point[2]))].sort((a, b) => a - b);
    const positive = present.at(-1) ?? 1;
    const negative = present.length > 1 ? present[0] : positive === 0 ? 1 : 0;
    const colors = colorsOf(this.element);
    const curve = what.learns === "curve";
    this.points.draw(what.points, { ...what, curve });
    this.drawnPoints = what.points;
    const needs = [what.field, what.at, what.other, what.layers, colors, positive, negative, this.size];
    if (needs.every((need, i) => need === this.drawn?.[i])) return;
    this.drawn = needs;
    this.field.draw(field, { ...what, colors, positive, negative, other: unpack(what.other) });
    this.points.drawSlack(what.layers.slack && field && what.at?.slack
      ? this.slack(what, field, curve, positive) : []);
  }

  /** What `describe` says of a point, beside it; nothing hides it. */
  explain(point, told) {
    this.tip.hidden = !told;
    if (!told) return;
    const [x, y] = this.points.place(point), size = this.points.size;
    this.tip.replaceChildren(h("strong", {}, told.title),
      h("span", { class: "tip-numbers" }, told.numbers.map(([name, value]) => `${name} ${value}`).join("   ")),
      h("span", {}, told.words));
    this.tip.style.left = x > size / 2 ? "auto" : `${x + 18}px`;
    this.tip.style.right = x > size / 2 ? `${size - x + 18}px` : "auto";
    this.tip.style.top = y > size / 2 ? "auto" : `${y + 10}px`;
    this.tip.style.bottom = y > size / 2 ? `${size - y + 10}px` : "auto";
  }

  slack({ points, at }, field, curve, positive) {
    const segments = [];
    points.forEach(([x, y, k], i) => {
      if (!(at.slack[i] > 0.01)) return;
      if (curve) {
        if (field.tube == null) return;
        const edge = at.f[i] + Math.sign(at.residual[i]) * field.tube;
        segments.push([[x, y], [x, edge]]);
      } else if (field.kind === "classes") {
        const to = this.field.nearestOn(k === positive ? 1 : -1, x, y, field.grid);
        if (to) segments.push([[x, y], to]);
      }
    });
    return segments;
  }
}
