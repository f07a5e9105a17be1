// The colours in force, as the style sheet has them. Asking it costs as much as drawing does, so
// the answer is kept until the theme changes.

const known = new Map();

export function colorsOf(element) {
  const theme = element.closest("[data-theme]")?.dataset.theme;
  if (!known.has(theme)) known.set(theme, asked(element));
  return known.get(theme);
}

function asked(element) {
  const style = getComputedStyle(element);
  const read = (name) => style.getPropertyValue(name).trim();
  return {
    classes: Array.from({ length: 8 }, (_, k) => read(`--class-${k}`)),
    ink: read("--ink"),
    paper: read("--paper"),
    faint: read("--faint"),
    accent: read("--accent"),
  };
}

function rgb(hex) {
  const value = parseInt(hex.replace("#", ""), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

/** So much of a colour on the paper. */
export function blend(color, paper, share) {
  const [c, p] = [rgb(color), rgb(paper)];
  return c.map((value, i) => Math.round(share * value + (1 - share) * p[i]));
}
