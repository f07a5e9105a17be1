// Hands on the plane: mouse, pen, finger and keys become changes of the points.

import { clamp } from "./dom.js";

const REACH = { mouse: 11, pen: 14, touch: 22 };
const DOUBLE = 400; // milliseconds between the clicks of a double-click
const SPRAY = 16; // pixels between the points of a brush
const SLIP = 8; // pixels that a finger may move while it taps; beyond, it swipes
const STEP = 0.1; // data units that an arrow key moves; with Shift a fifth of it

export class Hands {
  /** `say(text)` is for screen readers, `hover(i)` for everything that explains a point. */
  constructor(plane, store, limits, { hover, say, tell }) {
    Object.assign(this, { plane, store, limits, hover, say, tell });
    this.choice = { choosing: false }; // of points, in an exercise
    this.tap = null; // a finger that has not moved yet
    this.drag = null;
    this.cursor = null; // of the keyboard, in data units
    this.pointer = null; // where the mouse is, in pixels
    this.selected = -1;
    const e = plane.element;
    e.addEventListener("pointerdown", (event) => this.down(event));
    e.addEventListener("pointermove", (event) => this.move(event));
    e.addEventListener("pointerup", (event) => this.up(event));
    e.addEventListener("pointercancel", (event) => this.up(event));
    e.addEventListener("pointerleave", () => this.leave());
    e.addEventListener("contextmenu", (event) => event.preventDefault());
    // A finger that holds a point moves it; any other swipe, and two fingers, scroll the page.
    e.addEventListener("touchmove", (event) => {
      if (this.drag && event.touches.length === 1) event.preventDefault();
    }, { passive: false });
    e.addEventListener("keydown", (event) => this.key(event));
    e.addEventListener("blur", () => plane.points.showCursor(null));
  }

  get points() {
    return this.store.state.points;
  }

  pixel(event) {
    const box = this.plane.element.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  rounded([x, y]) {
    const unit = 10 ** this.limits.decimals, most = this.limits.half_width;
    return [x, y].map((value) => Math.round(clamp(value, -most, most) * unit) / unit);
  }

  down(event) {
    if (event.button > 2) return;
    this.tap = null;
    if (event.pointerType !== "touch") event.preventDefault();
    if (event.pointerType === "touch" && !event.isPrimary) return this.up(); // a second finger pans
    this.plane.element.focus({ preventScroll: true });
    this.plane.points.showCursor(null);
    const pixel = this.pixel(event), reach = REACH[event.pointerType] ?? 11;
    const hit = this.plane.points.hit(this.points, pixel, reach);
    if (this.choice.choosing) { // an exercise asks for a point: nothing is moved or drawn
      if (hit >= 0) this.choice.choose(hit);
      return;
    }
    const { tool, klass } = this.store.state;
    const right = event.button === 2;
    this.plane.element.setPointerCapture(event.pointerId);
    if (tool === "erase" && !right) {
      this.store.begin();
      this.drag = { erase: true };
      this.erase(hit);
    } else if (hit >= 0) {
      const again = this.last?.hit === hit && this.last.old && event.timeStamp - this.last.time < DOUBLE;
      this.last = { hit, old: true, time: event.timeStamp };
      if (again && !right) this.remove(hit);
      else this.drag = { row: hit, moved: false };
    } else {
      this.last = { hit: this.points.length, old: false, time: event.timeStamp };
      const k = right ? (klass === 1 ? 0 : 1) : klass;
      if (tool === "brush" && !right) {
        this.store.begin();
        this.drag = { brush: k, at: pixel };
        this.spray(pixel, k);
      } else if (event.pointerType === "touch") this.tap = { pixel, k };
      else this.add(this.plane.points.data(pixel), k);
    }
  }

  move(event) {
    const pixel = (this.pointer = this.pixel(event));
    if (this.tap && Math.hypot(pixel[0] - this.tap.pixel[0], pixel[1] - this.tap.pixel[1]) > SLIP) this.tap = null;
    if (!this.drag) {
      this.hover(this.plane.points.hit(this.points, pixel, REACH[event.pointerType] ?? 11));
      return;
    }
    if (this.drag.erase) this.erase(this.plane.points.hit(this.points, pixel, 11));
    else if (this.drag.brush !== undefined) {
      const [x, y] = this.drag.at;
      if (Math.hypot(pixel[0] - x, pixel[1] - y) >= SPRAY) {
        this.drag.at = pixel;
        this.spray(pixel, this.drag.brush);
      }
    } else {
      if (!this.drag.moved) this.store.begin();
      this.drag.moved = true;
      this.replace(this.drag.row, this.plane.points.data(pixel));
      this.hover(this.drag.row);
    }
  }

  up(event = null) {
    if (this.tap && event?.type === "pointerup") this.add(this.plane.points.data(this.tap.pixel), this.tap.k);
    this.tap = null;
    const moved = this.drag?.moved;
    this.drag = null;
    if (moved) this.store.set({ points: [...this.points] }, { keep: true }); // now at full detail
  }

  leave() {
    this.pointer = null;
    if (!this.drag) this.hover(-1);
  }

  get dragging() {
    return this.drag !== null;
  }

  add(place, k, keep = false) {
    if (this.points.length >= this.limits.points) {
      this.tell(`${this.limits.points.toLocaleString("en")} points are the most this page takes: erase some first.`, true);
      return;
    }
    this.store.set({ points: [...this.points, [...this.rounded(place), k]] }, { keep });
  }

  /** Two points near the pixel; where exactly depends on how many there are, so always the same. */
  spray([px, py], k) {
    for (let i = 0; i < 2; i++) {
      const turn = 2.399963 * this.points.length; // the golden angle spreads them evenly
      const place = [px + 9 * Math.cos(turn), py + 9 * Math.sin(turn)];
      this.add(this.plane.points.data(place), k, true);
    }
  }

  erase(row) {
    if (row >= 0) this.store.set({ points: this.points.filter((_, i) => i !== row) }, { keep: true });
  }

  remove(row) {
    this.last = null;
    this.hover(-1);
    this.store.set({ points: this.points.filter((_, i) => i !== row) });
  }

  replace(row, place) {
    const points = [...this.points];
    points[row] = [...this.rounded(place), points[row][2]];
    this.store.set({ points }, { keep: true });
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const done = this.letters(event) || this.arrows(event) || this.others(event);
    if (done) {
      event.preventDefault();
      event.stopPropagation();
    }
  }

  /** A, B and the digits put a point where the mouse is, or the cursor. */
  letters(event) {
    const k = { a: 0, b: 1 }[event.key] ?? Number.parseInt(event.key, 10) - 1;
    if (!(k >= 0 && k < this.limits.classes) || event.key.length > 1) return false;
    const place = this.pointer ? this.plane.points.data(this.pointer) : this.cursor ?? [0, 0];
    this.add(place, k);
    this.say(`Point of class ${"ABCDEFGH"[k]} added`);
    return true;
  }

  arrows(event) {
    const step = event.shiftKey ? STEP / 5 : STEP;
    const by = {
      ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, step], ArrowDown: [0, -step],
    }[event.key];
    if (!by) return false;
    this.pointer = null;
    const from = this.selected >= 0 ? this.points[this.selected] : this.cursor ?? [0, 0];
    const to = this.rounded([from[0] + by[0], from[1] + by[1]]);
    if (this.selected >= 0) {
      this.store.begin(`arrows ${this.selected}`);
      this.replace(this.selected, to);
    } else this.cursor = to;
    this.plane.points.showCursor(to);
    return true;
  }

  others(event) {
    const n = this.points.length;
    if (event.key === "Enter" && this.choice.choosing) {
      if (this.selected >= 0) this.choice.choose(this.selected);
    } else if (event.key === "Enter") {
      this.add(this.cursor ?? [0, 0], this.store.state.klass);
      this.plane.points.showCursor(this.cursor ?? [0, 0]);
    } else if ((event.key === "]" || event.key === "[") && n) {
      this.selected = (this.selected + (event.key === "]" ? 1 : -1) + n) % n;
      this.hover(this.selected, true);
    } else if ((event.key === "Delete" || event.key === "Backspace") && this.selected >= 0) {
      this.remove(this.selected);
      this.selected = -1;
      this.say("Point deleted");
    } else if (event.key === "Escape") {
      this.selected = -1;
      this.cursor = null;
      this.plane.points.showCursor(null);
      this.hover(-1);
    } else return false;
    return true;
  }
}
