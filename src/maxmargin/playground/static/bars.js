// α of every point as bars, the chosen ones marked.

import { colorsOf } from "./colors.js";
import { h } from "./dom.js";

const HEIGHT = 84;

export function alphaBars() {
  const canvas = h("canvas", { class: "bars", role: "img" });
  const element = h("figure", { class: "card wide", "data-control": "bars" },
    h("figcaption", {}, "α of every point"), canvas);
  return {
    element,
    update({ alpha, upper, rows, points, curve }) {
      const width = canvas.clientWidth || 300, unit = Math.min(devicePixelRatio || 1, 2);
      canvas.width = width * unit;
      canvas.height = HEIGHT * unit;
      const c = canvas.getContext("2d"), colors = colorsOf(element);
      c.scale(unit, unit);
      const base = HEIGHT - 12, room = base - 14;
      const most = upper ?? Math.max(...alpha, 1e-12);
      const step = width / Math.max(alpha.length, 1), chosen = new Set(rows);
      c.fillStyle = colors.faint;
      c.fillRect(0, base, width, 1);
      c.globalAlpha = 0.6;
      c.setLineDash([3, 3]);
      c.strokeStyle = colors.ink;
      c.strokeRect(-1, base - room + 0.5, width + 2, 0);
      c.setLineDash([]);
      c.globalAlpha = 1;
      alpha.forEach((value, i) => {
        const height = Math.max((value / most) * room, value > 0 ? 1.5 : 0);
        c.fillStyle = colors.classes[curve ? 1 : points[i]?.[2] ?? 0];
        c.globalAlpha = !chosen.size || chosen.size > 2 || chosen.has(i) ? 1 : 0.5;
        c.fillRect(i * step, base - height, Math.max(step - (step > 3 ? 1 : 0), 0.7), height);
        c.globalAlpha = 1;
        if (chosen.has(i) && chosen.size <= 12) {
          const middle = (i + 0.5) * step;
          c.fillStyle = colors.ink;
          c.beginPath();
          c.moveTo(middle, base + 2);
          c.lineTo(middle - 4, base + 9);
          c.lineTo(middle + 4, base + 9);
          c.fill();
        }
      });
      c.fillStyle = colors.ink;
      c.font = "11px system-ui, sans-serif";
      c.fillText(upper == null ? "largest" : "C", 2, base - room - 3);
      const some = alpha.filter((value) => value > 0).length;
      canvas.setAttribute("aria-label", `${some} of ${alpha.length} points have α above 0`);
    },
  };
}
