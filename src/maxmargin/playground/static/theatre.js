// The solver theatre and the race: transport, sentence, box, bars and curves.

import { alphaBars } from "./bars.js";
import { stepBox } from "./box.js";
import { button, select, slider } from "./controls.js";
import { chart } from "./curves.js";
import { h, put, show } from "./dom.js";
import { icon } from "./icons.js";
import { listingCard } from "./listing.js";
import { Player } from "./player.js";

const SPEED = { label: "steps per second", low: 0.5, high: 5000, log: true, about: "how fast it plays" };
const GOAL = { label: "race to relative gap", low: 1e-6, high: 0.1, log: true, about: "who is there first" };

// What is drawn against steps: of each key of a frame its label, and the name of its colour.
const CHARTS = {
  "Primal and dual": { lines: { primal: ["primal", "primal"], objective: ["dual", "dual"] } },
  Gap: { lines: { gap: ["gap", "gap"], violation: ["violation", "violation"] }, log: true },
  "‖w‖² and its bound": { lines: { bound: ["M·R²", "primal"], norm: ["‖w‖²", "dual"] } },
  "Movement in the sweep": { lines: { movement: ["Σ|Δβ|+|Δb|", "movement"] }, log: true },
  Accuracy: { lines: { accuracy: ["accuracy", "accuracy"] }, range: [0, 1.02] },
};

export function theatre({ store, catalogue, ask, draw }) {
  const player = new Player({ ask, onframe: update });
  const solver = select("solver", "solver", catalogue.solvers, (name) => store.set({ solver: name }));
  const rival = select("rival", "against", catalogue.solvers, (name) => store.set({ rival: name }));
  const goal = slider("goal", GOAL, (value) => store.set({ goal: value }));
  const speed = slider("speed", SPEED, (value) => {
    store.set({ speed: value });
    player.speed = value;
  });
  const restart = button("restart", "", () => begin(), { icon: icon("restart"), title: "Start again" });
  const back = button("back", "", () => player.go(player.index - 1), { icon: icon("back"), title: "One step back" });
  const play = button("play", "", () => toggle(), { icon: icon("play"), title: "Play" });
  const next = button("step", "", () => { player.pause(); player.forward(1); }, { icon: icon("next"), title: "One step" });
  const scrub = h("input", { type: "range", class: "scrub", name: "scrub", min: 0, max: 0, value: 0,
    "aria-label": "Go back to an earlier step", oninput: () => player.go(Number(scrub.value)) });
  const counter = h("output", { class: "counter" });
  const sentence = h("p", { class: "sentence", "aria-live": "polite" });
  const transport = h("div", { class: "transport", role: "group", "aria-label": "Solver" },
    h("div", { class: "choice" }, solver.element, rival.element, goal.element, speed.element),
    h("div", { class: "keys" }, restart, back, play, next, scrub, counter));
  const box = stepBox(), bars = alphaBars(), listing = listingCard();
  const charts = Object.entries(CHARTS).map(([title, { lines, ...how }]) => ({ ...chart(title, how), lines }));
  const results = h("table", { class: "results" });
  const stage = h("div", { class: "theatre-stage" }, transport, sentence);
  const details = h("section", { class: "theatre", "data-control": "theatre", "aria-label": "Solver theatre" },
    listing.element, box.element, bars.element, ...charts.map((each) => each.element),
    h("div", { class: "card race results-card" }, results));

  const gap = charts.find((each) => each.lines.gap);
  gap.element.classList.add("race");

  function begin(options) {
    const { points, settings, mode } = store.state;
    const racing = mode === "race";
    player.speed = store.state.speed;
    const solvers = racing ? [store.state.solver, store.state.rival] : [store.state.solver];
    return player.start({ points, settings, solvers, goal: racing ? store.state.goal : 0 }, options);
  }

  function toggle() {
    if (player.playing) player.pause();
    else if (player.atEnd) begin({ play: true });
    else player.play(store.state.speed);
  }

  function update() {
    const frame = player.frame, lanes = frame?.lanes ?? [], racing = store.state.mode === "race";
    put(play, "aria-label", player.playing ? "Pause" : "Play");
    play.replaceChildren(icon(player.playing ? "pause" : "play"));
    scrub.max = Math.max(player.frames.length - 1, 0);
    scrub.value = player.index;
    back.disabled = player.index <= 0;
    next.disabled = player.atEnd;
    const steps = lanes.map((lane) => (lane.steps ?? 0).toLocaleString("en")).join(" : ");
    counter.textContent = frame ? `step ${steps}` : "";
    sentence.textContent = player.problem ?? (racing ? verdict(lanes) : lanes[0]?.sentence ?? "");
    sentence.classList.toggle("problem", Boolean(player.problem));
    details.classList.toggle("absent", !frame); // no curves of a solver that is not there
    listing.update(player.listing, lanes[0]?.ran ?? []);
    if (racing) race(lanes, frame);
    else if (lanes[0]) alone(lanes[0]);
    draw();
  }

  function alone(lane) {
    const curve = catalogue.machines[store.state.settings.machine].learns === "curve";
    box.update(lane.box);
    bars.update({ ...lane, points: store.state.points, curve });
    for (const each of charts) {
      const series = Object.entries(each.lines).map(([key, [label, name]]) =>
        ({ label, name, points: player.curves[0].map((line) => [line.steps, line[key]]) }));
      const known = series.some(({ points }) => points.some(([, y]) => y != null));
      each.element.classList.toggle("absent", !known);
      if (known) each.update(series, lane.steps);
    }
  }

  function race(lanes, frame) {
    if (!frame) return;
    gap.element.classList.remove("absent");
    gap.update(lanes.map((lane, k) => ({ label: lane.solver.split(" ")[0], name: `lane-${k}`,
      points: player.curves[k].slice(0, frame.lengths[k]).map((line) => [line.steps, line.gap]) })));
    const rows = [["", ...lanes.map((lane) => lane.solver)],
      ["steps", ...lanes.map((lane) => lane.steps.toLocaleString("en"))],
      ["gap", ...lanes.map((lane) => show(lane.gap))],
      ["KKT violation", ...lanes.map((lane) => show(lane.violation))],
      ["", ...lanes.map((lane) => (lane.ended ? lane.status : "running"))]];
    results.replaceChildren(...rows.map(([name, ...cells], i) => h("tr", {}, h("th", { scope: "row" }, name),
      cells.map((cell, k) => h(i ? "td" : "th", { class: `lane-${k}` }, cell)))));
  }

  return {
    stage, details, player, begin, toggle,
    step: () => { player.pause(); return player.forward(1); },
    back: () => player.go(player.index - 1),
    line: () => listing.next(),
    update(state) {
      solver.set(state.solver);
      const dual = !catalogue.machines[state.settings.machine].no_solver;
      solver.element.classList.toggle("absent", !dual);
      box.element.classList.toggle("absent", !dual);
      rival.set(state.rival);
      goal.set(state.goal);
      speed.set(state.speed);
      rival.element.classList.toggle("absent", state.mode !== "race");
      goal.element.classList.toggle("absent", state.mode !== "race");
    },
    redraw: update,
  };
}

function verdict(lanes) {
  if (lanes.length < 2) return "";
  const [a, b] = lanes;
  if (!lanes.every((lane) => lane.ended)) {
    const done = lanes.find((lane) => lane.ended);
    return done ? `${done.sentence} The other is still at it.` : "Both take the same number of steps at a time.";
  }
  const there = lanes.filter((lane) => lane.status === "reached the gap" || lane.status === "converged");
  if (there.length === 2) {
    if (a.steps === b.steps) return `A draw: ${a.steps.toLocaleString("en")} steps each.`;
    const [first, second] = a.steps < b.steps ? [a, b] : [b, a];
    return `${first.solver} needs ${first.steps.toLocaleString("en")} steps, ${second.solver} ${second.steps.toLocaleString("en")}.`;
  }
  if (there.length === 1) {
    const other = lanes.find((lane) => lane !== there[0]);
    return `${there[0].sentence} ${other.solver} never gets there: ${other.status} (${other.why}).`;
  }
  return lanes.map((lane) => lane.sentence).join(" ");
}
