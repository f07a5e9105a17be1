// The fitted machine: asked for whenever points or settings change, drawn when it comes. While one
// is under way at most one more is asked for, and not before the first had a chance to finish.

const COARSE = 56; // points a side of the grid, while something is being dragged
const FINE = 96;
const PATIENCE = 150; // milliseconds after which a newer request stops an older one

export class Model {
  constructor({ ask, store, onchange }) {
    Object.assign(this, { ask, store, onchange });
    this.fit = null;
    this.problem = null;
    this.asked = 0;
    this.dirty = false;
    this.coarse = false;
    this.milliseconds = null; // from the last change to its picture
  }

  /** Points or settings have changed; `coarse` while they go on changing. */
  request(coarse = false) {
    this.coarse = coarse;
    this.changed ??= performance.now();
    if (this.asked && performance.now() - this.asked < PATIENCE) {
      this.dirty = true;
      return;
    }
    this.send();
  }

  async send() {
    this.dirty = false;
    this.asked = performance.now();
    const begun = this.changed ?? this.asked, { points, settings } = this.store.state;
    this.changed = null;
    const reply = await this.ask("fit", { points, settings, grid: this.coarse ? COARSE : FINE });
    if (!reply) return; // a newer one is on its way
    this.asked = 0;
    this.problem = reply.type === "refused" ? reply.why : null;
    this.fit = reply.type === "refused" ? null : { ...reply, points, settings };
    this.onchange();
    requestAnimationFrame(() => { this.milliseconds = performance.now() - begun; });
    if (this.dirty) this.send();
  }

  /** Drop one point and see. */
  async leaveOut(row) {
    const { points, settings } = this.store.state;
    const reply = await this.ask("leave-out", { points, settings, grid: FINE, row });
    return reply;
  }
}
