// The state of the page: what is drawn, how the sliders stand, what is shown. One object; whoever
// cares listens. Points and settings can be undone.

const MOST_UNDO = 200;
const UNDOABLE = ["points", "settings"];

export const LAYERS = {
  shade: "shading",
  boundary: "boundary",
  margins: "margins, tube",
  support: "support vectors",
  slack: "slack",
  ambiguous: "ambiguous",
  size: "size by α",
};

export function defaults(catalogue) {
  const settings = { machine: "svc", kernel: "rbf", multiclass: "ovo", offset: true, fourier: false };
  for (const [name, each] of Object.entries(catalogue.parameters)) settings[name] = each.default;
  return {
    points: [],
    settings,
    preset: { name: "moons", n: 100, noise: 0.15, seed: 0 },
    layers: Object.fromEntries(Object.keys(LAYERS).map((name) => [name, true])),
    mode: "explore",
    solver: "maximal-violating-pair",
    rival: "second-order",
    goal: 1e-3,
    speed: 4,
    tool: "add",
    klass: 0,
    leaveOut: false,
    hide: [],
    theme: "auto",
    size: "page",
  };
}

export class Store {
  constructor(state) {
    this.state = state;
    this.listeners = new Set();
    this.past = [];
    this.future = [];
    this.last = null; // what the last change was, for those that are one
  }

  /** Call `listener(state, changed)` after every change; `changed` is the set of names. */
  listen(listener) {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /**
   * Change some of it. A change of points or settings can be undone, unless `keep` says that it
   * goes on; changes in a row with the same `as` (twelve presses of an arrow) are one.
   */
  set(patch, { keep = false, as = null } = {}) {
    const changed = new Set(Object.keys(patch).filter((name) => patch[name] !== this.state[name]));
    if (!changed.size) return;
    if (UNDOABLE.some((name) => changed.has(name)) && !keep) this.begin(as);
    this.state = { ...this.state, ...patch };
    for (const listener of this.listeners) listener(this.state, changed);
  }

  setting(patch) {
    const as = `setting ${Object.keys(patch)}`;
    this.set({ settings: { ...this.state.settings, ...patch } }, { as });
  }

  get undoable() {
    return Object.fromEntries(UNDOABLE.map((name) => [name, this.state[name]]));
  }

  /** Remember how it is before something that goes on for a while, such as a drag. */
  begin(as = null) {
    if (as === null || as !== this.last) this.past.push(this.undoable);
    if (this.past.length > MOST_UNDO) this.past.shift();
    this.last = as;
    this.future = [];
  }

  undo() {
    this.travel(this.past, this.future);
  }

  redo() {
    this.travel(this.future, this.past);
  }

  travel(from, to) {
    if (!from.length) return;
    to.push(this.undoable);
    this.last = null;
    this.set(from.pop(), { keep: true });
  }
}
