// What happens outside of any one part: files and text dropped or pasted, keys, the address.

import { decodeState } from "./share.js";

export function listenToWindow({ root, page, store, data, stage, draw, base, catalogue }) {
  const typing = (event) => event.target.closest?.("input, select, textarea, dialog");
  (page ? document : root).addEventListener("paste", (event) => {
    const text = event.clipboardData?.getData("text");
    if (text && !typing(event)) data.load(text);
  });
  root.addEventListener("dragover", (event) => event.preventDefault());
  root.addEventListener("drop", async (event) => {
    event.preventDefault();
    const file = event.dataTransfer?.files[0];
    const text = file ? await file.text() : event.dataTransfer?.getData("text");
    if (text) data.load(text);
  });
  (page ? document : root).addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z" && !typing(event)) {
      event.preventDefault();
      if (event.shiftKey) store.redo();
      else store.undo();
    }
    if (store.state.mode === "explore" || typing(event) || event.ctrlKey || event.metaKey) return;
    const keys = { " ": stage.toggle, ".": stage.step, ",": stage.back };
    if (!keys[event.key] || (event.key === " " && event.target.closest?.("button, summary"))) return;
    event.preventDefault();
    keys[event.key]();
  });
  if (page) {
    addEventListener("hashchange", () => store.set(decodeState(location.hash, base, catalogue)));
    addEventListener("resize", draw);
  }
}
