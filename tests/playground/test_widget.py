"""The page in a notebook: points and machine are Python objects, in both directions."""

import json
import sys
from pathlib import Path

import nbformat
import numpy as np
import pytest
import traitlets
from nbclient import NotebookClient

import maxmargin.playground
from maxmargin import SVC, SVR
from maxmargin.kernels import RBF, Linear
from maxmargin.playground import Widget
from maxmargin.playground.presets import points as preset

SQUARE = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])
SIDES = np.array([0, 0, 1, 1])

CELLS = [
    """
import numpy as np
from maxmargin import SVC
from maxmargin.playground import Widget
SVC(kernel="linear").fit([[0.0], [1.0]], [0, 1])  # compiles, so that no fit runs out of time
w = Widget()
w""",
    """
w.X = [[-1, -1], [-1, 1], [1, -1], [1, 1]]
w.y = [0, 0, 1, 1]
w.machine = SVC(C=10, kernel="linear")
print(w.machine.coef_.round(2).tolist(), w.machine.certificate_.status.value)""",
    """
# What the page sends when a point is dragged and the slider C is moved.
points = [*w.state["points"][:3], [2.0, 1.0, 1]]
w.set_state({"state": {"points": points, "settings": {**w.state["settings"], "C": 5.0}}})
print(w.X.tolist()[-1], w.machine.C)""",
]


def test_it_runs_in_a_real_notebook(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(maxmargin.__file__).parents[1]))
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    shown, set_from_python, moved_by_page = (cell["outputs"] for cell in notebook.cells)
    assert "application/vnd.jupyter.widget-view+json" in shown[0]["data"]
    assert set_from_python[0]["text"] == "[[1.0, 0.0]] converged\n"
    assert moved_by_page[0]["text"] == "[2.0, 1.0] 5.0\n"


def test_points_and_machine_can_be_set_and_read():
    widget = Widget(SQUARE, SIDES, SVC(C=7.0, kernel=Linear()))
    np.testing.assert_array_equal(widget.X, SQUARE)
    np.testing.assert_array_equal(widget.y, SIDES)
    assert widget.machine.C == 7.0
    assert widget.machine is widget.machine
    before = widget.machine
    widget.y = [1, 0, 1, 0]
    assert widget.machine is not before
    assert widget.machine.coef_[0][1] < 0


def test_a_machine_that_learns_a_curve_has_heights_for_targets():
    widget = Widget(machine=SVR(kernel=RBF(1.0)))
    x = np.linspace(-2, 2, 9)
    widget.y = np.zeros(60)
    widget.X = x[:, None]
    assert widget.X.shape == (9, 1)
    widget.y = x**2 / 2
    np.testing.assert_allclose(widget.y, x**2 / 2, atol=1e-3)
    assert widget.machine.predict([[0.0]]) == pytest.approx(0.2, abs=0.2)


def test_what_cannot_be_drawn_is_refused():
    widget = Widget()
    with pytest.raises(ValueError, match="two columns"):
        widget.X = np.zeros((3, 5))
    with pytest.raises(ValueError, match="60 rows but y has 3"):
        widget.y = [0, 1, 0]
    with pytest.raises(ValueError, match="too far out"):
        widget.X = 1e6 * widget.X
    with pytest.raises(traitlets.TraitError, match="class 9"):
        widget.state = {**widget.state, "points": [[0, 0, 9]]}
    with pytest.raises(traitlets.TraitError, match="points and settings"):
        widget.state = {"points": []}
    assert not hasattr(maxmargin.playground, "Gadget")


# The model of a widget as notebooks have it: a state, messages, and those who listen.
MODEL = """(state) => {
  const listeners = new Map();
  const hear = (name, ...what) => (listeners.get(name) ?? []).forEach((each) => each(...what));
  window.hear = hear;
  window.model = {
    get: (name) => state[name],
    set: (name, value) => { state[name] = value; },
    save_changes: () => window.saved(JSON.stringify(state)),
    on: (name, each) => listeners.set(name, [...(listeners.get(name) ?? []), each]),
    off: (name, each) => listeners.set(name, listeners.get(name).filter((one) => one !== each)),
    send: async (message) => {
      for (const reply of JSON.parse(await window.asked(JSON.stringify(message)))) {
        hear("msg:custom", reply);
      }
    },
    changed: (value) => { state.state = value; hear("change:state"); },
  };
}"""


@pytest.fixture
def shown(chromium, monkeypatch):
    """A widget, and the page that a browser makes of its module and style sheet."""
    widget, replies = Widget(SQUARE, SIDES), []
    monkeypatch.setattr(widget, "send", replies.append)

    def asked(message):
        replies.clear()
        widget._handle_custom_msg(json.loads(message), [])
        return json.dumps(replies)

    context = chromium.new_context(viewport={"width": 1000, "height": 900})
    page, errors = context.new_page(), []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.expose_function("asked", asked)
    page.expose_function("saved", lambda state: widget.set_state(json.loads(state)))
    page.set_content("<!doctype html><div id='cell'></div>")
    page.add_style_tag(content=widget._css)
    page.evaluate(MODEL, {"state": widget.state})
    page.evaluate(
        """async (text) => {
          const url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
          const { default: widget } = await import(url);
          widget.render({ model: window.model, el: document.querySelector("#cell") });
        }""",
        widget._esm,
    )
    page.locator(".status[data-status=converged]").wait_for()
    yield widget, page
    context.close()
    assert errors == []


def until(page, condition):
    """Let the browser go on until Python agrees."""
    for _ in range(4500):  # a minute and a half, on a busy machine
        if condition():
            return
        page.wait_for_timeout(20)
    raise AssertionError("waited in vain")


def test_what_is_drawn_in_the_notebook_arrives_in_python(shown):
    widget, page = shown
    box = page.locator(".plane").first.bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 0.9 * box["height"])
    until(page, lambda: len(widget.X) == 5)
    assert widget.X[-1] == pytest.approx([0.0, -2.4], abs=0.02)
    page.locator("input[name=C]").focus()
    page.keyboard.press("ArrowRight")
    until(page, lambda: widget.machine.C > 1.0)


def test_what_python_sets_moves_the_picture(shown):
    widget, page = shown
    before = page.evaluate("document.querySelector('canvas.field').toDataURL()")
    moons = preset("moons", 30, 0.1, seed=0)
    widget.X, widget.y = moons.xy, moons.classes
    widget.machine = SVC(C=50.0, kernel="linear")
    page.evaluate("(state) => window.model.changed(state)", widget.state)
    page.wait_for_timeout(50)
    until(
        page,
        lambda: (
            page.locator(".dot").count() >= 30
            and page.evaluate("document.querySelector('canvas.field').toDataURL()") != before
        ),
    )
    assert page.locator("[data-control=C] .typed").input_value() == "50"
    assert page.locator("[data-control=kernel] [aria-checked=true]").inner_text() == "linear"


def test_run_all_what_python_set_before_the_page_was_built_is_what_it_shows(chromium, monkeypatch):
    """A notebook renders while its kernel is busy: the greeting comes after the other cells ran."""
    widget, replies, messages = Widget(), [], []
    monkeypatch.setattr(widget, "send", replies.append)
    page = chromium.new_context().new_page()
    page.expose_function("asked", lambda message: (messages.append(message), "[]")[1])
    page.expose_function("saved", lambda state: widget.set_state(json.loads(state)))
    page.set_content("<!doctype html><div id='cell'></div>")
    page.evaluate(MODEL, {"state": widget.state})
    page.evaluate(
        """async (text) => {
          const url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
          const { default: widget } = await import(url);
          widget.render({ model: window.model, el: document.querySelector("#cell") });
        }""",
        widget._esm,
    )
    until(page, lambda: len(messages) == 1)
    widget.machine = SVC(C=10, kernel="linear")  # the next cell, while the page waits
    page.evaluate("(state) => window.model.changed(state)", widget.state)
    widget._handle_custom_msg(json.loads(messages[0]), [])
    page.evaluate("(reply) => window.hear('msg:custom', reply)", replies[0])
    page.wait_for_timeout(300)  # longer than a page waits before it tells Python of a change
    assert page.locator("[data-control=kernel] [aria-checked=true]").inner_text() == "linear"
    assert page.locator("[data-control=C] .typed").input_value() == "10"
    assert (widget.machine.C, widget.machine.kernel) == (10.0, Linear())
    page.context.close()


def test_without_its_extra_the_widget_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "anywidget", None)
    monkeypatch.delitem(sys.modules, "maxmargin.playground.widget")
    with pytest.raises(ImportError, match=r"pip install 'maxmargin\[widget\]'"):
        _ = maxmargin.playground.Widget
