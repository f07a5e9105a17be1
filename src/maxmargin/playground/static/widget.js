// The playground in a notebook: the same page over the messages of an anywidget, its points and
// settings in the widget's one synchronised value.

import { mount } from "./app.js";

function render({ model, el }) {
  const root = document.createElement("div");
  root.className = "playground";
  // Jupyter's own keys and menus would add cells where points are meant.
  root.dataset.lmSuppressShortcuts = "true";
  root.dataset.jpSuppressContextMenu = "true";
  el.append(root);
  const connection = { onmessage() {}, onstate() {}, send: (message) => model.send(message) };
  const mine = ({ points, settings }) => ({ points, settings });
  const same = (state) => JSON.stringify(mine(state)) === JSON.stringify(model.get("state"));
  let timer;
  const app = mount(root, connection, {
    initial: () => model.get("state"), // as it is when the page is built, not when its cell ran
    onchange(state) {
      clearTimeout(timer);
      timer = setTimeout(() => {
        if (same(state)) return;
        model.set("state", mine(state));
        model.save_changes();
      }, 100);
    },
  });
  const heard = (message) => connection.onmessage(message);
  const moved = () => app.set(mine(model.get("state")));
  model.on("msg:custom", heard);
  model.on("change:state", moved);
  connection.send({ type: "hello" });
  return () => {
    model.off("msg:custom", heard);
    model.off("change:state", moved);
  };
}

export default { render };
