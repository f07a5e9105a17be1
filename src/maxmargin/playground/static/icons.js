// Icons, drawn as strokes on a square of 24.

import { s } from "./dom.js";

const PATHS = {
  undo: "M9 14L4 9l5-5M4 9h10a6 6 0 0 1 0 12h-3",
  redo: "M15 14l5-5-5-5M20 9H10a6 6 0 0 0 0 12h3",
  share: "M12 15V4M8 8l4-4 4 4M5 13v6h14v-6",
  save: "M12 4v11M8 11l4 4 4-4M5 19h14",
  sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8M12 2v3M12 19v3M2 12h3M19 12h3M5 5l2 2M17 17l2 2M5 19l2-2M17 7l2-2",
  play: "M7 4l13 8-13 8Z",
  pause: "M8 4v16M16 4v16",
  next: "M5 4l10 8-10 8ZM19 4v16",
  back: "M19 4L9 12l10 8ZM5 4v16",
  restart: "M4 5v5h5M4.5 10a8 8 0 1 1-.4 4",
  add: "M12 5v14M5 12h14",
  brush: "M4 20c4 1 6-1 6-4l9-11 1 1-9 11M10 16l-2-2",
  erase: "M4 16l9-11 7 6-8 9H7ZM9 10l7 6",
  copy: "M8 8h12v12H8ZM16 8V4H4v12h4",
  trash: "M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13",
  close: "M5 5l14 14M19 5L5 19",
  book: "M4 5c3-1 6-1 8 1 2-2 5-2 8-1v14c-3-1-6-1-8 1-2-2-5-2-8-1ZM12 6v14",
  file: "M6 3h8l4 4v14H6ZM14 3v4h4",
  keys: "M3 7h18v10H3ZM7 11h.01M11 11h.01M15 11h.01M8 14h8",
};

export function icon(name) {
  const filled = ["play", "next", "back"].includes(name);
  return s("svg", { viewBox: "0 0 24 24", class: `icon${filled ? " filled" : ""}`, "aria-hidden": "true" },
    s("path", { d: PATHS[name] }));
}
