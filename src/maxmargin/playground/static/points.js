// The points: SVG over the field. The shape is the class, the mark is what the point is to the
// machine, the size is its α.

import { put, s } from "./dom.js";
import { HALF } from "./view.js";

const RADIUS = 4.6; // pixels; in the lecture size 1.6 times as many

// Outlines of the classes, of the same weight: as in maxmargin.plots.
const SHAPES = [
  "M-1-1H1V1H-1Z",
  "M1.13 0A1.13 1.13 0 1 1-1.13 0A1.13 1.13 0 1 1 1.13 0Z",
  "M0-1.4L1.25.85H-1.25Z",
  "M0-1.4L1.4 0L0 1.4L-1.4 0Z",
  "M0 1.4L1.25-.85H-1.25Z",
  "M-.45-1.3H.45V-.45H1.3V.45H.45V1.3H-.45V.45H-1.3V-.45H-.45Z",
  "M-1.3-.7L-.7-1.3L0-.6L.7-1.3L1.3-.7L.6 0L1.3.7L.7 1.3L0 .6L-.7 1.3L-1.3.7L-.6 0Z",
  "M0-1.5L.4-.5L1.45-.45L.62.2L.9 1.2L0 .62L-.9 1.2L-.62.2L-1.45-.45L-.4-.5Z",
];

export const MARKS = {
  "": "",
  margin: "M2.1 0A2.1 2.1 0 1 1-2.1 0A2.1 2.1 0 1 1 2.1 0Z",
  support: "M2.1 0A2.1 2.1 0 1 1-2.1 0A2.1 2.1 0 1 1 2.1 0Z",
  inside: "M0-2.4L2.4 0L0 2.4L-2.4 0Z",
  outside: "M-1.9-1.9H1.9V1.9H-1.9Z",
  wrong: "M-1.9-1.9L1.9 1.9M1.9-1.9L-1.9 1.9",
};

export const shapePath = (k) => SHAPES[k % SHAPES.length];

export class PointLayer {
  constructor(svg) {
    this.svg = svg;
    this.slack = s("g", { class: "slack" });
    this.dots = s("g", { class: "dots" });
    this.cursor = s("g", { class: "cursor", visibility: "hidden" },
      s("path", { d: "M-12 0H12M0-12V12" }));
    svg.append(this.slack, this.dots, this.cursor);
    this.items = [];
    this.size = 1;
  }

  /** Data to pixels, and back. */
  place([x, y]) {
    return [((x + HALF) / (2 * HALF)) * this.size, ((HALF - y) / (2 * HALF)) * this.size];
  }

  data([px, py]) {
    return [(px / this.size) * 2 * HALF - HALF, HALF - (py / this.size) * 2 * HALF];
  }

  resize(size) {
    this.size = size;
    put(this.svg, "viewBox", `0 0 ${size} ${size}`);
  }

  /**
   * Draw the points. `at` says α, upper and kind of each, if there is a machine; `chosen` are the
   * rows that a solver's step moves.
   */
  draw(points, { layers, at = null, chosen = [], hover = -1, curve = false, lecture = false }) {
    while (this.items.length > points.length) this.items.pop().group.remove();
    while (this.items.length < points.length) this.items.push(this.item());
    const most = at?.upper ?? Math.max(...(at?.alpha ?? []), 1e-12);
    const picked = new Set(chosen);
    points.forEach((point, i) => {
      const item = this.items[i], { group, shape } = item;
      const [px, py] = this.place(point);
      const alpha = at?.alpha?.[i] ?? 0;
      const share = layers.size ? Math.sqrt(Math.min(alpha / most, 1)) : 0;
      const scale = RADIUS * (lecture ? 1.6 : this.size < 420 ? 0.8 : 1) * (0.82 + 0.5 * share);
      const kind = (layers.support && at?.kind?.[i]) || "";
      put(group, "transform", `translate(${px.toFixed(1)} ${py.toFixed(1)}) scale(${scale.toFixed(2)})`);
      put(group, "class",
        `dot class-${curve ? 1 : point[2]}${i === hover ? " hover" : ""}${picked.has(i) ? " chosen" : ""}`);
      put(shape, "d", shapePath(curve ? 1 : point[2]));
      this.part(item, "mark", Boolean(kind), () => s("path"));
      if (kind) {
        put(item.mark, "d", MARKS[kind]);
        put(item.mark, "class", `mark ${kind}`);
      }
      const halo = i === hover || picked.has(i);
      this.part(item, "halo", halo, () => s("circle", { class: "halo", r: 3.4 }));
    });
  }

  item() {
    const shape = s("path", { class: "shape" });
    const group = s("g", { class: "dot" }, shape);
    this.dots.append(group);
    return { group, shape };
  }

  /** A part that only some points have: browsers draw what is there, seen or not. */
  part(item, name, wanted, make) {
    if (!wanted) {
      item[name]?.remove();
      delete item[name];
    } else if (!item[name]) {
      item[name] = make();
      if (name === "halo") item.group.prepend(item[name]);
      else item.group.append(item[name]);
    }
  }

  /** Lines from points with slack to their margin: pairs of places in data units. */
  drawSlack(segments) {
    const path = segments
      .map(([from, to]) => `M${this.place(from).map(short)}L${this.place(to).map(short)}`)
      .join("");
    if (!this.slack.firstChild) this.slack.append(s("path"));
    put(this.slack.firstChild, "d", path);
  }

  showCursor(place) {
    put(this.cursor, "visibility", place ? "visible" : "hidden");
    if (place) put(this.cursor, "transform", `translate(${this.place(place).map(short)})`);
  }

  /** The point within reach of a pixel, or −1. */
  hit(points, [px, py], reach) {
    let best = -1, least = reach * reach;
    points.forEach((point, i) => {
      const [x, y] = this.place(point);
      const distance = (x - px) ** 2 + (y - py) ** 2;
      if (distance <= least) [best, least] = [i, distance];
    });
    return best;
  }
}

const short = (value) => value.toFixed(1);
