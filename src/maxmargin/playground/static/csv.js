// Points as CSV, in and out: x, y and a class, with or without a line of names.

/** Points and what was done to them; throws an Error that says what is wrong. */
export function parseCSV(text, limits) {
  const lines = text.split(/\r?\n/).map((line) => line.trim()).filter(Boolean);
  if (!lines.length) throw new Error("there is nothing in it");
  const mark = [",", ";", "\t", " "].find((each) => lines[0].includes(each)) ?? ",";
  const rows = lines.map((line) => line.split(mark).map((cell) => cell.trim()).filter((c, i) => c || i < 3));
  const named = rows[0].slice(0, 2).some((cell) => Number.isNaN(Number(cell)));
  const body = named ? rows.slice(1) : rows;
  if (!body.length) throw new Error("there are names of columns but no rows");
  const classes = new Map();
  const points = body.map((row, i) => {
    const [x, y] = row.slice(0, 2).map((cell) => (cell === "" ? NaN : Number(cell)));
    if (!Number.isFinite(x) || !Number.isFinite(y)) {
      throw new Error(`line ${i + 1 + named} must begin with two numbers: ${lines[i + named].slice(0, 40)}`);
    }
    const name = row[2] ?? "";
    if (!classes.has(name)) classes.set(name, classes.size);
    return [x, y, name];
  });
  if (classes.size > limits.classes) {
    throw new Error(`${classes.size} classes are too many: the page has ${limits.classes}`);
  }
  const order = [...classes.keys()];
  if (order.every((name) => name !== "" && Number.isInteger(Number(name)))) {
    order.sort((a, b) => a - b); // numbered classes keep their order, names that of appearance
  }
  const numbered = points.map(([x, y, name]) => [x, y, order.indexOf(name)]);
  return { ...fitted(numbered, limits), names: order };
}

/** So many of the points, in their order: each as likely as any other, always the same ones. */
export function sampled(points, most) {
  let seed = 1;
  const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647; // Park and Miller's
  const order = points.map((_, i) => [random(), i]).sort((a, b) => a[0] - b[0]).slice(0, most);
  return order.map(([, i]) => i).sort((a, b) => a - b).map((i) => points[i]);
}

/** Moved and scaled into the square, if they are not there; to the decimals of the page. */
function fitted(points, limits) {
  const most = limits.half_width, unit = 10 ** limits.decimals;
  const outside = points.some(([x, y]) => Math.abs(x) > most || Math.abs(y) > most);
  const maps = [0, 1].map((axis) => {
    const all = points.map((point) => point[axis]);
    const low = Math.min(...all), high = Math.max(...all);
    return outside ? { shift: (low + high) / 2, scale: (1.7 * most) / (high - low || 1) } : { shift: 0, scale: 1 };
  });
  const round = (value, { shift, scale }) => Math.round((value - shift) * scale * unit) / unit;
  return {
    points: points.map(([x, y, k]) => [round(x, maps[0]), round(y, maps[1]), k]),
    scaled: outside,
  };
}

export const formatCSV = (points) =>
  ["x,y,class", ...points.map((point) => point.join(","))].join("\n") + "\n";
