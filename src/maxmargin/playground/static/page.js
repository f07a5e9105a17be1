// The page by itself: the playground over a WebSocket to the server it came from.

import { mount } from "./app.js";
import { Connection } from "./connection.js";

const root = document.querySelector(".playground");
const dark = matchMedia("(prefers-color-scheme: dark)").matches;
root.dataset.theme = dark ? "dark" : "light";
mount(root, new Connection(`ws://${location.host}/ws`), { page: true });
