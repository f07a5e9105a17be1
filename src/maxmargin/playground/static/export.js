// What can be taken home: the points as CSV, the picture as PNG, SVG or TikZ, with its axes.

import { contour, polylines } from "./contour.js";
import { s } from "./dom.js";
import { HALF } from "./view.js";

const SIDE = 800; // of the square, in the units of the SVG
const ROOM = 46; // for the numbers of the axes
const TICKS = Array.from({ length: 2 * HALF + 1 }, (_, k) => k - HALF);

export function download(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** The lines of the field, in data units: { line: [[x, y], …], dashed }. */
function lines(plane) {
  const field = plane.shown.to;
  if (!field) return [];
  const unit = (2 * HALF) / (field.grid - 1);
  if (field.kind === "curve") {
    const along = (shift) => Array.from(field.f, (y, i) => [i * unit - HALF, y + shift]);
    const tube = field.tube == null ? [] : [-field.tube, field.tube].map((shift) => ({ line: along(shift), dashed: true }));
    return [{ line: along(0), dashed: false }, ...tube];
  }
  const levels = field.kind === "classes" ? [-1, 0, 1] : [0];
  const parts = field.kind === "regions" ? field.cuts.map((f) => [f, 0]) : levels.map((level) => [field.f, level]);
  return parts.flatMap(([f, level]) => polylines(contour(f, field.grid, level)).map((flat) => ({
    line: Array.from({ length: flat.length / 2 }, (_, k) => [flat[2 * k] * unit - HALF, flat[2 * k + 1] * unit - HALF]),
    dashed: level !== 0,
  })));
}

/** The picture as an SVG element: the shading is an image in it, all else are lines and shapes. */
function drawing(plane, root) {
  const style = getComputedStyle(root);
  const ink = style.getPropertyValue("--ink").trim(), paper = style.getPropertyValue("--paper").trim();
  const place = ([x, y]) => [ROOM + ((x + HALF) / (2 * HALF)) * SIDE, ((HALF - y) / (2 * HALF)) * SIDE + 12];
  const points = plane.svg.cloneNode(true), originals = plane.svg.querySelectorAll("*");
  points.querySelectorAll("*").forEach((node, i) => {
    const own = getComputedStyle(originals[i]);
    for (const name of ["fill", "stroke", "stroke-width", "opacity", "stroke-dasharray", "visibility"]) {
      node.style.setProperty(name, own.getPropertyValue(name));
    }
  });
  for (const [name, value] of Object.entries({ x: ROOM, y: 12, width: SIDE, height: SIDE })) points.setAttribute(name, value);
  const width = SIDE + ROOM + 12, height = SIDE + ROOM + 12;
  const text = (x, y, content, anchor) => s("text", { x, y, fill: ink, "font-size": 18, "font-family": "sans-serif", "text-anchor": anchor }, content);
  return s("svg", { xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${width} ${height}`, width, height },
    s("rect", { width, height, fill: paper }),
    s("image", { href: plane.canvas.toDataURL(), x: ROOM, y: 12, width: SIDE, height: SIDE }),
    lines(plane).map(({ line, dashed }) => s("polyline", { points: line.map(place).join(" "), fill: "none", stroke: ink,
      "stroke-width": dashed ? 1.5 : 3, ...(dashed ? { "stroke-dasharray": "8 5" } : {}) })),
    points,
    s("rect", { x: ROOM, y: 12, width: SIDE, height: SIDE, fill: "none", stroke: ink }),
    TICKS.map((tick) => {
      const [x, y] = place([tick, tick]), name = String(tick).replace("-", "−");
      return [s("path", { d: `M${x} ${SIDE + 12}v6M${ROOM} ${y}h-6`, stroke: ink }),
        text(x, SIDE + 38, name, "middle"), text(ROOM - 10, y + 6, name, "end")];
    }));
}

const serialised = (plane, root) => new XMLSerializer().serializeToString(drawing(plane, root));

async function png(plane, root) {
  const image = new Image(), canvas = document.createElement("canvas");
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(serialised(plane, root))}`;
  await image.decode();
  [canvas.width, canvas.height] = [2 * image.naturalWidth, 2 * image.naturalHeight];
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

/** Lines, points and axes in centimetres; classes are the marks of TikZ's plot handlers. */
function tikz(plane, root) {
  const at = ([x, y]) => `(${x.toFixed(3)},${y.toFixed(3)})`;
  const shapes = ["square*", "*", "triangle*", "diamond*", "pentagon*", "oplus*", "otimes*", "star"];
  const used = [...new Set(plane.drawnPoints.map(([, , k]) => k))].sort();
  const colors = used.map((k) => `  \\definecolor{class${k}}{HTML}{${
    getComputedStyle(root).getPropertyValue(`--class-${k}`).trim().slice(1).toUpperCase()}}`);
  const own = plane.drawnPoints.map(([x, y, k]) => `  \\draw[class${k}, fill=class${k}] plot[mark=${shapes[k]}, mark size=2pt] coordinates {${at([x, y])}};`);
  const ticks = TICKS.flatMap((tick) => [
    `  \\draw (${tick},-${HALF}) -- ++(0,-.08) node[below] {$${tick}$};`,
    `  \\draw (-${HALF},${tick}) -- ++(-.08,0) node[left] {$${tick}$};`]);
  return ["% \\usetikzlibrary{plotmarks}", "\\begin{tikzpicture}", ...colors, `  \\draw (-${HALF},-${HALF}) rectangle (${HALF},${HALF});`, ...ticks,
    "  \\begin{scope}", `  \\clip (-${HALF},-${HALF}) rectangle (${HALF},${HALF});`,
    ...lines(plane).map(({ line, dashed }) => `  \\draw[${dashed ? "dashed" : "thick"}] ${line.map(at).join(" -- ")};`),
    ...own, "  \\end{scope}", "\\end{tikzpicture}", ""].join("\n");
}

/** The ways to save a picture: its name to a function of the plane that makes a blob. */
export const PICTURES = {
  png,
  svg: (plane, root) => new Blob([serialised(plane, root)], { type: "image/svg+xml" }),
  tikz: (plane, root) => new Blob([tikz(plane, root)], { type: "text/x-tex" }),
};
