// The field: decision values as shading, boundary and margins as lines. A canvas.

import { blend } from "./colors.js";
import { contour, nearest, polylines } from "./contour.js";
import { HALF } from "./view.js";

const FINENESS = 320; // pixels a side of the shading, before it is scaled up
const SHADES = 256;
const STRONGEST = 0.5; // of a class colour on the paper, where |f| ≥ 2

export class Field {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.raster = document.createElement("canvas");
    this.lines = {};
  }

  /** How wide it is on the screen. */
  resize(size) {
    this.size = size;
    const pixels = Math.round(size * Math.min(devicePixelRatio || 1, 2));
    if (this.canvas.width === pixels) return;
    this.canvas.width = this.canvas.height = pixels;
  }

  /** Draw a field, and dashed over it the boundary of another if there is one. */
  draw(field, { layers, colors, other = null, positive = 1, negative = 0 }) {
    const { context: c, canvas } = this;
    c.clearRect(0, 0, canvas.width, canvas.height);
    c.fillStyle = colors.paper;
    c.fillRect(0, 0, canvas.width, canvas.height);
    this.lines = {};
    if (field?.kind === "curve") this.curve(field, layers, colors);
    else if (field?.kind === "regions") this.regions(field, layers, colors);
    else if (field) this.values(field, layers, colors, positive, negative);
    this.axes(colors);
    if (other) this.another(other, colors);
  }

  values(field, layers, colors, positive, negative) {
    const { f, grid } = field;
    const region = field.kind === "region";
    const full = region ? f.reduce((most, value) => Math.max(most, Math.abs(value)), 1e-12) : 2;
    if (layers.shade) {
      const ends = region ? [colors.faint, colors.classes[1]]
        : [colors.classes[negative], colors.classes[positive]];
      this.shade(f, grid, full, ends, colors.paper);
    }
    const margins = field.kind === "classes";
    const levels = margins ? [-1, 0, 1] : [0];
    for (const level of levels) this.lines[level] = contour(f, grid, level);
    if (layers.margins && margins) {
      this.stroke(this.lines[-1], grid, colors.ink, 1.1, [6, 4]);
      this.stroke(this.lines[1], grid, colors.ink, 1.1, [6, 4]);
    }
    if (layers.boundary) this.stroke(this.lines[0], grid, colors.ink, 2.2);
  }

  /** Every pixel by bilinear interpolation, from −full to full through a table of colours. */
  shade(f, grid, full, [below, above], paper) {
    const table = new Uint8ClampedArray(4 * SHADES);
    for (let k = 0; k < SHADES; k++) {
      const value = (2 * k) / (SHADES - 1) - 1;
      const share = STRONGEST * (0.14 + 0.86 * Math.abs(value) ** 0.8);
      table.set([...blend(value < 0 ? below : above, paper, share), 255], 4 * k);
    }
    const colors = new Uint32Array(table.buffer);
    const image = new ImageData(FINENESS, FINENESS);
    const pixels = new Uint32Array(image.data.buffer);
    const scale = (grid - 1) / (FINENESS - 1), middle = (SHADES - 1) / 2;
    for (let row = 0; row < FINENESS; row++) {
      const v = (FINENESS - 1 - row) * scale;
      const y = Math.min(Math.floor(v), grid - 2), dy = v - y;
      for (let column = 0; column < FINENESS; column++) {
        const u = column * scale;
        const x = u | 0, dx = u - x, k = y * grid + x;
        const right = x + 1 < grid ? 1 : 0;
        const low = f[k] + dx * (f[k + right] - f[k]);
        const high = f[k + grid] + dx * (f[k + grid + right] - f[k + grid]);
        const value = (low + dy * (high - low)) / full;
        const shade = (Math.min(Math.max(value, -1), 1) + 1) * middle;
        pixels[row * FINENESS + column] = colors[(shade + 0.5) | 0];
      }
    }
    this.paste(image);
  }

  regions(field, layers, colors) {
    const { fine, winner, cuts, grid } = field;
    if (layers.shade) {
      const image = new ImageData(fine, fine);
      const shades = colors.classes.map((color) => blend(color, colors.paper, 0.6 * STRONGEST));
      this.eachCell(fine, (k, pixel) => {
        image.data.set([...shades[winner[k] & 127], 255], 4 * pixel);
      });
      this.paste(image);
    }
    if (layers.ambiguous) this.hatch(fine, winner, colors.ink);
    if (layers.boundary) {
      for (const cut of cuts) this.stroke(contour(cut, grid, 0), grid, colors.ink, 1.4);
    }
  }

  eachCell(fine, visit) {
    for (let row = 0; row < fine; row++) {
      for (let column = 0; column < fine; column++) {
        visit(row * fine + column, (fine - 1 - row) * fine + column);
      }
    }
  }

  hatch(fine, winner, ink) {
    const mask = new ImageData(fine, fine);
    let any = false;
    this.eachCell(fine, (k, pixel) => {
      if (winner[k] & 128) [mask.data[4 * pixel + 3], any] = [255, true];
    });
    if (!any) return;
    const size = this.canvas.width, layer = new OffscreenCanvas(size, size);
    const c = layer.getContext("2d");
    this.raster.width = this.raster.height = fine;
    this.raster.getContext("2d").putImageData(mask, 0, 0);
    c.drawImage(this.raster, 0, 0, size, size);
    c.globalCompositeOperation = "source-in";
    const step = size / 60;
    c.lineWidth = Math.max(1, size / 700);
    c.strokeStyle = ink;
    c.globalAlpha = 0.55;
    const lines = new OffscreenCanvas(size, size), l = lines.getContext("2d");
    l.strokeStyle = ink;
    l.lineWidth = c.lineWidth;
    for (let x = -size; x < size; x += step) {
      l.beginPath();
      l.moveTo(x, size);
      l.lineTo(x + size, 0);
      l.stroke();
    }
    c.drawImage(lines, 0, 0);
    this.context.drawImage(layer, 0, 0);
  }

  paste(image) {
    this.raster.width = image.width;
    this.raster.height = image.height;
    this.raster.getContext("2d").putImageData(image, 0, 0);
    this.context.imageSmoothingEnabled = true;
    this.context.drawImage(this.raster, 0, 0, this.canvas.width, this.canvas.height);
  }

  curve(field, layers, colors) {
    const { f, grid, tube } = field;
    const c = this.context, size = this.canvas.width;
    const place = (i, value) => [(i / (grid - 1)) * size, (0.5 - value / (2 * HALF)) * size];
    const trace = (shift, backwards = false) => {
      for (let k = 0; k < grid; k++) {
        const i = backwards ? grid - 1 - k : k;
        c.lineTo(...place(i, f[i] + shift));
      }
    };
    if (tube != null && layers.shade) {
      c.beginPath();
      trace(tube);
      trace(-tube, true);
      c.fillStyle = `rgb(${blend(colors.classes[1], colors.paper, 0.22).join(",")})`;
      c.fill();
    }
    const styles = [[0, 2.4, [], layers.boundary]];
    if (tube != null) for (const shift of [-tube, tube]) styles.push([shift, 1.1, [6, 4], layers.margins]);
    for (const [shift, width, dash, shown] of styles) {
      if (!shown) continue;
      c.beginPath();
      trace(shift);
      this.pen(shift ? colors.ink : colors.classes[1], width, dash);
      c.stroke();
    }
    c.setLineDash([]);
  }

  another(field, colors) {
    if (field.kind === "curve") {
      const plain = { shade: false, margins: false, boundary: true };
      this.curve({ ...field, tube: null }, plain, { ...colors, classes: Array(8).fill(colors.accent) });
    } else {
      const all = field.f ? [field.f] : field.cuts;
      for (const f of all) this.stroke(contour(f, field.grid, 0), field.grid, colors.accent, 3, [2, 5]);
    }
  }

  pen(color, width, dash = []) {
    const unit = this.canvas.width / this.size;
    Object.assign(this.context, { strokeStyle: color, lineWidth: width * unit, lineCap: "round", lineJoin: "round" });
    this.context.setLineDash(dash.map((length) => length * unit));
  }

  stroke(lines, grid, color, width, dash) {
    const c = this.context, size = this.canvas.width, unit = size / (grid - 1);
    c.beginPath();
    for (const line of polylines(lines)) {
      c.moveTo(line[0] * unit, size - line[1] * unit);
      for (let i = 2; i < line.length; i += 2) c.lineTo(line[i] * unit, size - line[i + 1] * unit);
    }
    this.pen(color, width, dash);
    c.stroke();
    c.setLineDash([]);
  }

  axes(colors) {
    const c = this.context, size = this.canvas.width;
    c.globalAlpha = 0.1;
    this.pen(colors.ink, 1);
    c.beginPath();
    for (let k = 1; k < 2 * HALF; k++) {
      const at = Math.round((k / (2 * HALF)) * size) + 0.5;
      c.moveTo(at, 0);
      c.lineTo(at, size);
      c.moveTo(0, at);
      c.lineTo(size, at);
    }
    c.stroke();
    c.globalAlpha = 1;
  }

  /** The point on the margin line of a side that is nearest to (x, y), in data units. */
  nearestOn(level, x, y, grid) {
    const lines = this.lines[level];
    if (!lines?.length) return null;
    const unit = (2 * HALF) / (grid - 1);
    const found = nearest(lines, (x + HALF) / unit, (y + HALF) / unit);
    return found && found.map((value) => value * unit - HALF);
  }
}
