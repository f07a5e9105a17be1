// The page: puts the parts together, and keeps them in step with the state.

import { codePanel } from "./code.js";
import { button, chips } from "./controls.js";
import { dataPanel } from "./data.js";
import { eachFrame, h, later, show } from "./dom.js";
import { judged, measures, reached } from "./exercises.js";
import { PICTURES, download } from "./export.js";
import { icon } from "./icons.js";
import { layersPanel } from "./layers.js";
import { lessons } from "./lessons.js";
import { machinePanel } from "./machine.js";
import { Model } from "./model.js";
import { Plane } from "./plane.js";
import { Hands } from "./pointer.js";
import { pointPanel, proofPanel } from "./proof.js";
import { decodeState, encodeState, hidables, shareDialog } from "./share.js";
import { Store, defaults } from "./store.js";
import { theatre } from "./theatre.js";
import { listenToWindow } from "./window.js";
import { describe } from "./words.js";

const MODES = { explore: "Explore", steps: "Step by step", race: "Race" };
const RACE_SPEED = 30; // steps per second: nobody reads the steps of a race
const HELP = "Click to add a point, right-click for the other class, drag to move, double-click to delete. "
  + "Keys: arrows move a cursor, Enter or 1–8 add a point, [ and ] choose one, Delete removes it.";

/**
 * Fill an element with the playground once the other side says hello.
 *
 * `connection` has send, onmessage and onstate; `page` is whether it has the window to itself;
 * `initial()` is a state to begin with and `onchange(state)` is told of every change.
 */
export function mount(root, connection, { page = false, initial = () => ({}), onchange = () => {} } = {}) {
  const waiting = new Map(); // what was asked: type to { id, resolve, request }
  let number = 0, app = null;

  /** The answer, or null if a newer request of the same type has taken its place. */
  function ask(type, request) {
    waiting.get(type)?.resolve(null);
    const id = ++number;
    return new Promise((resolve) => {
      waiting.set(type, { id, resolve, request });
      connection.send({ type, id, ...request });
    });
  }

  connection.onmessage = (message) => {
    if (message.type === "hello") {
      root.playground = app ??= build(root, message, { ask, page, initial: initial(), onchange });
      // A server that comes back has forgotten what it was asked: ask again, but for steps of a
      // theatre that is gone, which `connected` starts anew.
      for (const [type, { id, request }] of waiting) {
        if (!["start", "advance"].includes(type)) connection.send({ type, id, ...request });
      }
      app.connected();
      return;
    }
    const type = message.type === "refused" ? message.of : message.type;
    if (type === null) app?.tell(message.why, true);
    const asked = waiting.get(type);
    if (asked?.id !== message.id) return;
    waiting.delete(type);
    asked.resolve(message);
  };
  connection.onstate = (open) => {
    root.dataset.connection = open ? "open" : "closed";
    app?.tell(open ? "" : "The server is away. Trying again…", !open);
  };
  return { set: (state) => app?.set(state) };
}

function build(root, catalogue, { ask, page, initial, onchange }) {
  const base = defaults(catalogue);
  const store = new Store({ ...base, ...(page ? decodeState(asked(), base, catalogue) : {}), ...initial });
  const status = h("p", { class: "message", role: "status" });
  const live = h("p", { class: "visually-hidden", "aria-live": "polite" });
  const planes = [new Plane(`The plane. ${HELP}`), new Plane("The second solver's plane")];
  let hovered = -1, without = null, known = false, drawnClasses = 0;

  const say = (text) => { live.textContent = text; };
  /** A message until the next change, with something that can be done about it. */
  function tell(text, problem = false, action = null) {
    status.replaceChildren(text || hint(store.state.mode, learns()), ...(action ? [action] : []));
    status.classList.toggle("problem", problem);
  }
  const parts = { store, catalogue, ask, tell };
  const draw = eachFrame(drawNow);
  const model = new Model({ ask, store, onchange: () => {
    root.dataset.fits = Number(root.dataset.fits ?? 0) + 1;
    draw();
  } });
  const hands = new Hands(planes[0], store, catalogue.limits, { hover, say, tell });
  const data = dataPanel({ ...parts, ask: (_, preset) => fetchPreset(preset) });
  const machine = machinePanel(parts), layers = layersPanel(parts);
  const proof = proofPanel(), point = pointPanel(parts), code = codePanel(parts);
  const stage = theatre({ ...parts, draw });
  const tour = lessons({ list: catalogue.lessons, apply, judge, redraw: draw });
  hands.choice = tour;
  const modes = chips("mode", "View", MODES, (mode) => {
    const { speed } = store.state;
    store.set({ mode, speed: mode === "race" ? Math.max(speed, RACE_SPEED) : speed });
  });
  const address = (state) => `${location.origin}${location.pathname}${tour.id ? `?lesson=${tour.id}` : ""}#${
    encodeState(state, base)}`;
  const share = shareDialog({ store, address, tell, parts: hidables(catalogue) });
  const theme = button("theme", "", () => store.set({ theme: dark() ? "light" : "dark" }),
    { icon: icon("sun"), title: "Light or dark" });

  async function fetchPreset(preset) {
    const reply = await ask("preset", preset);
    if (reply?.type !== "preset") return;
    const wanted = catalogue.presets[preset.name].machine, { settings } = store.state;
    const learns = (name) => catalogue.machines[name].learns;
    const fits = learns(wanted) === learns(settings.machine) || learns(settings.machine) === "region";
    store.set({ points: reply.points, ...(fits ? {} : { settings: { ...settings, machine: wanted } }) });
  }

  /** A state of a lesson: the defaults, but for what it says. */
  async function apply(step) {
    const { preset, settings, layers: shown, advance = 0, hover: row = -1, play = false, points, ...rest } = step;
    const kept = { hide: store.state.hide, theme: store.state.theme };
    const next = { ...base, ...kept, ...rest, settings: { ...base.settings, ...settings },
      layers: { ...base.layers, ...shown }, points: points ?? store.state.points };
    if (preset) {
      next.preset = { ...base.preset, ...preset };
      next.points = (await ask("preset", next.preset))?.points ?? [];
    }
    store.set(next, { keep: true });
    hover(row);
    if (next.mode !== "explore") await stage.begin({ then: advance, play });
  }

  /** Whether the points chosen in an exercise are right, and why. */
  async function judge(kind, chosen) {
    if (kind === "pair") {
      await stage.player.more(1);
      const rows = [...lane().rows].sort((a, b) => a - b);
      const right = rows.join() === [...chosen].sort((a, b) => a - b).join();
      return { right, why: `The pair is ${rows.join(" and ")}.` };
    }
    const at = store.state.mode === "explore" ? model.fit.at : lane();
    return judged(kind, chosen[0], store.state.points[chosen[0]], at, learns());
  }

  function hover(i, spoken = false) {
    const before = hovered;
    hovered = i;
    if (i === before) return;
    leaveOut();
    draw();
    if (spoken && i >= 0) requestAnimationFrame(() => requestAnimationFrame(() => say(point.element.textContent)));
  }

  async function leaveOut() {
    const row = hovered;
    if (!store.state.leaveOut || row < 0 || store.state.mode !== "explore" || hands.dragging) {
      without = null;
      return;
    }
    const reply = await model.leaveOut(row);
    if (reply && hovered === row) {
      without = { ...reply, row };
      draw();
    }
  }

  const learns = () => catalogue.machines[store.state.settings.machine].learns;
  const unproven = () => catalogue.machines[store.state.settings.machine].no_solver.split(".")[0] + ".";
  const noBound = () => (lane().primal === null ? undefined : "indefinite kernel: the gap bounds nothing");
  const lane = () => stage.player.frame?.lanes[0];

  /** The words and numbers beside the picture. */
  function explain() {
    const { mode, points } = store.state, fit = model.fit;
    if (mode === "explore") {
      const found = store.state.settings.machine === "nu-svr" && fit ? ` · ε = ${show(fit.tube)} found` : "";
      const done = fit && `${fit.support} support vectors of ${fit.points.length} points · ${
        scored(fit.score)}${found}`;
      proof.update(fit?.certificate ?? null, done ?? "", model.problem ?? (fit ? unproven() : ""));
      const note = model.problem ?? fit?.notes[0] ?? "";
      if (note || status.dataset.note) tell(note, Boolean(model.problem));
      status.dataset.note = note ? "1" : "";
      point.update(hovered, points[hovered], fit?.at, learns(), without);
    } else {
      const now = lane();
      const proven = now && now.primal !== undefined;
      proof.update(proven ? { primal: now.primal, dual: now.objective, gap: now.gap,
        kkt_violation: now.violation, no_bound: now.no_bound ?? (now.gap === null ? noBound() : undefined),
        status: now.status ?? "under way" } : null,
      now ? `${stage.player.subject}${now.offset === null ? "" : ` · b = ${show(now.offset)}`}${
        now.field.tube == null ? "" : ` · ε = ${show(now.field.tube)}`}` : "",
      stage.player.problem ?? (now ? unproven() : ""));
      point.update(hovered, points[hovered], now, learns(), null);
    }
  }

  function tip() {
    const one = store.state.points[hovered];
    const at = store.state.mode === "explore" ? model.fit?.at : lane();
    planes[0].explain(one, one && !hands.dragging ? describe(hovered, one, at, learns(), at?.upper) : null);
  }

  function drawNow() {
    if (!hands.dragging) explain();
    const { player } = stage;
    if (tour.goal && reached(tour.goal, measures({ state: store.state, model, lane: lane(), ended: player.ended }))) tour.solve();
    tip();
    const { mode, points, layers: shown } = store.state;
    const shared = { points, layers: shown, hover: hovered, learns: learns(), lecture: store.state.size === "lecture" };
    if (mode === "explore") {
      planes[0].caption.textContent = "";
      const { fit } = model;
      planes[0].draw({ ...shared, field: fit?.field, at: fit?.at, other: without?.field, chosen: tour.chosen });
      return;
    }
    const lanes = stage.player.frame?.lanes ?? [];
    planes.slice(0, mode === "race" ? 2 : 1).forEach((plane, k) => {
      const one = lanes[k];
      plane.caption.textContent = mode === "race" && one ? `${one.solver} · ${one.steps.toLocaleString("en")} steps` : "";
      plane.draw({ ...shared, field: one?.field, at: one, chosen: tour.chosen.length ? tour.chosen : one?.rows.length <= 12 ? one.rows : [] });
    });
  }

  function dark() {
    const { theme: chosen } = store.state;
    return chosen === "dark" || (chosen === "auto" && matchMedia("(prefers-color-scheme: dark)").matches);
  }

  function appear(state, changed) {
    root.dataset.theme = dark() ? "dark" : "light";
    root.dataset.mode = state.mode;
    root.dataset.size = state.size;
    if (changed.has("mode") || changed.has("settings")) tell("");
    for (const part of [data, machine, stage]) part.update(state);
    layers.update(state, learns());
    modes.set(state.mode);
    if (changed.has("hide")) {
      for (const element of root.querySelectorAll("[data-control]")) {
        element.classList.toggle("hidden-control", state.hide.includes(element.dataset.control));
      }
    }
  }

  const remember = later(() => {
    if (page) history.replaceState(null, "", address(store.state));
    code.refresh();
  }, 300);

  store.listen((state, changed) => {
    const classes = new Set(state.points.map((one) => one[2])).size;
    if (changed.size > 1 || !changed.has("points") || classes !== drawnClasses) appear(state, changed);
    drawnClasses = classes;
    if (changed.has("points") || changed.has("settings")) {
      without = null;
      if (status.classList.contains("problem")) tell(""); // it was about what is no longer there
    }
    const anew = ["points", "settings", "mode"].some((name) => changed.has(name));
    if (state.mode === "explore" && anew) model.request(hands.dragging);
    const solved = anew || ["solver", "rival", "goal"].some((name) => changed.has(name));
    if (state.mode !== "explore" && solved) stage.begin();
    if (changed.has("mode") && state.mode === "explore") stage.player.clear();
    if (changed.has("leaveOut")) leaveOut();
    draw();
    remember();
    onchange(state);
  });

  const header = h("header", { class: "top" },
    h("div", { class: "brand" }, h("strong", {}, "max", h("em", {}, "margin")), h("span", {}, "playground")),
    modes.element, tour.menu,
    h("div", { class: "actions" },
      button("undo", "", () => store.undo(), { icon: icon("undo"), title: "Undo (Ctrl-Z)" }),
      button("redo", "", () => store.redo(), { icon: icon("redo"), title: "Redo (Ctrl-Shift-Z)" }),
      button("save-points", "CSV", () => download("points.csv", new Blob([data.csv()], { type: "text/csv" })),
        { icon: icon("save"), title: "Save the points as CSV" }),
      ...Object.entries(PICTURES).map(([name, make]) =>
        button(`save-${name}`, name === "tikz" ? "TikZ" : name.toUpperCase(), async () => {
          download(`playground.${name === "tikz" ? "tex" : name}`, await make(planes[0], root));
        }, { icon: icon("save"), title: `Save the picture, with its axes, as ${name}` })),
      button("size", "Aa", () => store.set({ size: store.state.size === "lecture" ? "page" : "lecture" }),
        { title: "Lecture size: readable from the last row" }),
      page ? button("share", "share", () => share.open(), { icon: icon("share"), title: "Share this page" }) : null,
      theme));
  const layout = h("div", { class: "layout" }, h("div", { class: "head" }, header, tour.card),
    h("aside", { class: "left" }, data.element, layers.element),
    h("div", { class: "stage" }, h("div", { class: "planes" }, planes.map((plane) => plane.element)),
      stage.stage, status),
    stage.details,
    h("aside", { class: "right" }, machine.element, proof.element, point.element, code.element), live);
  root.replaceChildren(layout, share.element);
  root.classList.toggle("embedded", !page);
  listenToWindow({ root, page, store, data, stage, draw, base, catalogue });
  appear(store.state, new Set(["hide", "mode"]));
  for (const plane of planes) plane.watch(() => (store.state.mode === "explore" ? draw() : stage.redraw()));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { appear(store.state, new Set()); draw(); });
  draw();

  return {
    tell,
    set: (patch) => store.set(patch, { keep: true }),
    /** Also after the server was away: it has forgotten everything, so ask again. */
    connected() {
      const { points, preset } = store.state;
      const empty = !points.length && !known; // not because somebody removed all of them
      const first = !known, wanted = page ? tour.index(new URLSearchParams(location.search).get("lesson")) : -1;
      known = true;
      if (first && wanted >= 0) return tour.open(wanted);
      if (empty) store.set({ preset: learns() === "curve" ? { ...preset, name: "sine" } : preset });
      if (empty) fetchPreset(store.state.preset);
      else if (store.state.mode === "explore") model.send();
      else stage.begin();
      code.refresh();
    },
    model, store, stage, planes, hands,
  };
}

/** What the address asks for: in its query, as slides write it, and after its #. */
const asked = () => `${location.search.slice(1)}&${location.hash.slice(1)}`;

/** What hands can do, while there is nothing else to say. */
function hint(mode, learns) {
  if (mode !== "explore") return "Space: play · full stop: one step · comma: back";
  const finger = matchMedia("(pointer: coarse)").matches;
  if (learns !== "classes") {
    const what = learns === "curve" ? "a point: its height is what the curve learns" : "a point";
    return `${finger ? "Tap" : "Click"}: ${what} · drag: move it · ${finger ? "tap twice" : "double-click"}: delete it`;
  }
  return finger
    ? "Tap: a point of the class in hand · drag: move it · tap twice: delete it"
    : "Click: a point of class A · right-click: class B · drag: move it · double-click: delete it";
}

function scored({ name, value }) {
  return name === "R²" ? `R² ${show(value)}` : `${name} ${(100 * value).toFixed(1)}\u202f%`;
}
