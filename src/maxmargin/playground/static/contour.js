// Marching squares: the line where a field on a grid has a value.

/** Segments [x0, y0, x1, y1, …] in units of grid cells, y upwards. */
export function contour(f, grid, level) {
  const lines = [];
  for (let row = 0; row + 1 < grid; row++) {
    for (let column = 0; column + 1 < grid; column++) {
      const k = row * grid + column;
      const a = f[k] - level, b = f[k + 1] - level;
      const c = f[k + grid + 1] - level, d = f[k + grid] - level;
      const sides = (a > 0) | ((b > 0) << 1) | ((c > 0) << 2) | ((d > 0) << 3);
      if (sides === 0 || sides === 15) continue;
      const cuts = [];
      if (a > 0 !== b > 0) cuts.push([column + a / (a - b), row]);
      if (b > 0 !== c > 0) cuts.push([column + 1, row + b / (b - c)]);
      if (d > 0 !== c > 0) cuts.push([column + d / (d - c), row + 1]);
      if (a > 0 !== d > 0) cuts.push([column, row + a / (a - d)]);
      // Two opposite corners above: the mean of the cell says which of them are joined.
      if (cuts.length === 4 && a + b + c + d > 0 === a > 0) cuts.push(cuts.shift());
      for (let i = 0; i + 1 < cuts.length; i += 2) lines.push(...cuts[i], ...cuts[i + 1]);
    }
  }
  return lines;
}

/** The segments joined end to end into lines [x0, y0, x1, y1, …], so that dashes run along them. */
export function polylines(lines) {
  const ends = new Map(); // a place to the segments that end there
  const key = (i) => `${lines[i].toFixed(4)} ${lines[i + 1].toFixed(4)}`;
  for (let i = 0; i < lines.length; i += 2) {
    if (!ends.has(key(i))) ends.set(key(i), []);
    ends.get(key(i)).push(i);
  }
  const used = new Set();
  const other = (i) => (i % 4 ? i - 2 : i + 2);
  const follow = (i) => {
    const line = [];
    while (i !== undefined) {
      used.add(i - (i % 4));
      i = other(i);
      line.push(lines[i], lines[i + 1]);
      i = ends.get(key(i)).find((next) => !used.has(next - (next % 4)));
    }
    return line;
  };
  const result = [];
  for (let i = 0; i < lines.length; i += 4) {
    if (used.has(i)) continue;
    const onwards = [lines[i], lines[i + 1], ...follow(i)];
    const before = ends.get(key(i)).find((next) => !used.has(next - (next % 4)));
    const back = before === undefined ? [] : follow(before);
    const start = [];
    for (let k = back.length - 2; k >= 0; k -= 2) start.push(back[k], back[k + 1]);
    result.push([...start, ...onwards]);
  }
  return result;
}

/** The point of the segments that is nearest to (x, y), or null. */
export function nearest(lines, x, y) {
  let best = null, least = Infinity;
  for (let i = 0; i < lines.length; i += 4) {
    const [x0, y0, x1, y1] = [lines[i], lines[i + 1], lines[i + 2], lines[i + 3]];
    const dx = x1 - x0, dy = y1 - y0, size = dx * dx + dy * dy || 1;
    const t = Math.min(Math.max(((x - x0) * dx + (y - y0) * dy) / size, 0), 1);
    const px = x0 + t * dx, py = y0 + t * dy;
    const distance = (px - x) ** 2 + (py - y) ** 2;
    if (distance < least) [least, best] = [distance, [px, py]];
  }
  return best;
}
