// Curves that grow: values against steps, the names at their ends.

import { h, s, show } from "./dom.js";

const WIDTH = 320;
const HEIGHT = 84;
const LEFT = 46;
const RIGHT = 84;
const TOP = 8;
const BOTTOM = 16;
const DECADES = 9; // a logarithmic axis shows at most

/** A chart of a few series against steps. */
export function chart(title, { log = false, range = null } = {}) {
  const svg = s("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "chart", role: "img" });
  const element = h("figure", { class: "card" }, h("figcaption", {}, title), svg);
  return {
    element,
    /** `series` are { label, name, points: [[x, y], …] }; `cursor` is where x stands. */
    update(series, cursor = null) {
      const all = series.flatMap((each) => each.points).filter(([, y]) => y != null && (!log || y > 0));
      const right = Math.max(...all.map((point) => point[0]), 1);
      const [low, high] = range ?? limits(all.map((point) => point[1]), log);
      const place = ([at, y]) => {
        const value = log ? Math.log10(Math.max(y, low)) : y;
        const [bottom, top] = log ? [Math.log10(low), Math.log10(high)] : [low, high];
        return [LEFT + (at / right) * (WIDTH - LEFT - RIGHT),
          HEIGHT - BOTTOM - ((value - bottom) / (top - bottom || 1)) * (HEIGHT - BOTTOM - TOP)];
      };
      const ends = [];
      const paths = series.map((each) => {
        const drawn = each.points.filter(([, y]) => y != null && (!log || y >= 0)).map(place);
        if (drawn.length) ends.push({ ...each, at: drawn.at(-1), value: each.points.at(-1)[1] });
        return drawn.length ? s("path", { class: `line ${each.name}`, d: `M${drawn.map((p) => p.map(short1)).join("L")}` }) : null;
      });
      const now = cursor == null ? null : s("line", { class: "now", x1: place([cursor, high])[0],
        x2: place([cursor, high])[0], y1: TOP, y2: HEIGHT - BOTTOM });
      svg.replaceChildren(
        s("line", { class: "axis", x1: LEFT, x2: WIDTH - RIGHT, y1: HEIGHT - BOTTOM, y2: HEIGHT - BOTTOM }),
        s("text", { class: "tick", x: LEFT, y: HEIGHT - 3 }, `0`),
        s("text", { class: "tick end", x: WIDTH - RIGHT, y: HEIGHT - 3 }, `${right.toLocaleString("en")} steps`),
        ...scale(low, high, log).map((value) => {
          const [, y] = place([0, value]);
          return [s("line", { class: "axis", x1: LEFT - 3, x2: WIDTH - RIGHT, y1: y, y2: y }),
            s("text", { class: "tick end", x: LEFT - 5, y: y + 3.5 }, show(value, 2))];
        }).flat(),
        ...[now, ...paths].filter(Boolean), ...labels(ends));
      svg.setAttribute("aria-label", `${title}: ${ends.map((e) => `${e.label} ${show(e.value)}`).join(", ")}`);
    },
  };
}

function limits(values, log) {
  if (!values.length) return log ? [1e-3, 1] : [0, 1];
  let low = Math.min(...values), high = Math.max(...values);
  if (log) {
    low = Math.max(low, high / 10 ** DECADES);
    return [low, high > low ? high : 10 * low];
  }
  const room = 0.06 * (high - low || 1);
  return [low - room, high + room];
}

/** Two to four round values of an axis. */
function scale(low, high, log) {
  if (log) {
    const [first, last] = [Math.ceil(Math.log10(low) - 1e-9), Math.floor(Math.log10(high) + 1e-9)];
    const step = Math.max(1, Math.ceil((last - first) / 3));
    const powers = [];
    for (let power = last; power >= first; power -= step) powers.push(10 ** power);
    return powers.length ? powers : [high];
  }
  const raw = (high - low) / 3, unit = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((k) => k * unit).find((each) => each >= raw);
  const values = [];
  for (let k = Math.ceil(low / step); k * step <= high; k++) values.push(Number((k * step).toPrecision(6)));
  return values;
}

/** Names and values at the ends of the lines, clear of each other. */
function labels(ends) {
  ends.sort((a, b) => a.at[1] - b.at[1]);
  const gap = 24;
  let y = -Infinity;
  for (const end of ends) y = end.y = Math.max(end.at[1], y + gap, TOP + 8);
  let most = HEIGHT - 16;
  for (const end of [...ends].reverse()) {
    end.y = Math.min(end.y, most);
    most = end.y - gap;
  }
  return ends.map(({ label, name, at, y: height, value }) => [
    s("circle", { class: `tip ${name}`, cx: at[0], cy: at[1], r: 2.6 }),
    s("text", { class: `name ${name}`, x: WIDTH - RIGHT + 7, y: height }, label),
    s("text", { class: "value", x: WIDTH - RIGHT + 7, y: height + 11 }, show(value)),
  ]).flat();
}

const short1 = (value) => value.toFixed(1);
