// The code panel: the Python that makes this very machine.

import { button, panel } from "./controls.js";
import { h } from "./dom.js";
import { icon } from "./icons.js";

export function codePanel({ ask, store, tell }) {
  const text = h("pre", { class: "code", tabindex: "0", "aria-label": "Python program" });
  const copy = button("copy", "copy", async () => {
    try {
      await navigator.clipboard.writeText(text.textContent);
      tell("Copied.");
    } catch {
      getSelection().selectAllChildren(text);
      tell("Press Ctrl-C to copy what is selected.");
    }
  }, { icon: icon("copy"), title: "Copy the program" });
  const element = panel("code", "Code", copy, text);
  element.open = false;
  element.addEventListener("toggle", () => refresh());

  async function refresh() {
    if (!element.open) return;
    const { points, settings } = store.state;
    const reply = await ask("code", { points, settings });
    if (reply?.text) text.textContent = reply.text;
  }
  return { element, refresh };
}
